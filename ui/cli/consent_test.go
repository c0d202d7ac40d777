package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"cairn/harness"
)

// pendingRun is a program with a run in session "one" that waits for an
// approval of a command.
func pendingRun(t *testing.T) (*scriptWorld, Streams, harness.RunID, *strings.Builder) {
	t.Helper()
	w, s, _, _ := world1(t)
	w.decides = true
	ctx := context.Background()
	lease, err := w.store.Owners().Acquire(ctx, harness.Session{ID: "one"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := w.deciding(Setup{Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Start(ctx, harness.StartRequest{
		Lease: lease, Message: harness.UserText("call run_command make"), Config: harness.RunConfig{Agent: "cairn@1", Model: "openai/test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.Wait(ctx); err != nil || r.Status != harness.RunAwaiting {
		t.Fatalf("the run does not wait: %+v, %v", r, err)
	}
	if err := w.store.Owners().Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	s.InTTY, s.ErrTTY, s.Err = true, true, &errs
	return w, s, h.ID(), &errs
}

// questioned calls a function when the question is written.
type questioned struct {
	strings.Builder
	when func()
}

func (q *questioned) Write(p []byte) (int, error) {
	n, err := q.Builder.Write(p)
	if strings.HasSuffix(q.String(), "[y/N] ") {
		q.when()
	}
	return n, err
}

// A window that asks for the session while the question is open gets it, and
// nothing is decided.
func TestATakeoverEndsTheQuestion(t *testing.T) {
	t.Parallel()
	w, s, id, _ := pendingRun(t)
	errs := &questioned{when: func() {
		if err := w.store.Owners().Ask(context.Background(), "one", harness.Holder{PID: 99, Terminal: "pts/7"}); err != nil {
			t.Error(err)
		}
	}}
	in, keyboard := io.Pipe()
	t.Cleanup(func() { _ = keyboard.Close() })
	s.In, s.Err = in, errs
	code := Main(context.Background(), s, []string{"runs", "approve", string(id)}, w.wire())
	if code != ExitBusy || !strings.Contains(errs.String(), "pid 99 on pts/7 took session one over; decide it there") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	stillWaits(t, w, id)
}

// stillWaits fails the test unless the run still waits.
func stillWaits(t *testing.T, w *scriptWorld, id harness.RunID) {
	t.Helper()
	r, err := w.store.Journal().Get(context.Background(), id)
	if err != nil || r.Status != harness.RunAwaiting {
		t.Errorf("the run is %s, %v", r.Status, err)
	}
}

// An interrupt at the question decides nothing.
func TestAnInterruptDecidesNothing(t *testing.T) {
	t.Parallel()
	w, s, id, _ := pendingRun(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, keyboard := io.Pipe()
	t.Cleanup(func() { _ = keyboard.Close() })
	s.In, s.Err = in, &questioned{when: cancel}
	if code := Main(ctx, s, []string{"runs", "approve", string(id)}, w.wire()); code != ExitInterrupted {
		t.Errorf("exit code %d: %s", code, s.Err)
	}
	stillWaits(t, w, id)
}

// What was typed before the question is thrown away first.
func TestTheQuestionIsAskedAfterwards(t *testing.T) {
	t.Parallel()
	w, s, id, errs := pendingRun(t)
	typed := strings.NewReader("y\n")
	s.In = typed
	s.Discard = func() error {
		if strings.Contains(errs.String(), "[y/N]") {
			t.Error("what is typed as an answer would be thrown away")
		}
		typed.Reset("")
		return nil
	}
	if code := Main(context.Background(), s, []string{"runs", "approve", string(id)}, w.wire()); code != ExitApproval {
		t.Errorf("exit code %d: %s", code, errs)
	}
	stillWaits(t, w, id)
}
