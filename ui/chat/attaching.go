package chat

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/chat/compose"
	"cairn/ui/render"
)

// listRows is how many rows the list of files may take.
const listRows = 8

// writer makes the message to send, with the files that its text mentions, and
// what there is to say of them. It reads files: it is for a command.
type writer func(ctx context.Context, model string) (harness.Message, []string, error)

// writer writes a text of the person, which takes the place of was if that is
// set.
func (m Model) writer(text string, was *harness.Message) writer {
	files, seen := m.deps.Files, m.tray.Seen()
	return func(ctx context.Context, model string) (harness.Message, []string, error) {
		return files.Message(ctx, text, model, was, seen)
	}
}

// asIs writes a message that is there already.
func asIs(msg harness.Message) writer {
	return func(context.Context, string) (harness.Message, []string, error) { return msg, nil, nil }
}

// once writes only once: files are sent as they were when it was decided that
// they can be.
func (w writer) once() writer {
	var msg harness.Message
	var notes []string
	written := false
	return func(ctx context.Context, model string) (harness.Message, []string, error) {
		var err error
		if !written {
			msg, notes, err = w(ctx, model)
			written = err == nil
		}
		return msg, notes, err
	}
}

// unattached says why a message was not sent. A file that cannot be sent is no
// failure to store.
func (m Model) unattached(err error) (Model, tea.Cmd) {
	var refused *attach.RefusedError
	if !errors.As(err, &refused) {
		m.failed = err
		return m.trouble(err)
	}
	m.notice = refused.Error()
	m.fault = m.notice
	return m, nil
}

// trayMsg brings what was read of files.
type trayMsg struct {
	to
	done attach.Done
}

func (msg trayMsg) apply(m Model) (Model, tea.Cmd) {
	var works []attach.Work
	var told string
	m.tray, works = msg.done(m.tray)
	if m.tray, told = m.tray.Told(); told != "" {
		m = m.also(told)
	}
	return m, m.read(works)
}

// also says something besides what is said.
func (m Model) also(text string) Model {
	if m.notice != "" {
		text = m.notice + "; " + text
	}
	m.notice = text
	return m
}

// read is work as a command.
func (m Model) read(works []attach.Work) tea.Cmd {
	to, cmds := m.to(), make([]tea.Cmd, len(works))
	for i, work := range works {
		cmds[i] = func() tea.Msg { return trayMsg{to, work()} }
	}
	return tea.Batch(cmds...)
}

// mentioned follows what the text in the box mentions, after it was as it was
// before a message.
func (m Model) mentioned(was compose.Box, by tea.Msg) (Model, tea.Cmd) {
	if !m.deps.Files.On() || m.box.Empty() && was.Empty() {
		return m, nil
	}
	in := attach.Input{Text: m.box.Text, Changed: !m.box.Same(was)}
	if key, ok := by.(tea.KeyMsg); ok {
		in.Typed = key.Type == tea.KeyRunes && !key.Alt || key.Type == tea.KeySpace || key.Type == tea.KeyBackspace
	}
	if !m.box.Starts("/") || m.box.Starts("//") { // a command sends nothing
		in.Line, in.Any = m.box.Line(), m.box.Has("@")
	}
	tray, works := m.tray.Typed(in)
	m.tray = tray
	return m, m.read(works)
}

// withFileKeys are bindings with those of the list of files, which come first
// while it is open.
func (m Model) withFileKeys(own []render.Binding) []render.Binding {
	if m.lists() {
		return append(attach.Bindings(true), own...)
	}
	return append(own, attach.Bindings(false)...)
}

// lists reports whether the list of files is shown.
func (m Model) lists() bool { return m.tray.Open() && !m.asks() && !m.recall.Open() }

// fileKey carries out an action about files; ok is false if it is none.
func (m Model) fileKey(action, key string) (Model, tea.Cmd, Intent, bool) {
	if action == actDetach || action == "edit.backspace" && m.box.AtStart() && m.tray.Any() {
		return m.detach(), nil, Intent{}, true
	}
	if !attach.Owns(action) {
		return m, nil, Intent{}, false
	}
	tray, choice, ok := m.tray.Do(action)
	if m.tray = tray; !ok { // nothing fits: the key is what it is without a list
		m.tray = m.tray.Shut()
		if action, _ = render.Match(m.Bindings(), key); action == "" {
			return m, nil, Intent{}, true
		}
		next, cmd, want := m.do(action, key)
		return next, cmd, want, true
	}
	if choice != nil {
		if box, ok := m.box.Swap(choice.Back, choice.Text); ok {
			m.box = box
			m.draft.version++
		}
	}
	return m, nil, Intent{}, true
}

// detach takes the last file out of the text.
func (m Model) detach() Model {
	text := m.box.Text()
	last, ok := m.tray.Last(text)
	if !ok {
		return m
	}
	to := last.To
	if strings.HasPrefix(text[to:], " ") {
		to++
	}
	if box, ok := m.box.Drop(last.From, to); ok {
		m.box = box
		m.draft.version++
		m.notice = "taken out: @" + last.Path + "; undo brings it back (" + m.keyOf("edit.undo") + ")"
	}
	return m
}

// attach puts a file into the text by its path.
func (m Model) attach(path string) (Model, tea.Cmd) {
	switch {
	case !m.deps.Files.On():
		m.notice = "no files are attached here"
		return m, nil
	case path == "":
		m.notice = "write the path after it: /attach notes/plan.pdf; or @ and the path in a message"
		return m, nil
	}
	ctx, to, look := m.ctx, m.to(), m.deps.Files.Mention
	return m, func() tea.Msg {
		mention, _, err := look(ctx, path)
		return attachedMsg{to, path, mention, err}
	}
}

// attachedMsg brings the mention of a file, or why it cannot be sent.
type attachedMsg struct {
	to
	path, mention string
	err           error
}

func (msg attachedMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	m.draft.version++
	if msg.err != nil {
		if m.box.Empty() { // to be mended, not typed again
			m.box = m.box.SetText("/attach " + msg.path)
		}
		m.notice = msg.err.Error()
		return m, nil
	}
	m.box = m.box.Insert(msg.mention + " ")
	return m, nil
}

// pasted looks whether a paste is nothing but paths of files.
func (m Model) pasted(text string) tea.Cmd {
	text = compose.LineEnds(text)
	msg := pathsMsg{to: m.to(), pasted: text}
	look := m.tray.Pasted(text, m.deps.Dir, func(mentions string) { msg.mentions = mentions })
	if look == nil {
		return nil
	}
	return func() tea.Msg {
		look()
		return msg
	}
}

// pathsMsg brings the mentions of the files that a paste named; empty if it was a
// text.
type pathsMsg struct {
	to
	pasted, mentions string
}

func (msg pathsMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	if msg.mentions == "" || !m.box.Ends(msg.pasted) {
		return m, nil // it is a text, or was changed since
	}
	box, ok := m.box.Swap(len(msg.pasted), msg.mentions)
	if !ok {
		return m, nil
	}
	if before := strings.TrimSuffix(box.Line(), msg.mentions); !attach.Begins(before) {
		box, _ = m.box.Swap(len(msg.pasted), " "+msg.mentions)
	}
	m.box = box
	m.draft.version++
	return m, nil
}

// trayRoom is how many rows there are for what stands above the box.
func (m Model) trayRoom() int {
	fixed := 4 + m.boxLines(m.box.Layout(m.boxWidth())) // status, rule, hints, and one row of the conversation
	return m.height - m.headRows() - len(m.notices()) - fixed - m.queueLines()
}

// trayRows are the rows above the box: the list of files, and what is attached.
func (m Model) trayRows() []string {
	if m.asks() || m.recall.Open() || m.small() {
		return nil
	}
	if m.menu.Shown {
		return m.menuRows()
	}
	if !m.tray.Any() && !m.tray.Open() {
		return nil
	}
	room := m.trayRoom()
	if room < 1 {
		return nil
	}
	line := m.tray.Line(m.deps.Theme, m.width)
	if line != "" {
		room--
	}
	rows := m.tray.Rows(m.deps.Theme, m.width, min(room, listRows))
	if line != "" {
		rows = append(rows, line)
	}
	return rows
}

// listHints are the keys of the list of files.
func (m Model) listHints() []string {
	p := m.deps.Theme.Paints
	var parts []string
	for _, b := range attach.Bindings(true) {
		if key := m.keyOf(b.Action); key != "" {
			parts = append(parts, p.Key.On(key)+" "+p.Muted.On(b.Help))
		}
	}
	if m.tray.More() {
		parts = append([]string{p.Warning.On("near files only; @dir/ lists more")}, parts...)
	}
	return parts
}
