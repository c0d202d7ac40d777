package browser

import (
	"cairn/harness"
	"cairn/ui/render"
)

// moving are the keys that every list here has.
func moving() []render.Binding {
	return []render.Binding{
		{Action: "browser.up", Keys: []string{"up", "k"}, Help: "up", Group: keyGroup},
		{Action: "browser.down", Keys: []string{"down", "j"}, Help: "down", Group: keyGroup},
		{Action: "browser.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: keyGroup},
		{Action: "browser.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: keyGroup},
		{Action: "browser.first", Keys: []string{"home", "g"}, Help: "first", Group: keyGroup},
		{Action: "browser.last", Keys: []string{"end", "G"}, Help: "last", Group: keyGroup},
	}
}

// acting are the keys that act on the selected thing.
func (m Model) acting() []render.Binding {
	e, ok := m.selected()
	none := ""
	if !ok {
		none = "nothing is selected"
	}
	trashed := none
	if ok && e.state() == harness.StateTrashed {
		trashed = "it is in the trash: " + m.key("browser.undo", "u") + " brings it back"
	}
	single := ""
	if ok && e.kind == note {
		single = "notes are not merged"
	}
	edit, external := trashed, trashed
	if m.tab == tabInbox {
		waits := first(none, "it is accepted or refused first")
		trashed, none = waits, waits
		single, edit, external = "", waits, m.unamendable()
	}
	pin, off := "pin", "off"
	if e.pinned() {
		pin = "unpin"
	}
	if e.state() == harness.StateOff {
		off = "on"
	}
	return append([]render.Binding{
		{Action: "browser.edit", Keys: []string{"e"}, Help: "edit", Group: keyGroup, Rank: 1, Off: edit},
		{Action: "browser.pin", Keys: []string{"p"}, Help: pin, Group: keyGroup, Rank: 5, Off: trashed},
		{Action: "browser.off", Keys: []string{"o"}, Help: off, Group: keyGroup, Rank: 6, Off: trashed},
		{Action: "browser.forget", Keys: []string{"d"}, Help: "forget", Group: keyGroup, Rank: 4, Off: trashed},
		{Action: "browser.merge", Keys: []string{"m"}, Help: "merge", Group: keyGroup, Rank: 15, Off: first(trashed, single)},
		{Action: "browser.external", Keys: []string{"E"}, Help: "$EDITOR", Group: keyGroup, Rank: 16, Off: external},
		{Action: "browser.history", Keys: []string{"h"}, Help: "history", Group: keyGroup, Rank: 7, Off: none},
		{Action: "browser.source", Keys: []string{"enter"}, Help: "its source", Group: keyGroup, Rank: 8, Off: m.nowhere()},
	}, m.decidingKeys(edit, trashed)...)
}

// nowhere says why one cannot go to the source of what is selected.
func (m Model) nowhere() string {
	e, ok := m.selected()
	if !ok {
		return "nothing is selected"
	}
	return m.unreachable(e)
}

func (m Model) listKeys() []render.Binding {
	undo := ""
	switch _, ok := m.selected(); {
	case m.tab == tabTrash && !ok:
		undo = "nothing is selected"
	case m.tab != tabTrash:
		undo = m.nothingDone()
	}
	undoHelp, undoRank := "undo", 9
	if m.tab == tabTrash {
		undoHelp, undoRank = "restore", 1
	}
	add := ""
	if !m.has(m.newKind()) {
		add = "this memory is off"
	}
	none := ""
	if _, ok := m.selected(); !ok {
		none = "nothing is selected"
	}
	uncategorised, unfiltered, all := "", "", 2
	if m.tab == tabNotes {
		uncategorised = "notes have no category"
	}
	if !m.filtering(m.tab) {
		unfiltered, all = "everything is shown", 0
	}
	out := append(m.acting(),
		m.acceptShownKey(),
		render.Binding{Action: "browser.new", Keys: []string{"n"}, Help: "new " + m.newKind().String(), Group: keyGroup, Rank: 2, Off: add},
		render.Binding{Action: "browser.undo", Keys: []string{"u", "ctrl+_"}, Help: undoHelp, Group: keyGroup, Rank: undoRank, Off: undo},
		render.Binding{Action: "browser.view", Keys: []string{"v", "right"}, Help: "read", Group: keyGroup, Rank: 10, Off: none},
		render.Binding{Action: "browser.filter", Keys: []string{"/"}, Help: "search", Group: keyGroup, Rank: 3},
		render.Binding{Action: "browser.category", Keys: []string{"c"}, Help: "category", Group: keyGroup, Rank: 12, Off: uncategorised},
		render.Binding{Action: "browser.tag", Keys: []string{"t"}, Help: "tag", Group: keyGroup, Rank: 13},
		render.Binding{Action: "browser.sort", Keys: []string{"s"}, Help: "sort", Group: keyGroup, Rank: 14},
		render.Binding{Action: "browser.show-all", Keys: []string{"x"}, Help: "show all", Group: keyGroup, Rank: all, Off: unfiltered},
		render.Binding{Action: "browser.facts", Keys: []string{"1"}, Help: "facts", Group: keyGroup},
		render.Binding{Action: "browser.notes", Keys: []string{"2"}, Help: "notes", Group: keyGroup},
		render.Binding{Action: "browser.inbox", Keys: []string{"3"}, Help: "inbox", Group: keyGroup, Off: m.noInbox()},
		render.Binding{Action: "browser.trash", Keys: []string{"4"}, Help: "trash", Group: keyGroup},
		render.Binding{Action: "browser.next", Keys: []string{"tab"}, Help: "next tab", Group: keyGroup},
		render.Binding{Action: "browser.previous", Keys: []string{"shift+tab"}, Help: "tab before", Group: keyGroup},
		render.Binding{Action: "browser.back", Keys: []string{"esc", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 3},
	)
	return append(out, moving()...)
}

func (m Model) viewKeys() []render.Binding {
	out := append(m.acting(),
		render.Binding{Action: "browser.undo", Keys: []string{"u", "ctrl+_"}, Help: "undo", Group: keyGroup, Rank: 9, Off: m.nothingDone()},
		render.Binding{Action: "browser.leave", Keys: []string{"esc", "left", "v", "ctrl+c"}, Help: "back to the list", Group: keyGroup, Rank: 3})
	return append(out, moving()...)
}

// nothingDone says why there is nothing to undo; empty means there is something.
func (m Model) nothingDone() string {
	if m.deciding > 0 {
		return "the last decision is still being stored"
	}
	if len(m.deeds) == 0 {
		return "there is nothing to undo"
	}
	return ""
}
