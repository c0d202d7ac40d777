package runs

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// awayEvery is how often the list is read while runs go on that are kept
// elsewhere: what they do changes nothing in the store.
const awayEvery = 2 * time.Second

// tail is the selected run as it is followed where it is kept: its steps, and the
// text that streams. Followings are numbered.
type tail struct {
	n    int
	of   harness.RunID
	stop context.CancelFunc
	list []harness.Record
	// attempt and text are what streams.
	attempt int
	text    string
	failed  error
	// over says that the run came to rest, after entry seq.
	over bool
	seq  int
}

type (
	// tailed brings what a followed run did.
	tailed struct {
		n      int
		events []harness.Event
		from   <-chan harness.Event
		ended  bool
		err    error
	}
	// due is when the list is to be read anew.
	due struct{ n int }
)

func (tailed) runsMsg() {}
func (due) runsMsg()    {}

// follows reports whether a run is read where it is kept, and not from its
// conversation.
func (m Model) follows(r harness.Run) bool {
	return m.c.Remote != nil && r.Away() && r.Unreachable == "" && (r.Unfetched > 0 || !r.Status.Closed())
}

// trail follows the selected run where it is kept, and the one before no more.
func (m Model) trail() (Model, tea.Cmd) {
	it, ok := m.list.selected()
	want := harness.RunID("")
	if ok && m.front && m.follows(it.run) {
		want = it.run.ID
	}
	if want == m.tail.of && (!m.tail.over || it.run.Cursor <= m.tail.seq) {
		return m, nil
	}
	if m.tail.stop != nil {
		m.tail.stop()
	}
	m.tail = tail{n: m.tail.n + 1, of: want}
	if want == "" {
		return m, nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.tail.stop = stop
	c, n := m.c, m.tail.n
	return m, func() tea.Msg {
		h, err := c.Remote.Attach(ctx, harness.Lease{}, want)
		if err != nil {
			return tailed{n: n, ended: true, err: err}
		}
		return pump(n, h.Events(ctx, 0))
	}
}

// pump waits for what a run does next, and takes what is ready with it.
func pump(n int, from <-chan harness.Event) tailed {
	out := tailed{n: n, from: from}
	e, more := <-from
	for more && len(out.events) < stepRecords {
		out.events = append(out.events, e)
		select {
		case e, more = <-from:
		default:
			return out
		}
	}
	if more {
		out.events = append(out.events, e)
	}
	out.ended = !more
	return out
}

func (m Model) onTailed(msg tailed) (Model, tea.Cmd) {
	if msg.n != m.tail.n {
		return m, nil
	}
	m.tail.failed = msg.err
	for _, e := range msg.events {
		m.tail = m.tail.took(e)
	}
	if msg.ended {
		m.tail.over = msg.err == nil
		return m.reload()
	}
	return m, func() tea.Msg { return pump(msg.n, msg.from) }
}

// took adds what an event tells to the steps.
func (t tail) took(e harness.Event) tail {
	t.seq = max(t.seq, e.Seq)
	switch e.Type {
	case harness.EventText:
		if e.Attempt != t.attempt {
			t.attempt, t.text = e.Attempt, ""
		}
		if skip := len(t.text) - e.Offset; skip >= 0 && skip < len(e.Text) {
			t.text += e.Text[skip:]
		}
	case harness.EventReset:
		t.attempt, t.text = e.Attempt, ""
	default:
		if e.Message == nil {
			return t
		}
		t.text = ""
		t.list = append(t.list[:len(t.list):len(t.list)], harness.Record{Seq: e.Seq, Run: e.Run, At: e.At, Message: e.Message})
	}
	return t
}

// await reads the list again after a while if runs go on elsewhere.
func (m Model) await() (Model, tea.Cmd) {
	on := false
	for _, it := range m.list.items {
		on = on || it.run.Away() && (!it.run.Status.Closed() || it.run.Unfetched > 0)
	}
	if !on || !m.front {
		return m, nil
	}
	m.dues++
	n := m.dues
	return m, tea.Tick(awayEvery, func(time.Time) tea.Msg { return due{n} })
}

func (m Model) onDue(msg due) (Model, tea.Cmd) {
	if msg.n != m.dues {
		return m, nil
	}
	return m.reload()
}
