package chat

import (
	"context"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

// openTree shows the branches of the session.
func (m Model) openTree() (Model, tea.Cmd) {
	if !m.stored {
		m.notice = OffUnsaid
		return m, nil
	}
	m.branch.tree = tree.Opened()
	return m, m.readTree()
}

// treeMsg brings the branches.
type treeMsg struct {
	to
	tree tree.Tree
	err  error
}

// readTree reads the branches.
func (m Model) readTree() tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		out := treeMsg{to: to}
		s, err := d.Sessions.Get(ctx, id)
		if err == nil {
			out.tree, err = tree.Build(ctx, d.Transcript, s)
		}
		out.err = err
		return out
	}
}

func (msg treeMsg) apply(m Model) (Model, tea.Cmd) {
	if !m.branch.tree.Open() {
		return m, nil
	}
	if msg.err != nil {
		return m.treeFailed(msg.err)
	}
	m.branch.tree = m.branch.tree.With(msg.tree.Rows(m.branch.forks...))
	if said, ok := msg.tree.Said(m.branch.missed); ok {
		m.branch.tree = m.branch.tree.Select(said, m.height)
	}
	m.branch.missed = harness.Origin{}
	ctx, d, to := m.ctx, m.deps, m.to()
	return m, func() tea.Msg { // among many sessions this takes longer
		all, err := d.Sessions.List(ctx, harness.SessionFilter{})
		return forksMsg{to, msg.tree, all, err}
	}
}

// forksMsg brings the sessions, of which some may be forks of this one.
type forksMsg struct {
	to
	tree     tree.Tree
	sessions []harness.Session
	err      error
}

func (msg forksMsg) apply(m Model) (Model, tea.Cmd) {
	if !m.branch.tree.Open() {
		return m, nil
	}
	if msg.err != nil {
		return m.treeFailed(msg.err)
	}
	m.branch.forks = slices.DeleteFunc(msg.sessions, func(s harness.Session) bool { return s.Parent == nil })
	m.branch.tree = m.branch.tree.With(msg.tree.Rows(m.branch.forks...))
	return m, nil
}

// treeFailed says in the conversation why there are no branches to be seen.
func (m Model) treeFailed(err error) (Model, tea.Cmd) {
	m, cmd := m.closeTree()
	m, told := m.trouble(err)
	return m, tea.Batch(cmd, told)
}

// closeTree goes back to the conversation. What is asked there is new to the
// person.
func (m Model) closeTree() (Model, tea.Cmd) {
	m.branch.tree = tree.Model{}
	return m.Uncovered()
}

// treeLook is what the drawing of the branches depends on.
func (m Model) treeLook() tree.Look {
	return tree.Look{
		Theme: m.deps.Theme, Width: m.width, Height: m.height, Now: m.deps.Now(), Title: m.title(), Keys: m.deps.Keys,
	}
}

// treeKey handles a key while the branches are shown.
func (m Model) treeKey(msg tea.KeyMsg) (Model, tea.Cmd, Intent) {
	t := m.branch.tree
	action, off := render.Match(t.Bindings(m.deps.Keys), msg.String())
	row, _ := t.Row()
	var cmd tea.Cmd
	switch {
	case action == tree.Back, msg.String() == "ctrl+c":
		m, cmd = m.closeTree()
	case msg.String() == "f1":
		return m, nil, Intent{Kind: WantHelp}
	case action == tree.Go && row.Fork != "":
		m, cmd = m.closeTree()
		return m, cmd, Intent{Kind: WantOpen, Open: Open{Session: harness.Session{ID: row.Fork}}}
	case action == tree.Go, action == tree.Edit, action == tree.Fork, action == tree.Retry:
		return m.treeDo(action, row)
	case action == "":
		m.branch.tree = t.Say(off)
	default:
		m.branch.tree = t.Move(action, m.height)
	}
	return m, cmd, Intent{}
}

// treeDo goes to a row of the branches, or edits, forks or answers its message.
func (m Model) treeDo(action string, row tree.Row) (Model, tea.Cmd, Intent) {
	stays := action == tree.Go && row.On && m.atEnd(row)
	if why := m.fixed(); why != "" && action != tree.Fork && !stays {
		m.branch.tree = m.branch.tree.Say(why)
		return m, nil, Intent{}
	}
	if action == tree.Fork && row.Head && m.unended() {
		m.branch.tree = m.branch.tree.Say("an answer is unfinished there; fork after a message above it")
		return m, nil, Intent{}
	}
	m, closed := m.closeTree()
	var cmd tea.Cmd
	switch {
	case stays:
		m, cmd = m.Show(row.Said)
	case action == tree.Go:
		m, cmd = m.goTo(row)
	case action == tree.Fork:
		m, cmd = m.fork(row.End)
	default:
		cmd = m.recordOf(row.Said, func(m Model, r harness.Record) (Model, tea.Cmd) {
			if action == tree.Edit {
				return m.amend(r)
			}
			return m.again(r)
		})
	}
	return m, tea.Batch(closed, cmd), Intent{}
}

// atEnd reports whether the branch shown ends where the row's newest one does.
func (m Model) atEnd(row tree.Row) bool {
	return row.Said.Record > 0 && row.Leaf == m.session.Head
}

// goTo moves the head to the newest record at or below a row, or to the
// beginning.
func (m Model) goTo(row tree.Row) (Model, tea.Cmd) {
	d, lease, seq := m.deps, m.own.lease, row.Leaf
	if row.Said.Record == 0 {
		seq = 0
	}
	return m.moveBy(func(ctx context.Context, out *movedMsg) error {
		out.goal, out.moved, out.notice = row.Said, true, BranchWords(seq)
		return d.Transcript.MoveHead(ctx, lease, seq)
	})
}

// BranchWords says which branch is shown after the head was moved.
func BranchWords(head int) string {
	if head == 0 {
		return "back at the beginning; /redo goes on"
	}
	return "this is the branch that ends with message " + strconv.Itoa(head)
}

// recordMsg brings a record for which something is to be done.
type recordMsg struct {
	to
	record harness.Record
	then   func(Model, harness.Record) (Model, tea.Cmd)
	err    error
}

// recordOf reads a record and goes on with it.
func (m Model) recordOf(o harness.Origin, then func(Model, harness.Record) (Model, tea.Cmd)) tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		in := id
		if o.Session != "" {
			in = o.Session
		}
		r, err := d.Transcript.Record(ctx, in, o.Record)
		r.In = o.Session
		return recordMsg{to, r, then, err}
	}
}

func (msg recordMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	return msg.then(m, msg.record)
}
