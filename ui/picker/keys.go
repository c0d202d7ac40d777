package picker

import (
	"cairn/ui/render"
	"cairn/ui/widget"
)

// keyGroup is the heading of the screen's keys in the help.
const keyGroup = "Sessions"

// Bindings are the keys of the screen as they are now.
func (m Model) Bindings() []render.Binding {
	switch {
	case m.entry.id != "":
		return m.keyed(m.entryKeys())
	case m.menu.open:
		return m.keyed(m.menuKeys())
	default:
		return m.keyed(m.listKeys())
	}
}

// Actions are the keys of the screen in all its states, for the table of keys
// and for the names that the configuration may use.
func Actions() []render.Binding {
	var m Model
	out := m.listKeys()
	for _, b := range m.menuKeys() {
		b.Help += " (among the actions)"
		out = append(out, b)
	}
	for _, b := range append(m.entryKeys(), m.offerKey()) {
		b.Help += " (while it is offered)"
		out = append(out, b)
	}
	return out
}

func (m Model) listKeys() []render.Binding {
	var out []render.Binding
	for _, a := range m.acts() {
		if a.Action == "picker.open" && m.list.failed != nil {
			a.Help, a.Off = "try again", ""
		}
		out = append(out, a.Binding)
	}
	out = append(out, m.viewKeys()...)
	out = append(out, m.moveKeys()...)
	if m.notice.undo && len(m.lastGone().facts) > 0 { // else ctrl+f moves the cursor
		out = append(out, m.offerKey())
	}
	return out
}

// viewKeys are those that change what is shown.
func (m Model) viewKeys() []render.Binding {
	none := m.offs().none
	undo := ""
	if len(m.gone) == 0 {
		undo = "nothing was deleted here"
	}
	offer := []string{"ctrl+_"}
	if m.notice.undo {
		offer = append(offer, "ctrl+u")
	}
	here, nowhere := "here only", ""
	if m.show.here {
		here = "everywhere"
	}
	if m.c.Dir == "" && m.c.Sessions != nil {
		nowhere = "this start has no directory"
	}
	trash, unsorted := "trash", ""
	if m.show.trash {
		trash, unsorted = "sessions", "the trash is in the order of deletion"
	}
	var peek []string // else the key moves the cursor
	beside := ""
	switch {
	case m.list.len() > 0 && m.layout(m.window.width, m.window.height).wide:
		beside = "it is shown beside the list"
	case m.filter.Cursor() == len(m.filter.Text()):
		peek = []string{"right"}
	}
	back, look := []string{"esc", "ctrl+c"}, "preview"
	if m.preview.peek {
		back, look = append(back, "left"), "list"
	}
	return []render.Binding{
		{Action: "picker.undo", Keys: offer, Help: "undo delete", Group: keyGroup, Off: undo},
		{Action: "picker.actions", Keys: []string{"tab"}, Help: "actions", Group: keyGroup, Rank: 3, Off: none},
		{Action: "picker.preview", Keys: peek, Help: look, Group: keyGroup, Rank: 4, Off: first(beside, none)},
		{Action: "picker.here", Keys: []string{"ctrl+o"}, Help: here, Group: keyGroup, Rank: 8, Off: nowhere},
		{Action: "picker.sort", Keys: []string{"ctrl+t"}, Help: "sort", Group: keyGroup, Rank: 9, Off: unsorted},
		{Action: "picker.trash", Keys: []string{"ctrl+a"}, Help: trash, Group: keyGroup, Rank: 7},
		{Action: "picker.new", Keys: []string{"ctrl+n"}, Help: "new chat", Group: keyGroup, Rank: 10},
		{Action: "picker.back", Keys: back, Help: "back", Group: keyGroup, Rank: 2},
		{Action: "picker.help", Keys: []string{"f1"}, Help: "help", Group: keyGroup, Rank: 11},
	}
}

// moveKeys are those that move the selection and the preview. A page of the
// list has the keys of the preview's while that is not shown.
func (m Model) moveKeys() []render.Binding {
	unseen, rank := "", 4
	if !m.previewing() {
		unseen, rank = "no preview is shown", 0
	}
	return []render.Binding{
		{Action: "picker.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: keyGroup},
		{Action: "picker.down", Keys: []string{"down"}, Help: "down", Group: keyGroup},
		{Action: "picker.preview-up", Keys: []string{"pgup"}, Help: "earlier messages", Group: keyGroup, Rank: rank, Off: unseen},
		{Action: "picker.preview-down", Keys: []string{"pgdown"}, Help: "later messages", Group: keyGroup, Off: unseen},
		{Action: "picker.page-up", Keys: []string{"ctrl+pgup", "pgup"}, Help: "a page up", Group: keyGroup},
		{Action: "picker.page-down", Keys: []string{"ctrl+pgdown", "pgdown"}, Help: "a page down", Group: keyGroup},
		{Action: "picker.first", Keys: []string{"home"}, Help: "first", Group: keyGroup},
		{Action: "picker.last", Keys: []string{"end"}, Help: "last", Group: keyGroup},
	}
}

// offerKey is the key that is there while a deletion can be taken back.
func (m Model) offerKey() render.Binding {
	return render.Binding{Action: "picker.forget-facts", Keys: []string{"ctrl+f"}, Help: "forget its facts too", Group: keyGroup}
}

// entryKeys are those of the line that is typed in the list.
func (m Model) entryKeys() []render.Binding {
	save := map[entryKind]string{entryTitle: "save the title", entryTags: "save the tags", entryExport: "export"}[m.entry.kind]
	return []render.Binding{
		{Action: "picker.save", Keys: []string{"enter"}, Help: save, Group: keyGroup, Rank: 1},
		{Action: "picker.discard", Keys: []string{"esc", "ctrl+c"}, Help: "leave as it was", Group: keyGroup, Rank: 2},
	}
}

// keyed puts in the keys of the configuration.
func (m Model) keyed(b []render.Binding) []render.Binding {
	return widget.Rebind(b, m.c.Keys)
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
