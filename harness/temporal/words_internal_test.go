package temporal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/api/serviceerror"
)

func TestAServerThatCannotBeAskedIsToldInWords(t *testing.T) {
	t.Parallel()
	refused := `failed reaching server: last connection error: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`
	other := errors.New("no space left")
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New(refused), "the Temporal server cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused"},
		{serviceerror.NewUnavailable("closing"), "the Temporal server cannot be reached: it may just be starting"},
		{serviceerror.NewCanceled("stream terminated by RST_STREAM with error code: CANCEL"), "the Temporal server ended the request: it may be busy, or be restarting"},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), "the Temporal server does not answer in time: it may be busy, or have no process that works on its workflows"},
		{other, "no space left"},
	} {
		got := inWords(c.err)
		if got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%q is told as %q", c.err, got)
		}
	}
}

func TestAServerThatIsNotThereIsToldInWords(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "temporal://127.0.0.1:1/default", Options{Blobs: t.TempDir()})
	if want := "the Temporal server at 127.0.0.1:1 cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused"; err == nil || err.Error() != want {
		t.Errorf("it is told as %v, want %q", err, want)
	}
}

func TestAQuestionOfABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{serviceerror.NewWorkflowNotReady("not yet"), true},
		{serviceerror.NewFailedPrecondition("no poller seen for task queue recently, worker may be down"), true},
		{serviceerror.NewDeadlineExceeded("late"), true},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), true},
		{serviceerror.NewQueryFailed("unknown queryType job"), false},
		{serviceerror.NewNotFound("no such workflow"), false},
	} {
		if got := passes(c.err); got != c.want {
			t.Errorf("%v is asked again: %t, want %t", c.err, got, c.want)
		}
	}
}
