// Package model is the contract with language models and what goes around
// every one of them: error kinds, retry, watchdogs, the catalogue of windows
// and prices. The one thing to know: a [Model] makes exactly one attempt, and
// a reply that it returns without an error is whole; everything that was cut,
// broken or failed is an [*Error], and its half text was seen only as deltas.
package model

import (
	"context"
	"encoding/json"
	"time"

	"cairn/harness"
)

// Model answers requests. Implementations are safe for concurrent use.
type Model interface {
	// Stream sends one request and calls emit for each piece as it arrives, one
	// call at a time and none after it has returned. It returns the whole reply, or an [*Error] or
	// ctx's error; in both cases it has stopped reading and closed the
	// connection. It never retries.
	Stream(ctx context.Context, r Request, emit func(Delta)) (Reply, error)
}

// Request is what a model gets to see. Messages are already legal: roles
// alternate as the provider contract needs, each call is followed by its
// result, no text is empty.
type Request struct {
	// System is the stable system prompt: the cached prefix.
	System string
	// Context is text that changes from turn to turn (date, directory,
	// recalled memory). It goes behind the cached prefix.
	Context  string
	Messages []harness.Message
	Tools    []ToolSpec
	// MaxOutput bounds the reply in tokens; 0 means the model's own limit.
	MaxOutput int
	// Purpose says what the request is for if it is not a turn of a
	// conversation, such as [PurposeDistill]. No provider is told.
	Purpose string
	// Key is the same for all requests of a session, for prompt caching.
	Key string
}

// The purposes of requests beside turns.
const (
	// PurposeDistill is that of a request for facts worth keeping.
	PurposeDistill = "distill"
	// PurposeTitle is that of a request for the title of a conversation.
	PurposeTitle = "title"
	// PurposeCondense is that of a request for what stands for old messages.
	PurposeCondense = "condense"
)

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// DeltaKind says what a [Delta] is.
type DeltaKind int

// The kinds of deltas.
const (
	// DeltaText and DeltaThinking carry text.
	DeltaText DeltaKind = iota
	DeltaThinking
	// DeltaProgress is a sign of life without text, such as a piece of a tool
	// call's arguments. It feeds the idle watch.
	DeltaProgress
	// DeltaReset voids all text so far: a new attempt begins.
	DeltaReset
	// DeltaRetry says that attempt Attempt begins after Wait, because of Err, whose
	// Model failed. Model is the one that is asked next, if it is another one.
	DeltaRetry
	// DeltaWaiting says that nothing has come for Wait.
	DeltaWaiting
	// DeltaAlive is a sign of life of the connection, such as a keep-alive
	// comment: no part of the reply. It feeds the idle watch and does not
	// silence the waiting notice, which does not pass it on.
	DeltaAlive
)

// Delta is a piece of a reply as it arrives, or news from a decorator.
type Delta struct {
	Kind    DeltaKind
	Text    string
	Attempt int
	Wait    time.Duration
	Err     *Error
	// Model is "provider/model".
	Model string
}

// Reply is a whole answer.
type Reply struct {
	// Parts are text, thinking and calls in order. The calls' ids are the
	// provider's, in Origin; the loop gives them their own.
	Parts []harness.Part
	Stop  harness.StopReason
	Usage harness.Usage
	// Model is "provider/model" of the model that really answered.
	Model string
}
