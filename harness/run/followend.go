package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"cairn/harness"
)

// errLeft means that a run is followed no more.
var errLeft = fmt.Errorf("the run goes on and is followed no more: %w", harness.ErrClosed)

// rest tells how the run rests.
func (f *following) rest(ctx context.Context) {
	f.drain()
	if f.hands {
		f.r.acknowledge(ctx, f.id, f.m.info.Cursor)
	}
	f.finish(resultOf(f.m.info, f.m.state))
}

// left ends following a run that goes on.
func (f *following) left(ctx context.Context) {
	if f.hands {
		f.r.acknowledge(ctx, f.id, f.m.info.Cursor)
	}
	f.forget()
	f.stream.end(resultOf(f.m.info, f.m.state), errLeft)
}

// broke ends following because nothing more can be learnt, or handed over.
func (f *following) broke(err error) {
	res := resultOf(f.m.info, f.m.state)
	res.Status, res.Stop = harness.RunFailed, harness.StopError
	var home *homeError
	var unsent *submitError
	switch {
	case errors.Is(err, harness.ErrLost):
		res.Error = &harness.RunError{Kind: "lost", Text: harness.ErrLost.Error()}
	case errors.As(err, &unsent):
		res.Error = &harness.RunError{Kind: "engine", Text: err.Error()}
	case errors.As(err, &home) && errors.Is(err, harness.ErrNotFound):
		res.Error = &harness.RunError{Kind: "store", Text: fmt.Sprintf(
			"session %s was deleted for good; what its run %s does stays at %s", f.m.info.Session, f.id, f.r.o.Engine)}
	case errors.As(err, &home):
		res.Error = &harness.RunError{Kind: "store", Text: err.Error()}
	case errors.Is(err, errOlder):
		res.Error = &harness.RunError{Kind: "engine", Text: fmt.Sprintf("%s was put back from an older copy and does not have what was handed over of the run: that is in the conversation; drop the run to go on", f.r.o.Engine)}
	case errors.Is(err, harness.ErrNotFound) && f.m.info.Cursor <= 1:
		res.Error = &harness.RunError{Kind: "engine", Text: fmt.Sprintf("%s was not given the run yet; resume it to try again", f.r.o.Engine)}
	case errors.Is(err, harness.ErrNotFound):
		res.Error = &harness.RunError{Kind: "engine", Text: fmt.Sprintf("%s does not have the run any more: what was handed over is in the conversation; drop the run to go on", f.r.o.Engine)}
	default:
		res.Error = &harness.RunError{Kind: "engine", Text: err.Error()}
	}
	f.r.o.Logger.Error("follow", slog.String("run", string(f.id)), slog.String("error", err.Error()))
	f.finish(res)
}

// finish tells the result as the last thing. Before, nobody follows any more, so
// that whoever is told can begin anew.
func (f *following) finish(res harness.Result) {
	f.forget()
	f.emit(harness.Event{Type: harness.EventResult, Seq: f.m.info.Cursor, Outcome: &res, At: f.m.info.Updated})
	f.stream.end(res, nil)
}

// forget takes the follower from those that there are.
func (f *following) forget() {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	delete(f.r.follows, f)
}
