package bolt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"cairn/harness"
)

// view runs fn in a transaction that changes nothing.
func (d *DB) view(ctx context.Context, op string, fn func(*tx) error) error {
	return d.transact(ctx, op, false, fn)
}

// update runs fn in a transaction that is on disk when update returns nil, and
// of which nothing remains otherwise. A transaction that changed nothing is not
// written.
func (d *DB) update(ctx context.Context, op string, fn func(*tx) error) error {
	return d.transact(ctx, op, true, fn)
}

func (d *DB) transact(ctx context.Context, op string, writable bool, fn func(*tx) error) error {
	if err := d.enter(ctx); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer d.leave()
	if err := d.open(ctx); err != nil {
		if errors.Is(err, harness.ErrDamaged) {
			d.faulted()
		}
		return fmt.Errorf("%s: %w", op, err)
	}
	err := d.guarded(writable, fn)
	d.keep()
	if errors.Is(err, harness.ErrDamaged) {
		d.faulted()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// enter takes the turn in this process.
func (d *DB) enter(ctx context.Context) error {
	select {
	case d.gate <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.closed {
		d.leave()
		return harness.ErrClosed
	}
	if ctx.Err() != nil {
		d.leave()
		return context.Cause(ctx)
	}
	return nil
}

func (d *DB) leave() { <-d.gate }

// guarded runs fn on the open handle. A panic or a memory fault in it comes
// from damaged pages and becomes an error; such a handle is not used again, nor
// is one whose write failed.
func (d *DB) guarded(writable bool, fn func(*tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t := &tx{d: d, now: d.now().Round(0)}
	broken := true
	defer func() {
		if p := recover(); p != nil {
			where := t.place()
			d.log.Error("damage in the database", slog.String("path", d.path), slog.String("place", where),
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = d.damaged(where, fmt.Sprint(p))
		}
		t.finish(err)
		if broken {
			t.abandon()
			d.giveUp()
		}
	}()
	if t.b, err = d.handle.db.Begin(writable); err != nil {
		return d.unusable(err)
	}
	err = fn(t)
	if err == nil {
		err = t.saveCounters()
	}
	if err != nil || !t.dirty {
		broken = errors.Is(err, harness.ErrDamaged)
		rollbackErr := t.b.Rollback()
		t.b = nil
		return errors.Join(err, rollbackErr)
	}
	if err = t.b.Commit(); err != nil {
		return d.unwritten(err)
	}
	t.b, broken = nil, false
	return nil
}

// finish runs what was put off until the outcome is known.
func (t *tx) finish(err error) {
	if err == nil {
		for _, fn := range t.done {
			fn()
		}
		return
	}
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
}

// abandon ends a transaction that panicked or failed. Rolling back touches no
// page, but what it works on may be broken.
func (t *tx) abandon() {
	defer func() {
		if p := recover(); p != nil {
			t.d.log.Error("roll back after damage", slog.Any("panic", p))
		}
	}()
	if t.b != nil {
		// The transaction's own error was reported already, and it may have
		// closed itself.
		_ = t.b.Rollback()
		t.b = nil
	}
}
