package cli

import (
	"context"
	"io"
)

// patient is a reader of what may stay silent for ever, such as a pipe: it ends
// with its context.
type patient struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to one
	in  io.Reader
}

// Read implements [io.Reader].
func (p patient) Read(into []byte) (int, error) {
	const most = 64 << 10
	data, err := unlessDone(p.ctx, func() ([]byte, error) {
		// What is left behind must not write where somebody else reads.
		own := make([]byte, min(len(into), most))
		n, err := p.in.Read(own)
		return own[:n], err
	})
	return copy(into, data), err
}

// unlessDone returns what f does, or leaves it behind when ctx ends.
func unlessDone[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case r := <-done:
		return r.value, r.err
	}
}
