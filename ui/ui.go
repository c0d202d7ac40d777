// Package ui is the terminal program: one root model that owns the screens,
// says which is in front, and does nothing else.
//
// The one thing to know: a message goes to the screen that owns it, never to
// the one in front, so a new message of a screen never adds a case here. A
// chat that is left while it works goes on behind the others, and is let go
// when it is done.
package ui

import (
	"context"
	"log/slog"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/browser"
	"cairn/ui/chat"
	"cairn/ui/chat/attach"
	"cairn/ui/overlay"
	"cairn/ui/picker"
	"cairn/ui/runs"
	"cairn/ui/screen"
)

// Deps are what the program is made of. Search, Facts, Notes, Inbox, Ledger,
// Distill, Title, Export, Import, Plan, Compact, Picture, Artifact, Grants, Rules, CheckRule, Tools, Servers, User, Keys, Notices,
// Told, Remote, PruneRuns and HelpNotes may be left out.
type Deps struct {
	Engine harness.Engine
	// Remote is the engine's other side if runs may be kept elsewhere; nil means
	// that all of them are driven in this process.
	Remote     harness.Remote
	Transcript harness.Transcript
	Sessions   harness.Sessions
	Owners     harness.Owners
	Drafts     harness.Drafts
	Prompts    harness.Prompts
	Search     harness.Searcher
	Facts      harness.Facts
	Notes      harness.Notes
	Inbox      harness.Inbox
	Ledger     harness.Ledger
	Watcher    harness.Watcher
	// Distill reads what was said in a session since it was read last for what
	// is worth keeping; see [chat.Deps]. Without it nothing is suggested.
	Distill func(ctx context.Context, l harness.Lease) (chat.Distilled, error)
	// Title has a model name a session, and Export writes one to a file; see
	// [chat.Deps].
	Title  func(ctx context.Context, id harness.SessionID) error
	Export func(ctx context.Context, id harness.SessionID, to string) (path string, err error)
	// Import takes in conversations from a file or directory; see [chat.Deps].
	Import func(ctx context.Context, from string) (said string, err error)
	// Plan, Compact and Picture condense a session and show what fills its window,
	// Artifact reads a large result, and Files are those that messages mention; see
	// [chat.Deps].
	Plan     func(ctx context.Context, id harness.SessionID, c chat.Compaction) (chat.CompactPlan, error)
	Compact  func(ctx context.Context, l harness.Lease, c chat.Compaction, tell func(done, of int)) (chat.Compacted, error)
	Picture  func(ctx context.Context, id harness.SessionID) (overlay.Picture, error)
	Artifact func(ctx context.Context, id harness.SessionID, sha256 string) ([]byte, error)
	Files    attach.Files
	// Doctor looks at the set-up; see [chat.Deps].
	Doctor func(ctx context.Context, width int) (string, error)
	// SidePanel and KeepPastes are as in [chat.Deps].
	SidePanel, KeepPastes bool
	// PruneRuns removes the journals of runs that ended more than 30 days ago, and
	// returns how many.
	PruneRuns func(ctx context.Context) (int, error)
	// Grants are the standing permissions. Rules are those in force besides
	// them, for the person to see; CheckRule says what is wrong with the text
	// of one.
	Grants    harness.Grants
	Rules     []overlay.Rule
	CheckRule func(string) error
	// Tools returns those of the next turn, as they are when it is called; nil where
	// there is no list of them.
	Tools func() []chat.ToolLine
	// Servers are the MCP servers; nil means that there are none.
	Servers harness.Servers
	// User names the person in the record of what they decide.
	User string
	// Config resolves the configuration of a session's next turn; it is called
	// in commands only.
	Config func(ctx context.Context, s harness.Session) (chat.Setup, error)
	// NewSession describes a fresh session, with an id that is free.
	NewSession func() harness.Session
	// Theme returns the theme for a dark or light background, and ThemeName is what
	// it is called by. Themes reads what others there are; nil means none.
	Theme     func(dark bool) *themes.Theme
	ThemeName string
	Themes    func(ctx context.Context) []overlay.ThemeChoice
	// Save sets a key of the person's configuration, such as "theme", for the
	// starts to come. Its errors are sentences. Nil means that nothing is kept.
	Save func(ctx context.Context, key, value string) error
	// Models is where models and the keys for them come from; see
	// [overlay.ModelSource]. Without it they are only named.
	Models overlay.ModelSource
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
	// Holder is this process.
	Holder harness.Holder
	// Dir is the working directory.
	Dir       string
	Ephemeral bool
	// Session is the one to open; Fresh says that it does not exist yet.
	Session harness.Session
	Fresh   bool
	// Pick opens the list of sessions first.
	Pick bool
	// Prompt is sent at once.
	Prompt string
	// Notices are said once, below the conversation. Told brings more of them.
	Notices []string
	Told    <-chan string
	// Inline leaves the alternate screen to what is opened over a chat: the
	// conversation goes into the terminal's own scrollback.
	Inline bool
	// Mouse says what the mouse does, Notify how a person who looks elsewhere is
	// told of turns.
	Mouse  MouseUse
	Notify NotifyUse
	// Welcome is shown over the chat at the very first start; nil is none. Its theme,
	// keys and words are filled in.
	Welcome *overlay.WelcomeConfig
	// Images says how images are shown, such as [screen.ImagesAuto], which is the
	// default.
	Images string
	// HelpNotes are lines below the keys in the help.
	HelpNotes []string
	// Getenv tells which editor the person uses; nil means the default one.
	Getenv func(string) string
	Now    func() time.Time
	Log    *slog.Logger
}

// front says which screen is seen and gets the keys.
type front int

const (
	frontChat front = iota
	frontPicker
	frontBrowser
	frontRuns
)

// size is the size of the terminal.
type size struct{ width, height int }

// Model is the root.
type Model struct {
	ctx    context.Context
	deps   Deps
	look   *look
	front  front
	chat   chat.Model
	parked []chat.Model
	lists  lists
	layers layers // over the screen in front
	size   size
	term   terminal
	serial int // the number of the newest chat
	ending ending
}

// lists are the screens besides the chats.
type lists struct {
	picker  picker.Model
	browser browser.Model
	runs    runs.Model
	// chosen are the items of the palette that were chosen, the last first.
	chosen []string
}

// ending is what is known of the program's end.
type ending struct {
	exit *Exit // how the chat in front was left, nil until it was
	lost error // why a chat behind it is not stored whole
}

// Exit says how the program was left.
type Exit struct {
	Session harness.SessionID
	// Saved says that the session has messages in the store, all of them, and
	// may be opened again.
	Saved bool
	// Unsaved is why something is not in the store, nil if everything is.
	Unsaved error
}

// New returns the root. It reads nothing of the store; Init's commands do.
func New(ctx context.Context, d Deps) Model {
	m := Model{ctx: ctx, deps: d}
	m.term.mouse.use, m.term.browse = d.Mouse, Browser(d.Getenv)
	m.term.images.shelf = &overlay.Shelf{}
	m.term.inline.out = &screen.Above{}
	m.look = newLook(d, true)
	var remote runs.Remote
	var away picker.Runs
	if d.Remote != nil {
		remote, away = d.Remote, d.Engine.List
	}
	m.lists.picker = picker.New(ctx, picker.Config{
		Sessions: d.Sessions, Transcript: d.Transcript, Search: d.Search, Facts: d.Facts, Runs: away, Self: d.Holder, Theme: m.look.theme,
		Export: d.Export, Dir: d.Dir, Now: d.Now, Words: Words, Keys: d.Keys,
	})
	m.lists.browser = browser.New(ctx, browser.Config{
		Facts: d.Facts, Notes: d.Notes, Inbox: d.Inbox, Sessions: d.Sessions, Theme: m.look.theme, Now: d.Now, Words: Words, Keys: d.Keys,
	})
	m.lists.runs = runs.New(ctx, runs.Config{
		Engine: d.Engine, Remote: remote, Prune: d.PruneRuns, Sessions: d.Sessions, Owners: d.Owners, Transcript: d.Transcript, Self: d.Holder, User: d.User,
		Theme: m.look.theme, Now: d.Now, Words: Words, Keys: d.Keys,
	})
	m = m.open(chat.Open{Session: d.Session, New: d.Fresh, Prompt: d.Prompt, Notices: d.Notices, Greet: true}) //nolint:contextcheck // the chat has its own
	if d.Pick {
		m.front = frontPicker
	}
	if d.Welcome != nil {
		w, _ := m.welcome() //nolint:contextcheck // it is the model's own
		m = m.push(overlay.Over(w))
	}
	return m
}

// open puts a chat in front; its Init is still to be run.
func (m Model) open(o chat.Open) Model {
	m.serial++
	o.Number = m.serial
	m.front = frontChat
	m.chat = chat.New(m.ctx, m.chatDeps(), o).ShiftEnter(m.term.able.ShiftEnter())
	m.chat, _ = m.chat.UseImages(m.images())
	return m
}

// chatDeps are the parts of the chats of this window.
func (m Model) chatDeps() chat.Deps {
	deps := chatDeps(m.deps)
	deps.Theme, deps.Markdown, deps.Browse = m.look.theme, m.look.markdown, m.term.browse
	return deps
}

// chatDeps are the parts of a chat that need no screen.
func chatDeps(d Deps) chat.Deps {
	deps := chat.Deps{
		Engine: d.Engine, Remote: d.Remote, Transcript: d.Transcript, Sessions: d.Sessions, Owners: d.Owners, Drafts: d.Drafts,
		Prompts: d.Prompts, Config: d.Config, Words: Words, CheckRule: d.CheckRule, Holder: d.Holder, User: d.User, Tools: d.Tools, Dir: d.Dir,
		Inbox: d.Inbox, Distill: d.Distill, Title: d.Title, Export: d.Export, Import: d.Import, Files: mentionable(d), Doctor: d.Doctor, Servers: d.Servers,
		SidePanel: d.SidePanel, KeepPastes: d.KeepPastes,
		Plan: d.Plan, Compact: d.Compact, Picture: d.Picture, Artifact: d.Artifact, Ephemeral: d.Ephemeral, Keys: d.Keys, Now: d.Now, Log: d.Log,
	}
	if d.Facts != nil {
		deps.Facts = d.Facts
	}
	if d.Notes != nil {
		deps.Notes = d.Notes
	}
	return deps
}

// Init implements [tea.Model].
func (m Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.chat.Init(), watch(m.ctx, m.deps.Watcher), listen(m.ctx, m.deps.Told), hear(m.ctx, m.deps.Servers)}
	if m.front == frontPicker {
		cmds = append(cmds, func() tea.Msg { return pickMsg{} })
	}
	if m.deps.Welcome != nil {
		_, cmd := m.welcome()
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// pickMsg has the list of sessions opened at the start.
type pickMsg struct{}

// Exit says how the program was left, once it has ended.
func (m Model) Exit() Exit {
	e := m.exit()
	if m.ending.exit != nil {
		e = *m.ending.exit
	}
	if e.Unsaved == nil {
		e.Unsaved = m.ending.lost
	}
	return e
}

// Settle saves what is not stored yet, of a program that a signal or a hung up
// terminal ended: all that is left of it is this model. After a proper end it
// does nothing. It blocks for some seconds at most, and says how the program
// was left. The engine must not be closed yet.
func (m Model) Settle() Exit {
	e := m.Exit()
	m.term.images.clear(m.deps.Log)
	for _, c := range append(m.parked[:len(m.parked):len(m.parked)], m.chat) {
		if err := c.Settle(); err != nil && e.Unsaved == nil {
			e.Saved = e.Saved && c.Session().ID != e.Session
			e.Unsaved = err
		}
	}
	return e
}

func (m Model) exit() Exit {
	err := m.chat.Failed()
	return Exit{Session: m.chat.Session().ID, Saved: m.chat.Stored() && err == nil, Unsaved: err}
}

// Update implements [tea.Model]. What the chat asks is new to the person when
// nothing stands before the chat any more.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.route(msg)
	now, ok := next.(Model)
	if ok {
		var told tea.Cmd
		now, told = now.watchTurns()
		now = now.give()
		next, cmd = now, tea.Batch(cmd, told)
	}
	if !ok || !m.covered() || now.covered() {
		return next, cmd
	}
	var doze tea.Cmd
	now.chat, doze = now.chat.Uncovered()
	return now, tea.Batch(cmd, doze)
}

// covered reports whether something stands before the chat.
func (m Model) covered() bool {
	return m.front != frontChat || len(m.layers) > 0
}

// route gives a message to its owner.
func (m Model) route(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resize(msg)
	case chat.Msg:
		return m.toChats(msg)
	case picker.Msg:
		return m.toPicker(msg)
	case browser.Msg:
		return m.toBrowser(msg)
	case runs.Msg:
		return m.toRuns(msg)
	case overlay.Msg:
		return m.toLayers(msg)
	case tea.KeyMsg:
		return m.typed(msg)
	case tea.MouseMsg:
		return m.pointed(msg)
	case screen.HeardMsg:
		return m.heard(msg)
	case screen.PasteMsg:
		return m.paste(string(msg))
	case screen.BackgroundMsg:
		return m.restyle(msg.Dark), nil
	case screen.AbilitiesMsg:
		return m.learn(screen.Abilities(msg))
	case screen.ImageMsg, screen.ImagesGoneMsg:
		return m.imaged(msg)
	case imagesSaved:
		return m.imagesKept(msg), nil
	case screen.FocusMsg:
		return m.looked(msg.In)
	case notifySaved:
		return m.notified(msg), nil
	case themeFound, themeSaved:
		return m.themed(msg)
	case watchMsg:
		return m.changed(msg)
	case toldMsg:
		m.chat = m.chat.Hint(string(msg))
		return m, listen(m.ctx, m.deps.Told)
	case askedMsg:
		return m.asked(msg.question)
	case pickMsg:
		return m.want(chat.Intent{Kind: chat.WantSessions})
	}
	return m, nil
}

// clipboard is the command that gives text to the terminal's clipboard.
func clipboard(text string) tea.Cmd {
	return screen.Control([]byte(ansi.SetSystemClipboard(text)))
}
