package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// Why nothing is condensed now.
const (
	offCondensing = "old messages are being condensed; stop that first"
	offUnended    = "an answer is unfinished; continue, retry or drop it first"
	// NoCompact says that there is nothing to condense with.
	NoCompact = "nothing is condensed in this chat"
	// NothingToCompact says that the conversation is short enough.
	NothingToCompact = "there is nothing to condense"
	// NothingToPrune says that no result of a tool can be left out.
	NothingToPrune = "no result of a tool is old and long enough to be left out"
)

// condensing is the condensing that a person asked for.
type condensing struct {
	// n tells its messages from those of an older one.
	n int
	// stop ends it; nil if none is under way.
	stop context.CancelFunc
	what Compaction
	// done of parts are condensed.
	done, of int
	// asks is what it would take, while the person is asked about that.
	asks *CompactPlan
}

func (c condensing) busy() bool { return c.stop != nil }

// uncondense ends the condensing that is under way or asked about. What it did
// so far stays.
func (m Model) uncondense() Model {
	if m.condensing.busy() {
		m.condensing.stop()
	}
	m.condensing = condensing{n: m.condensing.n + 1}
	return m
}

// compact condenses old messages, after a look at what that takes.
func (m Model) compact(what Compaction) (Model, tea.Cmd) {
	why := m.fixed()
	switch {
	case why != "":
	case m.deps.Compact == nil:
		why = NoCompact
	case m.open != nil:
		why = offUnended
	}
	if why != "" {
		m.notice = why
		return m, nil
	}
	m = m.uncondense()
	m.condensing.what = what
	if m.deps.Plan == nil || what.Prune { // which calls no model
		return m.condense()
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.condensing.stop = stop
	d, id, to, n := m.deps, m.session.ID, m.to(), m.condensing.n
	return m, func() tea.Msg {
		defer stop()
		plan, err := d.Plan(ctx, id, what)
		return plannedMsg{to, n, plan, err}
	}
}

// plannedMsg says what condensing would take.
type plannedMsg struct {
	to
	n    int
	plan CompactPlan
	err  error
}

func (msg plannedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.n != m.condensing.n {
		return m, nil
	}
	m.condensing.stop = nil
	switch {
	case msg.err != nil:
		m, cmd := m.trouble(msg.err)
		return m.goOn(cmd)
	case msg.plan == CompactPlan{}:
		m.notice = NothingToCompact
		return m.goOn(nil)
	case msg.plan.Asks() && m.draft.eager: // a message waits, which ends what is asked
		return m.goOn(nil)
	case msg.plan.Asks():
		m.condensing.asks = &msg.plan
		return m, nil
	}
	return m.condense()
}

// condense begins to condense.
func (m Model) condense() (Model, tea.Cmd) {
	ctx, stop := context.WithCancel(m.ctx)
	m.condensing = condensing{n: m.condensing.n + 1, stop: stop, what: m.condensing.what}
	d, lease, to, n, what := m.deps, m.own.lease, m.to(), m.condensing.n, m.condensing.what
	told := make(chan [2]int, 1)
	tell := func(done, of int) {
		select {
		case <-told: // nobody has looked at what was told before
		default:
		}
		told <- [2]int{done, of}
	}
	return m, tea.Batch(followParts(to, n, told), func() tea.Msg {
		defer stop()
		defer close(told)
		out := compactedMsg{to: to, n: n}
		out.what, out.err = d.Compact(ctx, lease, what, tell)
		return out
	})
}

// partMsg says how many parts are condensed.
type partMsg struct {
	to
	n, done, of int
	told        <-chan [2]int
}

// followParts waits for what is told next.
func followParts(to to, n int, told <-chan [2]int) tea.Cmd {
	return func() tea.Msg {
		part, ok := <-told
		if !ok {
			return nil
		}
		return partMsg{to, n, part[0], part[1], told}
	}
}

func (msg partMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.n == m.condensing.n {
		m.condensing.done, m.condensing.of = msg.done, msg.of
	}
	return m, followParts(msg.to, msg.n, msg.told)
}

// compactedMsg says what condensing came to.
type compactedMsg struct {
	to
	n    int
	what Compacted
	err  error
}

func (msg compactedMsg) apply(m Model) (Model, tea.Cmd) {
	if errors.Is(msg.err, harness.ErrLost) {
		return m.lost(msg.err)
	}
	if msg.n != m.condensing.n { // it was stopped, and nobody waits for it
		return m, m.reload()
	}
	asked := m.condensing.what
	m.condensing = condensing{n: m.condensing.n}
	cmd := m.reload()
	switch {
	case msg.err != nil:
		var told tea.Cmd
		m, told = m.trouble(msg.err)
		cmd = tea.Batch(cmd, told)
	case msg.what == Compacted{}:
		m.notice = asked.Nothing()
	default: // the record that comes says it
		m.pages.follow = true
	}
	return m.goOn(cmd)
}

// stopCondensing is esc while messages are condensed.
func (m Model) stopCondensing() (Model, tea.Cmd) {
	m = m.uncondense()
	m.notice = "stopped condensing; nothing is lost, and parts that are done stay condensed"
	return m.goOn(nil)
}

// goOn sends what was written while messages were condensed.
func (m Model) goOn(cmd tea.Cmd) (Model, tea.Cmd) {
	if !m.draft.eager || m.turn.active() || m.own.state != accessOwner {
		return m, cmd
	}
	m.draft.eager = false
	m, sent := m.sendQueued()
	return m, tea.Batch(cmd, sent)
}

// condenseWords say how far the condensing is.
func (m Model) condenseWords() string {
	if c := m.condensing; c.of > 1 {
		return fmt.Sprintf("condensing, part %d of %d", min(c.done+1, c.of), c.of)
	}
	return "condensing"
}

// confirms reports whether a key decides about condensing now.
func (m Model) confirms() bool {
	return m.condensing.asks != nil && m.box.Empty() && !m.turn.active() && !m.asks()
}

// confirm takes a key that decides about condensing. A letter is written into
// the box and counts only if nothing follows it.
func (m Model) confirm(action, key string) (Model, tea.Cmd) {
	if len([]rune(key)) > 1 {
		return m.confirmed(action)
	}
	m.box = m.box.Insert(key)
	m.draft.version++
	msg := confirmMsg{m.to(), action, key, m.draft.version}
	return m, tea.Tick(quietFor, func(time.Time) tea.Msg { return msg })
}

// confirmMsg says that the quiet time after a letter is over.
type confirmMsg struct {
	to
	action, key string
	version     int // of the draft when the letter was typed
}

func (msg confirmMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.version != m.draft.version || m.condensing.asks == nil || m.box.Text() != msg.key {
		return m, nil
	}
	m.box = m.box.SetText("")
	m.draft.version++
	return m.confirmed(msg.action)
}

// confirmed condenses as was asked, or leaves it.
func (m Model) confirmed(action string) (Model, tea.Cmd) {
	why := m.fixed()
	if m.open != nil && why == "" {
		why = offUnended
	}
	m.condensing.asks = nil
	switch {
	case action != actCondense:
		m.notice = "nothing is condensed"
		return m, nil
	case why != "":
		m.notice = why
		return m, nil
	}
	return m.condense()
}
