package temporal

import (
	"context"
	"errors"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"

	"cairn/harness"
)

// Die cuts this process off from the server, as its death does: what is under way
// shows no sign of life any more, and nothing of what comes of it arrives.
func (b *Backend) Die() { b.client.Close() }

// Die is [Backend.Die] of a worker.
func (w *Worker) Die() { w.b.Die() }

// Cut ends the workflow of a run as an operator does.
func (b *Backend) Cut(ctx context.Context, id harness.RunID) error {
	return b.client.TerminateWorkflow(ctx, workflowID(id), "", "by hand")
}

// Stuck reports whether the task of the workflow of a run fails again and again.
func (b *Backend) Stuck(ctx context.Context, id harness.RunID) bool {
	d, err := b.describe(ctx, id)
	return err == nil && d.stuck
}

// Silent reports whether err says that the server could not be asked, as one that
// is busy cannot: the question is worth asking again.
func Silent(err error) bool {
	var s *silence
	return errors.As(err, &s)
}

// Fresh is how many runs are looked for besides those in the server's lists.
func (b *Backend) Fresh() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.fresh)
}

// RegisterFlow registers the workflow of runs under its name.
func RegisterFlow(r interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
},
) {
	r.RegisterWorkflowWithOptions(runFlow, workflow.RegisterOptions{Name: flowType})
}

// History returns what the server has recorded of a run.
func (b *Backend) History(ctx context.Context, id harness.RunID) (*history.History, error) {
	h := new(history.History)
	events := b.client.GetWorkflowHistory(ctx, workflowID(id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		h.Events = append(h.Events, e)
	}
	return h, nil
}

// The parts of the workflow that tests look at.
type (
	Input = input
	Done  = done
	Task  = task
	Final = final
)

// The names that are on the server.
const (
	FlowType = flowType
	StepType = stepType
	ToolType = toolType
)
