// Package runs is the screen of runs: those that have not ended, then those
// that ended lately, what each did and what it waits for. The one thing to
// know: nothing is agreed to here that was not read. The keys that decide about
// a call open the whole of what it would do first, count only there, only once
// its end was on the screen, and only after a moment in which nothing changed.
//
// The root calls Open when the screen comes to the front, sends Changed when
// the store changed, and tea.WindowSizeMsg with the size that View gets. A run
// that was decided about goes on in this process, also when the screen is left,
// so this screen is told of changes when it is not in front, too.
package runs

import (
	"context"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Engine is what the screen needs of [harness.Engine].
type Engine interface {
	Get(ctx context.Context, id harness.RunID) (harness.Run, error)
	List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error)
	Decide(ctx context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error)
	Resume(ctx context.Context, l harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error)
	Pause(ctx context.Context, id harness.RunID) error
	Cancel(ctx context.Context, id harness.RunID) error
}

// Remote is what the screen needs of [harness.Remote].
type Remote interface {
	Attach(ctx context.Context, l harness.Lease, id harness.RunID) (harness.RunHandle, error)
}

// Sessions is what the screen needs of [harness.Sessions].
type Sessions interface {
	Get(ctx context.Context, id harness.SessionID) (harness.Session, error)
}

// Transcript is what the screen needs of [harness.Transcript].
type Transcript interface {
	Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error)
}

// Config is what the screen works with.
type Config struct {
	// Engine, Sessions and Owners must be given.
	Engine   Engine
	Sessions Sessions
	Owners   harness.Owners
	// Remote follows runs that are kept elsewhere; nil if there are none.
	Remote Remote
	// Prune removes the journals of runs that ended long ago, and returns how many;
	// nil leaves that to others.
	Prune func(ctx context.Context) (int, error)
	// Transcript shows the steps of a run; nil leaves them out.
	Transcript Transcript
	// Self is this process. It holds the sessions of runs that go on from here.
	Self harness.Holder
	// User names the person in the record of what they decide; empty if that is
	// not known.
	User string
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock of ages and of the keys' sleep; nil means time.Now.
	Now func() time.Time
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "runs.drop"; an empty
	// list leaves an action without a key.
	Keys map[string][]string
}

// Intent is what the root is to do; nil means nothing. It is one of Open, Say,
// Help and Back.
type Intent interface{ intent() }

type (
	// Open asks for the conversation of a run. What waits there, waits there.
	Open struct{ Session harness.SessionID }
	// Say asks to have something said on the screen in front, while that is not
	// this one: how a run that went on from here came to rest.
	Say struct{ Text string }
	// Help asks for the help overlay with the keys of this screen.
	Help struct{}
	// Back asks for the screen before.
	Back struct{}
)

func (Open) intent() {}
func (Say) intent()  {}
func (Help) intent() {}
func (Back) intent() {}

// Msg is any message that belongs to this screen.
type Msg interface{ runsMsg() }

// Changed tells the screen that the store changed.
type Changed struct{}

func (Changed) runsMsg() {}

// mode is what is shown, and what the keys mean.
type mode int

const (
	modeList   mode = iota
	modeRun         // one run, all of it
	modeDecide      // one decision, all of what is agreed to
)

// Model is the screen. It is a value: Update returns the next one.
type Model struct {
	ctx context.Context
	c   Config

	front         bool
	width, height int

	mode   mode
	list   list
	call   string // the decision of modeDecide, by its call
	page   page
	notice notice
	sleep  sleep
	// confirm is the run that one more key drops.
	confirm harness.RunID
	// busy are the runs about which a command of this screen is at work.
	busy map[harness.RunID]bool
	// drives are the runs that go on from here, by session.
	drives map[harness.SessionID]drive

	loading loading
	steps   steps
	tail    tail
	// dues numbers the readings that are due because runs go on elsewhere.
	dues int
	// pruning says that one more key removes old runs.
	pruning bool
}

// notice is the line that tells what happened. The next key takes it away.
type notice struct {
	text   string
	failed bool
}

// New returns the screen, empty until Open.
func New(ctx context.Context, c Config) Model {
	if c.Self.PID == 0 {
		c.Self.PID = os.Getpid()
	}
	c.Self.Purpose = "runs"
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // what Config.Now says
	}
	if c.Words == nil {
		c.Words = error.Error
	}
	return Model{ctx: ctx, c: c}
}

// Open brings the screen to the front and reads the runs anew.
func (m Model) Open() (Model, tea.Cmd) {
	m.front, m.notice, m.confirm = true, notice{}, ""
	m.mode, m.call = modeList, ""
	m.sleep.over = ""
	m, load := m.load()
	m = m.laid()
	m, wake := m.rouse()
	return m, tea.Batch(load, wake)
}

// SetTheme changes the colours.
func (m Model) SetTheme(t *themes.Theme) Model {
	m.c.Theme = t
	m.page = page{pane: m.page.pane, seen: m.page.seen, of: m.page.of}
	return m.laid()
}

const keyGroup = "Runs"

// Bindings are the keys of the screen as they are now.
func (m Model) Bindings() []render.Binding {
	var b []render.Binding
	switch m.mode {
	case modeRun:
		b = m.runKeys()
	case modeDecide:
		b = m.decideKeys()
	default:
		b = m.listKeys()
	}
	b = append(b, moving()...)
	b = append(b, render.Binding{Action: "runs.help", Keys: []string{"?", "f1"}, Help: "help", Group: keyGroup, Rank: 9})
	return widget.Rebind(b, m.c.Keys)
}

func (m Model) listKeys() []render.Binding {
	return append(m.acting(),
		render.Binding{Action: "runs.read", Keys: []string{"v", "right"}, Help: "read it all", Group: keyGroup, Rank: 6, Off: m.none()},
		render.Binding{Action: "runs.back", Keys: []string{"esc", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 2},
	)
}

func (m Model) runKeys() []render.Binding {
	return append(m.acting(),
		render.Binding{Action: "runs.leave", Keys: []string{"esc", "left", "v", "ctrl+c"}, Help: "back to the list", Group: keyGroup, Rank: 2})
}

// acting are the keys that act on the selected run.
func (m Model) acting() []render.Binding {
	open := render.Binding{Action: "runs.open", Keys: []string{"enter"}, Help: "open", Group: keyGroup, Rank: 1, Off: m.none()}
	if m.list.failed != nil {
		open.Help, open.Off = "try again", ""
	}
	drop := "drop"
	if m.confirm != "" {
		drop = "drop it now"
	}
	decide, halt := first(m.none(), m.undecidable(m.firstOpen()), m.asleep()), m.unhaltable()
	return []render.Binding{
		open,
		{Action: "runs.approve", Keys: []string{"y"}, Help: "approve once", Group: keyGroup, Rank: 3, Off: decide},
		{Action: "runs.refuse", Keys: []string{"n"}, Help: "refuse", Group: keyGroup, Rank: 4, Off: decide},
		{Action: "runs.drop", Keys: []string{"d"}, Help: drop, Group: keyGroup, Rank: 5, Off: m.undroppable()},
		{Action: "runs.resume", Keys: []string{"r"}, Help: "resume", Group: keyGroup, Rank: 7, Off: m.unresumable()},
		{Action: "runs.retry", Keys: []string{"t"}, Help: "ask again", Group: keyGroup, Off: m.unretriable()},
		{Action: "runs.pause", Keys: []string{"p"}, Help: "pause", Group: keyGroup, Rank: 8, Off: halt},
		{Action: "runs.cancel", Keys: []string{"x"}, Help: "stop for good", Group: keyGroup, Rank: 8, Off: halt},
		{Action: "runs.again", Keys: []string{"a"}, Help: "run the uncertain call again", Group: keyGroup, Off: m.unresolvable()},
		{Action: "runs.end", Keys: []string{"e"}, Help: "end the run at the uncertain call", Group: keyGroup, Off: m.unresolvable()},
		{Action: "runs.prune", Keys: []string{"P"}, Help: "remove old runs", Group: keyGroup, Off: m.unprunable()},
	}
}

func (m Model) decideKeys() []render.Binding {
	off := first(m.none(), m.undecidable(m.list.pending(m.call)), m.asleep())
	other := ""
	if it, ok := m.list.selected(); !ok || len(it.run.Pending) < 2 {
		other = "nothing else waits in this run"
	}
	resolve, uncertain := m.unresolvable(), 0
	if p := m.list.pending(m.call); p != nil && p.Uncertain {
		uncertain = 1
	}
	return []render.Binding{
		{Action: "runs.approve", Keys: []string{"y"}, Help: "approve once", Group: keyGroup, Rank: 1 - uncertain, Off: first(off, m.unread())},
		{Action: "runs.refuse", Keys: []string{"n"}, Help: "refuse", Group: keyGroup, Rank: 2 - 2*uncertain, Off: off},
		{Action: "runs.again", Keys: []string{"a"}, Help: "run the uncertain call again", Group: keyGroup, Rank: uncertain, Off: first(resolve, m.unread())},
		{Action: "runs.end", Keys: []string{"e"}, Help: "end the run at the uncertain call", Group: keyGroup, Rank: 2 * uncertain, Off: resolve},
		{Action: "runs.leave", Keys: []string{"esc", "left", "ctrl+c"}, Help: "decide later", Group: keyGroup, Rank: 3},
		{Action: "runs.open", Keys: []string{"enter"}, Help: "open", Group: keyGroup, Rank: 4, Off: m.none()},
		{Action: "runs.next", Keys: []string{"tab"}, Help: "next decision", Group: keyGroup, Rank: 5, Off: other},
	}
}

// moving are the keys that move in a list and scroll a text.
func moving() []render.Binding {
	return []render.Binding{
		{Action: "runs.up", Keys: []string{"up", "k"}, Help: "up", Group: keyGroup},
		{Action: "runs.down", Keys: []string{"down", "j"}, Help: "down", Group: keyGroup},
		{Action: "runs.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: keyGroup},
		{Action: "runs.page-down", Keys: []string{"pgdown", " "}, Help: "a page down", Group: keyGroup},
		{Action: "runs.first", Keys: []string{"home", "g"}, Help: "first", Group: keyGroup},
		{Action: "runs.last", Keys: []string{"end", "G"}, Help: "last", Group: keyGroup},
	}
}

// key is the key of an action as a sentence names it.
func (m Model) key(action, usual string) string { return widget.KeyFor(m.c.Keys, action, usual) }

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// Actions are all keys of the screen, whatever it shows now.
func Actions() []render.Binding {
	type name struct{ action, help string }
	var out []render.Binding
	seen := map[name]bool{}
	for _, mode := range []mode{modeList, modeRun, modeDecide} {
		for _, b := range (Model{mode: mode}).Bindings() {
			if n := (name{b.Action, b.Help}); !seen[n] {
				seen[n] = true
				out = append(out, b)
			}
		}
	}
	return out
}
