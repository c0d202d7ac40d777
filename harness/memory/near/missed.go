package near

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Missed collects why searches went by words alone although a model is configured.
// It is safe for concurrent use.
type Missed struct {
	mu  sync.Mutex
	err error
}

type missedKey struct{}

// Attend returns a context whose searches tell m why they went by words alone: who
// shows what was found can say that there may be more.
func (m *Missed) Attend(ctx context.Context) context.Context {
	return context.WithValue(ctx, missedKey{}, m)
}

// Err is the first reason, nil if each search went by meaning too.
func (m *Missed) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// missed tells whoever attends to the searches of a context.
func missed(ctx context.Context, err error) {
	m, ok := ctx.Value(missedKey{}).(*Missed)
	if !ok || ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
}

// noVectors says that nothing can be found by meaning yet.
func noVectors(model string) error {
	return fmt.Errorf("there are no vectors of %s yet; to make them: cairn memory index --update", model)
}

// Why a question has no vector, where no call failed.
var (
	errKept = errors.New("what is looked for seems to be a key or a password, which is not sent")
	errBusy = errors.New("other questions are being asked")
)

// noVectorError is [errNoVector] with the reason alone for its text.
type noVectorError struct{ why error }

func (e *noVectorError) Error() string   { return e.why.Error() }
func (e *noVectorError) Unwrap() []error { return []error{errNoVector, e.why} }
