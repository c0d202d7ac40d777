package chat

import (
	"context"
	"log/slog"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat/attach"
	"cairn/ui/overlay"
	"cairn/ui/render"
)

// Sessions is what a chat needs of [harness.Sessions].
type Sessions interface {
	Get(ctx context.Context, id harness.SessionID) (harness.Session, error)
	Edit(ctx context.Context, id harness.SessionID, e harness.SessionEdit) (harness.Session, error)
	List(ctx context.Context, f harness.SessionFilter) ([]harness.Session, error)
	Fork(ctx context.Context, id harness.SessionID, of harness.Origin, s harness.Session) (harness.Session, error)
}

// Facts is what a chat needs of [harness.Facts].
type Facts interface {
	Save(ctx context.Context, f harness.Fact, key string) (harness.Fact, bool, error)
	Get(ctx context.Context, id string) (harness.Fact, error)
	List(ctx context.Context, f harness.MemoryFilter) ([]harness.Fact, error)
	Edit(ctx context.Context, id string, e harness.FactEdit) (harness.Fact, error)
	Forget(ctx context.Context, id string) error
	Restore(ctx context.Context, id string) (harness.Fact, error)
	History(ctx context.Context, id string) ([]harness.Fact, error)
}

// Notes is what a chat needs of [harness.Notes].
type Notes interface {
	Get(ctx context.Context, id string) (harness.Note, error)
	List(ctx context.Context, f harness.MemoryFilter) ([]harness.Note, error)
	Edit(ctx context.Context, id string, e harness.NoteEdit) (harness.Note, error)
	Forget(ctx context.Context, id string) error
	Restore(ctx context.Context, id string) (harness.Note, error)
	History(ctx context.Context, id string) ([]harness.Note, error)
}

// Setup is the configuration a session's next turn has.
type Setup struct {
	Run harness.RunConfig
	// Label names the model in the header, such as "claude-sonnet".
	Label string
	// Window is the model's context window in tokens; 0 is unknown.
	Window int64
	// Notice is said once when the chat opens, such as why the model is
	// offline; empty for none.
	Notice string
}

// ToolLine is a tool as it is listed.
type ToolLine struct {
	Name string
	// Permission is "allow", "ask" or "deny", as the tool itself has it.
	Permission string
	// Help is one sentence about it.
	Help string
}

// Deps are what chats need of the rest of the program. All fields but
// Remote, Facts, Notes, Inbox, Distill, Title, Export, Import, Plan, Compact, Picture,
// Artifact, Browse, Files, Doctor, Servers, Keys, User and Tools are required.
type Deps struct {
	Engine harness.Engine
	// Remote is the other side of the engine if runs may be kept elsewhere; nil
	// means that all of them are driven in this process.
	Remote     harness.Remote
	Transcript harness.Transcript
	Sessions   Sessions
	Owners     harness.Owners
	Drafts     harness.Drafts
	Prompts    harness.Prompts
	// Facts and Notes are nil when memory is off.
	Facts Facts
	Notes Notes
	// Inbox keeps what was suggested to be remembered; nil if there is none.
	Inbox harness.Inbox
	// Distill reads what was said since it was read last for what is worth
	// keeping. It is called in a command after a turn, with a context that the
	// next turn ends; nil is off.
	Distill func(ctx context.Context, l harness.Lease) (Distilled, error)
	// Title has a model name a session anew, never over the user's title. It is
	// called in a command after a turn; nil is off.
	Title func(ctx context.Context, id harness.SessionID) error
	// Export writes a conversation to a file and returns its whole path; to may
	// be empty for a name of the program's own. It is called in a command; nil is
	// off.
	Export func(ctx context.Context, id harness.SessionID, to string) (path string, err error)
	// Import takes in conversations from a file or directory and says in a sentence
	// what came of it. It is called in a command; nil is off.
	Import func(ctx context.Context, from string) (said string, err error)
	// Plan says what condensing a session would take, without doing it, and
	// Compact does it: it adds to the conversation what stands for its old
	// messages, part by part, and tells after each how many of how many are done.
	// Ended by its context it keeps the parts that are done. Both are called in
	// commands; nil is off. A zero CompactPlan and a zero Compacted say that there is
	// nothing to condense.
	Plan    func(ctx context.Context, id harness.SessionID, c Compaction) (CompactPlan, error)
	Compact func(ctx context.Context, l harness.Lease, c Compaction, tell func(done, of int)) (Compacted, error)
	// Picture says what fills the window of a session's next request. It is
	// called in a command; without it only what the last request carried is told.
	Picture func(ctx context.Context, id harness.SessionID) (overlay.Picture, error)
	// Artifact reads the whole of a large result. It is called in a command; nil
	// where none is kept.
	Artifact func(ctx context.Context, id harness.SessionID, sha256 string) ([]byte, error)
	// Browse opens an address of the web or of mail on the display before the
	// person. It is called in a command; nil where there is none.
	Browse func(ctx context.Context, address string) error
	// Files are those that messages mention; the zero value attaches none.
	Files attach.Files
	// Doctor looks at the set-up and tells in lines of a width what it found, 0 for
	// lines that are not wrapped. It is called in a command; nil is off.
	Doctor func(ctx context.Context, width int) (string, error)
	// Config resolves the configuration of a session's next turn. It is called
	// in a command and may read files.
	Config func(ctx context.Context, s harness.Session) (Setup, error)
	// Tools returns those of the next turn, as they are when it is called; nil where
	// there is no list of them.
	Tools func() []ToolLine
	// Servers are the MCP servers, whose prompts are commands and whose resources can
	// be mentioned; nil means that there are none.
	Servers harness.Servers
	// CheckRule says what is wrong with the text of a rule; nil takes any.
	CheckRule func(string) error
	// Words turns an error into one sentence for the person.
	Words func(error) string
	// Holder is this window.
	Holder harness.Holder
	// User names the person in the record of what they decide; empty if that is
	// not known.
	User string
	// Dir is the working directory of the runs started here.
	Dir string
	// Ephemeral says that nothing of the conversation is kept.
	Ephemeral bool
	Theme     *themes.Theme
	// Markdown renders in Theme. Chats share it.
	Markdown *render.Markdown
	// SidePanel shows the panel beside the conversation where there is room, and
	// KeepPastes folds no paste that can be edited.
	SidePanel, KeepPastes bool
	// Keys replaces keys of the table by action; no keys turn an action off.
	Keys map[string][]string
	Now  func() time.Time
	Log  *slog.Logger
}

// Open says which session a chat is on.
type Open struct {
	// Session has at least the ID. For one that does not exist yet the other
	// fields are what its first write stores.
	Session harness.Session
	// New says that the session is known not to exist.
	New bool
	// Prompt is sent as soon as the session is ours.
	Prompt string
	// Notices are said once, behind the conversation.
	Notices []string
	// Record is the message to show first; 0 is the last one. In is the session
	// in whose log it is, if it is one that a fork has of its parents.
	Record int
	In     harness.SessionID
	// Greet says that the program begins with this chat: what waits in the inbox
	// is told.
	Greet bool
	// Number tells this chat's messages from those of others; see [Model.Owns].
	Number int
}

// goal is the message to show first.
func (o Open) goal() harness.Origin {
	if o.In == o.Session.ID {
		o.In = ""
	}
	return harness.Origin{Session: o.In, Record: o.Record}
}

// IntentKind says what an [Intent] wants.
type IntentKind int

// What a chat may want of the root.
const (
	// WantNothing is the zero value.
	WantNothing IntentKind = iota
	// WantSessions is the list of sessions.
	WantSessions
	// WantNew is a fresh session.
	WantNew
	// WantMemory is the memory browser, with IDs at some facts and notes.
	WantMemory
	// WantFacts and WantNotes are the memory browser at these.
	WantFacts
	WantNotes
	// WantInbox is the memory browser at what was suggested.
	WantInbox
	// WantHelp is the help overlay.
	WantHelp
	// WantCopy is Text on the clipboard.
	WantCopy
	// WantSuspend is to be stopped as ctrl+z does it in a shell.
	WantSuspend
	// WantQuit is the end of the program; the chat is to be left first.
	WantQuit
	// WantRest says that a chat that was left is saved and may be forgotten.
	WantRest
	// WantRedraw is everything drawn anew.
	WantRedraw
	// WantEdit is Text in the person's editor; what [Model.Edited] returns
	// brings it back.
	WantEdit
	// WantRuns is the list of runs.
	WantRuns
	// WantPermissions is the rules in force and the standing permissions of
	// the session.
	WantPermissions
	// WantTheme is the list of themes, or the one that Text names.
	WantTheme
	// WantUsage is what models used, by day, model and session.
	WantUsage
	// WantOpen is another session, as Open says.
	WantOpen
	// WantPalette is the command palette, at the group that Text names.
	WantPalette
	// WantModels is the list of models, to choose one for the session.
	WantModels
	// WantKey is another key asked for, for the model that Text names, since of the
	// one in use Say tells.
	WantKey
	// WantKeyTest is what the terminal sends for keys.
	WantKeyTest
	// WantMouse is the mouse given to the terminal, or taken.
	WantMouse
	// WantNotify has notifications turned on or off.
	WantNotify
	// WantImage is Images looked at, beginning with that at At.
	WantImage
	// WantImages has images shown in the conversation, or not.
	WantImages
	// WantServers is the list of MCP servers.
	WantServers
	// WantArguments asks for what Call needs and was not given.
	WantArguments
)

// Intent is what a chat wants of the root, which acts on it in the same call.
type Intent struct {
	Kind IntentKind
	Text string
	// IDs are the facts and notes that [WantMemory] is to show, named by Text;
	// nil is all. Say is what is said with them, or why [WantKey] asks.
	IDs []string
	Say string
	// Open is the session that [WantOpen] is about.
	Open Open
	// Images are those that [WantImage] is about.
	Images []overlay.ImageItem
	At     int
	// Call is the prompt that [WantArguments] is about.
	Call *attach.Call
}
