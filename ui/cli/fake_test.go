package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// fakeEngine plays runs that the prompt describes: one step per line, such as
// "text Hello" or "fail rate_limit", and stores nothing but what it is told.
type fakeEngine struct {
	store  Store
	now    func() time.Time
	mu     sync.Mutex
	n      int
	closed bool
	runs   map[harness.RunID]*fakeRun
}

type fakeRun struct {
	id     harness.RunID
	events chan harness.Event
	cancel chan harness.RunStatus
	done   chan struct{}
	broke  error
	result harness.Result
	config harness.RunConfig
}

func (r *fakeRun) ID() harness.RunID { return r.id }

func (r *fakeRun) Events(context.Context, int) <-chan harness.Event { return r.events }

func (r *fakeRun) Wait(context.Context) (harness.Result, error) { return r.result, nil }

func (e *fakeEngine) Start(ctx context.Context, q harness.StartRequest) (harness.RunHandle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if q.Config.Model == "openai/keyless" {
		return nil, &ProviderError{errors.New("openai: no key; set OPENAI_API_KEY")}
	}
	e.n++
	id := harness.RunID(fmt.Sprintf("run%d", e.n))
	user := q.Message
	stored, err := e.store.Transcript.Append(ctx, q.Lease, harness.Record{Kind: harness.RecordMessage, Run: id, At: e.now(), Message: &user})
	if err != nil {
		return nil, err
	}
	r := &fakeRun{id: id, events: make(chan harness.Event, 64), cancel: make(chan harness.RunStatus, 1), done: make(chan struct{}), config: q.Config}
	if e.runs == nil {
		e.runs = map[harness.RunID]*fakeRun{}
	}
	e.runs[id] = r
	go e.play(context.WithoutCancel(ctx), r, q, stored[0].Seq)
	return r, nil
}

// play sends the events of the steps in the prompt.
func (e *fakeEngine) play(ctx context.Context, r *fakeRun, q harness.StartRequest, first int) {
	defer close(r.done)
	defer close(r.events)
	session := q.Lease.Session
	send := func(ev harness.Event) {
		ev.Session, ev.Run, ev.At = session, r.id, e.now()
		r.events <- ev
	}
	send(harness.Event{Type: harness.EventRunStarted, Seq: 1, Record: first})
	end := func(status harness.RunStatus, err *harness.RunError, pending ...harness.Pending) {
		r.result = harness.Result{Run: r.id, Session: session, Status: status, Error: err, Pending: pending}
		send(harness.Event{Type: harness.EventResult, Seq: 9, Outcome: &r.result})
	}
	for i, step := range strings.Split(q.Message.Text(), "\n") {
		word, rest, _ := strings.Cut(step, " ")
		rest = strings.NewReplacer(`\e`, "\x1b", `\n`, "\n").Replace(rest)
		switch word {
		case "delta":
			send(harness.Event{Type: harness.EventText, Attempt: 1, Text: rest})
		case "reset":
			send(harness.Event{Type: harness.EventReset, Attempt: 1})
		case "text", "call", "half":
			m := harness.AssistantText(rest)
			m.Model = q.Config.Model
			if word == "call" {
				m.Parts = append(m.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "grep", Input: []byte(`{}`)}})
			}
			if word == "half" {
				m.Mark = harness.MarkInterrupted
			}
			rec, err := e.store.Transcript.Append(ctx, q.Lease, harness.Record{Kind: harness.RecordMessage, Run: r.id, At: e.now(), Message: &m})
			if err != nil {
				end(harness.RunFailed, &harness.RunError{Kind: "lost", Text: err.Error()})
				return
			}
			send(harness.Event{Type: harness.EventMessage, Seq: i + 2, Record: rec[0].Seq, Message: &m})
		case "files":
			var list []string
			for _, p := range q.Message.Parts {
				if p.File != nil {
					list = append(list, fmt.Sprintf("%s %s %s %d bytes %dx%d pages %d", p.Kind, p.File.Name, p.File.MediaType, len(p.File.Data), p.File.Width, p.File.Height, p.File.Pages))
				}
			}
			m := harness.AssistantText(strings.Join(list, "\n"))
			send(harness.Event{Type: harness.EventMessage, Seq: i + 2, Message: &m})
		case "model":
			m := harness.AssistantText(q.Config.Model + " " + q.Config.System)
			send(harness.Event{Type: harness.EventMessage, Seq: i + 2, Message: &m})
		case "fail":
			end(harness.RunFailed, &harness.RunError{Kind: rest, Text: "the provider said no; try later"})
			return
		case "approve":
			end(harness.RunAwaiting, nil, harness.Pending{Call: harness.ToolCall{ID: "c1", Name: rest}})
			return
		case "wait":
			end(<-r.cancel, nil)
			return
		case "full":
			r.fill(rest, send)
			end(harness.RunFailed, &harness.RunError{Kind: "store", Text: rest})
			return
		}
	}
	end(harness.RunCompleted, nil)
}

// fill is a store that takes nothing until the run is stopped, and then neither.
func (r *fakeRun) fill(reason string, send func(harness.Event)) {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		send(harness.Event{
			Type: harness.EventWaiting, Wait: int(wait / time.Second), Error: &harness.RunError{Kind: "store", Text: reason},
		})
		select {
		case <-time.After(wait):
		case <-r.cancel:
			r.broke = errors.New(reason)
			return
		}
	}
}

func (e *fakeEngine) stop(id harness.RunID, s harness.RunStatus) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.runs[id]
	if !ok {
		return fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
	}
	r.cancel <- s
	<-r.done
	return r.broke
}

func (e *fakeEngine) Cancel(_ context.Context, id harness.RunID) error {
	return e.stop(id, harness.RunCancelled)
}

func (e *fakeEngine) Pause(_ context.Context, id harness.RunID) error {
	return e.stop(id, harness.RunPaused)
}

func (e *fakeEngine) Resume(context.Context, harness.Lease, harness.RunID, harness.ResumeHow) (harness.RunHandle, error) {
	return nil, harness.ErrNotFound
}

func (e *fakeEngine) Get(_ context.Context, id harness.RunID) (harness.Run, error) {
	return harness.Run{}, fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
}

func (e *fakeEngine) List(context.Context, harness.RunFilter) ([]harness.Run, error) { return nil, nil }

func (e *fakeEngine) Close(context.Context) error {
	e.closed = true
	return nil
}

// fakeModels knows two models.
type fakeModels struct{ def string }

func (m fakeModels) List(context.Context) ([]ModelInfo, error) {
	return []ModelInfo{
		{Name: "anthropic/claude-test", Window: 200000, MaxOutput: 8192, InputPrice: 3, OutputPrice: 15, PriceKnown: true, Key: "ANTHROPIC_API_KEY"},
		{Name: "openai/gpt-test", Window: 128000},
	}, nil
}

func (m fakeModels) Default(context.Context) (string, string, error) {
	return m.def, "no key was found", nil
}

func (m fakeModels) Validate(_ context.Context, name string) (string, error) {
	provider, _, ok := strings.Cut(name, "/")
	if known := []string{"anthropic", "openai", "gemini", "offline"}; !slices.Contains(known, provider) || !ok && provider != "gemini" {
		return "", fmt.Errorf("there is no provider %q%s", provider, suggest(provider, "", known))
	}
	if !ok {
		name += "/default-test"
	}
	return name, nil
}

func (m fakeModels) Ready(_ context.Context, name string) error {
	if strings.HasPrefix(name, "openai/") {
		return errors.New("openai: no key; set OPENAI_API_KEY, or put it into the configuration")
	}
	return nil
}

func (m fakeModels) Accepts(_ context.Context, name, mediaType string) error {
	if strings.HasPrefix(name, "anthropic/") {
		return nil
	}
	return &model.MediaError{Model: name, MediaType: mediaType, Instead: []string{"anthropic/claude-test"}}
}

func (m fakeModels) Keys(context.Context) ([]KeyState, error) {
	return []KeyState{{Provider: "anthropic", From: "ANTHROPIC_API_KEY"}, {Provider: "openai", Wanted: "OPENAI_API_KEY"}}, nil
}

func (m fakeModels) Servers(context.Context) ([]Server, error) {
	return []Server{{Name: "ollama", Address: "http://127.0.0.1:11434", Models: []string{"qwen"}}}, nil
}

// Decide finds nothing: the runs of this engine are those of one program, and
// what waits is decided in another. The scripts use the real engine for it.
func (e *fakeEngine) Decide(_ context.Context, _ harness.Lease, id harness.RunID, _ ...harness.Decision) (harness.RunHandle, error) {
	return nil, fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
}
