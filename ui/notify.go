package ui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat"
	"cairn/ui/render"
	"cairn/ui/screen"
)

// How a person who looks elsewhere is told.
const (
	NotifyAuto   = "auto"
	NotifyBell   = "bell"
	NotifyOSC9   = "osc9"
	NotifyOSC777 = "osc777"
	NotifyOff    = "off"
)

// NotifyUse says how a person who looks elsewhere is told that a turn ended or
// waits for them.
type NotifyUse struct {
	// How is one of the ways above; empty means [NotifyAuto].
	How string
	// After is how long a turn takes whose end is told; 0 tells of every one.
	After time.Duration
}

// noticeMax bounds the text of a notification, in cells.
const noticeMax = 80

// turnSeen is a chat at work, or one that waits for a decision.
type turnSeen struct {
	chat    int
	since   time.Time
	waiting bool
}

// watchTurns notes what the chats do now, and returns what there is to tell of
// those that did it before: that a turn ended which took long, or that a decision
// is waited for.
func (m Model) watchTurns() (Model, tea.Cmd) {
	var tell string
	var now []turnSeen
	note := func(c chat.Model) {
		busy, waiting := c.Busy(), c.Waiting()
		i := slices.IndexFunc(m.term.turns, func(t turnSeen) bool { return t.chat == c.Number() })
		if i < 0 && !busy && !waiting {
			return
		}
		t := turnSeen{chat: c.Number(), since: m.deps.Now(), waiting: waiting}
		if i >= 0 { // what waited already when the chat was opened is no news
			was := m.term.turns[i]
			switch {
			case waiting && !was.waiting:
				tell = "waits for your decision: " + title(c)
			case !busy && !waiting && !was.waiting && t.since.Sub(was.since) >= m.deps.Notify.After:
				tell = "done: " + title(c)
			}
			if waiting || !was.waiting { // after a decision it begins anew
				t.since = was.since
			}
		}
		if busy || waiting {
			now = append(now, t)
		}
	}
	note(m.chat)
	for _, c := range m.parked {
		note(c)
	}
	m.term.turns = now
	if tell == "" || !m.term.away {
		return m, nil
	}
	return m, m.notify(tell)
}

// title names a chat.
func title(c chat.Model) string {
	if t := strings.TrimSpace(c.Session().Title); t != "" {
		return t
	}
	return "a chat"
}

// notify tells a person who looks elsewhere something in one line.
func (m Model) notify(text string) tea.Cmd {
	how := m.deps.Notify.How
	inside := m.getenv("TMUX") != ""
	if how == "" || how == NotifyAuto {
		how, inside = m.notifies(), false
	}
	// A ';' would part the text, and at its beginning numbers mean something else.
	text = "cairn: " + strings.ReplaceAll(render.Truncate(render.SafeLine(text), noticeMax, m.look.theme.Ornaments.Ellipsis), ";", ",")
	var sequence string
	switch how {
	case NotifyBell:
		return screen.Control([]byte("\a"))
	case NotifyOSC9:
		sequence = "\x1b]9;" + text + "\x1b\\"
	case NotifyOSC777:
		sequence = "\x1b]777;notify;cairn;" + text + "\x1b\\"
	default:
		return nil
	}
	if inside { // whoever asks for it by name wants it through tmux, too
		sequence = "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return screen.Control([]byte(sequence))
}

// notifies is the way that the terminal is known to have. The bell is the one that
// all have, and tmux marks the window for it.
func (m Model) notifies() string {
	name := strings.ToLower(m.term.able.Name)
	for way, names := range map[string][]string{
		NotifyOSC9:   {"kitty", "wezterm", "iterm2", "ghostty", "windows terminal"},
		NotifyOSC777: {"foot", "contour", "rxvt"},
	} {
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) }) {
			return way
		}
	}
	return NotifyBell
}

// getenv is a variable of the environment, empty where nobody tells.
func (m Model) getenv(name string) string {
	if m.deps.Getenv == nil {
		return ""
	}
	return m.deps.Getenv(name)
}
