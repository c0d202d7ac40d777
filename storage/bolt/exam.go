package bolt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness"
)

const (
	// examSlice and examRest are how long a check that nobody waits for holds the
	// file, and how long it then leaves it to others.
	examSlice = 10 * time.Millisecond
	examRest  = 30 * time.Millisecond
	// faultRest is how long after a check the next fault is worth another one.
	faultRest = time.Hour
)

var keyChecked = []byte("checked") //nolint:gochecknoglobals // a key that nobody changes

// checked is the value of meta/checked, which a file lacks that was never checked.
type checked struct {
	At time.Time `json:"at"`
}

// exam is a check in the background and how far it is. If it is broken off it
// goes on from there, as long as the process lives.
type exam struct {
	report Report
	walker walker
	cross  crossCheck
	stage  int
}

// examine checks everything in short slices, between which others have their
// turn, and tells what is damaged. It repairs nothing.
func (d *DB) examine(ctx context.Context) (problems int, err error) {
	d.exams.Lock()
	defer d.exams.Unlock()
	if d.exam == nil {
		d.exam = &exam{}
		d.exam.walker.report, d.exam.cross.report = &d.exam.report, &d.exam.report
	}
	e := d.exam
	stages := d.stages(e)
	for e.stage < len(stages) {
		if err := e.report.note(stages[e.stage](ctx)); err != nil {
			return 0, err
		}
		if e.stage++; e.stage == 1 && len(e.report.Problems) > 0 {
			break // what follows such pages could go in circles
		}
	}
	d.exam = nil
	if problems = len(e.report.Problems); problems > 0 {
		text := e.report.Problems[0]
		if problems > 1 {
			text += fmt.Sprintf(" (and %s; see: cairn db check)", harness.Count(problems-1, "other place"))
		}
		d.tell(NoticeDamaged, text)
	}
	return problems, nil
}

// stages are the parts of an exam.
func (d *DB) stages(e *exam) []func(context.Context) error {
	return []func(context.Context) error{
		d.checkPagesQuietly,
		func(ctx context.Context) error { return d.gently(ctx, "check the values", e.walker.step) },
		func(ctx context.Context) error { return d.gently(ctx, "check the sessions", e.cross.in(ctx)) },
		func(ctx context.Context) error { return d.examineIndex(ctx, e.report) },
	}
}

// examineIndex checks the search index. That is made anew where it is wrong, so
// nobody has to know.
func (d *DB) examineIndex(ctx context.Context, found Report) error {
	known := len(found.Problems)
	err := d.checkPostings(ctx, &found)
	if err == nil {
		err = d.checkVectors(ctx, &found)
	}
	for _, p := range found.Problems[known:] {
		d.log.Warn("a part of the search index is wrong", slog.String("problem", p))
	}
	return err
}

// gently is inSlices for what nobody waits for. Somebody who has the file for
// long is no reason to give up.
func (d *DB) gently(ctx context.Context, op string, step func(*tx) (bool, error)) error {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-rest.C:
		}
		done, err := d.slice(ctx, op, examSlice, step)
		if err != nil && !errors.Is(err, harness.ErrLocked) || done {
			return err
		}
		rest.Reset(examRest)
	}
}

// checkPagesQuietly looks at all pages without the lock, again if somebody wrote
// meanwhile.
func (d *DB) checkPagesQuietly(ctx context.Context) error {
	for try := range quietTries {
		if err := sleep(ctx, time.Duration(try)*quietPause); err != nil {
			return err
		}
		before, err := d.moment(ctx)
		if err != nil {
			return err
		}
		found := d.checkAllPages(d.path)
		after, err := d.moment(ctx)
		if err != nil {
			return err
		}
		if before.same(after) {
			return found
		}
	}
	d.log.Info("the check of the pages has to wait", slog.Any("error", errWritten))
	return nil
}

// sleep waits, or returns why that is over.
func sleep(ctx context.Context, long time.Duration) error {
	if long <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// examineDaily checks the file if that was not done today, by whatever process.
func (d *DB) examineDaily(ctx context.Context) (done bool, problems int, err error) {
	var last checked
	read := func(t *tx) error {
		meta, err := t.root("meta")
		if err == nil {
			_, err = meta.get(keyChecked, &last)
		}
		return err
	}
	if err := d.view(ctx, "look for the last check", read); err != nil {
		return false, 0, err
	}
	if dayName(last.At) == dayName(d.now()) {
		return false, 0, nil
	}
	problems, err = d.examine(ctx)
	if err != nil || problems > 0 {
		return err == nil, problems, err // a damaged file is not written to
	}
	return true, 0, d.update(ctx, "note the check", func(t *tx) error {
		meta, err := t.root("meta")
		if err != nil {
			return err
		}
		return meta.put(keyChecked, checked{At: t.now})
	})
}

// faulted asks for a check after damage was met. Nobody waits for it.
func (d *DB) faulted() {
	if d.apart {
		return
	}
	select {
	case d.faults <- struct{}{}:
	default: // one is asked for already
	}
}

// Guard looks after the file until ctx ends, and is meant to be called in the
// background of a chat, after [DB.Housekeep]: it does the latter again whenever a
// day has gone by, and checks the whole file in short slices after any call has
// met damage. What there is to tell is told by [Options.Notify]; nothing is ever
// repaired by itself.
func (d *DB) Guard(ctx context.Context) {
	tick := time.NewTicker(faultRest)
	defer tick.Stop()
	today, last := dayName(d.now()), time.Time{}
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-d.faults:
			if !last.IsZero() && d.now().Sub(last) < faultRest {
				continue
			}
			last = d.now()
			_, err = d.examine(ctx)
		case <-tick.C:
			if now := dayName(d.now()); now != today {
				today = now
				_, err = d.Housekeep(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			d.log.Warn("look after the database", slog.Any("error", err))
		}
	}
}
