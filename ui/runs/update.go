package runs

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// sleepFor is how long nothing may change on the screen, and nothing be typed,
// before the keys that decide count: a key that was meant for what was there
// before decides nothing.
const sleepFor = 600 * time.Millisecond

// sleeping is why they do not count yet.
const sleeping = "the keys that decide wake up after 0.6 s without a change"

// sleep is the sleep of the keys that decide.
type sleep struct {
	over  string    // what is decided about; another thing puts the keys to sleep
	until time.Time // when they wake
}

// woke has the keys shown as they are after their sleep.
type woke struct{}

func (woke) runsMsg() {}

// Update handles a key, the wheel, a size, or one of this screen's messages.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		m, cmd, intent = m.onKeys(msg)
	case tea.MouseMsg:
		m, cmd = m.onMouse(msg)
	case Msg:
		m, cmd, intent = m.onMine(msg)
	}
	switch intent.(type) {
	case Open, Back:
		m.front = false
	}
	m, trail := m.trail()
	cmd = tea.Batch(cmd, trail)
	m = m.laid()
	m, wake := m.rouse()
	return m, tea.Batch(cmd, wake), intent
}

// onMine handles what the screen's commands found.
func (m Model) onMine(msg Msg) (Model, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case Changed:
		m, cmd = m.onChanged()
	case listed:
		m, cmd = m.onListed(msg)
	case stepped:
		m, cmd = m.onStepped(msg)
	case decided:
		m, cmd, intent = m.onDecided(msg)
	case dropped:
		m, cmd, intent = m.onDropped(msg)
	case wanted:
		m, cmd = m.onWanted(msg)
	case rested:
		m, cmd, intent = m.onRested(msg)
	case tailed:
		m, cmd = m.onTailed(msg)
	case due:
		m, cmd = m.onDue(msg)
	case halted:
		m, cmd, intent = m.onHalted(msg)
	case pruned:
		m, cmd = m.onPruned(msg)
	case woke:
		if m.asleep() == "" && m.notice.text == upper(sleeping)+"." {
			m.notice = notice{}
		}
	}
	return m, cmd, intent
}

// onKeys handles letters that came in one message one by one: two keys pressed
// quickly are two keys.
func (m Model) onKeys(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	if k.Type != tea.KeyRunes || k.Paste || k.Alt || len(k.Runes) < 2 {
		return m.onKey(k)
	}
	var cmds []tea.Cmd
	for i := range k.Runes {
		one := k
		one.Runes = k.Runes[i : i+1]
		var cmd tea.Cmd
		var intent Intent
		m, cmd, intent = m.onKey(one)
		m = m.laid()
		m, wake := m.rouse()
		cmds = append(cmds, cmd, wake)
		if intent != nil {
			return m, tea.Batch(cmds...), intent
		}
	}
	return m, tea.Batch(cmds...), nil
}

func (m Model) onKey(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	action, off := widget.Match(m.Bindings(), k)
	m.notice = notice{}
	confirm, pruning := m.confirm, m.pruning
	m.confirm, m.pruning = "", false
	if m.asleep() != "" && !strings.HasPrefix(action, "runs.") {
		m.sleep.until = m.c.Now().Add(sleepFor) // somebody is typing
	}
	if action == "" {
		if off != "" {
			m.notice = notice{text: upper(off) + "."}
		}
		return m, m.wake(), nil
	}
	switch action {
	case "runs.open":
		return m.open()
	case "runs.resume":
		return m.resume()
	case "runs.back":
		return m, nil, Back{}
	case "runs.help":
		return m, nil, Help{}
	case "runs.read":
		m.mode = modeRun
		return m, nil, nil
	case "runs.leave":
		m.mode, m.call = modeList, ""
		return m, nil, nil
	case "runs.approve", "runs.refuse":
		m, cmd := m.consent(action == "runs.approve")
		return m, cmd, nil
	case "runs.next":
		return m.next(), nil, nil
	default:
		m, cmd := m.act(action, confirm, pruning)
		return m, cmd, nil
	}
}

// act does something with the selected run, or moves.
func (m Model) act(action string, confirm harness.RunID, pruning bool) (Model, tea.Cmd) {
	switch action {
	case "runs.drop":
		return m.drop(confirm)
	case "runs.retry":
		return m.goOn(harness.ResumeRetry)
	case "runs.pause", "runs.cancel":
		return m.halt(action == "runs.cancel")
	case "runs.again", "runs.end":
		return m.resolve(action == "runs.again")
	case "runs.prune":
		return m.prune(pruning)
	default:
		return m.move(action)
	}
}

// open asks for the conversation of the selected run, or reads the list again
// if that failed.
func (m Model) open() (Model, tea.Cmd, Intent) {
	if m.list.failed != nil {
		m, cmd := m.load()
		return m, cmd, nil
	}
	it, ok := m.list.selected()
	if !ok {
		return m, nil, nil
	}
	return m, nil, Open{it.run.Session}
}

// move moves in the list, or scrolls the text.
func (m Model) move(action string) (Model, tea.Cmd) {
	l := m.layout(m.width, m.height)
	height := l.list
	if m.mode != modeList {
		height = l.page
	}
	const all = 1 << 30
	by := map[string]int{
		"runs.up": -1, "runs.down": 1, "runs.page-up": -max(height-1, 1), "runs.page-down": max(height-1, 1),
		"runs.first": -all, "runs.last": all,
	}[action]
	return m.step(by)
}

func (m Model) step(by int) (Model, tea.Cmd) {
	if m.mode != modeList {
		m.page.pane = m.page.pane.By(by)
		return m, nil
	}
	m.list = m.list.to(m.list.at + by)
	return m.look()
}

func (m Model) onMouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	const lines = 3
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		return m.step(-lines)
	case tea.MouseButtonWheelDown:
		return m.step(lines)
	default:
		return m, nil
	}
}

// rouse puts the keys that decide to sleep when what they decide about is not
// what it was, and returns the command that wakes them.
func (m Model) rouse() (Model, tea.Cmd) {
	about := ""
	if it, ok := m.list.selected(); ok {
		p := m.firstOpen()
		if m.mode == modeDecide {
			p = m.list.pending(m.call)
		}
		about = string(it.run.ID)
		if p != nil {
			about += " " + p.Call.ID + " " + p.Digest
		}
		if m.mode == modeDecide {
			about += " shown"
		}
	}
	if about == m.sleep.over {
		return m, nil
	}
	m.sleep = sleep{over: about, until: m.c.Now().Add(sleepFor)}
	return m, m.wake()
}

// wake is the command that has the keys drawn once they are awake, nil if they
// are.
func (m Model) wake() tea.Cmd {
	left := m.sleep.until.Sub(m.c.Now())
	if left <= 0 {
		return nil
	}
	return tea.Tick(left, func(time.Time) tea.Msg { return woke{} })
}

// asleep says that the keys that decide do not count yet; empty if they do.
func (m Model) asleep() string {
	if m.sleep.until.IsZero() || !m.c.Now().Before(m.sleep.until) {
		return ""
	}
	return sleeping
}

// next shows the next thing that the run waits for.
func (m Model) next() Model {
	it, _ := m.list.selected()
	for i, p := range it.run.Pending {
		if p.Call.ID == m.call {
			m.call = it.run.Pending[(i+1)%len(it.run.Pending)].Call.ID
			break
		}
	}
	return m
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
