package temporal_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

// recorded are runs whose histories are kept: what is under way when a new
// version comes must go on with it.
func recorded() map[string]func(t *testing.T, w *world) harness.RunID {
	return map[string]func(t *testing.T, w *world) harness.RunID{
		"waiting for approval": func(t *testing.T, w *world) harness.RunID {
			b := w.open(writes(t, make(chan string, 1)))
			id := submit(t, b, submission("write", true))
			untilStatus(t, b, id, harness.RunAwaiting)
			return id
		},
		"two tools at once": func(t *testing.T, w *world) harness.RunID {
			echo := newTool(t, "echo", tool.Safe, tool.Allow, func(_ context.Context, _ tool.Call, text string) (string, error) { return text, nil })
			b := w.open(parts(t, script(says("", call("echo", `{"text":"1"}`), call("echo", `{"text":"2"}`)), says("done")), echo))
			id := submit(t, b, submission("go", true))
			untilStatus(t, b, id, harness.RunCompleted)
			return id
		},
		"a retry": func(t *testing.T, w *world) harness.RunID {
			stopped := make(chan time.Time, 1)
			gone, err := temporal.Open(t.Context(), w.address, w.options(parts(t, hanging("half", stopped))))
			if err != nil {
				t.Fatal(err)
			}
			id := submit(t, gone, submission("go", true))
			b := w.open(agent.Steps{})
			until(t, b, id, "the half answer", func(j run.Job) bool { return j.Run.Partial != nil })
			gone.Die()
			w.work(parts(t, script(says("whole"))))
			untilStatus(t, b, id, harness.RunCompleted)
			if err := b.Acknowledge(t.Context(), id, 5); err != nil {
				t.Fatal(err)
			}
			return id
		},
		"words while a tool runs and at the end": func(t *testing.T, w *world) harness.RunID {
			began, on := make(chan struct{}), make(chan struct{})
			slow := newTool(t, "slow", tool.Safe, tool.Allow, func(_ context.Context, _ tool.Call, text string) (string, error) {
				close(began)
				<-on
				return text, nil
			})
			s := submission("go", true)
			var b *temporal.Backend
			n := 0
			replies := script(says("", call("slow", `{"text":"1"}`)), says("done"), says("also done"))
			b = w.open(parts(t, answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
				if n++; n == 2 {
					steer(t, b, s.Run.ID, "2") //nolint:contextcheck // whoever says it does not wait for the model
				}
				return replies(ctx, r, emit)
			}), slow))
			id := submit(t, b, s)
			<-began
			steer(t, b, id, "1")
			close(on)
			untilStatus(t, b, id, harness.RunCompleted)
			return id
		},
		"a cancel": func(t *testing.T, w *world) harness.RunID {
			stopped := make(chan time.Time, 1)
			b := w.open(parts(t, hanging("half", stopped)))
			id := submit(t, b, submission("go", true))
			until(t, b, id, "the half answer", func(j run.Job) bool { return j.Run.Partial != nil })
			if err := b.Ask(t.Context(), id, run.AskCancel); err != nil {
				t.Fatal(err)
			}
			untilStatus(t, b, id, harness.RunCancelled)
			return id
		},
	}
}

// TestRecordHistories writes the histories anew, with UPDATE_FROZEN=1.
func TestRecordHistories(t *testing.T) {
	if os.Getenv("UPDATE_FROZEN") == "" {
		t.Skip("histories are recorded with UPDATE_FROZEN=1 only: those of older versions must stay")
	}
	server := temporaltest.Start(t)
	for name, play := range recorded() {
		w := newWorld(t, server)
		id := play(t, w)
		h, err := w.open(agent.Steps{}).History(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		data, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "histories", name+".json"), append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// replay has the workflow that register registers go through a recorded history.
func replay(t *testing.T, path string, register func(worker.WorkflowReplayer)) error {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	register(r)
	return r.ReplayWorkflowHistoryFromJSONFile(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), path)
}

func histories(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil || len(paths) < len(recorded()) {
		t.Fatalf("the histories are %v: %v", paths, err)
	}
	return paths
}

func TestRecordedRunsGoOnWithThisVersion(t *testing.T) {
	t.Parallel()
	for _, path := range histories(t) {
		if err := replay(t, path, func(r worker.WorkflowReplayer) { temporal.RegisterFlow(r) }); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestARecordedRunShowsThatAWorkflowChanged makes sure that the test above can fail.
func TestARecordedRunShowsThatAWorkflowChanged(t *testing.T) {
	t.Parallel()
	changed := func(ctx workflow.Context, _ temporal.Input) (temporal.Final, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		err := workflow.ExecuteActivity(ctx, "cairn-other-1", 1).Get(ctx, nil)
		return temporal.Final{}, errors.Join(err)
	}
	for _, path := range histories(t) {
		err := replay(t, path, func(r worker.WorkflowReplayer) {
			r.RegisterWorkflowWithOptions(changed, workflow.RegisterOptions{Name: temporal.FlowType})
		})
		if err == nil {
			t.Errorf("%s goes through a workflow that does something else", path)
		}
	}
}
