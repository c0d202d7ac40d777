package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

// ParentName is what the session is called that s was forked from; empty if it
// was not, or if that one is deleted.
func ParentName(ctx context.Context, sessions Sessions, s harness.Session) (string, error) {
	if s.Parent == nil {
		return "", nil
	}
	p, err := sessions.Get(ctx, s.Parent.Session)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	return NameOf(p), nil
}

// NameOf is what a session is called: its title, else its id.
func NameOf(s harness.Session) string {
	if s.Title != "" {
		return render.SafeLine(s.Title)
	}
	return string(s.ID)
}

// ForkedWords says where a fork leaves the session it was made of, which is
// called name, empty if that is deleted.
func ForkedWords(s harness.Session, name string) string {
	if s.Parent == nil {
		return ""
	}
	if name == "" {
		name = "a deleted chat (" + string(s.Parent.Session) + ")"
	}
	return "forked from " + name + " at message " + strconv.Itoa(s.Parent.Record)
}

// forkedWords is what stands where the session leaves its parent.
func (m Model) forkedWords() string { return ForkedWords(m.session, m.parent) }

// OffUnended is why a session is not forked at its end: nobody would go on with
// the answer there.
const OffUnended = "an answer is unfinished; /fork 2 forks before it"

// unended reports whether the branch on screen ends in an answer that is
// unfinished, here or in the owner's window.
func (m Model) unended() bool { return m.turn.active() || m.open != nil || m.own.run != nil }

// forkNth forks the session at the end of the branch, or after what was answered
// to the n-th last message of the person. Who only reads may, too.
func (m Model) forkNth(arg string) (Model, tea.Cmd) {
	n, ok := Which(arg)
	switch {
	case !ok:
		m.notice = WhichWords("fork")
	case !m.stored:
		m.notice = OffUnsaid
	case n > 1:
		return m, m.nth(n, func(m Model, t tree.Turn) (Model, tea.Cmd) { return m.fork(origin(t.End)) })
	case m.unended():
		m.notice = OffUnended
	default:
		return m.fork(harness.Origin{})
	}
	return m, nil
}

// forkedMsg brings a new session.
type forkedMsg struct {
	to
	session harness.Session
	prompt  string
	err     error
}

// fork makes a session that goes its own way after a record, and opens it.
func (m Model) fork(of harness.Origin) (Model, tea.Cmd) {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		s, err := d.Sessions.Fork(ctx, id, of, harness.Session{})
		return forkedMsg{to, s, "", err}
	}
}

func (msg forkedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	var cmd tea.Cmd
	if msg.prompt != "" && m.branch.edit.on() {
		m, cmd = m.unamend().armDraft()
	}
	back := "/sessions"
	if k := m.usual(actSessions); k != "" {
		back = k
	}
	m.wanted = Intent{Kind: WantOpen, Open: Open{
		Session: msg.session, Prompt: msg.prompt,
		Notices: []string{"this is a fork; " + back + " goes back to " + NameOf(m.session) + ", which stays as it is"},
	}}
	return m, cmd
}

// branchOff sends a text instead of a message that was said before the session
// was forked: in a fork of its own.
func (m Model) branchOff(r harness.Record, text string) (Model, tea.Cmd) {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		s, err := ForkBefore(ctx, d, id, r)
		return forkedMsg{to, s, text, err}
	}
}

// ForkBefore makes a session that goes its own way before a record, of which
// [ErrFirst] says that it is the first of all.
func ForkBefore(ctx context.Context, d Deps, id harness.SessionID, r harness.Record) (harness.Session, error) {
	of, err := tree.Previous(ctx, d.Transcript, id, r)
	if err == nil && of.Record == 0 {
		err = ErrFirst
	}
	var s harness.Session
	if err == nil {
		s, err = d.Sessions.Fork(ctx, id, of, harness.Session{})
	}
	if err != nil {
		return s, fmt.Errorf("fork before message %d: %w", r.Seq, err)
	}
	return s, nil
}

// ErrFirst says that nothing is before a message.
var ErrFirst = errors.New("nothing was said before it: /new begins anew")
