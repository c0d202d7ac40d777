package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/tree"
)

// editing is a message of the person that the text in the box is to replace on
// a branch of its own. The zero value is none.
type editing struct {
	record harness.Record
	// former is what was in the box before.
	former string
}

func (e editing) on() bool { return e.record.Seq > 0 }

// stored is what a draft says of the message, nil if none is edited.
func (e editing) stored() *harness.Origin {
	if !e.on() {
		return nil
	}
	o := origin(e.record)
	return &o
}

// EditedBy reads the message that a draft is to replace, nil if it replaces none
// or that one is no longer on the branch that is shown.
func EditedBy(ctx context.Context, t harness.Transcript, id harness.SessionID, d harness.Draft) (*harness.Record, error) {
	if d.Edits == nil || d.Text == "" {
		return nil, nil
	}
	r, found, err := tree.Find(ctx, t, id, *d.Edits)
	if err != nil || !found || !tree.Said(r) {
		return nil, err
	}
	return &r, nil
}

// NotOnBranch says that a draft cannot replace the message that it was written
// to replace.
func NotOnBranch(o harness.Origin) string {
	return "message " + strconv.Itoa(o.Record) + ", which it was to replace, is not on this branch any more: it is a new message now"
}

// editNth edits the n-th last message of the person.
func (m Model) editNth(arg string) (Model, tea.Cmd) {
	n, ok := Which(arg)
	switch why := m.fixed(); {
	case !ok:
		m.notice = WhichWords("edit")
		return m, nil
	case why != "":
		m.notice = why
		return m, nil
	}
	return m, m.nth(n, func(m Model, t tree.Turn) (Model, tea.Cmd) { return m.amend(t.Said) })
}

// amend puts a message of the person into the box, to be sent instead of it.
// What was written there goes to the history of prompts, and comes back when
// editing is left.
func (m Model) amend(r harness.Record) (Model, tea.Cmd) {
	if why := m.fixed(); why != "" {
		m.notice = why
		return m, nil
	}
	e := editing{record: r, former: m.box.Text()}
	if m.branch.edit.on() {
		e.former = m.branch.edit.former
	}
	var kept tea.Cmd
	if e.former != "" && e.former != m.branch.returned {
		kept = m.remember(e.former)
		m.past = m.past.added(e.former)
	}
	m.branch.edit, m.branch.returned = e, ""
	m.box = m.box.SetText(r.Message.Text())
	m.draft.version++
	m, cmd := m.armDraft()
	return m, tea.Batch(kept, cmd)
}

// unamend leaves editing; what was in the box before comes back.
func (m Model) unamend() Model {
	m.box = m.box.SetText(m.branch.edit.former)
	m.draft.version++
	m.branch.edit = editing{}
	return m
}

// editWords say what the text in the box is for.
func (m Model) editWords() string {
	if !m.branch.edit.on() {
		return ""
	}
	r, dot := m.branch.edit.record, " "+m.deps.Theme.Ornaments.Dot+" "
	words := "editing message " + strconv.Itoa(r.Seq)
	if r.In != "" {
		words += " from before the fork"
	}
	if send := m.keyOf(actSend); send != "" && m.width >= fullWidth {
		where := "on a new branch"
		if r.In != "" {
			where = "in a new fork"
		}
		words += dot + send + " sends it " + where
	}
	if leave := m.keyOf(actStop); leave != "" {
		words += dot + leave + " leaves it"
	}
	return words
}

// resend sends the text instead of the message that is edited.
func (m Model) resend(text string) (Model, tea.Cmd) {
	if why := m.fixed(); why != "" {
		m.notice = why
		return m, nil
	}
	e := m.branch.edit
	if e.record.In != "" {
		return m.branchOff(e.record, text)
	}
	m.branch.edit = editing{}
	m.box = m.box.SetText(e.former)
	m.draft.version++
	return m.sendInstead(e.record, Replaced(*e.record.Message, text), e)
}

// Replaced is a message with another text; what else it holds stays.
func Replaced(msg harness.Message, text string) harness.Message {
	parts := []harness.Part{{Kind: harness.PartText, Text: text}}
	for _, p := range msg.Parts {
		if p.Kind != harness.PartText || p.File != nil {
			parts = append(parts, p)
		}
	}
	msg.Parts = parts
	return msg
}

// sendInstead starts a turn with a message in the place of one of the person's,
// on a branch of its own. The edit is gone back to if that fails.
func (m Model) sendInstead(r harness.Record, msg harness.Message, e editing) (Model, tea.Cmd) {
	text, open := "", m.open
	if e.on() {
		text = msg.Text()
	}
	m, ctx := m.begin(text)
	m.turn.edit, m.turn.closes, m.open = e, true, nil
	m.pages.cut(max(m.pages.index(origin(r)), 0))
	m.pages.add(item{rec: harness.Record{Kind: harness.RecordMessage, Message: &msg, At: m.deps.Now()}, sent: true})
	draft := harness.Draft{Text: text, Edits: e.stored(), Queue: slices.Clone(m.draft.queue), At: m.deps.Now()}
	write := asIs(msg)
	if e.on() {
		write = m.writer(text, r.Message).once()
	}
	d, lease, to, start, model := m.deps, m.own.lease, m.to(), m.start(ctx, write), m.setup.Run.Model
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to}
		if e.on() { // a crash after the move leaves the text in the draft
			out.err = d.Drafts.Save(ctx, lease.Session, d.Holder, draft)
		}
		if out.err == nil { // what cannot be sent moves nothing
			_, _, out.err = write(ctx, model)
		}
		if out.err == nil {
			out.err = Drop(ctx, d.Engine, lease, open)
		}
		if out.err != nil {
			return out
		}
		err := Instead(ctx, d, lease, r, func() error {
			out = start()
			return out.err
		})
		out.err = err
		return out
	})
}

// Instead moves the head to before a record and starts there, with the newest note
// of what was condensed before. If that fails the head goes back to where it was.
func Instead(ctx context.Context, d Deps, l harness.Lease, r harness.Record, start func() error) error {
	was, err := d.Sessions.Get(ctx, l.Session)
	if err == nil {
		err = d.Transcript.MoveHead(ctx, l, r.Prev)
	}
	if err != nil {
		return fmt.Errorf("go back to before message %d: %w", r.Seq, err)
	}
	if err = keepNote(ctx, d.Transcript, l, r, was.Head); err == nil {
		err = start()
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveFor)
		defer cancel()
		err = errors.Join(err, d.Transcript.MoveHead(ctx, l, was.Head))
	}
	return err
}

// retry answers a message of the person again. What was answered stays in the
// session's log.
func (m Model) retry(arg string) (Model, tea.Cmd) {
	n, ok := Which(arg)
	switch why := m.fixed(); {
	case !ok:
		m.notice = WhichWords("retry")
		return m, nil
	case why != "":
		m.notice = why
		return m, nil
	case m.open != nil && n == 1:
		return m.resume(*m.open, harness.ResumeRetry)
	}
	return m, m.nth(n, func(m Model, t tree.Turn) (Model, tea.Cmd) { return m.again(t.Said) })
}

// again answers a message once more.
func (m Model) again(r harness.Record) (Model, tea.Cmd) {
	if why := m.fixed(); why != "" {
		m.notice = why
		return m, nil
	}
	if r.In != "" {
		return m.branchOff(r, r.Message.Text())
	}
	return m.sendInstead(r, *r.Message, editing{})
}
