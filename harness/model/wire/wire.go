// Package wire is what the adaptors of all providers share: it speaks through
// charm.land/fantasy's LanguageModel.Stream and makes its answers exact. The
// one thing to know: the SDKs are trusted with building requests and decoding
// pieces of a reply, and with nothing else. Keys, framing, errors, the end of
// the stream and token counts are handled here, in the HTTP transport below
// them ([Transport]), because there every provider fails in its own way.
package wire

import (
	"context"
	"encoding/json"
	"errors"

	"charm.land/fantasy"

	"cairn/harness"
	"cairn/harness/model"
)

// What one call can count and cost at most, in tokens and USD.
const (
	maxTokens = 1 << 40
	maxCost   = 1e6
)

// Decoder follows the events of one reply. It sees each event before the SDK
// does.
type Decoder interface {
	// Event reads one event of valid JSON and returns what the SDK shall see
	// in its place; nil hides the event. An error ends the stream.
	Event(name string, data []byte) ([]byte, *model.Error)
	// Whole reports whether the reply lacks nothing if the stream ends here.
	Whole() bool
	// Done reports whether nothing can follow, so that reading on may hang.
	Done() bool
	// Result sums up a whole reply of these parts. An error turns the whole
	// reply into a failure.
	Result(parts []harness.Part) (harness.StopReason, harness.Usage, *model.Error)
	// Arguments returns the arguments of call n of the reply as they came,
	// since SDKs mend what was cut; ok is false if the SDK's are true.
	Arguments(n int) (text string, ok bool)
}

// Texter is a [Decoder] that knows pieces of text by itself. Most events of a
// reply are such pieces, and what an SDK does to take one apart costs more than
// everything that is done with it afterwards: once the SDK has taken up a text,
// the pieces that follow go around it.
type Texter interface {
	Decoder
	// Text returns the text of the event that was read last; ok is false if the
	// event says anything else besides.
	Text() (text string, ok bool)
}

// Wire is a model behind one provider's interface. It implements
// [model.Model].
type Wire struct {
	// Provider and Model are the halves of "provider/model".
	Provider, Model string
	// Issuer marks opaque data as this provider's; only such data is sent.
	Issuer string
	// Language speaks the wire. Its HTTP client must have a [Transport].
	Language fantasy.LanguageModel
	// Decoder makes the follower of one reply.
	Decoder func() Decoder
	// Options are the SDK's options for a request; may be nil.
	Options func(model.Request) fantasy.ProviderOptions
	// Seal turns the metadata of a piece of reasoning into opaque data, nil
	// if there is nothing to keep; Unseal is its inverse, told the id of the
	// call that follows, empty if none does. Both may be nil.
	Seal   func(fantasy.ProviderMetadata) json.RawMessage
	Unseal func(data json.RawMessage, callID string) fantasy.ProviderOptions
	// EchoThinking sends the reasoning of the turn at hand back as text,
	// which some servers want between tool calls.
	EchoThinking bool
	// Blocks keeps texts of a message apart. Without it they are joined,
	// since many servers understand only plain strings.
	Blocks bool
	// CallsLast puts the calls of a message behind everything else in it, where
	// alone some providers take them.
	CallsLast bool
	// ResultImage puts the first image of a result into it. Where it is not set, and of
	// a failure, all follow the results.
	ResultImage bool
	// CacheMark marks a block as the end of a stable prefix; may be nil.
	CacheMark fantasy.ProviderOptions
	// File, if set, turns an image or a document into one that the provider takes.
	File func(harness.File) harness.File
	// MaxOutput is the reply budget when the request sets none; 0 leaves it
	// to the server.
	MaxOutput int
}

// Stream implements [model.Model].
func (w *Wire) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &exchange{decoder: w.Decoder(), request: req, alive: func() { emit(model.Delta{Kind: model.DeltaAlive}) }}
	defer x.close()
	stream, err := w.Language.Stream(context.WithValue(inner, exchangeKey{}, x), w.call(req))
	if err != nil {
		return model.Reply{}, w.failure(ctx, x, err)
	}
	a := assembler{emit: emit, seal: w.Seal, issuer: w.Issuer}
	x.text = a.say
	for part := range stream {
		if part.Type == fantasy.StreamPartTypeTextDelta {
			x.behind-- // the SDK has taken up a piece of text
		}
		if part.Type == fantasy.StreamPartTypeError {
			err = part.Error
			break
		}
		a.add(part)
	}
	if x.err != nil || !x.decoder.Whole() {
		return model.Reply{}, w.failure(ctx, x, err)
	}
	// From here on the reply is whole, whatever the SDK thinks of its end.
	return w.reply(x.decoder, &a)
}

// reply puts the pieces of a whole reply together.
func (w *Wire) reply(d Decoder, a *assembler) (model.Reply, error) {
	parts := a.parts(d.Arguments)
	stop, usage, failed := d.Result(parts)
	if failed != nil {
		failed.Provider = w.Provider
		return model.Reply{}, failed
	}
	usage = sane(usage)
	return model.Reply{Parts: parts, Stop: stop, Usage: usage, Model: w.Provider + "/" + w.Model}, nil
}

// sane returns counts that can be: what a service tells is booked and held against
// limits, and no number of its may make that smaller.
func sane(u harness.Usage) harness.Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning} {
		*n = min(max(*n, 0), maxTokens)
	}
	u.CacheRead = min(u.CacheRead, u.Input)
	u.CacheWrite = min(u.CacheWrite, u.Input-u.CacheRead)
	u.Reasoning = min(u.Reasoning, u.Output)
	if u.CostKnown && !(u.Cost >= 0 && u.Cost <= maxCost) {
		u.Cost, u.CostKnown = 0, false
	}
	if u == (harness.Usage{}) {
		u.Incomplete = true
	}
	return u
}

// failure is the error of a request that brought no whole reply. What the
// transport saw is more exact than what the SDK made of it.
func (w *Wire) failure(ctx context.Context, x *exchange, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.err != nil:
		return x.err
	case !x.sent && err != nil:
		return &model.Error{Kind: model.KindBadRequest, Provider: w.Provider, Message: model.Sentence(plainText(err)), Cause: cause(err)}
	case err != nil:
		return &model.Error{
			Kind: model.KindProtocol, Provider: w.Provider, Retry: true,
			Message: "the reply could not be read: " + model.Sentence(plainText(err)), Cause: cause(err),
		}
	}
	return incomplete(w.Provider, nil)
}

// incomplete is the error of a stream that ended too early.
func incomplete(provider string, err error) *model.Error {
	e := &model.Error{Kind: model.KindIncomplete, Provider: provider, Retry: true, Cause: err, Message: "the stream ended before the reply did"}
	if err != nil {
		e.Message = "the connection broke before the reply was whole"
	}
	return e
}

// plainText is an SDK error's sentence without the request that it may carry.
func plainText(err error) string {
	var p *fantasy.ProviderError
	if errors.As(err, &p) {
		return p.Message
	}
	return err.Error()
}

// cause keeps of an SDK's error only what holds no request: the SDKs' own
// types carry headers and bodies.
func cause(err error) error {
	var p *fantasy.ProviderError
	if errors.As(err, &p) {
		return errors.New(p.Message)
	}
	return err
}
