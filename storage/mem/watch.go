package mem

import (
	"context"

	"cairn/harness"
)

var _ harness.Watcher = (*Store)(nil)

// Watch implements [harness.Watcher].
func (st *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ch := make(chan struct{}, 1)
	st.mu.Lock()
	st.watchers[ch] = true
	st.mu.Unlock()
	context.AfterFunc(ctx, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		delete(st.watchers, ch)
		close(ch)
	})
	return ch, nil
}

// tell wakes the watchers. Who was not read yet knows already.
func (st *Store) tell() {
	for ch := range st.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
