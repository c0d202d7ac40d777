package model

import (
	"fmt"
	"time"
)

// ErrorKind sorts failures by what can be done about them.
type ErrorKind string

// The kinds of failures.
const (
	// KindAuth: the key is missing, wrong or may not use this model.
	KindAuth ErrorKind = "auth"
	// KindNotFound: no such model or address.
	KindNotFound ErrorKind = "not_found"
	// KindRateLimit: too many requests; passes.
	KindRateLimit ErrorKind = "rate_limit"
	// KindQuota: no credit or quota left; final.
	KindQuota ErrorKind = "quota"
	// KindOverflow: the request does not fit the window.
	KindOverflow ErrorKind = "context_overflow"
	// KindReplyLimit: the asked-for reply budget is above the model's.
	KindReplyLimit ErrorKind = "reply_limit"
	// KindBadRequest: refused for another reason; final.
	KindBadRequest ErrorKind = "bad_request"
	// KindServer: the provider's fault or overload; passes.
	KindServer ErrorKind = "server"
	// KindNetwork: no connection, or it broke before a reply.
	KindNetwork ErrorKind = "network"
	// KindIncomplete: the stream ended before the reply did.
	KindIncomplete ErrorKind = "incomplete_stream"
	// KindIdle: the stream was silent for too long.
	KindIdle ErrorKind = "idle"
	// KindRefused: the reply was blocked or malformed at the provider.
	KindRefused ErrorKind = "refused"
	// KindProtocol: the answer is not of the wire format, such as HTML.
	KindProtocol ErrorKind = "protocol"
	// KindConfig: cairn's configuration is wrong.
	KindConfig ErrorKind = "config"
)

// Error is a failed attempt. It never holds a key, a header or a request body.
type Error struct {
	Kind     ErrorKind
	Provider string
	// Model is the exact "provider/model" that failed, to which a limit belongs;
	// empty where it is not known, as in an error of an adaptor alone.
	Model string
	// Status is the HTTP status, 0 if there was none.
	Status int
	// RetryAfter is what the server asked for, 0 if nothing.
	RetryAfter time.Duration
	// Message is the provider's own sentence, plain text, bounded.
	Message string
	// Limit is the allowed number of tokens that a KindOverflow or
	// KindReplyLimit refusal named, 0 if none.
	Limit int
	// Once says that Limit is what is left for this very request, so nothing
	// to remember of the model; Window is then the window that the refusal named
	// beside it, which holds for all requests.
	Once   bool
	Window int
	// Retry says that another attempt may succeed.
	Retry bool
	// Unsent says that nobody was reached, so that nothing of the request was sent.
	Unsent bool
	// Cause is the error below, for logs at debug level and errors.Is.
	Cause error
}

// Error implements error with one sentence.
func (e *Error) Error() string {
	s := e.Message
	if e.Provider != "" {
		s = e.Provider + ": " + s
	}
	if e.Status != 0 {
		s = fmt.Sprintf("%s (HTTP %d)", s, e.Status)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
