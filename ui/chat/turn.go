package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// phase says where the turn of this chat stands.
type phase int

const (
	phaseIdle phase = iota
	// phaseStarting waits for the message or the resumption to be on disk.
	phaseStarting
	phaseRunning
	phaseStopping
)

// turn is the execution of one message as this window follows it.
type turn struct {
	// n counts the turns of this chat; messages of older ones are stale.
	n     int
	phase phase
	run   harness.RunID
	since time.Time
	// step counts model calls.
	step int
	live *live
	// stop ends following, not the run.
	stop context.CancelFunc
	// sent is what the person wrote, given back if it could not be stored.
	sent string
	// queued says that sent came from the queue.
	queued bool
	// how says in which way an unfinished run is gone on with; closes that a
	// message ends one, whose half answer is stored with it.
	how    harness.ResumeHow
	closes bool
}

func (t turn) active() bool { return t.phase != phaseIdle }

// runs reports whether the turn is of this run and at work.
func (t turn) runs(id harness.RunID) bool { return t.active() && id != "" && t.run == id }

// live is what has been streamed and is no stored message yet. It grows in
// place; a model that follows a run owns it alone.
type live struct {
	attempt  int
	text     *render.Stream
	n        int // bytes of text
	thinking []byte
	thought  *render.Stream // thinking as far as it has been looked at
	// now is what goes on: a wait, a retry, a tool.
	now string
	// mark names why the text does not go on, of a run that is over.
	mark string
	// at is the time of the text of another window or an earlier process.
	at time.Time
}

func newLive(md *render.Markdown) *live {
	return &live{text: render.NewStream(md), thought: render.NewStream(md)}
}

// add takes streamed text that begins at an offset of an attempt. What is
// there already is not added again.
func (l *live) add(md *render.Markdown, e harness.Event) {
	if e.Attempt > l.attempt {
		*l = live{attempt: e.Attempt, text: render.NewStream(md), thought: render.NewStream(md)}
	}
	if e.Attempt < l.attempt {
		return
	}
	l.now = ""
	if e.Type == harness.EventThinking {
		l.thinking = append(l.thinking, unseen(e.Text, e.Offset, len(l.thinking))...)
		return
	}
	piece := unseen(e.Text, e.Offset, l.n)
	l.n += len(piece)
	l.text.Append(piece)
}

// unseen is the part of a text at an offset that lies beyond have bytes.
func unseen(text string, offset, have int) string {
	if skip := have - offset; skip > 0 {
		return text[min(skip, len(text)):]
	}
	return text
}

func (l *live) empty() bool { return l == nil || l.n == 0 && len(l.thinking) == 0 }

// live lays out the streamed text.
func (d desk) live() []string {
	l := d.m.turn.live
	if l.empty() {
		return nil
	}
	paints, o := d.l.theme.Paints, d.l.theme.Ornaments
	word := "writing"
	if l.mark != "" {
		word = l.mark
	}
	out := []string{""}
	if !d.goesOn() {
		out = append(out, d.fit(paints.Assistant.On("cairn")+paints.Muted.On(d.tail(d.at(l.at), word))))
	}
	switch {
	case len(l.thinking) == 0:
	case d.l.thinking:
		l.thought.Append(string(l.thinking[len(l.thought.Text()):]))
		out = append(out, d.fit(paints.Muted.On(o.Open+" thinking")))
		out = append(out, l.thought.Lines(d.l.width)...)
	default:
		out = append(out, d.fit(paints.Muted.On(o.Closed+" thinking")))
	}
	if l.n > 0 {
		if d.l.thinking && len(l.thinking) > 0 {
			out = append(out, "")
		}
		out = append(out, l.text.Lines(d.l.width)...)
	}
	return out
}

// goesOn reports whether the streamed text goes on from an answer of the same
// run right above it.
func (d desk) goesOn() bool {
	if d.m.turn.live.mark != "" {
		return false
	}
	for j := len(d.m.pages.items) - 1; j >= 0; j-- {
		it := d.m.pages.items[j]
		if it.quiet != "" {
			return false
		}
		switch msg := it.rec.Message; {
		case msg == nil:
			return false
		case msg.Role == harness.RoleTool:
		default:
			return msg.Role == harness.RoleAssistant && d.m.turn.runs(it.rec.Run) && msg.Mark == harness.MarkNone
		}
	}
	return false
}

// begin opens a turn and shows it as starting.
func (m Model) begin(text string) (Model, context.Context) {
	ctx, stop := context.WithCancel(m.ctx)
	m.turn = turn{
		n: m.turn.n + 1, phase: phaseStarting, since: m.deps.Now(), stop: stop, sent: text,
		live: newLive(m.deps.Markdown),
	}
	m.notice, m.failed = "", nil
	m.escAt = time.Time{}
	return m, ctx
}

// send starts a turn with a message.
func (m Model) send(text string) (Model, tea.Cmd) {
	m, ctx := m.begin(text)
	msg := harness.UserText(text)
	m.pages.add(item{rec: harness.Record{Kind: harness.RecordMessage, Message: &msg, At: m.deps.Now()}, sent: true})
	m.pages.follow = true
	m.turn.closes, m.open = m.open != nil, nil
	return m, tea.Batch(m.start(ctx, msg, nil), m.tick())
}

// start is the command that begins the run, after moving the head if a record
// to answer again is given.
func (m Model) start(ctx context.Context, msg harness.Message, again *harness.Record) tea.Cmd {
	d, lease, to, setup, session := m.deps, m.own.lease, m.to(), m.setup, m.session
	request := harness.NewID()
	return func() tea.Msg {
		out := startedMsg{to: to}
		if setup.Run.Model == "" {
			if setup, out.err = d.Config(ctx, session); out.err != nil {
				return out
			}
			out.setup = &setup
		}
		if again != nil {
			if out.err = d.Transcript.MoveHead(ctx, lease, again.Prev); out.err != nil {
				return out
			}
		}
		out.handle, out.err = d.Engine.Start(ctx, harness.StartRequest{
			Lease: lease, Message: msg, Config: setup.Run, Request: request, Dir: d.Dir,
		})
		if out.err == nil {
			out.events = out.handle.Events(ctx, 0)
		}
		return out
	}
}

// resume goes on with an unfinished run.
func (m Model) resume(run harness.Run, how harness.ResumeHow) (Model, tea.Cmd) {
	shown := m.turn.live
	m, ctx := m.begin("")
	m.turn.how = how
	if how == harness.ResumeContinue && shown != nil { // stays until its message is stored
		m.turn.live.mark, m.turn.live.at = shown.mark, shown.at
		m.turn.live.text, m.turn.live.n = shown.text, shown.n
	}
	m.open = nil
	d, lease, to := m.deps, m.own.lease, m.to()
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to, resumed: &run}
		if out.handle, out.err = d.Engine.Resume(ctx, lease, run.ID, how); out.err == nil {
			out.events = out.handle.Events(ctx, run.Cursor)
		}
		return out
	})
}

// startedMsg says that a run began, or why not.
type startedMsg struct {
	to
	handle  harness.RunHandle
	events  <-chan harness.Event
	setup   *Setup
	resumed *harness.Run
	err     error
}

func (msg startedMsg) apply(m Model) (Model, tea.Cmd, Intent) {
	if msg.setup != nil {
		m.setup = *msg.setup
	}
	if msg.turn != m.turn.n {
		return m, nil, Intent{}
	}
	if msg.err != nil {
		m, cmd := m.notStarted(msg)
		return m, cmd, Intent{}
	}
	stopping := m.turn.phase == phaseStopping
	m.turn.phase, m.turn.run = phaseRunning, msg.handle.ID()
	m.stored = true
	cmds := []tea.Cmd{pump(m.ctx, m.to(), msg.events)}
	if m.turn.closes {
		cmds = append(cmds, m.reload())
	}
	if m.turn.sent != "" {
		cmds = append(cmds, m.remember(m.turn.sent))
		m.past = m.past.added(m.turn.sent)
	}
	var cmd tea.Cmd
	m, cmd = m.saveDraft()
	cmds = append(cmds, cmd)
	if stopping {
		m, cmd = m.cancel()
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...), Intent{}
}

// notStarted gives the text back and says why.
func (m Model) notStarted(msg startedMsg) (Model, tea.Cmd) {
	m.pages.unsend()
	text, queued := m.turn.sent, m.turn.queued
	m.turn.stop()
	m.turn = turn{n: m.turn.n}
	m.open = msg.resumed
	switch {
	case text == "":
	case m.box.Empty() && !queued:
		m.box = m.box.SetText(text)
	default:
		m.draft.queue = append([]string{text}, m.draft.queue...)
		m.draft.version++
	}
	m.failed = msg.err
	m, cmd := m.trouble(msg.err)
	return m, tea.Batch(cmd, m.reload())
}

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

func (msg eventsMsg) apply(m Model) (Model, tea.Cmd, Intent) {
	if msg.turn != m.turn.n {
		return m, nil, Intent{}
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
	return m, tea.Batch(cmds...), Intent{}
}

// event takes one event of the run.
func (m Model) event(e harness.Event) (Model, tea.Cmd) {
	if e.Seq > 0 {
		m.saved, m.failed = e.At, nil
	}
	l := m.turn.live
	switch e.Type {
	case harness.EventRunStarted:
		m = m.keep(e)
	case harness.EventText, harness.EventThinking:
		l.add(m.deps.Markdown, e)
		m.turn.step = max(m.turn.step, e.Attempt)
	case harness.EventReset:
		m.turn.live = &live{attempt: e.Attempt, text: render.NewStream(m.deps.Markdown), thought: render.NewStream(m.deps.Markdown)}
	case harness.EventMessage:
		m = m.answered(e)
	case harness.EventToolStart:
		if e.Call != nil {
			l.now = "running " + render.SafeLine(e.Call.Name)
		}
	case harness.EventToolResult:
		l.now = ""
		if e.Result != nil {
			m.results[e.Result.CallID] = e.Result
		}
		m = m.keep(e)
	case harness.EventWaiting:
		l.now = waitWords(e)
	case harness.EventRetry:
		l.now = fmt.Sprintf("trying again in %d s", e.Wait)
		if e.Error != nil {
			l.now = render.SafeLine(strings.TrimSuffix(e.Error.Text, ".")) + "; " + l.now
		}
	case harness.EventRecovery, harness.EventCondensed, harness.EventMemory:
		if e.Message != nil && e.Record > 0 {
			m = m.keep(e)
		} else if e.Text != "" {
			m.pages.add(item{quiet: e.Text})
		}
	case harness.EventApproval, harness.EventUncertain:
		m.notice = "a decision is waiting"
	case harness.EventResult:
		return m.rested(e.Outcome)
	}
	return m, nil
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
	if m.turn.how != "" && m.turn.how != harness.ResumeContinue && m.turn.live.empty() && e.Message != nil && e.Message.Mark != harness.MarkNone {
		return m // the half answer that is put aside, off the branch
	}
	m = m.keep(e)
	if e.Message == nil || e.Message.Role != harness.RoleAssistant {
		return m
	}
	attempt := m.turn.live.attempt
	m.turn.live = newLive(m.deps.Markdown)
	m.turn.live.attempt = attempt
	if u := e.Message.Usage; u != nil {
		m.context = u.Input + u.Output
	}
	return m
}

// waitWords says what is waited for.
func waitWords(e harness.Event) string {
	switch {
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
func (m Model) rested(r *harness.Result) (Model, tea.Cmd) {
	t := m.turn
	m.turn = turn{n: t.n}
	if t.stop != nil {
		t.stop()
	}
	if r == nil {
		return m, m.reload()
	}
	cmds := []tea.Cmd{m.describe()}
	switch r.Status {
	case harness.RunCompleted:
		m.notice = stopWords(r.Stop)
		if len(m.draft.queue) > 0 && m.own.state == accessOwner {
			var cmd tea.Cmd
			m, cmd = m.sendQueued()
			cmds = append(cmds, cmd)
		}
	case harness.RunFailed, harness.RunPaused:
		m.turn.live = t.live
		m.turn.live.mark = string(harness.MarkInterrupted)
		m.open = &harness.Run{ID: t.run, Session: m.session.ID, Status: r.Status, Error: r.Error}
		cmds = append(cmds, m.findOpen())
	case harness.RunAwaiting:
		m.notice = m.deps.Words(harness.ErrAwaiting)
	case harness.RunCancelled, harness.RunRunning:
		m.notice = "stopped"
		if r.Stop == harness.StopDropped {
			m.notice = "dropped; the half answer is kept in the session's log"
		}
		cmds = append(cmds, m.reload())
	}
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
	}
	return ""
}

// stopRun stops the run, or has it stopped as soon as it has an id.
func (m Model) stopRun() (Model, tea.Cmd) {
	switch m.turn.phase {
	case phaseStarting:
		m.turn.phase = phaseStopping
		return m, nil
	case phaseRunning:
		return m.cancel()
	case phaseIdle, phaseStopping:
	}
	return m, nil
}

// cancel asks the engine to stop the run; the events say when it has.
func (m Model) cancel() (Model, tea.Cmd) {
	m.turn.phase = phaseStopping
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.turn.run
	return m, func() tea.Msg {
		if err := d.Engine.Cancel(ctx, id); err != nil {
			return troubleMsg{to, err}
		}
		return nil
	}
}

// tickMsg is due once a second while a turn runs.
type tickMsg struct{ to }

// tick waits for the next whole second of the turn.
func (m Model) tick() tea.Cmd {
	to := m.to()
	wait := time.Second - m.deps.Now().Sub(m.turn.since)%time.Second
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{to} })
}

func (msg tickMsg) apply(m Model) (Model, tea.Cmd, Intent) {
	if msg.turn != m.turn.n || !m.turn.active() {
		return m, nil, Intent{}
	}
	return m, m.tick(), Intent{}
}
