package tree

import (
	"slices"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the keys.
const (
	Up     = "tree.up"
	Down   = "tree.down"
	PageUp = "tree.page-up"
	PageDn = "tree.page-down"
	First  = "tree.first"
	Last   = "tree.last"
	Go     = "tree.go"
	Edit   = "tree.edit"
	Retry  = "tree.retry"
	Fork   = "tree.fork"
	Back   = "tree.back"
)

// Why a key may be off.
const (
	offClosed = "the branches are not shown"
	offNone   = "nothing is listed"
	offFork   = "that is another session: enter opens it"
	offStart  = "nothing is said there"
)

// Model is the screen. It is a value, and the zero value is closed.
type Model struct {
	open, read bool
	rows       []Row
	at, top    int
	// note says what happened last; the next key takes it away.
	note string
}

// Opened is the screen before its rows are read.
func Opened() Model { return Model{open: true} }

// Open reports whether the screen is open.
func (m Model) Open() bool { return m.open }

// With takes the rows. What was selected stays so if it is still there; at
// first that is where the branch shown ends.
func (m Model) With(rows []Row) Model {
	old, had := m.Row()
	same := func(r Row) bool { return r.Said == old.Said && r.Fork == old.Fork }
	if !had || !m.read {
		same = func(r Row) bool { return r.Head }
	}
	m.rows, m.read = rows, true
	if i := slices.IndexFunc(rows, same); i >= 0 {
		m.at = i
	}
	m.at = max(min(m.at, len(rows)-1), 0)
	return m
}

// Select goes to the row of a message, on a screen of a height.
func (m Model) Select(said harness.Origin, height int) Model {
	if i := slices.IndexFunc(m.rows, func(r Row) bool { return r.Fork == "" && r.Said == said }); i >= 0 {
		m.at = i
		m.top = widget.Scroll(m.top, m.at, len(m.rows), m.room(height))
	}
	return m
}

// Say shows a sentence until the next key.
func (m Model) Say(text string) Model {
	m.note = text
	return m
}

// Row is the selected row; ok is false if there is none.
func (m Model) Row() (r Row, ok bool) {
	if m.at >= len(m.rows) {
		return Row{}, false
	}
	return m.rows[m.at], true
}

// Bindings are the keys as they work now; all are off while the screen is
// closed. Keys replaces those of an action.
func (m Model) Bindings(keys map[string][]string) []render.Binding {
	r, any := m.Row()
	message := ""
	switch {
	case r.Fork != "":
		message = offFork
	case r.Said == harness.Origin{}:
		message = offStart
	}
	list := []render.Binding{
		{Action: Go, Help: "go there", Rank: 1, Keys: []string{"enter"}},
		{Action: Edit, Help: "edit it", Rank: 3, Keys: []string{"e"}, Off: message},
		{Action: Fork, Help: "fork after it", Rank: 4, Keys: []string{"f"}, Off: message},
		{Action: Retry, Help: "answer again", Rank: 5, Keys: []string{"r"}, Off: message},
		{Action: Back, Help: "back", Rank: 2, Keys: []string{"esc", "q"}},
		{Action: Up, Help: "message above", Keys: []string{"up", "k"}},
		{Action: Down, Help: "message below", Keys: []string{"down", "j"}},
		{Action: PageUp, Help: "messages above", Keys: []string{"pgup"}},
		{Action: PageDn, Help: "messages below", Keys: []string{"pgdown"}},
		{Action: First, Help: "first of the branches", Keys: []string{"home", "g"}},
		{Action: Last, Help: "last of the branches", Keys: []string{"end", "G"}},
	}
	list = widget.Rebind(list, keys)
	for i := range list {
		b := &list[i]
		b.Group = "Branches"
		switch {
		case !m.open:
			b.Off, b.Rank = offClosed, 0
		case !any && b.Action != Back:
			b.Off = offNone
		}
	}
	return list
}

// Move carries out an action that selects another row, on a screen of a height.
func (m Model) Move(action string, height int) Model {
	m.note = ""
	page := max(m.room(height)-1, 1)
	by := map[string]int{Up: -1, Down: 1, PageUp: -page, PageDn: page, First: -len(m.rows), Last: len(m.rows)}[action]
	m.at = max(min(m.at+by, len(m.rows)-1), 0)
	m.top = widget.Scroll(m.top, m.at, len(m.rows), m.room(height))
	return m
}

// Wheel moves by some rows.
func (m Model) Wheel(by, height int) Model {
	m.at = max(min(m.at+by, len(m.rows)-1), 0)
	m.top = widget.Scroll(m.top, m.at, len(m.rows), m.room(height))
	return m
}
