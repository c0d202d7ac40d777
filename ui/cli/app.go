package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/ui/cli/keyring"
	"cairn/ui/render"
	away "cairn/ui/runs/standing"
)

// app is one start of the program. Its parts are made by the commands that
// need them.
type app struct {
	s     Streams
	wire  Wire
	out   *output
	flags flags
	// cfg is loaded once, by config, and so is where keys are kept.
	cfg  *Config
	keys *keyring.Keys
	log  *slog.Logger
	// logFile is behind log, nil if nothing is logged.
	logFile *logFile
	// conversing says that a model takes part, and not only a person who looks
	// after what is stored.
	conversing bool
	// asked says that a flag says what is wanted.
	asked bool
	// interactive says that a call may wait for a person, here or later.
	interactive bool
	// toldUnsaved says that it was told that the store takes nothing now.
	toldUnsaved bool
	// pace is what was told of how far a tool is.
	pace away.Pace
	// told carries to a chat what the store has to say; see [StoreOptions.Notify].
	told chan string
	// took gets what an import in a chat comes to; nil prints it.
	took func(importResult)
	// purpose says in a word what this process does.
	purpose string
	// closers are called in reverse order at the end.
	closers []func() error
}

func newApp(s Streams, wire Wire) *app {
	return &app{s: s, wire: wire, out: &output{to: s.Out}, told: make(chan string, maxTold)}
}

// maxTold bounds what the store said and no chat has shown yet; more is only
// logged.
const maxTold = 16

// hear passes on what the store has to say: to the chat, or to standard error
// where there is none.
func (a *app) hear(text string) {
	if !a.interactive {
		a.notice("%s", text)
		return
	}
	select {
	case a.told <- text:
	default:
	}
}

// run parses the arguments and executes the command.
func (a *app) run(ctx context.Context, args []string) error {
	root, args, err := a.command(args) //nolint:contextcheck // what it makes takes the context that cobra hands on
	if err != nil {
		return err
	}
	root.SetArgs(args)
	root.SetIn(a.s.In)
	root.SetOut(a.out)
	root.SetErr(a.s.Err)
	return root.ExecuteContext(ctx)
}

// close closes what was opened, last first.
func (a *app) close() error {
	var all []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		all = append(all, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(all...)
}

// config settles the configuration, once.
func (a *app) config() (Config, error) {
	if a.cfg != nil {
		return *a.cfg, nil
	}
	c, err := loadConfig(a.s, a.flags.config, a.flags.values, a.wire.Actions)
	if err != nil {
		return c, err
	}
	if err := a.permitByFlags(&c.Permissions); err != nil {
		return c, err
	}
	if err := c.known(a.wire.Tools); err != nil {
		return c, err
	}
	a.keepKeys(&c)
	for _, w := range c.Warnings {
		a.notice("%s", w)
	}
	a.cfg = &c
	return c, nil
}

// heedProject adds the ask and deny rules of the project in a directory in which
// tools are to run, if that is not the working directory: a run keeps its own
// wherever it is taken up. Nothing else of that file counts.
func (a *app) heedProject(dir string) error {
	c, err := a.config()
	if err != nil || dir == "" || filepath.Clean(dir) == filepath.Clean(a.s.Dir) {
		return err
	}
	f, path, err := c.projectOf(dir)
	if err != nil || f.Permissions == nil {
		return err
	}
	for _, effect := range []string{effectAsk, effectDeny} {
		if err := a.cfg.Permissions.add(effect, path, f.Permissions.rules()[effect]); err != nil {
			return err
		}
	}
	a.cfg.Permissions.ofProject(path)
	return nil
}

// store opens the store for one command.
func (a *app) store(ctx context.Context) (Store, error) {
	c, err := a.config()
	if err != nil {
		return Store{}, err
	}
	if c.Dir == "" && (!a.flags.ephemeral || !c.NoMemory) {
		_, err := dataDir(a.s)
		if a.flags.ephemeral {
			err = fmt.Errorf("%w, or add --no-memory: --ephemeral reads facts and notes there", err)
		}
		return Store{}, err
	}
	log, err := a.logger()
	if err != nil {
		return Store{}, err
	}
	st, err := a.wire.OpenStore(ctx, c.Dir, StoreOptions{
		Ephemeral: a.flags.ephemeral, NoMemory: c.NoMemory && a.conversing,
		Purpose: a.purpose, Terminal: a.s.Terminal, Now: a.s.Now, Log: log, Notify: a.hear, Interactive: a.interactive,
	})
	if err != nil {
		return Store{}, a.openError(c, err)
	}
	if st.Close != nil {
		a.closers = append(a.closers, st.Close)
	}
	return a.byMeaning(c, st)
}

// reading opens the store for a command that only reads, or that changes what
// is there. Where there is no store it makes none: an empty one in memory takes
// its place, which has no facts and notes.
func (a *app) reading(ctx context.Context) (Store, error) {
	c, err := a.config()
	if err != nil {
		return Store{}, err
	}
	if c.Dir == "" || a.storeExists(c.Dir) {
		return a.store(ctx)
	}
	log, err := a.logger()
	if err != nil {
		return Store{}, err
	}
	st, err := a.wire.OpenStore(ctx, c.Dir, StoreOptions{
		Ephemeral: true, NoMemory: true, Purpose: a.purpose, Terminal: a.s.Terminal, Now: a.s.Now, Log: log,
	})
	if err != nil {
		return Store{}, fmt.Errorf("open a store in memory: %w", err)
	}
	if st.Close != nil {
		a.closers = append(a.closers, st.Close)
	}
	return st, nil
}

// storeExists reports whether there is a store in a directory. One that cannot
// be looked at is opened, which tells why.
func (a *app) storeExists(dir string) bool {
	if a.wire.StoreExists != nil {
		return a.wire.StoreExists(dir)
	}
	_, err := os.Lstat(a.wire.StorePath(dir))
	return !errors.Is(err, fs.ErrNotExist)
}

// openError says where a store could not be opened, and that it could be
// elsewhere, or nowhere.
func (a *app) openError(c Config, err error) error {
	if !strings.Contains(err.Error(), c.Dir) {
		err = fmt.Errorf("%s: %w", c.Dir, err)
	}
	err = fmt.Errorf("open the store: %w", err)
	if !a.conversing || !nowhere(err) || strings.Contains(err.Error(), "--no-memory") {
		if hintFor(err) == "" && !strings.Contains(err.Error(), "--dir") {
			return fmt.Errorf("%w; choose another place with --dir DIR or CAIRN_DIR", err)
		}
		return err
	}
	// Facts and notes are read from the directory also when nothing is kept.
	if a.flags.ephemeral {
		return fmt.Errorf("%w; --ephemeral reads facts and notes there: choose another place with --dir DIR or CAIRN_DIR, or add --no-memory", err)
	}
	return fmt.Errorf("%w; to chat without any store: --ephemeral --no-memory", err)
}

// nowhere reports whether a store is missing for a reason that a chat can do
// without: its place cannot be used, and nothing in it is at stake.
func nowhere(err error) bool { return unwritable(err) || errors.Is(err, fs.ErrNotExist) }

// setup is what models and engines are made from.
func (a *app) setup() (Setup, error) {
	c, err := a.config()
	if err != nil {
		return Setup{}, err
	}
	if err := checkAddresses(a.s.Getenv); err != nil {
		return Setup{}, err
	}
	log, err := a.logger()
	if err != nil {
		return Setup{}, err
	}
	return Setup{
		Config: c, DataDir: c.Dir, Engine: a.engineFor(c), Holder: a.holder(), Ephemeral: a.flags.ephemeral, Distill: c.distillFor(a.flags.ephemeral), Interactive: a.interactive,
		Getenv: a.s.Getenv, Now: a.s.Now, Log: log, Keys: a.keys,
	}, nil
}

// engineFor is what keeps the runs of this start: what is not to be kept at all
// goes nowhere else either, whatever is configured.
func (a *app) engineFor(c Config) run.Address {
	if a.flags.ephemeral {
		return run.Address{Kind: run.KindBbolt, Text: string(run.KindBbolt), Name: string(run.KindBbolt)}
	}
	return c.Engine
}

// models opens the catalogue.
func (a *app) models(ctx context.Context) (Models, error) {
	setup, err := a.setup()
	if err != nil {
		return nil, err
	}
	m, err := a.wire.Models(ctx, setup)
	if err != nil {
		return nil, fmt.Errorf("open the catalogue of models: %w", err)
	}
	return m, nil
}

// holder is how others who wait see this process.
func (a *app) holder() harness.Holder {
	// A machine without a name is still told by its pid.
	host, _ := os.Hostname()
	return harness.Holder{PID: os.Getpid(), Host: host, Terminal: a.s.Terminal, Purpose: a.purpose, Since: a.s.Now()}
}

// safe makes stored text harmless for a terminal; a pipe gets its exact bytes.
func (a *app) safe(text string) string {
	if a.s.OutTTY {
		return render.Safe(text)
	}
	return text
}

func (a *app) safeErr(text string) string {
	if a.s.ErrTTY {
		return render.Safe(text)
	}
	return text
}

// when formats a time for people, in the zone of the program's clock.
func (a *app) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(a.s.Now().Location()).Format("2006-01-02 15:04")
}

// runner is a cobra action without its unused parameter.
func runner(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return f(cmd.Context(), args) }
}
