// Command cairn is a terminal chat with a language-model agent in which
// nothing is lost. This file only wires: it hands the stores, models, tools and
// screens to the command line, each built when a command first needs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/memory/distill"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
	"cairn/harness/snapshot/foreign"
	"cairn/harness/tool"
	"cairn/harness/tool/standard"
	"cairn/storage/bolt"
	"cairn/storage/mem"
	"cairn/storage/postgres"
	"cairn/storage/sqlite"
	logs "cairn/storage/sqlite/foreign"
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/browser"
	"cairn/ui/chat"
	"cairn/ui/chat/attach"
	"cairn/ui/cli"
	"cairn/ui/cli/keyring"
	"cairn/ui/cli/parts"
	"cairn/ui/overlay"
	"cairn/ui/picker"
	"cairn/ui/render"
	"cairn/ui/runs"
	"cairn/ui/screen"
)

func main() {
	// Libraries that print to the standard logger would write over the screen.
	log.SetOutput(io.Discard)
	if err := cli.Harden(); err != nil {
		fmt.Fprintln(os.Stderr, "cairn:", err)
	}
	ctx, stop := cli.SignalContext(context.Background())
	p := program{parts.Start{Queue: openQueue}}
	code := cli.Main(ctx, cli.System(), os.Args[1:], cli.Wire{
		Agent:     agent.Version,
		OpenStore: openStore, CheckStore: checkStore,
		BackupStore: backupStore, RestoreStore: restoreStore, CompactStore: compactStore, EmptyTrash: emptyTrash,
		MigrateStore: migrateStore, RebuildStore: rebuildStore, OpenSnapshots: func(ctx context.Context, address string) (snapshot.Store, error) { return bucket.Open(ctx, address) },
		OpenDatabase: func(ctx context.Context, path string) (foreign.Source, error) { return logs.Open(ctx, path) },
		RemoteStore:  bolt.Remote,
		StorePath:    func(dir string) string { return filepath.Join(dir, bolt.FileName) },
		NewEngine: func(_ context.Context, s cli.Store, setup cli.Setup) (harness.Engine, error) {
			sweep(setup.Now, setup.Log)
			e, err := p.Engine(s, native(s), setup)
			return e.Engine, err
		},
		Servers: p.OpenServers,
		NewCondenser: func(_ context.Context, c cli.ChatSetup) (cli.Condenser, error) {
			set, err := parts.Tools(c.Store, c.Setup)
			return p.Condenser(c, native(c.Store), set), err
		},
		Models: func(_ context.Context, setup cli.Setup) (cli.Models, error) {
			return cli.NewModels(p.Environment(setup)), nil
		},
		Chat: p.openChat, Plain: p.openPlain, Keyring: keyring.System, Browser: ui.Browser, Themes: themes.Names, Actions: actions, Bindings: bindings, Tools: standard.Names,
		OpenJobs: p.Jobs, ProbeEngine: p.Probe,
		NewWorker: func(ctx context.Context, setup cli.Setup, w cli.WorkerSetup) (cli.Worker, error) {
			return p.worker(ctx, setup, w)
		},
	})
	if err := p.Close(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, "cairn:", err)
	}
	stop()
	os.Exit(code)
}

// program is one start.
type program struct{ parts.Start }

// stores are the conversations and runs of one start.
type stores struct {
	parts.Native
	// db is nil where nothing of them is on disk.
	db *bolt.DB
}

// native is what a store that [openStore] opened keeps runs and models with.
func native(s cli.Store) parts.Native { return s.Native.(stores).Native }

// openStore opens the database of a directory. Ephemeral chats keep their
// conversations and runs in memory; facts, notes and what is allowed always are
// those of the directory.
func openStore(_ context.Context, dir string, o cli.StoreOptions) (cli.Store, error) {
	var s cli.Store
	if !o.Ephemeral || !o.NoMemory {
		db, err := openDB(dir, o) //nolint:contextcheck // opening is bounded by itself
		if err != nil {
			return s, err
		}
		s = cli.Store{
			Sessions: db.Sessions(), Transcript: db.Transcript(), Artifacts: db.Artifacts(), Owners: db.Owners(), Drafts: db.Drafts(),
			Prompts: db.Prompts(), Facts: db.Facts(), Notes: db.Notes(), Search: db.Searcher(), Vectors: db.Vectors(), Watch: db, Runs: db.Journal(),
			Inbox: db.Inbox(), Grants: db.Grants(), Ledger: db.Ledger(), Spending: db.Spending(), Limits: db.Limits(), ID: db.ID(),
			Native: stores{Native: parts.Native{Journal: db.Journal(), Limits: db.Limits(), Spending: db.Spending(), Engine: bolt.Engine, ID: db.ID()}, db: db}, Close: db.Close,
		}
	}
	if o.Ephemeral {
		m := mem.New(o.Now)
		m.Spool("")
		sweep(o.Now, o.Log)
		s.Sessions, s.Transcript, s.Artifacts, s.Owners, s.Drafts = m.Sessions(), m.Transcript(), m.Artifacts(), m.Owners(), m.Drafts()
		s.Prompts, s.Search, s.Watch, s.Runs, s.Ledger = m.Prompts(), m.Searcher(), m, m.Journal(), m.Ledger()
		if s.Spending == nil {
			s.Spending = m.Spending()
		} else {
			s.Spending = m.SpendingOver(s.Spending) // one budget for all windows of a day
		}
		s.Limits, s.ID, s.Vectors = m.Limits(), m.ID(), nil
		s.Native = stores{Native: parts.Native{Journal: m.Journal(), Limits: s.Limits, Spending: s.Spending, Engine: mem.Engine, ID: m.ID()}}
		rest := s.Close
		s.Close = func() error {
			if rest == nil {
				return m.Close()
			}
			return errors.Join(m.Close(), rest())
		}
		if s.Grants == nil {
			s.Grants = m.Grants()
		} else {
			s.Grants = m.GrantsOver(s.Grants)
		}
		s.Facts, s.Notes, s.Inbox = memory.Unfiled(s.Facts, s.Notes, s.Inbox)
	}
	if o.NoMemory {
		s.Facts, s.Notes, s.Inbox = nil, nil, nil
	}
	return s, nil
}

// openQueue opens what keeps runs at an address.
func openQueue(ctx context.Context, a run.Address, setup cli.Setup) (run.Queue, error) {
	if path, ok := strings.CutPrefix(a.Text, string(run.KindSQLite)+":"); ok {
		return sqlite.Open(ctx, path, sqlite.Options{Now: setup.Now, Logger: setup.Log})
	}
	return postgres.Open(ctx, a.Text, postgres.Options{Lease: setup.Config.Lease, Now: setup.Now, Log: setup.Log})
}

// worker makes what drives the runs of others. What calls for runs of stores that
// are not here may cost is held in memory.
func (p *program) worker(ctx context.Context, setup cli.Setup, w cli.WorkerSetup) (cli.Worker, error) {
	var natives []parts.Native
	for _, s := range w.Stores {
		natives = append(natives, native(s))
	}
	m := mem.New(setup.Now)
	return p.Worker(ctx, setup, w, natives, parts.Native{Limits: m.Limits(), Spending: m.Spending()})
}

// sweep removes what ephemeral chats left that were killed.
func sweep(now func() time.Time, logger *slog.Logger) {
	if _, err := mem.Sweep("", now()); err != nil && logger != nil {
		logger.Warn("sweep", slog.String("error", err.Error()))
	}
}

func openDB(dir string, o cli.StoreOptions) (*bolt.DB, error) {
	return bolt.Open(filepath.Join(dir, bolt.FileName), dbOptions(o))
}

func dbOptions(o cli.StoreOptions) bolt.Options {
	return bolt.Options{Now: o.Now, Logger: o.Log, Purpose: o.Purpose, Terminal: o.Terminal, Notify: func(n bolt.Notice) {
		// On a network file system the warning is no news to each command.
		if o.Notify != nil && (o.Interactive || n.Kind != bolt.NoticeNetwork) {
			o.Notify(n.Text)
		}
	}}
}

// backupStore, restoreStore and compactStore keep the database of a directory.
func backupStore(ctx context.Context, dir, to string, o cli.StoreOptions) error {
	db, err := openDB(dir, o) //nolint:contextcheck // opening is bounded by itself
	if err != nil {
		return err
	}
	return errors.Join(db.Backup(ctx, to), db.Close())
}

func restoreStore(ctx context.Context, dir, from string, o cli.StoreOptions) (kept string, err error) {
	return bolt.Restore(ctx, filepath.Join(dir, bolt.FileName), from, dbOptions(o))
}

func compactStore(ctx context.Context, dir string, o cli.StoreOptions) (before, after int64, err error) {
	db, err := openDB(dir, o) //nolint:contextcheck // opening is bounded by itself
	if err != nil {
		return 0, 0, err
	}
	before, after, err = db.Compact(ctx)
	return before, after, errors.Join(err, db.Close())
}

// emptyTrash removes for good what was deleted from the database of a directory.
func emptyTrash(ctx context.Context, dir string, o cli.StoreOptions, agree func(cli.StoreTrash) error) (cli.StoreTrash, error) {
	gone, left, err := bolt.EmptyTrash(ctx, filepath.Join(dir, bolt.FileName), dbOptions(o), func(p bolt.Purged) error {
		return agree(cli.StoreTrash{Sessions: p.Sessions, Facts: p.Facts, Notes: p.Notes})
	})
	return cli.StoreTrash{Sessions: gone.Sessions, Facts: gone.Facts, Notes: gone.Notes, Left: left}, err
}

// The database is looked after housekeepAfter the start, once nothing was written
// for quietFor: the first keys and an answer that streams come first.
const housekeepAfter, quietFor, housekeepBy = 20 * time.Second, 5 * time.Second, 10 * time.Minute

// MCP servers are connected to connectAfter the start: the first frame comes first.
const connectAfter = 200 * time.Millisecond

// housekeep checks the database and makes its backup once a day, purges old trash,
// has read what earlier starts left unread, and goes on looking after the database
// until ctx ends, in the background.
func housekeep(ctx context.Context, s cli.Store, d *distill.Distiller, logger *slog.Logger) {
	native, ok := s.Native.(stores)
	if !ok || native.db == nil || native.Engine != bolt.Engine {
		return
	}
	select {
	case <-time.After(housekeepAfter):
	case <-ctx.Done():
		return
	}
	native.db.Quiet(ctx, quietFor, housekeepBy)
	if _, err := native.db.Housekeep(ctx); err != nil && ctx.Err() == nil {
		logger.Warn("housekeeping", slog.Any("error", err))
	}
	if d != nil {
		if _, err := d.CatchUp(ctx); err != nil && ctx.Err() == nil {
			logger.Warn("distil", slog.String("error", err.Error()))
		}
	}
	go keepVectors(ctx, s, native.db)
	native.db.Guard(ctx)
}

// keepVectors makes the vectors of what is written, when nobody writes.
func keepVectors(ctx context.Context, s cli.Store, db *bolt.DB) {
	if db != nil {
		parts.KeepVectors(ctx, s, func(ctx context.Context) { db.Quiet(ctx, quietFor, housekeepBy) })
	}
}

// checkStore reads everything in the database of a directory.
func checkStore(ctx context.Context, dir string) (cli.StoreReport, error) {
	i, err := bolt.Inspect(ctx, filepath.Join(dir, bolt.FileName), bolt.Options{Purpose: "check"})
	return cli.StoreReport(i), err
}

// migrateStore and rebuildStore change the database of a directory on a copy.
func migrateStore(ctx context.Context, dir string, o cli.StoreOptions) (cli.StoreMigration, error) {
	m, err := bolt.Migrate(ctx, filepath.Join(dir, bolt.FileName), dbOptions(o))
	return cli.StoreMigration{From: m.From, To: m.To, Counts: m.Counts, Kept: m.Kept}, err
}

func rebuildStore(ctx context.Context, dir string, o cli.StoreOptions) (cli.StoreRebuilt, error) {
	r, err := bolt.RebuildLists(ctx, filepath.Join(dir, bolt.FileName), dbOptions(o))
	out := cli.StoreRebuilt{Missing: r.Missing, Counts: r.Counts, Kept: r.Kept}
	for _, l := range r.Lists {
		out.Lists = append(out.Lists, cli.StoreList(l))
	}
	return out, err
}

// distil is how a chat has its conversation read.
func distil(d *distill.Distiller) func(context.Context, harness.Lease) (chat.Distilled, error) {
	if d == nil {
		return nil
	}
	return func(ctx context.Context, l harness.Lease) (chat.Distilled, error) {
		found, err := d.Session(ctx, l)
		return chat.Distilled{Suggested: found.Suggested, Accepted: found.Accepted}, err
	}
}

// settle is how a chat asks for the configuration of a session's next turn.
func (p *program) settle(c cli.ChatSetup) func(context.Context, harness.Session) (chat.Setup, error) {
	shed := cli.Shedder(c.Setup.Log)
	return func(ctx context.Context, s harness.Session) (chat.Setup, error) {
		defer shed() // a conversation was opened, or a turn begins
		set, err := p.Settle(ctx, c, native(c.Store), s)
		return chat.Setup{Run: set.Run, Label: set.Run.Model, Window: int64(set.Info.Window), Notice: set.Notice}, err
	}
}

// deps is what both front ends are made of.
func (p *program) deps(c cli.ChatSetup, engine parts.Engines) ui.Deps {
	set := engine.Tools
	d := ui.Deps{
		Engine: engine.Engine, Remote: engine.Remote, Transcript: c.Store.Transcript, Sessions: c.Store.Sessions, Owners: c.Store.Owners,
		Drafts: c.Store.Drafts, Prompts: c.Store.Prompts, Search: c.Store.Search, Facts: c.Store.Facts,
		Notes: c.Store.Notes, Inbox: c.Store.Inbox, Ledger: c.Store.Ledger, Distill: distil(p.Distiller(c, native(c.Store))), Title: p.Titler(c, native(c.Store)), Export: c.Export, Import: c.Import, Grants: c.Store.Grants, Rules: listed(c.Setup.Config.Permissions), CheckRule: checkRule,
		Watcher: c.Store.Watch, Holder: c.Holder, Dir: c.Session.Dir,
		User: c.Setup.Getenv("USER"), Tools: func() []chat.ToolLine { return toolLines(set) }, Servers: p.Servers(),
		Ephemeral: c.Setup.Ephemeral, Session: c.Session, Fresh: !c.Exists, Pick: c.Pick, Prompt: c.Prompt,
		Notices: c.Notices, Told: c.Told, Getenv: c.Setup.Getenv, Now: c.Setup.Now, Log: c.Setup.Log, Keys: c.Setup.Config.Bindings(),
		NewSession: func() harness.Session {
			return harness.Session{ID: harness.SessionID(harness.NewID()), Dir: c.Session.Dir}
		},
		Mouse:     ui.MouseUse{Off: !c.Mouse, NoWheel: !c.Setup.Config.MouseUse.Wheel, NoSelect: !c.Setup.Config.MouseUse.Select, Copy: c.Setup.Config.MouseUse.Copy},
		Inline:    c.Setup.Config.Inline(),
		Images:    c.Setup.Config.Images,
		Notify:    ui.NotifyUse{How: string(c.Setup.Config.Notify), After: c.Setup.Config.NotifyAfter},
		HelpNotes: c.Places(),
		Theme:     func(dark bool) *themes.Theme { return c.Design.Theme(dark, c.Look) },
		Save:      c.Save, ThemeName: c.Theme, Themes: func(context.Context) []overlay.ThemeChoice { return parts.Themes(c) },
		Config: p.settle(c), Models: p.Models(c.Setup), Files: p.files(c), Doctor: c.Doctor, Welcome: c.Welcome, SidePanel: c.Setup.Config.SidePanel(), KeepPastes: c.Setup.Config.KeepPastes(),
		PruneRuns: p.PruneRuns(c.Setup, native(c.Store)),
	}
	condensing(&d, p.Condenser(c, native(c.Store), set), c.Store)
	return d
}

// files are what a person may attach in a chat: what they name, from their
// working directory on.
func (p *program) files(c cli.ChatSetup) attach.Files {
	from := c.Files(c.Session.Dir)
	return attach.Files{
		Read: from.Read, List: from.List, Bytes: cli.Attachable, Accepts: p.Environment(c.Setup).Accepts,
		Look: func(ctx context.Context, path string) (attach.Seen, error) {
			seen, err := from.Look(ctx, path)
			return attach.Seen(seen), err
		},
	}
}

// condensing gives a chat what condenses its conversation and reads what is kept
// beside it.
func condensing(d *ui.Deps, s *condense.Sessions, store cli.Store) {
	d.Plan = func(ctx context.Context, id harness.SessionID, c chat.Compaction) (chat.CompactPlan, error) {
		p, err := s.Plan(ctx, id, c.Focus)
		if errors.Is(err, condense.ErrNothing) {
			return chat.CompactPlan{}, nil
		}
		return chat.CompactPlan{
			Calls: p.Calls, Tokens: p.Tokens, Cost: p.Cost, CostKnown: p.CostKnown, Messages: p.Messages, Before: p.Before, After: p.After,
		}, err
	}
	d.Compact = func(ctx context.Context, l harness.Lease, c chat.Compaction, tell func(done, of int)) (chat.Compacted, error) {
		r, err := s.Condense(ctx, l, c.Focus, c.Prune, tell)
		if errors.Is(err, condense.ErrNothing) {
			err = nil
		}
		return chat.Compacted{
			Messages: r.Messages, Characters: r.Characters, Cleared: r.Cleared, Before: r.Before, After: r.After, Usage: r.Usage,
		}, err
	}
	d.Picture = func(ctx context.Context, id harness.SessionID) (overlay.Picture, error) {
		p, err := s.Picture(ctx, id)
		return overlay.Picture{
			Model: p.Model, Window: p.Window, From: string(p.WindowFrom), Trigger: p.Trigger, System: p.System, Tools: p.Tools,
			Recalled: p.Recalled, Note: p.Note, Pinned: p.Pinned, Yours: p.User, Answers: p.Assistant, Results: p.Results,
			Files: p.Files, Reply: p.Reply, In: p.InContext, Condensed: p.Condensed, Dropped: p.LeftOut, Cleared: p.Cleared,
		}, err
	}
	if store.Artifacts != nil {
		d.Artifact = store.Artifacts.Get
	}
}

// toolLines are the tools as the screen lists them.
func toolLines(set *tool.Set) []chat.ToolLine {
	var lines []chat.ToolLine
	for _, name := range set.Names() {
		t, _ := set.Lookup(name)
		lines = append(lines, chat.ToolLine{Name: name, Permission: string(t.Permission), Help: t.Description})
	}
	return lines
}

// listed are the rules of files and flags as the screen shows them.
func listed(p cli.Permissions) []overlay.Rule {
	var lines []overlay.Rule
	for _, l := range p.Lines {
		lines = append(lines, overlay.Rule{Effect: l.Effect, Text: l.Rule, From: l.From})
	}
	return lines
}

// checkRule says what is wrong with the text of a rule.
func checkRule(text string) error {
	_, err := policy.ParseRule(text)
	return err
}

// bindings are the actions that keys can be given to, with their keys.
func bindings() []render.Binding {
	return slices.Concat(chat.Actions(), ui.MouseActions(), picker.Actions(), browser.Actions(), runs.Actions(), overlay.PermissionActions(), overlay.PaletteActions(), overlay.ModelsActions(), overlay.UsageActions(), overlay.ThemeActions(), overlay.ContextActions(), overlay.ImageActions(), overlay.PagerActions(), overlay.WelcomeActions(), overlay.FormActions(), overlay.ServersActions(), chat.SelectActions())
}

// actions are the names of the actions that keys can be given to.
func actions() []string {
	var names []string
	for _, b := range bindings() {
		names = append(names, b.Action)
	}
	return names
}

// openChat opens the full-screen chat.
func (p *program) openChat(ctx context.Context, c cli.ChatSetup) (exit cli.ChatExit, err error) {
	p.Asks = true
	engine, err := p.Engine(c.Store, native(c.Store), c.Setup)
	if err != nil {
		return exit, err
	}
	in, out := os.Stdin, os.Stdout
	deps := p.deps(c, engine)
	s, err := screen.Open(in, out, screen.Options{Images: deps.Images, Inline: deps.Inline, Mouse: deps.Mouse.Mode(), Log: c.Setup.Log, Getenv: c.Setup.Getenv, Now: c.Setup.Now})
	if errors.Is(err, screen.ErrDumb) || errors.Is(err, screen.ErrNotTerminal) {
		return exit, fmt.Errorf("%w; use --plain, or cairn -p for one answer", err)
	}
	if err != nil {
		return exit, err
	}
	defer s.Catch(&err)
	care, stop := context.WithCancel(ctx)
	defer stop()
	s.Go(func() { p.Connect(care, connectAfter) })
	s.Go(func() {
		sweep(c.Setup.Now, c.Setup.Log)
		housekeep(care, c.Store, p.Distiller(c, native(c.Store)), c.Setup.Log)
	})
	last, err := s.Run(ctx, ui.New(ctx, deps))
	if m, ok := last.(ui.Model); ok {
		e := m.Settle() //nolint:contextcheck // it saves what is left after the context has ended
		exit = cli.ChatExit{Session: e.Session, Saved: e.Saved}
		err = errors.Join(err, e.Unsaved)
	}
	return exit, errors.Join(err, engine.Close(context.WithoutCancel(ctx)))
}

// openPlain opens the linear chat.
func (p *program) openPlain(ctx context.Context, c cli.ChatSetup) (cli.ChatExit, error) {
	p.Asks = true
	engine, err := p.Engine(c.Store, native(c.Store), c.Setup)
	if err != nil {
		return cli.ChatExit{}, err
	}
	p.Connect(ctx, 0)
	care, stop := context.WithCancel(ctx)
	defer stop()
	go keepVectors(care, c.Store, c.Store.Native.(stores).db)
	e, err := ui.Plain(ctx, p.deps(c, engine), ui.Line{
		In: c.In, Out: c.Out, Prompted: c.Prompted, Interrupts: c.Linear.Interrupts, Still: c.Linear.Still, Models: c.Linear.Models, AddKey: c.Linear.AddKey,
	})
	return cli.ChatExit{Session: e.Session, Saved: e.Saved}, errors.Join(err, e.Unsaved, engine.Close(context.WithoutCancel(ctx)))
}
