package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// distillAfter is how long it is quiet behind a turn before what was said is
// read for what is worth keeping: one who goes on at once is not to pay for it
// after each message.
const distillAfter = 8 * time.Second

// Distilled is what reading a part of a conversation came to.
type Distilled struct {
	// Suggested wait in the inbox for a person.
	Suggested []harness.Suggestion
	// Accepted are facts that were kept at once. They are not among Suggested.
	Accepted []harness.Fact
}

// distilling is the reading of what was said for what is worth keeping.
type distilling struct {
	// n tells the timer and the reading that count from older ones.
	n int
	// stop ends the reading that is under way; nil if none is.
	stop context.CancelFunc
	// trouble is what was said last of why reading failed.
	trouble string
}

// quietMsg is due when it was quiet for a while behind a turn.
type quietMsg struct {
	to
	n int
}

// distilledMsg says what reading the conversation came to.
type distilledMsg struct {
	to
	n    int
	what Distilled
	err  error
}

// distils reports whether the conversation is to be read now.
func (m Model) distils() bool {
	return m.deps.Distill != nil && !m.deps.Ephemeral && !m.noMemory() && m.own.state == accessOwner && !m.own.gone &&
		!m.turn.active() && !m.Leaving() && !m.leaving.left
}

// awaitQuiet begins to wait for the quiet behind a turn that is over.
func (m Model) awaitQuiet() (Model, tea.Cmd) {
	m = m.undistil()
	if !m.distils() {
		return m, nil
	}
	to, n := m.to(), m.distil.n
	return m, tea.Tick(distillAfter, func(time.Time) tea.Msg { return quietMsg{to, n} })
}

// undistil ends the waiting and the reading. What the reading has stored by
// then is told when it comes.
func (m Model) undistil() Model {
	m.distil.n++
	if m.distil.stop != nil {
		m.distil.stop()
		m.distil.stop = nil
	}
	return m
}

func (msg quietMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.n != m.distil.n || !m.distils() {
		return m, nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.distil.stop = stop
	distill, lease, to, n := m.deps.Distill, m.own.lease, m.to(), m.distil.n
	return m, func() tea.Msg {
		defer stop()
		out := distilledMsg{to: to, n: n}
		out.what, out.err = distill(ctx, lease)
		return out
	}
}

func (msg distilledMsg) apply(m Model) (Model, tea.Cmd) {
	current := msg.n == m.distil.n
	if current {
		m.distil.stop = nil
	}
	dot := " " + m.deps.Theme.Ornaments.Dot + " "
	for _, f := range msg.what.Accepted { // also those of a reading that was ended too late
		m = m.wrote(write{did: didRemember, id: f.ID})
		m.pages.add(item{quiet: didRemember + " " + f.ID + ": " + render.SafeLine(f.Text) + m.undoHint(dot, "undoes it")})
	}
	if words := SuggestedWords(msg.what.Suggested); words != "" {
		m.pages.add(item{quiet: words + ": /inbox"})
	}
	switch {
	case msg.err == nil:
		m.distil.trouble = ""
	case !current, errors.Is(msg.err, context.Canceled), errors.Is(msg.err, harness.ErrStale): // another one has read it
	case errors.Is(msg.err, harness.ErrLost):
		return m.lost(msg.err)
	default:
		if words := m.deps.Words(msg.err); words != m.distil.trouble {
			m.distil.trouble = words
			m.pages.add(item{quiet: "what was said was not read for facts to remember: " + words})
		}
	}
	return m, nil
}

// SuggestedWords say how much was suggested, such as "2 facts and 1 change
// suggested"; empty for nothing.
func SuggestedWords(all []harness.Suggestion) string {
	facts := 0
	for _, s := range all {
		if s.Kind == harness.SuggestAdd {
			facts++
		}
	}
	var parts []string
	if facts > 0 {
		parts = append(parts, harness.Count(facts, "fact"))
	}
	if n := len(all) - facts; n > 0 {
		parts = append(parts, harness.Count(n, "change"))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, " and ") + " suggested"
}

// waitingMsg says how much waits in the inbox.
type waitingMsg struct {
	to
	n   int
	err error
}

// countInbox looks how much waits in the inbox.
func (m Model) countInbox() tea.Cmd {
	if m.deps.Inbox == nil {
		return nil
	}
	ctx, inbox, to := m.ctx, m.deps.Inbox, m.to()
	return func() tea.Msg {
		all, err := inbox.List(ctx, harness.InboxFilter{})
		return waitingMsg{to, len(all), err}
	}
}

func (msg waitingMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case msg.n > 0:
		m.pages.add(item{quiet: InboxWords(msg.n)})
	}
	return m, nil
}

// InboxWords say how much waits in the inbox.
func InboxWords(n int) string { return fmt.Sprintf("%d in the inbox: /inbox", n) }
