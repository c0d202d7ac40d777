package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// paletteAction is the action of the chat that opens the palette, also over
	// the screens in which its key has no other use.
	paletteAction, paletteKey = "chat.palette", "ctrl+p"
	// paletteSessions bounds the sessions that are looked through.
	paletteSessions = 2000
	// paletteRecent bounds what is remembered of what was chosen.
	paletteRecent = 20
)

// The groups of the palette.
const (
	groupCommands = "commands"
	groupSessions = "sessions"
	groupModels   = "models"
	groupSettings = "settings"
)

// asksPalette reports whether a key is that of the palette in a screen that does
// not have it in its own table.
func (m Model) asksPalette(k tea.KeyMsg) bool {
	if k.Paste || len(m.layers) > 0 || m.front != frontBrowser && m.front != frontRuns {
		return false
	}
	if _, _, types := m.Cursor(); types { // the key is that of the field
		return false
	}
	keys, own := m.deps.Keys[paletteAction]
	if !own {
		keys = []string{paletteKey}
	}
	_, bindings := m.keys()
	action, off := render.Match(bindings, k.String())
	return slices.Contains(keys, k.String()) && action == "" && off == ""
}

// openPalette shows all that can be done, beginning with a group.
func (m Model) openPalette(group string) (tea.Model, tea.Cmd) {
	title, bindings := "chat", m.chat.Bindings()
	if m.front != frontChat {
		title, bindings = m.keys()
	}
	groups := []overlay.PaletteGroup{
		{Name: groupCommands, Items: append(commandItems(bindings, m.chat.Bindings(), m.front == frontChat), m.promptItems()...)},
		{Name: groupSessions, Load: m.sessionItems()},
		{Name: groupModels, Load: m.modelItems()},
		{Name: groupSettings, Items: m.settingItems(), Load: m.themeItems()},
	}
	at := slices.IndexFunc(groups, func(g overlay.PaletteGroup) bool { return g.Name == group })
	p, cmd := overlay.NewPalette(m.ctx, overlay.PaletteConfig{
		Title: title, Groups: groups, Group: max(at, 0), Recent: m.lists.chosen, Theme: m.look.theme, Words: Words, Keys: m.deps.Keys,
	}).Open()
	return m.push(overlay.Over(p)), cmd
}

// sameAs are the actions of the chat that do what a command does without its
// argument: they are one item.
func sameAs() map[string]string {
	return map[string]string{
		"new": "chat.new", "sessions": "chat.sessions", "memory": "chat.memory", "runs": "chat.runs", "permissions": "chat.permissions",
		"model": "chat.model", "tree": "chat.branches", "note": "chat.note", "edit": "chat.edit-last", "undo": "chat.take-back",
		"redo": "chat.bring-back", "takeover": "chat.takeover", "approve": "chat.decide", "help": "chat.help", "theme": "chat.theme",
		"result": "chat.result", "find": "chat.find", "copy": "chat.copy", "export": "chat.export", "editor": "chat.editor",
		"thinking": "chat.thinking", "quit": "chat.leave", "mcp": "chat.servers",
	}
}

// commandItems are the actions of the screen in front and the commands of the chat.
func commandItems(bindings, ofChat []render.Binding, inChat bool) []overlay.PaletteItem {
	by := map[string]render.Binding{}
	for _, b := range ofChat {
		if _, ok := by[b.Action]; !ok {
			by[b.Action] = b
		}
	}
	var items, rest []overlay.PaletteItem
	told := map[string]bool{paletteAction: true, "chat.help-empty": true}
	for _, s := range chat.Slashes() {
		it := commandItem(s)
		if b, ok := by[sameAs()[s.Name]]; ok {
			told[b.Action] = true
			it.Right, it.Off = keyed(it.Right, b), b.Off
			it.Words += " " + b.Help + " " + b.Action
		}
		rest = append(rest, it)
	}
	for _, b := range bindings {
		if told[b.Action] && inChat || b.Action == paletteAction {
			continue
		}
		told[b.Action] = true
		items = append(items, overlay.PaletteItem{
			ID: b.Action, Name: b.Help, Words: b.Group + " " + b.Action, Right: keyed("", b), Off: b.Off, Do: overlay.Act{Action: b.Action},
		})
	}
	if inChat { // there the commands are most of what one wants
		return append(rest, items...)
	}
	return append(items, rest...)
}

// commandItem is a command of the chat. One that needs something after it is
// written into the box.
func commandItem(s chat.Slash) overlay.PaletteItem {
	text := "/" + s.Name
	it := overlay.PaletteItem{
		ID: "slash." + s.Name, Name: s.Help, Words: s.Name + " " + strings.Join(s.Other, " "), Right: text, Do: overlay.Command{Text: text},
	}
	if s.Arg != "" {
		it.Right += " " + s.Arg
		if !strings.HasPrefix(s.Arg, "[") {
			it.Do = overlay.Command{Text: text + " ", Fill: true}
		}
	}
	return it
}

// keyed is the right side of an item with the first key of a binding.
func keyed(right string, b render.Binding) string {
	if len(b.Keys) == 0 {
		return right
	}
	return strings.TrimSpace(right + "  " + widget.KeyName(b.Keys[0]))
}

// sessionItems reads the sessions.
func (m Model) sessionItems() func(context.Context) ([]overlay.PaletteItem, error) {
	sessions, now, here := m.deps.Sessions, m.deps.Now, m.chat.Session().ID
	return func(ctx context.Context) ([]overlay.PaletteItem, error) {
		list, err := sessions.List(ctx, harness.SessionFilter{Limit: paletteSessions})
		if err != nil {
			return nil, err
		}
		var items []overlay.PaletteItem
		for _, s := range list {
			it := overlay.PaletteItem{
				ID: "session." + string(s.ID), Name: cmp.Or(strings.TrimSpace(s.Title), strings.TrimSpace(s.Preview), string(s.ID)),
				Words: string(s.ID) + " " + strings.Join(s.Tags, " "), Right: widget.Ago(now(), s.Updated), Do: overlay.Open{Session: s.ID},
			}
			if s.ID == here {
				it.Right = "in front"
			}
			items = append(items, it)
		}
		return items, nil
	}
}

// modelItems reads the models; nil if they cannot be told.
func (m Model) modelItems() func(context.Context) ([]overlay.PaletteItem, error) {
	source, now := m.deps.Models, m.chat.Model()
	if source.List == nil {
		return nil
	}
	return func(ctx context.Context) ([]overlay.PaletteItem, error) {
		list, err := source.List(ctx)
		if err != nil {
			return nil, err
		}
		var items, keyless []overlay.PaletteItem
		for _, l := range list {
			it := overlay.PaletteItem{ID: "model." + l.Name, Name: l.Name, Words: l.Title, Right: overlay.ModelBrief(l), Do: overlay.PickModel{Name: l.Name}}
			switch {
			case l.Name == now:
				it.Right = "in use"
			case l.NeedsKey:
				it.Right = "needs a key"
				keyless = append(keyless, it)
				continue
			}
			items = append(items, it)
		}
		return append(items, keyless...), nil
	}
}

// settingItems are what can be turned on and off, and where other settings are.
func (m Model) settingItems() []overlay.PaletteItem {
	var items []overlay.PaletteItem
	bindings := m.chat.Bindings()
	find := func(action string) render.Binding {
		if i := slices.IndexFunc(bindings, func(b render.Binding) bool { return b.Action == action }); i >= 0 {
			return bindings[i]
		}
		return render.Binding{}
	}
	for _, s := range m.chat.Switches() {
		verb, state := "turn on ", "off"
		if s.On {
			verb, state = "turn off ", "on"
		}
		it := overlay.PaletteItem{ID: "switch." + s.Name, Name: verb + s.Name, Words: "toggle show hide " + s.Action, Off: s.Off}
		if s.Action != "" {
			it.Right, it.Do = keyed("now "+state, find(s.Action)), overlay.Act{Action: s.Action}
		} else {
			it.Right, it.Do = "now "+state+"  "+s.Command, overlay.Command{Text: s.Command}
		}
		items = append(items, it)
	}
	notify := "turn on notifications"
	if m.notifiesAtAll() {
		notify = "turn off notifications"
	}
	for _, s := range []struct{ action, name, words string }{
		{"chat.notifications", notify, "notify bell tell away focus end of a turn"},
		{"chat.images", m.imagesVerb(), "images pictures kitty sixel iterm graphics"},
		{"chat.mouse", "", "wheel select capture"},
		{"chat.theme", "choose a theme", "colours colors dark light contrast"},
		{"chat.model", "choose a model", "provider key"},
		{"chat.permissions", "what may run without asking", "rules approve allow deny"},
	} {
		if b := find(s.action); b.Action != "" {
			items = append(items, overlay.PaletteItem{
				ID: "set." + s.action, Name: cmp.Or(s.name, b.Help), Words: s.words, Right: keyed("", b), Off: b.Off, Do: overlay.Act{Action: s.action},
			})
		}
	}
	return items
}

// themeItems reads the themes; nil if there are none to choose from.
func (m Model) themeItems() func(context.Context) ([]overlay.PaletteItem, error) {
	read := m.deps.Themes
	if read == nil {
		return nil
	}
	return func(ctx context.Context) ([]overlay.PaletteItem, error) {
		var items []overlay.PaletteItem
		for _, c := range read(ctx) {
			items = append(items, overlay.PaletteItem{
				ID: "theme." + c.Name, Name: "theme " + c.Name, Words: "colours colors", Off: c.Wrong, Do: overlay.UseTheme{Name: c.Name, Make: c.Make, Keep: true},
			})
		}
		return items, nil
	}
}

// chosen does what an item of the palette does, and remembers that it was chosen.
func (m Model) chosen(want overlay.Chosen) (tea.Model, tea.Cmd) {
	list := append([]string{want.ID}, slices.DeleteFunc(slices.Clone(m.lists.chosen), func(id string) bool { return id == want.ID })...)
	m.lists.chosen = list[:min(len(list), paletteRecent)]
	return m.grant(want.Do)
}

// act carries out an action: of the chat if it is one of its own, else of the screen
// in front, as if its key had been pressed.
func (m Model) act(action string) (tea.Model, tea.Cmd) {
	if m.front != frontChat {
		_, bindings := m.keys()
		for _, b := range bindings {
			if b.Action != action || len(b.Keys) == 0 {
				continue
			}
			if key, ok := keyMsg(b.Keys[0]); ok && b.Off == "" {
				return m.toFront(key)
			}
			return m, nil
		}
	}
	m.front = frontChat
	return m.chatDoes(m.chat.Act(action))
}

// keyMsg is a key by its name, as a table of keys has it.
func keyMsg(name string) (key tea.KeyMsg, ok bool) {
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}, true
	}
	rest, alt := strings.CutPrefix(name, "alt+")
	const last = 127 // of the keys that have a name
	for t := tea.KeyType(-last); t <= last; t++ {
		if k := (tea.KeyMsg{Type: t, Alt: alt}); t != tea.KeyRunes && k.String() == name {
			return k, true
		}
	}
	if runes := []rune(rest); len(runes) == 1 {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: runes, Alt: alt}, true
	}
	return tea.KeyMsg{}, false
}

// openModels shows the models to choose from, or what the key of one is, as if that
// had been chosen; refused says why another key is asked for. Where they cannot be
// listed the one in use is named.
func (m Model) openModels(choose, refused string) (tea.Model, tea.Cmd) {
	if m.deps.Models.List == nil {
		m.chat = m.chat.Say(m.chat.ModelWords())
		return m, nil
	}
	o, cmd := overlay.NewModels(m.ctx, overlay.ModelsConfig{
		ModelSource: m.deps.Models, Recent: recentModels(m.deps), Current: m.chat.Model(), Choose: choose, Refused: refused,
		Theme: m.look.theme, Words: Words, Keys: m.deps.Keys,
	}).Open()
	return m.push(overlay.Over(o)), cmd
}

// recentModels are those that sessions were given, then those that were called on
// the last days, the last first.
func recentModels(d Deps) func(context.Context) ([]string, error) {
	const sessions, days = 100, 14
	return func(ctx context.Context) ([]string, error) {
		list, err := d.Sessions.List(ctx, harness.SessionFilter{Limit: sessions})
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(list, func(a, b harness.Session) int { return b.Updated.Compare(a.Updated) })
		var names []string
		for _, s := range list {
			names = append(names, s.Model)
		}
		if d.Ledger != nil {
			used, err := d.Ledger.Days(ctx, d.Now().AddDate(0, 0, -days), d.Now())
			if err != nil {
				return nil, err
			}
			slices.SortStableFunc(used, func(a, b harness.DayUsage) int {
				return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Usage.Output, a.Usage.Output))
			})
			for _, u := range used {
				names = append(names, u.Model)
			}
		}
		var out []string
		for _, n := range names {
			if n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
		return out, nil
	}
}

// useModel changes the model of the chat in front, and says what was to be said.
func (m Model) useModel(want overlay.UseModel) (tea.Model, tea.Cmd) {
	m.front = frontChat
	if want.Note != "" {
		m.chat = m.chat.Note(want.Note)
	}
	return m.chatDoes(m.chat.Command("/model "+want.Name, false))
}
