package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

// eventsMsg is a batch of events of a run.
type eventsMsg struct {
	to
	events []harness.Event
	from   <-chan harness.Event
	ended  bool
}

// batchMax bounds a batch, so that keys get their turn.
const batchMax = 256

// pump waits for the next event and drains what is ready.
func pump(ctx context.Context, to to, from <-chan harness.Event) tea.Cmd {
	return func() tea.Msg {
		out := eventsMsg{to: to, from: from}
		select {
		case e, ok := <-from:
			if !ok {
				out.ended = true
				return out
			}
			out.events = append(out.events, e)
		case <-ctx.Done():
			out.ended = true
			return out
		}
		for len(out.events) < batchMax {
			select {
			case e, ok := <-from:
				if !ok {
					out.ended = true
					return out
				}
				out.events = append(out.events, e)
			default:
				return out
			}
		}
		return out
	}
}

// Pressing implements [screen.Pressing]: all but text that streams is shown at once.
func (msg eventsMsg) Pressing() bool {
	return msg.ended || slices.ContainsFunc(msg.events, func(e harness.Event) bool {
		return e.Type != harness.EventText && e.Type != harness.EventThinking
	})
}

func (msg eventsMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n {
		return m, nil
	}
	var cmds []tea.Cmd
	for _, e := range msg.events {
		if msg.turn != m.turn.n || !m.turn.active() {
			break // a result ended the turn
		}
		var cmd tea.Cmd
		m, cmd = m.event(e)
		cmds = append(cmds, cmd)
	}
	switch {
	case msg.turn != m.turn.n || !m.turn.active():
	case !msg.ended:
		cmds = append(cmds, pump(m.ctx, m.to(), msg.from))
	default: // the stream ended without a result: look at what is stored
		m.turn = turn{n: m.turn.n}
		cmds = append(cmds, m.reload(), m.findOpen())
	}
	return m, tea.Batch(cmds...)
}

// event takes one event of the run.
func (m Model) event(e harness.Event) (Model, tea.Cmd) {
	if e.Seq > 0 {
		m.saved = e.At
		if !m.leaving.refused { // what could not be saved then is not in the run
			m.failed = nil
		}
	}
	l := m.turn.live
	if e.Seq > 0 || e.Type == harness.EventText || e.Type == harness.EventThinking {
		m.turn.unclaimed = ""
	}
	switch e.Type {
	case harness.EventRunStarted:
		m = m.keep(e)
	case harness.EventText, harness.EventThinking:
		l.add(m.deps.Markdown, e)
	case harness.EventReset:
		m.turn.live = &live{attempt: e.Attempt, text: render.NewStream(m.deps.Markdown), thought: render.NewStream(m.deps.Markdown)}
	case harness.EventSteered:
		m = m.heard(e)
	case harness.EventMessage:
		m = m.answered(e)
	case harness.EventToolStart:
		if e.Call != nil {
			l.now = "running " + render.SafeLine(e.Call.Name)
		}
	case harness.EventProgress:
		m = m.progresses(e)
	case harness.EventToolResult:
		m = m.resulted(e)
	case harness.EventWaiting:
		l.now = waitWords(e)
	case harness.EventUnclaimed:
		l.now, m.turn.unclaimed = "waiting for a worker", standing.Unclaimed(e.Text)
	case harness.EventRetry:
		m = m.retries(e)
	case harness.EventCondensed:
		l.now = ""
		m = m.condensedBy(e)
	case harness.EventRecovery, harness.EventMemory:
		if l.now = ""; e.Type == harness.EventRecovery {
			m.turn.step++
		}
		if e.Message != nil && e.Record > 0 {
			m = m.keep(e)
		} else if w, ok := writeOf(e); ok {
			m = m.wrote(w)
			m.pages.add(item{quiet: e.Text + m.undoHint(" "+m.deps.Theme.Ornaments.Dot+" ", "undoes it")})
		} else if e.Text != "" {
			m.pages.add(item{quiet: e.Text})
		}
	case harness.EventApproval, harness.EventQuestion, harness.EventUncertain:
		// They are asked when the run rests, which the result says.
	case harness.EventDecided:
		if e.Call != nil {
			m.pages.add(item{quiet: e.Call.Name + ": " + e.Text})
		}
	case harness.EventResult:
		return m.rested(e)
	}
	return m, nil
}

// resulted takes the result of a call, which says more than how far it was.
func (m Model) resulted(e harness.Event) Model {
	m.turn.live.now = ""
	if e.Result != nil {
		m.turn.progress = m.turn.progress.ended(e.Result.CallID)
		m.results[e.Result.CallID] = e.Result
	}
	return m.keep(e)
}

// retries tells that a call will be made again: while it waits on the status
// line, and in the conversation once for all of a row.
func (m Model) retries(e harness.Event) Model {
	again, why := fmt.Sprintf("trying again in %d s", e.Wait), ""
	if e.Error != nil {
		why = render.SafeLine(strings.TrimSuffix(e.Error.Text, "."))
	}
	told := "tried again"
	if e.Text != "" { // another model: who answers is told for good
		again = render.SafeLine(e.Text)
		told = again
	}
	it := item{quiet: told, retry: e.Text == ""}
	m.turn.live.now = again
	if why != "" {
		it.quiet = why + "; " + told
		m.turn.live.now += ": " + why // of which there may be no room for all
	}
	if n := len(m.pages.items); n > 0 && m.pages.items[n-1].retry {
		m.pages.items = m.pages.items[: n-1 : n-1]
	}
	m.pages.add(it)
	return m
}

// condensedBy shows where the run condensed old messages.
func (m Model) condensedBy(e harness.Event) Model {
	if e.Condensed == nil || e.Record == 0 {
		if e.Text != "" {
			m.pages.add(item{quiet: e.Text})
		}
		return m
	}
	data, err := json.Marshal(e.Condensed)
	if err != nil { // it is shown once it is read from the store
		return m
	}
	m.pages.put(harness.Record{Seq: e.Record, Run: e.Run, At: e.At, Kind: harness.RecordCondensed, Data: data})
	return m.marked()
}

// keep shows the stored message of an event.
func (m Model) keep(e harness.Event) Model {
	if e.Message == nil {
		m.pages.settle(e.Record)
		return m
	}
	rec := harness.Record{Seq: e.Record, Run: e.Run, At: e.At, Kind: harness.RecordMessage, Message: e.Message}
	m.learn(rec)
	m.pages.put(rec)
	return m
}

// answered takes a whole answer, which stands where its text streamed.
func (m Model) answered(e harness.Event) Model {
	if e.Steer != "" {
		return m.heard(e)
	}
	if m.turn.how != "" && m.turn.how != harness.ResumeContinue && m.turn.live.empty() && e.Message != nil && e.Message.Mark != harness.MarkNone {
		return m // the half answer that is put aside, off the branch
	}
	m = m.keep(e)
	if e.Message == nil || e.Message.Role != harness.RoleAssistant {
		return m
	}
	attempt := m.turn.live.attempt
	m.pages.inherit(m.turn.live.fold)
	m.turn.live = newLive(m.deps.Markdown)
	m.turn.live.attempt = attempt
	if len(e.Message.Calls()) > 0 {
		m.turn.step++
	} else {
		m.turn.live.now = nowSaving
	}
	if u := e.Message.Usage; u != nil {
		m.context = u.Input + u.Output
	}
	if s := e.Message.Sent; s != nil && s.Dropped > 0 {
		m = m.marked()
	}
	return m
}

// waitWords says what is waited for.
func waitWords(e harness.Event) string {
	switch {
	case e.Error != nil && e.Error.Kind == "store":
		// The cause comes first: what failed in the end, such as a full disk.
		cause := e.Error.Text[strings.LastIndex(e.Error.Text, ": ")+1:]
		return "not saved yet, trying again: " + render.SafeLine(strings.TrimSpace(cause))
	case e.Error != nil && e.Error.Kind == "engine":
		// Which run, and at which address, is known: a line has room for the cause.
		cause := e.Error.Text
		if _, at, ok := strings.Cut(cause, "://"); ok {
			if _, why, ok := strings.Cut(at, ": "); ok {
				cause = why
			}
		}
		return "the engine does not answer, trying again: " + render.SafeLine(cause)
	case e.Error != nil:
		return "waiting: " + render.SafeLine(e.Error.Text)
	case e.Text != "":
		return render.SafeLine(e.Text)
	case e.Wait > 0:
		return fmt.Sprintf("nothing from the model for %d s, still waiting", e.Wait)
	}
	return "still waiting"
}

// learn notes the results in a record.
func (m Model) learn(rec harness.Record) {
	if rec.Message == nil {
		return
	}
	for _, p := range rec.Message.Parts {
		if p.Kind == harness.PartResult && p.Result != nil {
			m.results[p.Result.CallID] = p.Result
		}
	}
}

// rested ends the turn as the run did.
func (m Model) rested(e harness.Event) (Model, tea.Cmd) {
	t, r := m.turn, e.Outcome
	if r != nil && r.Error != nil && r.Error.Kind == "lost" && t.kept == keptAway {
		return m.lost(harness.ErrLost)
	}
	m.turn = turn{n: t.n}
	if t.stop != nil {
		t.stop()
	}
	if r == nil {
		return m, m.reload()
	}
	m.turn.ended = r.Status
	cmds := []tea.Cmd{m.describe()}
	switch r.Status {
	case harness.RunCompleted:
		m.notice = cmp.Or(stopWords(r.Stop), m.hint)
		var title tea.Cmd
		m, title = m.entitle()
		cmds = append(cmds, title)
		if len(m.draft.queue) > 0 && m.own.state == accessOwner {
			var cmd tea.Cmd
			m, cmd = m.sendQueued()
			cmds = append(cmds, cmd)
		} else {
			var cmd tea.Cmd
			m, cmd = m.awaitQuiet()
			cmds = append(cmds, cmd)
		}
	case harness.RunAwaiting:
		m.open = &harness.Run{ID: t.run, Session: m.session.ID, Status: r.Status, Cursor: e.Seq, Pending: r.Pending, Updated: e.At}
		var cmd tea.Cmd
		m, cmd = m.asked()
		cmds = append(cmds, cmd, m.findOpen())
	case harness.RunFailed, harness.RunPaused:
		if r.Error != nil && r.Error.Kind == "engine" { // of which the run itself tells nothing
			m.pages.add(item{quiet: m.deps.Words(r.Error)})
		}
		m.turn.live = t.live
		m.turn.live.mark = string(harness.MarkInterrupted)
		m.open = &harness.Run{ID: t.run, Session: m.session.ID, Status: r.Status, Error: r.Error}
		cmds = append(cmds, m.findOpen())
	case harness.RunCancelled, harness.RunRunning:
		m.notice = "stopped"
		if r.Stop == harness.StopDropped {
			m.notice = "dropped; what there was of it is kept in the session's log"
		}
		cmds = append(cmds, m.reload())
	}
	m, cmd := m.steered(t, r.Status)
	cmds = append(cmds, cmd)
	return m, tea.Batch(cmds...)
}

// stopWords says why an answer ended, if that is not obvious.
func stopWords(s harness.StopReason) string {
	switch s {
	case harness.StopLength:
		return "the answer is cut: it reached the model's reply limit; write \"go on\" for more"
	case harness.StopRefusal, harness.StopSafety:
		return "the model declined to answer"
	case harness.StopSteps:
		return "stopped at the step limit; write \"go on\" for more"
	case harness.StopEmpty:
		return "the model sent an empty answer; /retry asks again"
	default:
		return ""
	}
}
