package picker

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// act is something that can be done to the selected row: by its key in the
// list, or from the menu by its letter.
type act struct {
	render.Binding
	letter string
	says   string // in the menu, if that is not the help
}

// acts are what can be done to the selected row, in the order of the menu.
func (m Model) acts() []act {
	s, _ := m.selected()
	open, says, pin, memory, fork := "open", "", "pin", "turn its memory off", "fork at its end"
	if m.show.trash {
		open = "bring back"
	}
	if s.Pinned {
		pin = "unpin"
	}
	if s.NoMemory {
		memory = "turn its memory on"
	}
	if m.onHit() {
		says, fork = "open at this message", "fork at this message"
	}
	off := m.offs()
	b := func(action, help string, rank int, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: keyGroup, Rank: rank, Off: off}
	}
	return []act{
		{b("picker.open", open, 1, off.none, "enter"), "o", says},
		{b("picker.rename", "rename", 5, off.row, "ctrl+r"), "r", ""},
		{b("picker.fork", "fork", 0, off.fork), "f", fork},
		{b("picker.pin", pin, 13, off.row, "ctrl+b"), "p", ""},
		{b("picker.tags", "tags", 12, off.row, "ctrl+g"), "t", "change its tags"},
		{b("picker.memory", memory, 0, off.memory), "m", ""},
		{b("picker.export", "export", 0, off.export), "e", "export to a file"},
		{b("picker.copy-id", "copy its id", 0, off.none), "c", ""},
		{b("picker.delete", "delete", 6, off.remove, "ctrl+d"), "d", ""},
	}
}

// offs says of the selected row why something cannot be done to it; empty
// means it can.
type offs struct{ none, row, fork, memory, export, remove string }

func (m Model) offs() offs {
	s, ok := m.selected()
	var o offs
	if !ok && !m.onHit() {
		o.none = "no session is selected"
	}
	gone := o.none
	if gone == "" && m.show.trash {
		gone = "it is deleted; bring it back first"
	}
	o.row, o.fork, o.export = gone, gone, gone
	if gone == "" && !ok {
		o.row = "this is a message; choose its session"
	}
	if s.OpenRun != "" { // as in the chat: nobody would go on with the answer in the fork
		o.fork = first(gone, "its answer is unfinished; /fork 2 in it forks earlier")
	}
	if m.c.Export == nil && m.c.Sessions != nil {
		o.export = first(gone, "this start exports nothing")
	}
	o.remove, o.memory = first(o.row, m.mayDelete(s)), first(o.row, m.mayForget(s))
	return o
}

// mayDelete says why a session cannot be deleted here; empty means it can.
func (m Model) mayDelete(s harness.Session) string {
	switch {
	case s.ID != "" && s.ID == m.window.present:
		return "it is open here, so open another chat first"
	case m.elsewhere(s):
		return "it is " + m.held(s) + ": close it there first"
	case m.atWork(s):
		return "its answer is still being written in this window"
	default:
		return ""
	}
}

// mayForget says why a session's memory cannot be turned off or on here: a
// window that has it open knows best whether a turn is at work.
func (m Model) mayForget(s harness.Session) string {
	command := "/memory off"
	if s.NoMemory {
		command = "/memory on"
	}
	switch {
	case m.elsewhere(s) && s.ID != m.window.present:
		return "open elsewhere, so type " + command + " there"
	case s.Owner != nil, s.ID != "" && s.ID == m.window.present:
		return "open here, so type " + command + " in it"
	default:
		return ""
	}
}

// elsewhere reports whether another process has the session open.
func (m Model) elsewhere(s harness.Session) bool {
	if s.Owner == nil {
		return false
	}
	sameHost := s.Owner.Host == "" || m.c.Self.Host == "" || s.Owner.Host == m.c.Self.Host
	return s.Owner.PID != m.c.Self.PID || !sameHost
}

// atWork reports whether a turn of a session goes on in this window behind the
// chat in front.
func (m Model) atWork(s harness.Session) bool {
	return s.Owner != nil && s.OpenStatus == harness.RunRunning && s.ID != m.window.present && !m.elsewhere(s)
}

// held says who has a session open, such as "open in pid 4411 on pts/3".
func (m Model) held(s harness.Session) string {
	text := fmt.Sprintf("open in pid %d", s.Owner.PID)
	if s.Owner.Terminal != "" {
		text += " on " + s.Owner.Terminal
	}
	if h := s.Owner.Host; h != "" && m.c.Self.Host != "" && h != m.c.Self.Host {
		text += " of " + h
	}
	return text
}

// do does something to the selected row.
func (m Model) do(action string) (Model, tea.Cmd, Intent) {
	k, _ := m.list.selected()
	s, _ := m.selected()
	switch action {
	case "picker.open":
		return m.open()
	case "picker.rename":
		return m.write(entryTitle), nil, nil
	case "picker.tags":
		return m.write(entryTags), nil, nil
	case "picker.export":
		return m.write(entryExport), nil, nil
	case "picker.fork":
		m, cmd := m.fork(k)
		return m, cmd, nil
	case "picker.pin":
		pinned := !s.Pinned
		return m, m.edit(0, s.ID, harness.SessionEdit{Pinned: &pinned}), nil
	case "picker.memory":
		off := !s.NoMemory
		return m, m.edit(0, s.ID, harness.SessionEdit{NoMemory: &off}), nil
	case "picker.copy-id":
		m.notice = notice{text: fmt.Sprintf("The id %s was sent to the terminal's clipboard.", k.session)}
		return m, nil, Copy{Text: string(k.session)}
	case "picker.delete":
		m, cmd := m.remove()
		return m, cmd, nil
	default:
		return m, nil, nil
	}
}

func (m Model) open() (Model, tea.Cmd, Intent) {
	if m.list.failed != nil {
		m, cmd := m.load()
		return m, cmd, nil
	}
	k, ok := m.list.selected()
	if !ok {
		return m, nil, nil
	}
	if m.show.trash {
		m, cmd := m.takeOut(k.session)
		return m, cmd, nil
	}
	return m, nil, Open{k.session, k.message}
}

// The results of what was done.
type (
	forked struct {
		session harness.Session
		err     error
	}
	exported struct {
		n    int    // of the entry
		to   string // as it was typed
		path string // of the file
		err  error
	}
)

func (forked) pickerMsg()   {}
func (exported) pickerMsg() {}

// fork makes a session that goes its own way from the end of another, or from
// a message of it, and opens it.
func (m Model) fork(k key) (Model, tea.Cmd) {
	of := harness.Origin{}
	if k.message > 0 {
		of = harness.Origin{Session: k.session, Record: k.message}
	}
	ctx, sessions := m.ctx, m.c.Sessions
	return m, func() tea.Msg {
		s, err := sessions.Fork(ctx, k.session, of, harness.Session{})
		if err != nil {
			err = fmt.Errorf("fork session %s: %w", k.session, err)
		}
		return forked{s, err}
	}
}

func (m Model) onForked(msg forked) (Model, Intent) {
	switch {
	case msg.err != nil:
		m.notice = m.fail(msg.err)
		return m, nil
	case !m.window.front: // the person went elsewhere meanwhile: it is in the list
		return m, nil
	default:
		return m, Open{Session: msg.session.ID}
	}
}

// export writes a session to the file that was typed.
func (m Model) export() (Model, tea.Cmd) {
	to := strings.TrimSpace(m.entry.field.Text())
	if to == "" {
		m.notice = notice{text: "A file name needs at least one character.", failed: true}
		return m, nil
	}
	m.entry.saving = true
	ctx, export, n, id := m.ctx, m.c.Export, m.entry.n, m.entry.id
	return m, func() tea.Msg {
		path, err := export(ctx, id, to)
		return exported{n, to, path, err}
	}
}

// unexported says why nothing was exported to a file, which the error names.
func (m Model) unexported(to string, err error) notice {
	if !errors.Is(err, fs.ErrNotExist) {
		return m.fail(err)
	}
	const what = " is no directory; make it, or type another file"
	dir := filepath.Dir(to)
	return notice{text: `"` + m.oneLine(dir, m.window.width-len(what)-5) + `"` + what, failed: true}
}

func (m Model) onExported(msg exported) Model {
	mine := msg.n == m.entry.n && m.entry.id != ""
	if msg.err != nil {
		m.notice = m.unexported(msg.to, msg.err)
		if mine {
			m.entry.saving = false
		}
		return m
	}
	if mine {
		m.entry = entry{n: m.entry.n}
	}
	m.notice = notice{text: "Exported to " + msg.path}
	return m
}
