package wire

import (
	"context"
	"io"

	"cairn/harness/model"
)

// exchangeKey finds the exchange of a request in its context.
type exchangeKey struct{}

// exchange is one request and its reply, as the transport sees it. It is used
// by one goroutine at a time.
type exchange struct {
	decoder Decoder
	request model.Request
	// alive reports a sign of life without content.
	alive func()
	// text takes a piece of text that goes around the SDK.
	text func(string)
	// writing says that the last event that the SDK got was a piece of text, and
	// behind how many such pieces it has got and not given back yet: a text goes
	// around it only where it belongs right behind what came through it.
	writing bool
	behind  int
	// sent says that the transport was asked to send the request.
	sent bool
	body io.Closer
	// err is the first failure; it decides.
	err *model.Error
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// fail records the first failure and returns it.
func (x *exchange) fail(e *model.Error) *model.Error {
	if x.err == nil {
		x.err = e
	}
	return x.err
}

// close closes the connection: the SDKs leave it open when a stream is
// abandoned.
func (x *exchange) close() {
	if x.body != nil {
		// The reply is complete or given up; nobody can act on an error here.
		_ = x.body.Close()
	}
}
