package render

// Binding is one key of a screen as data: the footer, the help overlay and the
// README's table are made from it, so none of them can lie.
type Binding struct {
	// Action is the name in the configuration's [keys], such as "chat.send".
	Action string
	// Keys are the keys as Bubble Tea spells them, such as "ctrl+s"; the first
	// is shown.
	Keys []string
	// Help says in a few words what the key does.
	Help string
	// Foot says it shorter for the footer; empty means that Help is short enough.
	Foot string
	// Group is the heading in the help overlay, such as "Writing".
	Group string
	// Rank orders the footer, 1 first; 0 keeps the binding out of it.
	Rank int
	// Off says why the key does nothing now; empty means that it works.
	Off string
}

// Match returns the action of the first binding that has the key and works.
// If only bindings that are off have it, off says why.
func Match(bindings []Binding, key string) (action, off string) {
	for _, b := range bindings {
		for _, k := range b.Keys {
			if k != key {
				continue
			}
			if b.Off == "" {
				return b.Action, ""
			}
			off = b.Off
		}
	}
	return "", off
}
