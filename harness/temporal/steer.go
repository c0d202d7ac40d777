package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"cairn/harness"
	"cairn/harness/run"
)

var _ run.Steerable = (*Backend)(nil)

// toSteer is the update with which a person says something into a run. A run that
// is worked on by an older version does not know it.
const toSteer = "steer"

// steering is its argument.
type steering struct {
	Entry run.Entry `json:"entry"`
}

// Steer implements [run.Steerable].
func (b *Backend) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	d, err := b.describe(ctx, id)
	switch {
	case err != nil:
		return err
	case !d.open:
		return fmt.Errorf("steer run %s: %w", id, harness.ErrEnded)
	}
	ctx, cancel := d.patience(ctx)
	defer cancel()
	err = d.explain(b.update(ctx, "steer", id, toSteer, steering{e}))
	switch {
	case errors.Is(err, errEnded):
		return fmt.Errorf("steer run %s: %w", id, harness.ErrEnded)
	case err != nil && strings.Contains(err.Error(), "unknown update"):
		return fmt.Errorf("steer run %s: its workflow is that of an older version: %w", id, errors.ErrUnsupported)
	default:
		return err
	}
}

func (f *flow) maySteer(s steering) error {
	e := s.Entry
	switch {
	case !e.Steers():
		return refused(fmt.Errorf("an entry of kind %q is for the driver of run %s alone", e.Kind, f.in.Run.ID))
	case f.state.Status().Closed():
		return refused(fmt.Errorf("steer run %s: %w (%s)", f.in.Run.ID, errEnded, f.state.Status()))
	default:
		return nil
	}
}

// steer takes in what a person said. The step under way is left to end: what it did
// is behind that, and only an end of the run is none then.
func (f *flow) steer(ctx workflow.Context, s steering) error {
	if err := f.maySteer(s); err != nil { // another update may have come in between
		return err
	}
	f.append(s.Entry)
	if f.running() {
		return nil
	}
	return f.remember(ctx)
}

// forestalls reports whether an entry is an end of the run that comes too late:
// somebody said something meanwhile, and is to be heard.
func (f *flow) forestalls(e run.Entry) bool {
	return e.Status == harness.RunCompleted && len(f.state.Said()) > 0
}

// heed takes back an end of the run if somebody said something into it since the
// step began. What is said later still, the workflow sees to.
func (j *stint) heed(t task) {
	if j.sink.status() != harness.RunCompleted {
		return
	}
	s, err := query[standing](j.ctx, j.b, t.Run, askJob)
	if err == nil && s.Job.Run.Cursor > t.Cursor {
		j.sink.reopen()
	}
}

// reopen forgets the last record, which ended the run.
func (s *sink) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.entries); n > 0 {
		s.entries = s.entries[:n-1]
		s.info.Cursor--
		s.info.Status, s.info.Stop, s.info.Error = harness.RunRunning, "", nil
	}
}
