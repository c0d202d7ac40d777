package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// breaks is who is told of ctrl+c in the place of the program's end.
type breaks struct {
	mu sync.Mutex
	to chan<- struct{} // nil if nobody is
}

// breaksKey finds the breaks of a context of [SignalContext].
type breaksKey struct{}

// SignalContext returns a context that ends when a person or the system asks
// the program to stop. A second such signal ends the program at once. Somebody
// may take ctrl+c for themselves meanwhile; see [interrupts].
func SignalContext(parent context.Context) (context.Context, context.CancelFunc) {
	b := new(breaks)
	ctx, cancel := context.WithCancel(context.WithValue(parent, breaksKey{}, b))
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(heard)
		for {
			select {
			case s := <-heard:
				if s == os.Interrupt && b.tell() {
					continue
				}
				cancel()
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// tell tells of ctrl+c whoever wants to know. It is false if nobody does.
func (b *breaks) tell() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.to == nil {
		return false
	}
	select {
	case b.to <- struct{}{}:
	default: // the one before was not heeded yet
	}
	return true
}

// interrupts takes ctrl+c from the program's end to a channel until release. It
// is nil under a context that is none of [SignalContext].
func interrupts(ctx context.Context) (told <-chan struct{}, release func()) {
	b, ok := ctx.Value(breaksKey{}).(*breaks)
	if !ok {
		return nil, func() {}
	}
	to := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
	return to, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.to = nil
	}
}
