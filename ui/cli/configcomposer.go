package cli

import "strconv"

// The keys of how the chat is shown and written in.
const (
	keyFoldPastes = "chat.fold_pastes"
	keySidePanel  = "chat.side_panel"
	keyInline     = "inline"
)

// switches adds the switches of the chat that are set to those of the file.
func (t *chatTable) switches(plain map[string]string) {
	if t == nil {
		return
	}
	for key, on := range map[string]*bool{keyFoldPastes: t.FoldPastes, keySidePanel: t.SidePanel} {
		if on != nil {
			plain[key] = strconv.FormatBool(*on)
		}
	}
}

// KeepPastes says that pastes are shown whole as far as they can be edited.
func (c Config) KeepPastes() bool { return c.values[keyFoldPastes].Value == "false" }

// SidePanel says that the panel is shown beside the conversation where there is room.
func (c Config) SidePanel() bool { return c.values[keySidePanel].Value == "true" }

// Inline says that the conversation goes into the terminal's own scrollback instead
// of the alternate screen.
func (c Config) Inline() bool { return c.values[keyInline].Value == "true" }
