package run

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
)

// Resume implements [harness.Engine]. A run that the backend never got is handed to
// it now; one that it lost can only be dropped. A run that waits for a worker is
// driven here; one that is under way is [harness.ErrBusy]. Of one that has ended
// there meanwhile the handle tells the result.
func (r *Remote) Resume(ctx context.Context, l harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	switch how {
	case harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop, harness.ResumeClose:
	default:
		return nil, fmt.Errorf("resume run %s: unknown way %q; use continue, retry or drop", id, how)
	}
	leave, err := r.sit(ctx, l.Session, "")
	if err != nil {
		return nil, err
	}
	defer leave()
	m, err := r.mirror(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	f, err := r.resume(ctx, l, m, how)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return f, nil
}

func (r *Remote) resume(ctx context.Context, l harness.Lease, m *mirror, how harness.ResumeHow) (harness.RunHandle, error) {
	id, ends := m.info.ID, how == harness.ResumeDrop || how == harness.ResumeClose
	if m.info.Status.Closed() {
		return nil, fmt.Errorf("run %s: it has ended (%s)", id, m.info.Status)
	}
	job, err := r.get(ctx, m)
	if errors.Is(err, harness.ErrNotFound) {
		return r.resumeAbsent(ctx, l, m, how)
	}
	if err != nil {
		return nil, r.silent(id, err)
	}
	have := r.find(id)
	if job.Run.Status.Closed() { // it has ended meanwhile
		if _, err := r.newer(ctx, m); errors.Is(err, errOlder) {
			return r.resumeAbsent(ctx, l, m, how)
		}
		return r.goOn(ctx, l, m, have, m.info.Cursor)
	}
	if _, err := r.catchUp(ctx, l, m); errors.Is(err, errOlder) {
		return r.resumeAbsent(ctx, l, m, how)
	} else if err != nil {
		return nil, err
	}
	base := m.info.Cursor
	// What waits for a worker in vain is driven here.
	here := !ends && (r.o.Here || waits(job) || have != nil && job.Run.Interrupted)
	if err := r.free(ctx, id, func() error { return r.o.Backend.Resume(ctx, id, how, here) }); err != nil {
		return nil, err
	}
	return r.goOn(ctx, l, m, have, base)
}

// get returns a run as the backend has it, which is [harness.ErrNotFound] if it is not
// the one that the session was handed over.
func (r *Remote) get(ctx context.Context, m *mirror) (Job, error) {
	job, err := r.o.Backend.Get(ctx, m.info.ID)
	if err == nil {
		err = m.knows(job)
	}
	return job, err
}

// waits reports whether a run is to go on and is driven by nobody, though no driver
// of it broke.
func waits(j Job) bool {
	return j.Run.Status == harness.RunRunning && j.Run.Worker == nil && !j.Run.Interrupted
}

// goOn follows a run that goes on, or tells at once how it rests. have is who
// follows it already, nil if nobody does.
func (r *Remote) goOn(ctx context.Context, l harness.Lease, m *mirror, have *following, base int) (harness.RunHandle, error) {
	free := context.WithoutCancel(ctx) // it is stored: whoever waits may leave
	if have != nil && r.keepsUp(free, have) {
		return have, nil
	}
	f := r.following(l, m, base)
	entries, err := r.newer(free, m)
	if err == nil {
		err = r.deliver(free, l, m, entries, f.take)
	}
	switch {
	case err != nil && final(err):
		f.broke(err)
	case err != nil || m.info.Status == harness.RunRunning:
		r.begin(free, f)
	default:
		f.rest(free)
	}
	return f, nil
}

// keepsUp waits until who follows a run has seen that it goes on, and reports
// whether they have: they may have been told just before that it rests.
func (r *Remote) keepsUp(ctx context.Context, f *following) bool {
	select {
	case f.kick <- struct{}{}:
	default:
	}
	job, err := r.o.Backend.Get(ctx, f.id)
	if err != nil {
		return true // they wait for the backend, too
	}
	return f.stream.reaches(ctx, job.Run.Cursor)
}

// reaches waits until a journal entry is stored, or the stretch is over without it.
func (s *stream) reaches(ctx context.Context, seq int) bool {
	for {
		s.mu.Lock()
		last, done := s.last, s.done
		more := s.turned.on()
		s.mu.Unlock()
		if last >= seq || done {
			return last >= seq && !done
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}

// resumeAbsent goes on with a run that the backend does not have.
func (r *Remote) resumeAbsent(ctx context.Context, l harness.Lease, m *mirror, how harness.ResumeHow) (harness.RunHandle, error) {
	id, base := m.info.ID, m.info.Cursor
	if how == harness.ResumeDrop || how == harness.ResumeClose {
		f := r.following(l, m, base)
		if err := r.endHere(ctx, l, m, how, f.take); err != nil {
			return nil, err
		}
		f.finish(resultOf(m.info, m.state))
		return f, nil
	}
	if m.info.Cursor > 1 {
		return nil, fmt.Errorf("run %s: %s does not have it any more; what was handed over is in the conversation: drop the run to go on", id, r.o.Engine)
	}
	needs, err := r.needs(ctx, m.info.Config)
	if err != nil {
		return nil, err
	}
	entries, err := r.o.Home.Read(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	if err := r.submit(ctx, m.info, entries[0], needs, r.o.Here); err != nil {
		return nil, err
	}
	f := r.following(l, m, base)
	r.begin(ctx, f)
	return f, nil
}

// endHere ends a run that the backend does not have, or that is given up.
func (r *Remote) endHere(ctx context.Context, l harness.Lease, m *mirror, how harness.ResumeHow, see func(Entry) error) error {
	entries, err := r.ending(m, how)
	if err != nil {
		return err
	}
	stored, err := r.o.Home.Append(context.WithoutCancel(ctx), l, m.info.ID, m.info.Cursor, entries...)
	if err != nil {
		return fmt.Errorf("end run %s: %w", m.info.ID, err)
	}
	for _, e := range stored {
		if err := see(e); err != nil {
			return err
		}
	}
	return nil
}

// ending returns what ends a run as cancelled.
func (r *Remote) ending(m *mirror, how harness.ResumeHow) ([]Entry, error) {
	drop, stop := how == harness.ResumeDrop, harness.StopCancelled
	if drop {
		stop = harness.StopDropped
	}
	records := loop.Cancel(m.state, nil, m.info.Config.Model, drop, stop)
	return entriesOf(r.o.Now(), harness.Usage{}, records...)
}

// Abandon ends a run of the conversation for good although its engine cannot be
// reached. Whatever it does there is not handed over any more: once the engine can
// be reached again, fetching the session cancels it and says so. A run whose engine
// answers is dropped as by Resume.
func (r *Remote) Abandon(ctx context.Context, l harness.Lease, id harness.RunID) error {
	h, err := r.Resume(ctx, l, id, harness.ResumeDrop)
	if err == nil {
		_, err = h.Wait(ctx)
		return err
	}
	if !errors.Is(err, errSilent) {
		return err
	}
	leave, err := r.sit(ctx, l.Session, "")
	if err != nil {
		return err
	}
	defer leave()
	if f := r.find(id); f != nil {
		f.leave(ctx)
	}
	m, err := r.mirror(ctx, id)
	if err != nil {
		return err
	}
	return r.endHere(ctx, l, m, harness.ResumeDrop, func(e Entry) error { _, _, err := m.take(e); return err })
}

// errSilent means that a backend could not be asked.
var errSilent = errors.New("cannot be asked now")

// silent says that the backend could not be asked about a run.
func (r *Remote) silent(id harness.RunID, err error) error {
	return fmt.Errorf("run %s is kept by %s, which %w: %w", id, r.o.Engine, errSilent, err)
}

// free asks the backend for something that needs a run to be driven by nobody. A
// driver that is about to give a run at rest back is waited for.
func (r *Remote) free(ctx context.Context, id harness.RunID, do func() error) error {
	within, end := context.WithTimeout(ctx, releasedWithin)
	defer end()
	changes, err := r.o.Backend.Watch(within, id)
	if err != nil {
		return r.silent(id, err)
	}
	for {
		err := do()
		holder, held := harness.AsHeld(err)
		if !held {
			return err
		}
		busy := fmt.Errorf("run %s is driven by %s: %w", id, holder, harness.ErrBusy)
		job, err := r.o.Backend.Get(ctx, id)
		if err != nil || job.Run.Status == harness.RunRunning {
			return busy
		}
		select {
		case <-changes:
		case <-within.Done():
		}
		if within.Err() != nil {
			return busy
		}
	}
}

// closeOpen ends the session's runs of this engine because another message follows.
// What it returns ends those that the backend does not have.
func (r *Remote) closeOpen(ctx context.Context, l harness.Lease) ([]Closing, error) {
	runs, err := r.o.Home.List(ctx, harness.RunFilter{Session: l.Session, Unfinished: true})
	if err != nil {
		return nil, fmt.Errorf("unfinished runs of session %s: %w", l.Session, err)
	}
	var closes []Closing
	for _, have := range runs {
		if have.Engine != r.o.Engine {
			continue
		}
		c, err := r.closeOne(ctx, l, have.ID)
		if err != nil {
			return nil, fmt.Errorf("start in session %s: %w", l.Session, err)
		}
		if c != nil {
			closes = append(closes, *c)
		}
	}
	return closes, nil
}

// closeOne ends one run, or returns what ends it.
func (r *Remote) closeOne(ctx context.Context, l harness.Lease, id harness.RunID) (*Closing, error) {
	m, err := r.mirror(ctx, id)
	if err != nil {
		return nil, err
	}
	closing := func() (*Closing, error) {
		entries, err := r.ending(m, harness.ResumeClose)
		return &Closing{Run: id, After: m.info.Cursor, Entries: entries}, err
	}
	job, err := r.get(ctx, m)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return closing()
	case err != nil:
		return nil, cannotClose(id, r.silent(id, err))
	case job.Run.Status == harness.RunRunning && !job.Run.Interrupted:
		return nil, fmt.Errorf("run %s goes on at %s: %w", id, r.o.Engine, harness.ErrBusy)
	}
	if _, err := r.catchUp(ctx, l, m); errors.Is(err, errOlder) {
		return closing()
	} else if err != nil {
		return nil, err
	}
	switch {
	case m.info.Status.Closed():
		return nil, nil //nolint:nilnil // it has ended by itself
	case m.info.Status == harness.RunAwaiting:
		return nil, fmt.Errorf("run %s: %w", id, harness.ErrAwaiting)
	}
	if err := r.free(ctx, id, func() error { return r.o.Backend.Resume(ctx, id, harness.ResumeClose, false) }); err != nil {
		return nil, err
	}
	_, err = r.catchUp(ctx, l, m)
	return nil, err
}

// cannotClose says that a new message has to wait for the engine of a run that has
// not ended: that may have gone on since, and its answer belongs before the message.
func cannotClose(id harness.RunID, err error) error {
	return fmt.Errorf("the answer to the message before may still come; send this one again when the engine answers, or give that run up with: cairn runs drop --force %s (%w)", id, err)
}
