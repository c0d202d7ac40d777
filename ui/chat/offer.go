package chat

import (
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

// quietFor is how long nothing may be typed after a letter that chooses what
// becomes of an unfinished run. A message that happens to begin with that
// letter goes on sooner, and chooses nothing.
const quietFor = 400 * time.Millisecond

// kindAuth is the kind of a run's error at a key that is missing or refused.
const kindAuth = "auth"

// resumption is the way that an action goes on with an unfinished run.
func resumption(action string) harness.ResumeHow {
	switch action {
	case actContinue:
		return harness.ResumeContinue
	case actRetry:
		return harness.ResumeRetry
	default:
		return harness.ResumeDrop
	}
}

// offers reports whether the keys of the unfinished run work.
func (m Model) offers() bool {
	return m.open != nil && m.box.Empty() && !m.turn.active() && m.own.state == accessOwner
}

// offer takes a key that chooses. A letter is written into the box and counts
// only if nothing follows it.
func (m Model) offer(action, key string) (Model, tea.Cmd) {
	if utf8.RuneCountInString(key) > 1 {
		return m.goOnWith(action)
	}
	m.box = m.box.Insert(key)
	m.draft.version++
	msg := offerMsg{m.to(), action, key, m.draft.version}
	return m, tea.Tick(quietFor, func(time.Time) tea.Msg { return msg })
}

// offerMsg says that the quiet time after a letter is over.
type offerMsg struct {
	to
	action, key string
	version     int // of the draft when the letter was typed
}

func (msg offerMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.version != m.draft.version || m.open == nil || m.box.Text() != msg.key || m.ask.shown && m.waits() {
		return m, nil
	}
	m.box = m.box.SetText("")
	m.draft.version++
	return m.goOnWith(msg.action)
}

// goOnWith does with the unfinished run what was chosen. Where its engine could not
// be reached that is tried again.
func (m Model) goOnWith(action string) (Model, tea.Cmd) {
	if action == actKey {
		m.wanted = Intent{Kind: WantKey, Text: m.open.Config.Model, Say: m.deps.Words(m.open.Error)}
		return m, nil
	}
	if m.open.Unreachable != "" {
		m.notice = "asking " + m.open.Engine + " again"
		m.away.again = true
		return m.fetch()
	}
	return m.resume(*m.open, resumption(action))
}

// unkeyed is why no other key is asked for: off, or that the unfinished answer did
// not fail at one.
func (m Model) unkeyed(off string) string {
	if off == "" && (m.open.Error == nil || m.open.Error.Kind != kindAuth || m.open.Config.Model == "") {
		return "no key was refused"
	}
	return off
}

// openWords describes the unfinished run.
func (m Model) openWords() string {
	if m.open == nil || m.turn.active() {
		return ""
	}
	if m.asks() {
		return ""
	}
	if why := standing.Unreachable(*m.open); why != "" {
		return "an unfinished answer is kept elsewhere: " + why
	}
	what := "an answer was interrupted"
	switch m.open.Status {
	case harness.RunFailed:
		what = "the answer failed"
	case harness.RunPaused:
		what = "an answer is paused"
	case harness.RunAwaiting:
		what = "an answer waits for a decision"
		if m.waits() {
			what = m.pendingWords(m.open)
		}
	case harness.RunRunning, harness.RunCompleted, harness.RunCancelled:
	}
	if at := m.open.Updated; !at.IsZero() {
		if m.waits() {
			what += ", since"
		}
		what += " " + at.In(m.deps.Now().Location()).Format("15:04")
	}
	if e := m.open.Error; e != nil {
		what += ": " + strings.TrimSuffix(m.deps.Words(e), ".")
	}
	return what
}

// StaysWith says that an unfinished run goes on with the model that it began with,
// if another one was chosen since; else it is empty.
func StaysWith(run harness.Run, chosen string) string {
	began := run.Config.Model
	if began == "" || chosen == "" || began == chosen {
		return ""
	}
	return "it goes on with " + began + ", a message asks " + chosen
}
