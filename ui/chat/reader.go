package chat

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// peekMsg brings what a reader sees of a session that another window writes.
type peekMsg struct {
	to
	session *harness.Session
	records []harness.Record
	partial *harness.Partial
	waits   *harness.Run // a run that waits for a decision
	run     *harness.Run // the run that has not ended
	pins    []harness.Origin
	pinned  bool // the pins were read
	err     error
}

// peek reads the end of the conversation and the text that streams in another
// window.
func (m Model) peek() tea.Cmd {
	ctx, d, to, id, known, head := m.ctx, m.deps, m.to(), m.session.ID, m.session.PinRecords, m.session.Head
	return func() tea.Msg {
		out := peekMsg{to: to}
		s, err := d.Sessions.Get(ctx, id)
		if err != nil {
			if !errors.Is(err, harness.ErrNotFound) {
				out.err = err
			}
			return out
		}
		out.session = &s
		if out.records, out.err = d.Transcript.Tail(ctx, id, 0, firstPage); out.err != nil {
			return out
		}
		if s.PinRecords != known || s.Head < head { // a lower head is another branch
			if out.pins, out.err = Pins(ctx, d.Transcript, s); out.err != nil {
				return out
			}
			out.pinned = true
		}
		return out.withRuns(ctx, d, id)
	}
}

// withRuns takes the runs of the session that have not ended.
func (msg peekMsg) withRuns(ctx context.Context, d Deps, id harness.SessionID) peekMsg {
	runs, err := d.Engine.List(ctx, harness.RunFilter{Session: id, Unfinished: true})
	if err != nil {
		msg.err = err
		return msg
	}
	for _, r := range runs {
		full, err := d.Engine.Get(ctx, r.ID)
		switch {
		case err == nil:
			msg.run = &full
			if full.Partial != nil {
				msg.partial = full.Partial
			}
			if full.Status == harness.RunAwaiting && len(full.Pending) > 0 {
				msg.waits = &full
			}
		case !errors.Is(err, harness.ErrNotFound):
			msg.err = err
		}
	}
	return msg
}

func (msg peekMsg) apply(m Model) (Model, tea.Cmd) {
	m, again := m.looked()
	if m.own.state != accessReader {
		return m, again
	}
	if msg.err != nil {
		m, cmd := m.trouble(msg.err)
		return m, tea.Batch(again, cmd)
	}
	if msg.session == nil {
		return m, again
	}
	if s := msg.session; m.branch.tree.Open() && (s.Head != m.session.Head || s.Records != m.session.Records) {
		again = tea.Batch(again, m.readTree())
	}
	m = m.describes(*msg.session)
	m.own.holder, m.own.waits, m.own.run = harness.Holder{}, msg.waits, msg.run
	if msg.session.Owner != nil {
		m.own.holder = *msg.session.Owner
	}
	if msg.pinned {
		m = m.withPins(msg.pins)
	}
	m = m.shows(msg.records, msg.session.Records)
	switch {
	case msg.partial == nil:
		m.turn.live = nil
	case m.turn.live != nil && m.turn.live.attempt == msg.partial.Attempt:
		// The text has most often only grown: what is laid out stays.
		m.turn.live.text.Set(msg.partial.Text)
		m.turn.live.n = len(msg.partial.Text)
		m.turn.live.thinking = []byte(msg.partial.Thinking)
	default:
		m = m.showPartial(*msg.partial, "writing")
	}
	m, soon := m.peekSoon()
	return m, tea.Batch(again, soon)
}
