// Package chat is the chat screen: one session's conversation, the box to
// write in, and the turn that is under way.
//
// The one thing to know: a chat is a value. Its messages are sealed (Msg) and
// know how they change it; commands do all reading and writing and change
// nothing; what it wants of the root it says with an Intent. What is shown of
// a session is what is stored, plus the text that streams right now.
package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/chat/compose"
	"cairn/ui/chat/leader"
	"cairn/ui/chat/recall"
)

// Msg is a message of a chat. Only this package has them.
type Msg interface {
	apply(m Model) (Model, tea.Cmd)
	owner() int
}

// to says which chat a message is for, and the turn in which it was asked for.
type to struct{ chat, turn int }

func (t to) owner() int { return t.chat }

// Model is the chat screen.
type Model struct {
	deps   Deps
	ctx    context.Context
	leave  context.CancelFunc // ends everything this chat waits for
	number int

	width, height int

	session harness.Session
	// stored says that the session exists in the store.
	stored bool
	setup  Setup
	// context is the number of tokens of the last request and its answer.
	context int64
	// saved is when something was last stored; failed why the last write
	// was not.
	saved  time.Time
	failed error

	own   ownership
	turn  turn
	pages pages
	// open is the session's run that has not ended, to be offered; others
	// counts those of other sessions.
	open   *harness.Run
	others int
	ask    asking

	box    compose.Box
	tray   attach.Tray
	draft  draft
	past   past
	queue  queueing
	side   siding
	recall recall.Model
	branch branching
	over   over

	cut        cut
	condensing condensing
	away       away

	distil distilling
	// turning says that turning memory off or on for the session is not stored
	// yet: what the person chose counts, not what the store says.
	turning bool
	greets  bool
	// completed counts the turns that ended well here.
	completed int

	// prompt is sent, and goal shown, as soon as it can be.
	prompt string
	goal   harness.Origin
	parent string // what the session is called that this one was forked from

	// notice is what happened last. The next key takes it away, unless it is
	// fault: what went wrong stays until something else is said.
	notice, fault string
	hint          string  // said again once the session is ours, until a key
	writes        []write // to memory, the last of which one key undoes
	quoted        quoted  // what /remember made a draft of
	wanted        Intent  // of the root, for what was found
	leader        string  // the first key of a sequence of two
	menu          leader.Menu
	escAt         time.Time
	breakAt       time.Time
	leaving       leaving

	// shift says that shift+enter is told from enter here.
	shift             bool
	details, thinking bool
	sel               selecting
	img               imaging

	given   given                          // to the terminal for good
	results map[string]*harness.ToolResult // by call id; only ever added to
	laid    *layouts
}

// New returns a chat that is not opened yet; [Model.Init] opens it.
func New(ctx context.Context, d Deps, o Open) Model {
	ctx, leave := context.WithCancel(ctx)
	m := Model{
		deps: d, ctx: ctx, leave: leave, number: o.Number, session: o.Session, prompt: o.Prompt, goal: o.goal(),
		greets:  o.Greet,
		own:     ownership{fresh: o.New},
		pages:   pages{follow: true, whole: true},
		results: map[string]*harness.ToolResult{}, laid: &layouts{}, img: imaging{sums: map[*harness.File]string{}},
		tray: attach.NewTray(ctx, d.Files), side: siding{on: d.SidePanel, found: &sideFound{n: -1}}, box: compose.Box{}.Bare(d.KeepPastes),
	}
	for _, n := range o.Notices {
		m.pages.add(item{quiet: n})
	}
	return m
}

// Init returns the commands that open the session. The screen can be drawn and
// typed on before they are done.
func (m Model) Init() tea.Cmd {
	var greeting tea.Cmd
	if m.greets {
		greeting = m.countInbox()
	}
	if m.own.fresh {
		return tea.Batch(m.configure(), m.acquire(), greeting)
	}
	return tea.Batch(m.reload(), m.acquire(), greeting)
}

// Session is the session as the chat knows it.
func (m Model) Session() harness.Session { return m.session }

// Stored reports whether the session has a message in the store
// and may be opened again; a deleted one may not.
func (m Model) Stored() bool { return m.stored && !m.own.gone }

// Failed is why the last write to the store did not succeed, nil if it did.
func (m Model) Failed() error { return m.failed }

// Unsent reports whether text or queued messages wait in the chat.
func (m Model) Unsent() bool { return !m.box.Blank() || len(m.draft.queue) > 0 }

// Busy reports whether a turn is under way here, or old messages are condensed.
func (m Model) Busy() bool { return m.turn.active() || m.condensing.busy() }

// Owns reports whether msg is of this chat and not of an earlier one.
func (m Model) Owns(msg Msg) bool { return msg.owner() == m.number }

// to addresses what a command brings back.
func (m Model) to() to { return to{m.number, m.turn.n} }

// Resize tells the size of the screen.
func (m Model) Resize(width, height int) (Model, tea.Cmd) {
	width, height = max(width, 0), max(height, 0)
	m = m.rewidth(func(m Model) Model {
		m.width, m.height = width, height
		return m
	})
	m.over = m.over.resized(width, height)
	m, cmd := m.seek()
	m, more := m.quench()
	m, facts := m.sideFacts()
	m, images := m.fetchImages()
	return m, tea.Batch(cmd, more, facts, images)
}

// Restyle takes a new theme and its renderer.
func (m Model) Restyle(d Deps) Model {
	m.deps.Theme, m.deps.Markdown = d.Theme, d.Markdown
	m.over = m.over.restyled(d.Theme)
	if l := m.turn.live; l != nil {
		text := l.text.Text()
		fresh := *l
		fresh.text, fresh.thought = newLive(d.Markdown).text, newLive(d.Markdown).thought
		fresh.text.Append(text)
		m.turn.live = &fresh
	}
	return m
}

// Update takes a message of the chat, a key, a paste or the wheel.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd, Intent) {
	before, was := m.draft.version, m.box
	var cmd tea.Cmd
	var want Intent
	switch msg := msg.(type) {
	case Msg:
		was := m.leaving.left
		if m, cmd = msg.apply(m); m.leaving.left && !was {
			want.Kind = WantRest
		}
		if want.Kind == WantNothing {
			want = m.wanted
		}
		m.wanted = Intent{}
	case tea.KeyMsg:
		m.hint = ""
		if m.notice != m.fault { // said again it is to be seen again
			m.notice = ""
		}
		asleep := m.asks() && !m.ask.awake
		m, cmd, want = m.key(msg)
		if !m.box.Starts("/remember") {
			m.quoted = quoted{}
		}
		if m.asks() && (asleep || m.draft.version != before) {
			var doze tea.Cmd
			m, doze = m.doze()
			cmd = tea.Batch(cmd, doze)
		}
	case tea.MouseMsg:
		if m.over.open() {
			m, cmd, want = m.toOver(msg)
			break
		}
		if msg.Action == tea.MouseActionRelease && msg.Button == tea.MouseButtonLeft {
			m = m.click(msg)
			break
		}
		m = m.wheel(msg)
	default:
		return m, nil, Intent{}
	}
	m, more := m.followed(before, was, msg)
	return m, tea.Batch(cmd, more), want
}

// followed does what follows from a changed box, which was another before msg, and
// from a window that shows something else.
func (m Model) followed(before int, was compose.Box, msg tea.Msg) (Model, tea.Cmd) {
	var draft tea.Cmd
	if m.draft.version != before {
		m, draft = m.armDraft()
	}
	m, mention := m.mentioned(was, msg)
	m, along := m.readAlong(msg)
	m, older := m.quench()
	m, facts := m.sideFacts()
	m, images := m.fetchImages()
	return m, tea.Batch(draft, mention, along, older, facts, images)
}

// Paste takes a whole paste, which is never a key.
func (m Model) Paste(text string) (Model, tea.Cmd) {
	switch {
	case m.over.open():
		m, cmd, _ := m.toOver(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
		return m, cmd
	case m.branch.tree.Open(), m.queue.mode.Open():
		return m, nil // nothing is written there
	}
	if m.recall.Open() {
		var find func(context.Context) recall.Found
		m.recall, find = m.recall.Insert(firstLine(text))
		return m, m.findPrompts(find)
	}
	if m.asks() && m.ask.awake {
		if next, ok := m.ask.dialog.Paste(text, m.env()); ok {
			m.ask.dialog = next
			return m, nil
		}
	}
	if m.sel.on {
		if m.sel.find.typing {
			m.sel.find.field = m.sel.find.field.Insert(firstLine(text))
			return m, nil
		}
		m = m.stopSelecting()
	}
	m, _ = m.unheld()
	was := m.box
	m.box = m.box.Paste(text)
	m.draft.version++
	m.leader, m.menu = "", m.menu.Ended()
	if m.notice != m.fault {
		m.notice = ""
	}
	var doze tea.Cmd
	if m.asks() {
		m, doze = m.doze()
	}
	m, cmd := m.armDraft()
	m, look := m.mentioned(was, nil)
	return m, tea.Batch(doze, cmd, look, m.pasted(text))
}

// quench loads older messages when the window needs them.
func (m Model) quench() (Model, tea.Cmd) {
	if m.width <= 0 || m.pages.whole || m.pages.loading {
		return m, nil
	}
	return m.thirst()
}

// thirst is apart from quench because to lay out is to copy the whole model.
func (m Model) thirst() (Model, tea.Cmd) {
	if !m.pages.thirsty(m.desk(), m.rows()) {
		return m, nil
	}
	return m.older(olderPage)
}

// trouble says an error to the person. A session lost to another window makes
// this one read-only.
func (m Model) trouble(err error) (Model, tea.Cmd) {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return m, nil
	case errors.Is(err, harness.ErrLost):
		return m.lost(err)
	}
	m.notice = m.deps.Words(err)
	m.fault = m.notice
	m.deps.Log.Warn("chat", slog.String("session", string(m.session.ID)), slog.Any("err", err))
	return m, nil
}

// troubleMsg carries an error of a command to the person.
type troubleMsg struct {
	to
	err error
}

func (msg troubleMsg) apply(m Model) (Model, tea.Cmd) {
	m, cmd := m.trouble(msg.err)
	return m, cmd
}

// Goto shows a record of the session's own log; see [Model.Show].
func (m Model) Goto(record int) (Model, tea.Cmd) { return m.Show(harness.Origin{Record: record}) }

// Show shows a record of the session, or one that a fork has of the session it
// names, loading what lies between if need be.
func (m Model) Show(o harness.Origin) (Model, tea.Cmd) {
	if o.Session == m.session.ID {
		o.Session = ""
	}
	if m.pages.show(m.desk(), o, m.rows()) {
		return m, nil
	}
	if m.pages.whole {
		return m.missed(o), nil
	}
	m.goal = o
	return m.older(0)
}

// missed says that a record that was asked for is not there to be shown.
func (m Model) missed(o harness.Origin) Model {
	if o.Session == "" && o.Record <= m.session.Records {
		m.branch.missed = o
		return m.Hint(fmt.Sprintf("message %d is on another branch: /tree shows it", o.Record))
	}
	return m.Hint(fmt.Sprintf("message %d is not in this conversation", o.Record))
}

// Hint is Say for a chat that may still be opening: the sentence stays until a
// key is pressed.
func (m Model) Hint(text string) Model {
	m.hint = text
	return m.Say(text)
}

// Noted reports whether a sentence is shown now.
func (m Model) Noted() bool { return m.notice != "" }

// Say shows a sentence of the root.
func (m Model) Say(text string) Model {
	m.notice = text
	return m
}
