package cli

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/attach"
	"cairn/harness/memory/distill"
	"cairn/harness/memory/near"
	"cairn/harness/run"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/foreign"
	"cairn/themes"
	"cairn/ui/cli/keyring"
	"cairn/ui/overlay"
	"cairn/ui/render"
)

// Wire is what the program is made of, handed in by main. Each function is
// called only by commands that need it, and at most once for each command, so
// that `cairn --version` builds nothing.
type Wire struct {
	// Version is printed by --version; empty means what the build says.
	Version string
	// Agent is "name@version" of the agent that runs record; empty means
	// "cairn@1".
	Agent string
	// OpenStore opens the store in a directory, which it may have to make.
	OpenStore func(ctx context.Context, dir string, o StoreOptions) (Store, error)
	// SearchPatience is how long a search waits for what its model says of the
	// question; zero means [near.Patience].
	SearchPatience time.Duration
	// CheckStore reads everything in the store of a directory and changes
	// nothing. A damaged store is an error that names file and place; one
	// that does not exist is [harness.ErrNotFound].
	CheckStore func(ctx context.Context, dir string) (StoreReport, error)
	// BackupStore writes a whole, checked copy of the store of a directory to a
	// file that must not exist yet, or the error is [harness.ErrExists].
	// RestoreStore puts the copy at a path in the place of the store, which may
	// be damaged or missing, and returns where the old file is kept, empty if
	// there was none; a copy that is not whole is an error and changes nothing.
	// CompactStore writes the store anew without free space and returns its
	// sizes in bytes. All three take the absolute path of the data directory.
	// One that is nil takes its command away.
	BackupStore  func(ctx context.Context, dir, to string, o StoreOptions) error
	RestoreStore func(ctx context.Context, dir, from string, o StoreOptions) (kept string, err error)
	CompactStore func(ctx context.Context, dir string, o StoreOptions) (before, after int64, err error)
	// EmptyTrash removes for good what was deleted from the store, once agree,
	// which gets to know how much that is, has returned nil; it returns how much
	// was removed. Nil takes the flag of the compaction away.
	EmptyTrash func(ctx context.Context, dir string, o StoreOptions, agree func(StoreTrash) error) (StoreTrash, error)
	// MigrateStore brings the store to the schema of this program and keeps the
	// old file. RebuildStore makes the lists of the store anew from its records
	// and keeps the old file too; damaged records are an error and change
	// nothing. A store that does not exist is [harness.ErrNotFound] for both. One
	// that is nil takes its command or flag away.
	MigrateStore func(ctx context.Context, dir string, o StoreOptions) (StoreMigration, error)
	RebuildStore func(ctx context.Context, dir string, o StoreOptions) (StoreRebuilt, error)
	// OpenSnapshots opens the place of session snapshots at an address; nil means
	// [snapshot.Open], which knows directories.
	OpenSnapshots func(ctx context.Context, address string) (snapshot.Store, error)
	// OpenDatabase opens the database of another program, to import its
	// conversations. Nil means that databases cannot be read.
	OpenDatabase func(ctx context.Context, path string) (foreign.Source, error)
	// StoreExists reports whether there is a store in a directory; nil means
	// that there is one if there is something at its StorePath. Commands that
	// only read make none.
	StoreExists func(dir string) bool
	// RemoteStore names the network file system that a directory is on, "" if it is on
	// none or that cannot be told; nil means that nobody can tell.
	RemoteStore func(dir string) string
	// StorePath is the database file of a directory. Copies that nobody gave a
	// place are in the directory "backups" beside it, named after the file.
	StorePath func(dir string) string
	// NewEngine makes what executes runs. The caller closes it.
	NewEngine func(ctx context.Context, s Store, setup Setup) (harness.Engine, error)
	// Servers connects to the MCP servers of a configuration and waits for them, not
	// for long. Nil, or nil servers, is for none.
	Servers func(ctx context.Context, setup Setup) (harness.Servers, error)
	// NewCondenser makes what condenses the conversations of a store, with the model
	// that each talks to. Nil takes the command away.
	NewCondenser func(ctx context.Context, c ChatSetup) (Condenser, error)
	// Models opens the catalogue of models under a configuration.
	Models func(ctx context.Context, setup Setup) (Models, error)
	// Chat opens the full-screen chat; Plain the linear one. They return when
	// the person leaves.
	Chat  func(ctx context.Context, c ChatSetup) (ChatExit, error)
	Plain func(ctx context.Context, c ChatSetup) (ChatExit, error)
	// Keyring returns the keyring of the system, nil if it has none; see
	// [keyring.System]. Without it keys are kept in a file.
	Keyring func(getenv func(string) string) keyring.Ring
	// Browser returns what opens an address on the display before the person, nil where
	// there is none; nil itself opens none.
	Browser func(getenv func(string) string) func(ctx context.Context, address string) error
	// Themes lists the names of the themes.
	Themes func() []string
	// Actions are the names of the actions that keys can be given to; nil means
	// that any name is taken.
	Actions func() []string
	// Bindings are the actions with their keys and what they do, for the manual; nil
	// leaves them out.
	Bindings func() []render.Binding
	// Tools are the names of the tools that a start has, whatever is switched
	// off; nil means that rules may name any.
	Tools func() []string
	// OpenJobs opens the engine of a setup without any store of conversations, to
	// look at the runs of other machines and to decide for them. The caller closes
	// it. Nil means that there is no engine but the store.
	OpenJobs func(ctx context.Context, setup Setup) (run.Backend, error)
	// ProbeEngine looks at the engine of a setup and changes nothing.
	ProbeEngine func(ctx context.Context, setup Setup) (EngineReport, error)
	// NewWorker makes what drives the runs that others leave in the engine of a
	// setup. Nil takes the command away.
	NewWorker func(ctx context.Context, setup Setup, w WorkerSetup) (Worker, error)
}

// EngineReport is what a look at an engine found.
type EngineReport struct {
	// None says that there is none yet: the first run makes it.
	None bool
	// Schema is the version of its tables, 0 if it has none.
	Schema int
	// Unfinished counts the runs that have not ended, Waiting those of them that
	// are to go on and that nobody drives.
	Unfinished, Waiting int
	// Drivers are the processes that drive runs now.
	Drivers []harness.Holder
}

// WorkerSetup says how runs are driven.
type WorkerSetup struct {
	// Stores are those that runs may come from, each used directly for its own.
	Stores []Store
	// Concurrency is how many runs are driven side by side, at least 1.
	Concurrency int
	// Holder is how others see this process.
	Holder harness.Holder
	// Project returns the rules that hold in a directory besides those of the
	// setup.
	Project func(dir string) (Permissions, error)
}

// Worker drives runs.
type Worker interface {
	// Run drives runs until ctx ends, and then hands back what is under way.
	Run(ctx context.Context) error
	// Health tells what it has done so far, for the log; it may be called at any
	// time.
	Health() []slog.Attr
}

// StoreOptions say how a store is opened.
type StoreOptions struct {
	// Ephemeral keeps conversations, runs and drafts in memory; facts and
	// notes are those of the directory.
	Ephemeral bool
	// NoMemory leaves facts and notes alone: none are read and none written.
	NoMemory bool
	// Purpose and Terminal tell others who wait what this process is.
	Purpose  string
	Terminal string
	Now      func() time.Time
	Log      *slog.Logger
	// Interactive says that a person stays and looks: what is worth telling at
	// most once in a while is then told, and not by each command.
	Interactive bool
	// Notify is told sentences about the store that a person should know, at any
	// time and from any goroutine. Nil leaves them to the log.
	Notify func(text string)
}

// Store bundles what is stored. Close releases it; the parts are not used
// after.
type Store struct {
	Sessions   harness.Sessions
	Transcript harness.Transcript
	// Artifacts keeps the files and long results of the conversations.
	Artifacts harness.Artifacts
	Owners    harness.Owners
	Drafts    harness.Drafts
	Prompts   harness.Prompts
	Facts     harness.Facts
	Notes     harness.Notes
	// Inbox keeps the suggested facts; nil where there are none.
	Inbox  harness.Inbox
	Search harness.Searcher
	// Vectors are what a model made of the texts; nil where none are kept. Meaning is
	// that model, nil if none is configured.
	Vectors near.Store
	Meaning *near.Source
	// Ledger is the account of model calls, Spending what is held for those under
	// way; nil where nothing is held.
	Ledger   harness.Ledger
	Spending harness.Spending
	// Limits is what refusals taught about models; nil where nothing is remembered.
	Limits harness.Limits
	Watch  harness.Watcher
	Runs   Runs
	// Grants are the standing permissions; nil where none can be kept.
	Grants harness.Grants
	// ID names the store where its runs are kept elsewhere.
	ID string
	// Native is the store behind it, for an engine that shares it.
	Native any
	Close  func() error
}

// Runs reads what is stored of runs. It starts none. A [run.Journal] is one.
type Runs interface {
	// Get returns a run with its partial text, or [harness.ErrNotFound].
	Get(ctx context.Context, id harness.RunID) (harness.Run, error)
	// List returns matching runs, newest first.
	List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error)
	// Read returns the journal of a run past entry number after, in order.
	Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error)
}

// StoreReport is what a check of a store found.
type StoreReport struct {
	Path string `json:"path"`
	// Bytes is the size of the file, Free how much of that is not in use.
	Bytes    int64 `json:"bytes"`
	Free     int64 `json:"free"`
	Schema   int   `json:"schema"`
	Sessions int   `json:"sessions"`
	Messages int   `json:"messages"`
	// Artifacts are the files and long results that are kept apart.
	Artifacts int `json:"artifacts"`
	Facts     int `json:"facts"`
	Notes     int `json:"notes"`
	// Wasteful says that giving back what is free is worth it.
	Wasteful bool `json:"wasteful"`
}

// Setup is what models and engines are made from.
type Setup struct {
	Config Config
	// DataDir holds the store.
	DataDir string
	// Engine is what persists new runs. Its Text may hold a password.
	Engine run.Address
	// Holder is how others see this process.
	Holder    harness.Holder
	Ephemeral bool
	// Distill is what becomes of what the model finds worth keeping after a turn.
	// It is [distill.Off] where no memory is written for a conversation that is
	// kept. A session without memory is not distilled, whatever this says.
	Distill distill.Mode
	// Interactive says that a person can be asked: a call that needs consent
	// then waits for it, and is denied otherwise.
	Interactive bool
	// Steps, if set, replaces what carries out runs: that of the demonstration.
	Steps func(agent.Steps) (agent.Steps, error)
	// Keys are the keys of providers that the person gave to cairn itself; nil
	// keeps none.
	Keys   *keyring.Keys
	Getenv func(string) string
	Now    func() time.Time
	Log    *slog.Logger
}

// Models answers questions about models.
type Models interface {
	// List returns the models whose provider is known, by provider and name.
	List(ctx context.Context) ([]ModelInfo, error)
	// Default is the model of a start that names none, and why: the
	// catalogue's default of the first key found, a local server, or offline.
	Default(ctx context.Context) (model, why string, err error)
	// Validate returns "provider/model" as it is called. An unknown provider
	// is an error that has the nearest name in it.
	Validate(ctx context.Context, name string) (string, error)
	// Ready returns nil if a model, as Validate names it, can be asked: its key is
	// there if it needs one. The error names the variable to set.
	Ready(ctx context.Context, model string) error
	// Accepts returns nil if a model, as Validate names it, reads files of a media
	// type, else an error that says what to do.
	Accepts(ctx context.Context, model, mediaType string) error
	// Keys tells for each provider where its key comes from.
	Keys(ctx context.Context) ([]KeyState, error)
	// Servers are the local model servers that answer now.
	Servers(ctx context.Context) ([]Server, error)
}

// ModelInfo is one model of the catalogue.
type ModelInfo struct {
	// Name is "provider/model".
	Name string `json:"name"`
	// Window and MaxOutput are in tokens, 0 if unknown.
	Window    int `json:"window,omitempty"`
	MaxOutput int `json:"max_output,omitempty"`
	// InputPrice and OutputPrice are in USD for a million tokens and mean
	// nothing unless PriceKnown.
	InputPrice  float64 `json:"input_price,omitempty"`
	OutputPrice float64 `json:"output_price,omitempty"`
	PriceKnown  bool    `json:"price_known"`
	// Key says where the provider's key is from, such as "ANTHROPIC_API_KEY",
	// never the key; empty means that there is none.
	Key string `json:"key,omitempty"`
	// Local models need no key.
	Local bool `json:"local,omitempty"`
}

// KeyState says whether a provider's key is there. It never holds the key.
type KeyState struct {
	Provider string `json:"provider"`
	// From is where the key is from; empty means that there is none.
	From string `json:"from,omitempty"`
	// Wanted is the variable that would hold it.
	Wanted string `json:"wanted,omitempty"`
	// Address is the base address, without credentials, if it is not the
	// usual one.
	Address string `json:"address,omitempty"`
}

// Server is a local model server.
type Server struct {
	Name    string   `json:"name"`
	Address string   `json:"address"`
	Models  []string `json:"models,omitempty"`
}

// ChatSetup is what a chat opens with.
type ChatSetup struct {
	Store  Store
	Setup  Setup
	Models func(ctx context.Context) (Models, error)
	// Session is the conversation to open: its stored state if Exists, else
	// what its first write stores.
	Session harness.Session
	Exists  bool
	// Pick opens the session picker first.
	Pick bool
	// Prompt is sent at once; empty means that nothing is. It mentions the files
	// that were given, "@/path", as [ChatSetup.Files] reads them.
	Prompt string
	// Model is "provider/model" and ModelFrom says who chose it. An empty
	// Model leaves the choice to [Models.Default], which may ask the network
	// and must not delay the first frame.
	Model     string
	ModelFrom string
	// System is the system prompt; empty means the default one.
	System string
	Holder harness.Holder
	// Export writes a session to a file and returns its absolute path. An empty
	// path is a safe name in the current directory, a directory takes such a name,
	// and an ending of .html or .jsonl chooses HTML or JSON Lines. Nothing is written
	// over.
	Export func(ctx context.Context, id harness.SessionID, to string) (path string, err error)
	// Import takes in the conversations of a file or directory that is named as a
	// person does, and says in a sentence what came of it.
	Import func(ctx context.Context, from string) (said string, err error)
	// Save sets a key of the person's configuration file, such as "theme", for the
	// starts to come, and leaves all else in it. What would not count, because a flag, the
	// environment or the project sets it, is an error that says so.
	Save func(ctx context.Context, key, value string) error
	// Doctor looks at the set-up and tells in lines of a width what it found, 0 for
	// lines that are not wrapped.
	Doctor func(ctx context.Context, width int) (string, error)
	// Welcome is what the very first start shows; nil at all others.
	Welcome *overlay.WelcomeConfig
	// Notices are sentences to show once. Told brings more of them while the chat
	// is open.
	Notices []string
	Told    <-chan string
	// Plain, Color and Mouse are settled from flags, environment and
	// configuration.
	Plain bool
	Color bool
	Mouse bool
	Theme string
	// Design is the theme that Theme names, Designs reads what themes there are, as
	// their files are now, and Look is what the terminal shows of them.
	Design  themes.Design
	Designs func() []ThemeChoice
	Look    themes.Options
	// Linear are the parts of the linear chat alone.
	Linear Linear
	// Prompted says that a person types at a terminal.
	Prompted bool
	// In and Out are the streams; the full-screen chat opens the terminal
	// itself if In is not one.
	In  io.Reader
	Out io.Writer
}

// Files finds the files that messages of a session mention: from its directory,
// which is that of the start if it is empty.
func (c ChatSetup) Files(dir string) attach.Files {
	return attach.Files{Dir: cmp.Or(dir, c.Session.Dir), Home: c.Setup.Getenv("HOME")}
}

// ChatExit is how a chat was left.
type ChatExit struct {
	Session harness.SessionID
	// Saved says that the conversation is stored and can be resumed.
	Saved bool
}
