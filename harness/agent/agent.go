// Package agent is one conversation with a model: at most one active run at a
// time, failures as data, and a history that every provider accepts. The one
// thing to know: an [Agent] drives the pure loop of package loop directly and
// keeps whole messages in its [Store]; unfinished execution is kept by package
// run, which uses the same [Turn].
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
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
	ID    string
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
	Now      func() time.Time
	// Log is told what goes wrong beside a turn, such as a use that cannot be
	// counted; nil means that nobody is.
	Log *slog.Logger
}

// Agent is one conversation. Its methods are safe for concurrent use.
type Agent struct {
	o   Options
	id  harness.SessionID
	log Log

	mu      sync.Mutex
	history []harness.Record
	stop    context.CancelCauseFunc
	idle    chan struct{}
	closed  bool
	close   sync.Once
	closing error
}

// New returns an ordinary agent: its conversation lives as long as it does.
func New(o Options) (*Agent, error) {
	if o.Model == nil {
		return nil, errors.New("new agent: Options.Model is nil; give it a model")
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
	return &Agent{o: o, id: harness.SessionID(harness.NewID())}, nil
}

// Open returns an agent that continues the session's conversation, or begins
// it. A Session without a Store keeps nothing.
func Open(ctx context.Context, s Session, o Options) (*Agent, error) {
	a, err := New(o)
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
	if s.Store == nil {
		return a, nil
	}
	for {
		if err := a.open(ctx, s.Store); err != nil {
			return nil, fmt.Errorf("open session %s: %w", a.id, err)
		}
		if s.ID != "" || len(a.history) == 0 {
			return a, nil
		}
		// The fresh id is somebody's already.
		if err := a.log.Close(); err != nil {
			return nil, fmt.Errorf("close session %s: %w", a.id, err)
		}
		a.id = harness.SessionID(harness.NewID())
	}
}

// open opens the agent's conversation and reads it.
func (a *Agent) open(ctx context.Context, s Store) (err error) {
	if a.log, err = s.Open(ctx, a.id); err != nil {
		return err
	}
	if a.history, err = a.log.Tail(ctx, 0); err != nil {
		return errors.Join(err, a.log.Close())
	}
	return nil
}

// SessionID returns the conversation's id.
func (a *Agent) SessionID() harness.SessionID { return a.id }

// Messages returns the conversation, oldest first, as a copy.
func (a *Agent) Messages() []harness.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	var msgs []harness.Message
	for _, r := range a.history {
		switch {
		case r.Kind == harness.RecordReset:
			msgs = nil
		case r.Message != nil:
			msgs = append(msgs, clone(*r.Message))
		}
	}
	return msgs
}

// clone returns a copy of m whose list of parts is its own.
func clone(m harness.Message) harness.Message {
	m.Parts = slices.Clone(m.Parts)
	return m
}

// SetMessages replaces the conversation in context. Nothing stored is deleted:
// a reset record is appended, and msgs after it.
func (a *Agent) SetMessages(ctx context.Context, msgs []harness.Message) error {
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		return fmt.Errorf("set messages of session %s: %w", a.id, err)
	}
	records := []harness.Record{{At: a.o.Now(), Kind: harness.RecordReset}}
	for _, m := range msgs {
		m = clone(m) // what the caller does with msgs later must not reach the history
		records = append(records, harness.Record{At: a.o.Now(), Kind: harness.RecordMessage, Message: &m})
	}
	done, _, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return a.append(ctx, records)
}

// append stores records and takes them into the history.
func (a *Agent) append(ctx context.Context, records []harness.Record) error {
	if a.log != nil {
		stored, err := a.log.Append(context.WithoutCancel(ctx), records...)
		if err != nil {
			return fmt.Errorf("session %s: %w", a.id, err)
		}
		if len(stored) != len(records) {
			return fmt.Errorf("session %s: the store took %d records and returned %d", a.id, len(records), len(stored))
		}
		records = stored
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range records {
		if a.log == nil {
			r.Seq, r.Prev = len(a.history)+1, len(a.history)
		}
		a.history = append(a.history, r)
	}
	return nil
}

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
	return harness.RunConfig{Agent: Version, Model: a.o.Info.ID, System: a.o.System, MaxSteps: a.o.MaxSteps}
}

// Steps returns the parts with which the agent's turns are carried out, for a
// runtime that executes it.
func (a *Agent) Steps() Steps {
	c := &memory.Composer{Facts: a.o.Facts, Notes: a.o.Notes}
	return Steps{
		Model: a.o.Model, Info: a.o.Info, Tools: a.o.Tools, Policy: a.o.Policy, Now: a.o.Now,
		Compose: c.Compose, Used: a.used,
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

// Close stops the active run and waits for it, then gives the conversation
// back. It may be called more than once, also at the same time, and always
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
		if a.log != nil {
			a.closing = a.log.Close()
		}
	})
	return a.closing
}
