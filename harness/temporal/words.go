package temporal

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/api/serviceerror"
)

// silence is an error of the connection to the server in words: what gRPC says of
// it is meant for its programmers.
type silence struct {
	text string
	err  error
}

// Error implements error.
func (e *silence) Error() string { return e.text }

// Unwrap returns what gRPC said.
func (e *silence) Unwrap() error { return e.err }

// inWords returns err in words if the server could not be asked.
func inWords(err error) error {
	var gone *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	var cut *serviceerror.Canceled
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late), errors.Is(err, context.DeadlineExceeded):
		return &silence{"the Temporal server does not answer in time: " + cause(err, "it may be busy, or have no process that works on its workflows"), err}
	case errors.As(err, &gone), strings.Contains(err.Error(), "failed reaching server"):
		return &silence{"the Temporal server cannot be reached: " + cause(err, "it may just be starting"), err}
	case errors.As(err, &cut) && strings.Contains(err.Error(), "RST_STREAM"):
		return &silence{"the Temporal server ended the request: it may be busy, or be restarting", err}
	default:
		return err
	}
}

// cause is what the network said, such as "dial tcp 127.0.0.1:7233: connect:
// connection refused", or else what is given.
func cause(err error, or string) string {
	text := err.Error()
	i := strings.LastIndex(text, "dial ")
	if i < 0 {
		return or
	}
	text, _, _ = strings.Cut(text[i:], `"`)
	return text
}
