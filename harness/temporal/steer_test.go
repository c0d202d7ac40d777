package temporal_test

import (
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/harness/temporal"
)

// steer says something into a run.
func steer(t *testing.T, b *temporal.Backend, id harness.RunID, text string) {
	t.Helper()
	if err := run.SteerAt(t.Context(), b, time.Unix(1, 0).UTC(), id, harness.Steer{ID: text, Message: harness.UserText(text)}); err != nil {
		t.Errorf("say %q: %v", text, err)
	}
}

// saying is the argument of the update.
func (r *rehearsal) saying(id string) any {
	e := r.records(loop.Steered{ID: id, Message: harness.UserText(id)}).Entries[0]
	return map[string]run.Entry{"entry": e}
}

// says has a person say something after a while. accepted reports whether it was.
func (r *rehearsal) says(after time.Duration, arg any, accepted func(err error)) {
	r.RegisterDelayedCallback(func() {
		r.UpdateWorkflow("steer", "", &told{accepted}, arg)
	}, after)
}

// told is told what came of an update.
type told struct{ settled func(err error) }

func (c *told) Accept()          {}
func (c *told) Reject(err error) { c.settled(err) }
func (c *told) Complete(_ any, err error) {
	c.settled(err)
}

func TestAnEndThatSomebodyForestalledIsNone(t *testing.T) {
	t.Parallel()
	var r *rehearsal
	r = rehearse(t, func(n int, _ temporal.Task) (temporal.Done, error) {
		if n == 1 {
			return r.records(answers("done")...), nil
		}
		d := []loop.Record{loop.Delivered{ID: "1", Message: harness.UserText("1")}}
		return r.records(append(d, answers("also done")...)...), nil
	}, nil)
	var refused []error
	r.says(0, r.saying("1"), func(err error) { refused = append(refused, err) })
	r.says(0, map[string]run.Entry{"entry": {Kind: "rested", Status: harness.RunCompleted}}, func(err error) { refused = append(refused, err) })
	wantKinds(t, r.play(), "started steered answered delivered answered rested:completed")
	if len(refused) != 2 || refused[0] != nil || refused[1] == nil {
		t.Errorf("what was said is %v", refused)
	}
}

func TestARunThatIsOverIsToldNothing(t *testing.T) {
	t.Parallel()
	var r *rehearsal
	r = rehearse(t, func(int, temporal.Task) (temporal.Done, error) { return r.records(answers("done")...), nil }, nil)
	var refused error
	r.says(time.Hour, r.saying("1"), func(err error) { refused = err })
	wantKinds(t, r.play(), "started answered rested:completed")
	if refused == nil || errors.Is(refused, harness.ErrBusy) {
		t.Errorf("what was said is %v", refused)
	}
}
