// Package agent is one conversation with a model: at most one active run at a
// time, failures as data, and a history that every provider accepts. The one
// thing to know: an [Agent] drives the pure loop of package loop directly and
// keeps whole messages in its [Store]; unfinished execution is kept by package
// run, which uses the same [Turn].
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
)

// Version is the version of cairn's own agent, as runs record it.
const Version = "cairn@1"

// Log is one conversation open for writing.
type Log interface {
	// Tail returns the last records of the branch on screen, oldest first, all
	// if limit is 0.
	Tail(ctx context.Context, limit int) ([]harness.Record, error)
	// Append stores records at the end of the branch; they are on disk when it
	// returns, with their numbers assigned.
	Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error)
	// Close gives the conversation back.
	Close() error
}

// Store keeps conversations by id. An implementation of the caller's wins over
// every configured one.
type Store interface {
	// Open opens the conversation or makes it. A conversation open elsewhere is
	// a [*harness.HeldError].
	Open(ctx context.Context, id harness.SessionID) (Log, error)
}

// Session says which conversation an agent continues, and where it is kept.
type Session struct {
	// ID is sanitised as [harness.ParseSessionID] does; empty means a fresh
	// random one. An id of white space only is an error.
	ID string
	// Store is where: [Snapshots], a database, or the caller's own.
	Store Store
}

// Options are the parts of an agent. Everything handed in stays the caller's:
// [Agent.Close] does not close it.
type Options struct {
	// Model answers; Info is what is known of it (Info.ID names it in messages).
	Model model.Model
	Info  model.Info
	// Tools may be nil. Policy nil goes by what the tools say of
	// themselves, and asks if there is an Approve.
	Tools  *tool.Set
	Policy policy.Policy
	// Approve decides about a call that needs consent, or answers a question.
	// It is called for one call after the other, while none runs, and may take
	// its time; it gets copies. A decision that leaves out the call and the
	// digest is about what was asked. An error, or a decision that does not fit
	// (a scope but once, too: the agent keeps no grants), declines the call and
	// tells the model why. Without Approve everything that asks is denied.
	Approve func(ctx context.Context, p harness.Pending) (harness.Decision, error)
	// Facts and Notes are recalled in every conversation; nil means not. Each
	// answer names in [harness.Message.Used] what it was given, and the facts
	// among them are counted as used.
	Facts harness.Facts
	Notes harness.Notes
	// System replaces the default system prompt.
	System string
	// Dir is the working directory that tools and the model see.
	Dir string
	// MaxSteps bounds the model calls of a turn; 0 means 50.
	MaxSteps int
	// Limits remembers what refusals taught about the model, for other
	// conversations too; nil means that this agent alone does.
	Limits harness.Limits
	// Budget keeps model calls within spending limits, those that condense the
	// conversation, too; nil means that there are none. A call that it does not
	// allow fails its run with [KindSpending].
	Budget *policy.Budget
	// Artifacts has the bytes of large results and files that messages of the
	// conversation name, in addition to the Artifacts of the tools and to the store;
	// nil if there are no others.
	Artifacts ArtifactReader
	// Extensions have state that is saved and loaded with the conversation, and may
	// change what happens in turns. Their names differ. The agent installs them,
	// and [Agent.Close] takes them down.
	Extensions []Extension
	// Hooks observe the agent's runs, in the order of the runs; see package hook.
	Hooks []hook.Func
	Now   func() time.Time
	// Log is told what goes wrong beside a turn, such as a use that cannot be
	// counted; nil means that nobody is.
	Log *slog.Logger
}

// Agent is one conversation. Its methods are safe for concurrent use.
type Agent struct {
	o   Options
	id  harness.SessionID
	log Log

	// hooks are told of all runs.
	hooks *hook.Queue
	ext   installed
	// life is what extensions are given where nobody hands in a context.
	life     context.Context //nolint:containedctx // New and Close have none
	composer *memory.Composer

	mu      sync.Mutex
	history []harness.Record
	// doc is what is known of the conversation, with its records only where the
	// agent holds them itself: there is no log, or it is a Keeper, of which kept
	// is what it last stored beside the records. The one active run has both.
	doc, kept snapshot.Document
	// learned are the limits of models that refusals taught, or Options.Limits.
	learned map[string]harness.LearnedLimits
	// told is what its turns told.
	told Told
	// noted is stored before the next record.
	noted   []harness.Record
	stop    context.CancelCauseFunc
	idle    chan struct{}
	closed  bool
	close   sync.Once
	closing error
}

// New returns an ordinary agent: its conversation lives as long as it does.
func New(o Options) (*Agent, error) {
	a, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := a.install(a.life); err != nil {
		return nil, fmt.Errorf("new agent: %w", err)
	}
	return a, nil
}

// prepare returns an agent whose extensions are not installed.
func prepare(o Options) (*Agent, error) {
	if o.Model == nil {
		return nil, errors.New("new agent: Options.Model is nil; give it a model")
	}
	if err := checkExtensions(o.Extensions); err != nil {
		return nil, fmt.Errorf("new agent: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tools == nil {
		o.Tools = new(tool.Set)
	}
	if o.Policy == nil {
		o.Policy = policy.Rules{Interactive: o.Approve != nil}
	}
	a := &Agent{o: o, id: harness.SessionID(harness.NewID()), life: context.Background()}
	a.composer = &memory.Composer{Facts: o.Facts, Notes: o.Notes, Artifacts: files{a}}
	return a, nil
}

// Open returns an agent that continues the session's conversation, or begins
// it. A Session without a Store keeps nothing.
//
// A store that keeps more than messages ([Keeper]) gives the agent the
// configuration that o leaves open; what o says wins, and another model than
// before is noted in the conversation. Of extensions and memory the rules of
// [LoadSession] hold.
func Open(ctx context.Context, s Session, o Options) (*Agent, error) {
	a, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if s.ID != "" {
		if strings.TrimSpace(s.ID) == "" {
			return nil, fmt.Errorf("open agent: the session id is blank; leave it empty for a fresh one")
		}
		if a.id, _, err = harness.ParseSessionID(s.ID); err != nil {
			return nil, fmt.Errorf("open agent: %w", err)
		}
	}
	begin := a.install
	if s.Store != nil {
		begin = func(ctx context.Context) error { return a.open(ctx, s) }
	}
	if err := begin(ctx); err != nil {
		return nil, fmt.Errorf("open session %s: %w", a.id, err)
	}
	return a, nil
}

// open opens the agent's conversation and reads it, with a fresh id until that
// is nobody's.
func (a *Agent) open(ctx context.Context, s Session) (err error) {
	for {
		if a.log, err = s.Store.Open(ctx, a.id); err != nil {
			return err
		}
		if err := a.read(ctx); err != nil {
			return errors.Join(err, a.log.Close())
		}
		if s.ID != "" || len(a.history) == 0 {
			break
		}
		if err := a.log.Close(); err != nil {
			return err
		}
		a.id = harness.SessionID(harness.NewID())
	}
	if err := a.install(ctx); err != nil {
		return errors.Join(err, a.log.Close())
	}
	if err := a.resume(); err != nil {
		return errors.Join(err, a.uninstall(ctx), a.log.Close())
	}
	return nil
}

// read reads the agent's conversation.
func (a *Agent) read(ctx context.Context) (err error) {
	if k, ok := a.log.(Keeper); ok {
		a.doc, err = k.Document(ctx)
		a.history, a.kept = a.doc.Branch(), beside(a.doc)
		return err
	}
	a.history, err = a.log.Tail(ctx, 0)
	a.doc = snapshot.Document{Usage: used(a.history)}
	return err
}

// resume goes on with what a [Keeper] has beside the messages. The configuration
// that the agent was given wins.
func (a *Agent) resume() error {
	if _, ok := a.log.(Keeper); !ok {
		return nil
	}
	if to := a.o.Tools.Artifacts; to != nil {
		if _, ok := to.(ArtifactReader); !ok {
			return errors.New("the Artifacts of the tools cannot be read back, so that they could not be saved; give the tools a snapshot.Artifacts")
		}
	}
	if err := a.need().Check(a.doc); err != nil {
		return err
	}
	return a.restore(a.doc)
}

// SessionID returns the conversation's id.
func (a *Agent) SessionID() harness.SessionID { return a.id }

// begin makes the caller the one active run. done ends that.
func (a *Agent) begin(ctx context.Context) (done func(), run context.Context, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, nil, fmt.Errorf("session %s: %w", a.id, harness.ErrClosed)
	case a.idle != nil:
		return nil, nil, fmt.Errorf("session %s: %w", a.id, harness.ErrBusy)
	}
	run, a.stop = context.WithCancelCause(ctx)
	idle := make(chan struct{})
	a.idle = idle
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.stop(nil)
		a.idle = nil
		close(idle)
	}, run, nil
}

func (a *Agent) config() harness.RunConfig {
	c := harness.RunConfig{Agent: Version, Model: a.o.Info.ID, System: a.o.System, MaxSteps: a.o.MaxSteps}
	if len(a.ext.system) > 0 {
		c.System = strings.Join(append([]string{cmp.Or(c.System, memory.DefaultSystem)}, a.ext.system...), "\n\n")
	}
	return c
}

// Steps returns the parts with which the agent's turns are carried out, for a
// runtime that executes it.
func (a *Agent) Steps() Steps {
	return Steps{
		Model: a.o.Model, Info: a.o.Info, Tools: a.o.Tools, Policy: a.o.Policy, Now: a.o.Now,
		Compose: a.composer.Compose, Budget: a.o.Budget, Used: a.used, Limits: ownLimits{a}, Hooks: a.o.Hooks, Log: a.o.Log,
		Extensions: a.o.Extensions,
	}
}

// used counts the use of facts in an answer. The answer is stored already, so
// that a failure is no reason to end the turn.
func (a *Agent) used(ctx context.Context, ids []string) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, "f") })
	if a.o.Facts == nil || len(ids) == 0 {
		return
	}
	if err := a.o.Facts.Used(ctx, ids...); err != nil {
		a.o.Log.WarnContext(ctx, "count use of facts", slog.String("session", string(a.id)), slog.Any("error", err))
	}
}

// errClosing is why a run ends when its agent is closed.
var errClosing = errors.New("the agent is being closed")

// Close stops the active run and waits for it, takes the extensions down and gives
// the conversation back. It may be called more than once, also at the same time, and always
// returns the same errors, all of them.
func (a *Agent) Close() error {
	a.close.Do(func() {
		a.mu.Lock()
		a.closed = true
		idle := a.idle
		if idle != nil {
			a.stop(errClosing)
		}
		a.mu.Unlock()
		if idle != nil {
			<-idle
		}
		a.closing = a.uninstall(a.life)
		if a.log != nil {
			a.closing = errors.Join(a.closing, a.log.Close())
		}
	})
	return a.closing
}
