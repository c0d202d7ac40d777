package uitest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"  //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/memory" //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/model"  //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/run"    //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/tool"   //nolint:depguard // a world is what stands behind the screens
	"cairn/storage/mem"    //nolint:depguard // a world is what stands behind the screens
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/chat"
)

// Pause is the time between two pieces of a scripted answer.
const Pause = 100 * time.Millisecond

// World is what stands behind one or several windows.
type World struct {
	tb    testing.TB
	Store *mem.Store
	// Engine drives the runs of all windows.
	Engine *run.Local
	Model  *Script
	Tools  *tool.Set
	// Rules are offered with an approval of a tool, by its name: for the session
	// and for always.
	Rules map[string][2]string
	// Window is the context window in tokens that chats are told.
	Window int64
	pid    int
}

// NewWorld returns an empty world. Call it inside [synctest.Test].
func NewWorld(tb testing.TB) *World {
	tb.Helper()
	w := &World{tb: tb, Store: mem.New(time.Now), Model: new(Script), Tools: new(tool.Set), Window: 1000, Rules: map[string][2]string{}, pid: 100}
	w.Engine = w.NewEngine()
	return w
}

// NewEngine returns a further engine on the same store, as another process
// would have it.
func (w *World) NewEngine() *run.Local {
	e := run.NewLocal(run.Options{
		Grants: w.Store.Grants(), Journal: w.Store.Journal(), Transcript: w.Store.Transcript(), Engine: mem.Engine, Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: w.Model, Info: model.Info{ID: "test/parrot", Local: true}, Tools: w.Tools, Policy: asking{w}, Now: time.Now,
				Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	})
	w.tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			w.tb.Errorf("close the engine: %v", err)
		}
	})
	return e
}

// Deps are the parts of a window on a session; fresh says that it does not
// exist yet. Each window has a process number of its own.
func (w *World) Deps(id harness.SessionID, fresh bool) ui.Deps {
	w.pid++
	n := 0
	return ui.Deps{
		Engine: w.Engine, Transcript: w.Store.Transcript(), Sessions: w.Store.Sessions(), Owners: w.Store.Owners(),
		Drafts: w.Store.Drafts(), Prompts: w.Store.Prompts(), Search: w.Store.Searcher(), Facts: w.Store.Facts(),
		Notes: w.Store.Notes(), Watcher: w.Store,
		Config: w.config,
		NewSession: func() harness.Session {
			n++
			return harness.Session{ID: harness.SessionID(fmt.Sprintf("new-%d", n)), Dir: "/src"}
		},
		Theme:   func(dark bool) *themes.Theme { return Theme(w.tb, dark) },
		Holder:  harness.Holder{PID: w.pid, Terminal: fmt.Sprintf("pts/%d", w.pid), Purpose: "chat"},
		Dir:     "/src",
		Session: harness.Session{ID: id, Dir: "/src"}, Fresh: fresh,
		Now: func() time.Time { return time.Now().UTC() }, Log: slog.New(slog.DiscardHandler),
	}
}

func (w *World) config(_ context.Context, s harness.Session) (chat.Setup, error) {
	name := s.Model
	switch {
	case name == "":
		name = "test/parrot"
	case !strings.HasPrefix(name, "test/"):
		return chat.Setup{}, fmt.Errorf("no provider %q; the nearest is test", name)
	}
	return chat.Setup{
		Run: harness.RunConfig{Agent: "cairn@1", Model: name}, Label: strings.TrimPrefix(name, "test/"), Window: w.Window,
	}, nil
}

// Theme is the theme of the tests.
func Theme(tb testing.TB, dark bool) *themes.Theme {
	tb.Helper()
	t, err := themes.Load("", dark, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// Open starts a window on a session.
func (w *World) Open(id harness.SessionID, width, height int) *Driver {
	w.tb.Helper()
	return Start(w.tb, ui.New(w.tb.Context(), w.Deps(id, false)), width, height)
}

// Tell stores a conversation of texts, the person's first, under an id. at is
// when the first was said; each follows a minute later.
func (w *World) Tell(id harness.SessionID, title string, at time.Time, texts ...string) {
	w.tb.Helper()
	records := make([]harness.Record, len(texts))
	for i, t := range texts {
		msg := harness.UserText(t)
		if i%2 == 1 {
			msg = harness.AssistantText(t)
			msg.Model = "test/parrot"
		}
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &msg, At: at.Add(time.Duration(i) * time.Minute)}
	}
	w.Import(harness.Session{ID: id, Title: title, TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
}

// Import stores a conversation.
func (w *World) Import(s harness.Session, records []harness.Record) {
	w.tb.Helper()
	if _, _, err := w.Store.Sessions().Import(w.tb.Context(), s, records); err != nil {
		w.tb.Fatal(err)
	}
}

// Script is a model that says what it was told to. Without anything told it
// repeats the last message of the person in three pieces.
type Script struct {
	mu      sync.Mutex
	answers []Answer
	asked   []model.Request
}

// Answer is one scripted reply.
type Answer func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

// Then adds answers to be given in order.
func (s *Script) Then(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// Asked are the requests so far.
func (s *Script) Asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request(nil), s.asked...)
}

// Stream implements [model.Model].
func (s *Script) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	answer := echo
	if len(s.answers) > 0 {
		answer, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	return answer(ctx, r, emit)
}

func echo(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	last := ""
	for _, m := range r.Messages {
		if m.Role == harness.RoleUser {
			last = m.Text()
		}
	}
	return Says("ec", "ho ", last)(ctx, r, emit)
}

// Says streams pieces of text, a Pause before each.
func Says(pieces ...string) Answer {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		if err := stream(ctx, emit, model.DeltaText, pieces); err != nil {
			return model.Reply{}, err
		}
		return reply(harness.StopEnd, harness.Part{Kind: harness.PartText, Text: strings.Join(pieces, "")}), nil
	}
}

// Thinks streams reasoning in words and then says the text.
func Thinks(thought, text string) Answer {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		if err := stream(ctx, emit, model.DeltaThinking, strings.SplitAfter(thought, " ")); err != nil {
			return model.Reply{}, err
		}
		if err := stream(ctx, emit, model.DeltaText, []string{text}); err != nil {
			return model.Reply{}, err
		}
		return reply(harness.StopEnd, harness.Part{Kind: harness.PartThinking, Text: thought}, harness.Part{Kind: harness.PartText, Text: text}), nil
	}
}

// Calls asks for one call of a tool.
func Calls(name, input string) Answer {
	return func(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Reply, error) {
		if err := wait(ctx, Pause); err != nil {
			return model.Reply{}, err
		}
		return reply(harness.StopTools, harness.Part{
			Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "c1", Name: name, Input: []byte(input)},
		}), nil
	}
}

// Fails breaks off after some text.
func Fails(text, why string) Answer {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		if err := stream(ctx, emit, model.DeltaText, []string{text}); err != nil {
			return model.Reply{}, err
		}
		return model.Reply{}, errors.New(why)
	}
}

func stream(ctx context.Context, emit func(model.Delta), kind model.DeltaKind, pieces []string) error {
	for _, p := range pieces {
		if err := wait(ctx, Pause); err != nil {
			return err
		}
		emit(model.Delta{Kind: kind, Text: p})
	}
	return wait(ctx, Pause)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func reply(stop harness.StopReason, parts ...harness.Part) model.Reply {
	return model.Reply{
		Parts: parts, Stop: stop, Model: "test/parrot",
		Usage: harness.Usage{Input: 300, Output: 80, Cost: 0.01, CostKnown: true},
	}
}

// Start starts a window with parts of the test's own.
func (w *World) Start(d ui.Deps, width, height int) *Driver {
	w.tb.Helper()
	return Start(w.tb, ui.New(w.tb.Context(), d), width, height)
}

// Crash makes the store look as if every process that used it had died in
// mid-sentence. Windows opened after it have an engine of their own.
func (w *World) Crash() {
	w.Store.Abandon()
	w.Engine = w.NewEngine()
}

// Tool gives the model a tool that takes anything and returns this text.
func (w *World) Tool(name, result string) {
	w.tb.Helper()
	t, err := tool.New(name, "a tool of the test", func(context.Context, tool.Call, map[string]any) (string, error) {
		return result, nil
	}, tool.WithPermission(tool.Allow))
	if err == nil {
		err = w.Tools.Add(t)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

// Sleeps answers nothing for a time.
func Sleeps(d time.Duration) Answer {
	return func(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Reply, error) {
		if err := wait(ctx, d); err != nil {
			return model.Reply{}, err
		}
		return reply(harness.StopEnd, harness.Part{Kind: harness.PartText, Text: "good morning"}), nil
	}
}

// Refusing is an engine whose disk is full.
type Refusing struct{ harness.Engine }

// Start implements [harness.Engine].
func (Refusing) Start(context.Context, harness.StartRequest) (harness.RunHandle, error) {
	return nil, fmt.Errorf("start: write journal: %w", syscall.ENOSPC)
}
