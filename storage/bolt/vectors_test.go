package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/memory/near"
	"cairn/storage/bolt"
)

// pointing is a store whose texts have the vectors of what they are about.
type pointing struct {
	*bolt.Vectors
	t     *testing.T
	space near.Space
}

func point(t *testing.T, db *bolt.DB) pointing {
	t.Helper()
	p := pointing{db.Vectors(), t, near.Space{Model: "test/one", Dims: 3, Version: near.Version}}
	if _, there, err := p.Space(t.Context()); err != nil || !there {
		ok(t, err)
		ok(t, p.Begin(t.Context(), p.space))
	}
	return p
}

func direction(text string) []float32 {
	switch {
	case strings.Contains(text, "car"):
		return []float32{1, 0, 0}
	case strings.Contains(text, "dog"):
		return []float32{0, 1, 0}
	}
	return []float32{0, 0, 1}
}

// some stores the vectors of about so many windows, and returns of how many.
func (p pointing) some(windows int) int {
	p.t.Helper()
	parts, err := p.Next(p.t.Context(), p.space, windows, near.Cut)
	ok(p.t, err)
	n := 0
	for _, part := range parts {
		for i := range part.Windows {
			part.Windows[i].Vector = direction(part.Windows[i].Text)
			n++
		}
	}
	ok(p.t, p.Put(p.t.Context(), p.space, parts))
	return n
}

// all stores what is missing and returns how many windows that was.
func (p pointing) all() (made int) {
	p.t.Helper()
	ok(p.t, p.Tidy(p.t.Context()))
	for n := p.some(10); n > 0; n = p.some(10) {
		made += n
	}
	ok(p.t, p.Done(p.t.Context()))
	return made
}

// finds fails unless just these messages are near a text.
func (p pointing) finds(text string, want ...string) {
	p.t.Helper()
	hits, err := p.Messages(p.t.Context(), near.Query{Space: p.space, Vector: direction(text), Words: text, Floor: 0.5, Limit: 50})
	ok(p.t, err)
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprintf("%s/%d %s", h.Session, h.Message, h.Excerpt))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.t.Errorf("near %q: %q, want %q", text, got, want)
	}
}

func (p pointing) remembers(kind, text string, want ...string) {
	p.t.Helper()
	found, err := p.Items(p.t.Context(), kind, near.Query{Space: p.space, Vector: direction(text), Floor: 0.5})
	ok(p.t, err)
	var got []string
	for _, it := range found {
		got = append(got, it.ID)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		p.t.Errorf("near %q: %q, want %q", text, got, want)
	}
}

func (p pointing) missing(want int) {
	p.t.Helper()
	st, err := p.Status(p.t.Context())
	ok(p.t, err)
	if st.Missing != want {
		p.t.Errorf("%d are missing, want %d: %+v", st.Missing, want, st)
	}
}

func vectorDB(t *testing.T) (*bolt.DB, *harnesstest.Clock, string) {
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	return openAt(t, path, clock), clock, path
}

func TestVectorsFollowTheMessages(t *testing.T) {
	t.Parallel()
	db, clock, _ := vectorDB(t)
	ctx := t.Context()
	say(t, db, "a", "my car", "a dog", "…")
	p := point(t, db)
	p.missing(3)
	if made := p.all(); made != 2 {
		t.Errorf("%d vectors were made", made)
	}
	p.missing(0)
	p.finds("car", "a/1 my car")
	say(t, db, "a", "another car")
	_, err := db.Sessions().Fork(ctx, "a", harness.Origin{Session: "a", Record: 2}, harness.Session{ID: "b"})
	ok(t, err)
	say(t, db, "b", "the car of a fork")
	if made := p.all(); made != 2 {
		t.Errorf("%d vectors were made of what was new", made)
	}
	p.finds("car", "a/1 my car", "a/4 another car", "b/1 the car of a fork")
	if n, err := db.VectorRuns(ctx); err != nil || n != 2 {
		t.Errorf("two sessions take %d values, %v", n, err)
	}
	ok(t, db.Sessions().Delete(ctx, "b"))
	p.finds("car", "a/1 my car", "a/4 another car")
	p.missing(0)
	ok(t, db.Sessions().Restore(ctx, "b"))
	p.finds("car", "a/1 my car", "a/4 another car", "b/1 the car of a fork")
	ok(t, db.Sessions().Delete(ctx, "b"))
	clock.Add(time.Hour)
	_, err = db.Purge(ctx, clock.Now())
	ok(t, err)
	if n, err := db.VectorRuns(ctx); err != nil || n != 1 {
		t.Errorf("after the purge there are %d values, %v", n, err)
	}
	// Another session that gets the id has nothing of the first.
	say(t, db, "b", "no such thing")
	p.finds("car", "a/1 my car", "a/4 another car")
	whole(t, db)
}

func TestVectorsFollowFactsAndNotes(t *testing.T) {
	t.Parallel()
	db, clock, _ := vectorDB(t)
	ctx := t.Context()
	f, _, err := db.Facts().Save(ctx, harness.Fact{Text: "drives a car"}, "")
	ok(t, err)
	n, err := db.Notes().Save(ctx, harness.Note{Title: "pets", Body: "a dog"}, "")
	ok(t, err)
	p := point(t, db)
	p.all()
	p.remembers("f", "car", f.ID)
	p.remembers("n", "dog", n.ID)
	p.remembers("f", "dog")
	text := "walks a dog"
	_, err = db.Facts().Edit(ctx, f.ID, harness.FactEdit{Text: &text})
	ok(t, err)
	p.remembers("f", "car") // what it was says nothing any more
	p.missing(1)
	p.all()
	p.remembers("f", "dog", f.ID)
	ok(t, db.Facts().Forget(ctx, f.ID))
	p.remembers("f", "dog")
	_, err = db.Facts().Restore(ctx, f.ID)
	ok(t, err)
	p.all()
	p.remembers("f", "dog", f.ID)
	ok(t, db.Facts().Forget(ctx, f.ID))
	clock.Add(time.Hour)
	_, err = db.Purge(ctx, clock.Now())
	ok(t, err)
	st, err := p.Status(ctx)
	ok(t, err)
	if st.Vectors != 1 {
		t.Errorf("after the purge there are %d vectors", st.Vectors)
	}
	whole(t, db)
}

func TestWhatIsSaidWithoutMemoryGetsNoVectors(t *testing.T) {
	t.Parallel()
	db, clock, _ := vectorDB(t)
	ctx := t.Context()
	say(t, db, "a", "my car")
	say(t, db, "b", "your car")
	yes := true
	_, err := db.Sessions().Edit(ctx, "b", harness.SessionEdit{NoMemory: &yes})
	ok(t, err)
	p := point(t, db)
	p.all()
	p.finds("car", "a/1 my car")
	p.missing(0)
	_, err = db.Sessions().Edit(ctx, "a", harness.SessionEdit{NoMemory: &yes})
	ok(t, err)
	clock.Add(time.Hour)
	p.all()
	if n, err := db.VectorRuns(ctx); err != nil || n != 0 {
		t.Errorf("%d values are left, %v", n, err)
	}
}

func TestVectorsOfAnotherModelAreNotUsed(t *testing.T) {
	t.Parallel()
	db, _, _ := vectorDB(t)
	ctx := t.Context()
	for n := range 30 {
		say(t, db, harness.SessionID(fmt.Sprint("s", n)), "my car")
	}
	p := point(t, db)
	p.all()
	other := p
	other.space.Model = "test/two"
	ok(t, other.Begin(ctx, other.space))
	if _, err := p.Messages(ctx, near.Query{Space: p.space, Vector: direction("car")}); !errors.Is(err, near.ErrMoved) {
		t.Errorf("the old model's are asked: %v", err)
	}
	if err := p.Put(ctx, p.space, nil); !errors.Is(err, near.ErrMoved) {
		t.Errorf("the old model's are stored: %v", err)
	}
	if n, err := db.VectorRuns(ctx); err != nil || n != 0 {
		t.Errorf("%d of the old ones are left, %v", n, err)
	}
	other.missing(30)
	other.finds("car")
	if made := other.all(); made != 30 {
		t.Errorf("%d were made anew", made)
	}
	ok(t, p.Clear(ctx))
	if n, err := db.VectorRuns(ctx); err != nil || n != 0 {
		t.Errorf("%d are left when all are removed, %v", n, err)
	}
	whole(t, db)
}

func TestMakingVectorsGoesOnWhereAnotherProcessEnded(t *testing.T) {
	t.Parallel()
	db, clock, path := vectorDB(t)
	var texts []string
	for n := range 60 {
		texts = append(texts, fmt.Sprintf("car %d", n))
	}
	say(t, db, "a", texts...)
	p := point(t, db)
	first := p.some(20)
	// The next one was asked for and paid, and never stored.
	_, err := p.Next(t.Context(), p.space, 20, near.Cut)
	ok(t, err)
	next := point(t, openAt(t, path, clock))
	if first == 0 {
		t.Fatal("nothing was stored")
	}
	ok(t, db.Close()) // what a killed process leaves: its lock is free
	if made := next.all(); made != 60-first {
		t.Errorf("%d were made after %d", made, first)
	}
	next.missing(0)
}

func TestTwoProcessesDoNotMakeTheSameVectors(t *testing.T) {
	t.Parallel()
	db, clock, path := vectorDB(t)
	say(t, db, "a", "my car")
	p := point(t, db)
	_, err := p.Next(t.Context(), p.space, 10, near.Cut)
	ok(t, err)
	other := point(t, openAt(t, path, clock))
	if _, err := other.Next(t.Context(), p.space, 10, near.Cut); !errors.Is(err, near.ErrBusy) {
		t.Errorf("the other process got %v", err)
	}
	clock.Add(2 * time.Minute) // it lives, but does not say anything
	if _, err := other.Next(t.Context(), p.space, 10, near.Cut); err != nil {
		t.Errorf("after two minutes: %v", err)
	}
	if _, err := p.Next(t.Context(), p.space, 10, near.Cut); !errors.Is(err, near.ErrBusy) {
		t.Errorf("the first process got %v", err)
	}
	if made := other.all(); made != 1 {
		t.Errorf("%d were made", made)
	}
	// What comes too late changes nothing.
	late := near.Part{Session: "a", From: 1, To: 1, Windows: []near.Window{{Message: 1, To: 6, Vector: direction("dog")}}}
	ok(t, p.Put(t.Context(), p.space, []near.Part{late}))
	p.finds("car", "a/1 my car")
	p.finds("dog")
}

func TestDamagedVectorsAreMadeAnew(t *testing.T) {
	t.Parallel()
	db, _, path := vectorDB(t)
	ctx := context.WithoutCancel(t.Context())
	say(t, db, "a", "my car", "a dog")
	p := point(t, db)
	p.all()
	ok(t, db.FlipVectors(ctx))
	p.finds("car")
	r, err := db.Check(ctx)
	ok(t, err)
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "made anew by itself") {
		t.Errorf("the check says %q", r.Problems)
	}
	reads(t, db, "a", "my car", "a dog")
	fresh := point(t, openAt(t, path, harnesstest.NewClock()))
	fresh.all()
	fresh.finds("car", "a/1 my car")
	whole(t, db)
}

func TestVectorsStayWhenTheFileIsWrittenAnew(t *testing.T) {
	t.Parallel()
	db, clock, path := vectorDB(t)
	ctx := t.Context()
	say(t, db, "a", "my car")
	_, _, err := db.Facts().Save(ctx, harness.Fact{Text: "drives a car"}, "")
	ok(t, err)
	p := point(t, db)
	p.all()
	_, _, err = db.Compact(ctx)
	ok(t, err)
	p.finds("car", "a/1 my car")
	ok(t, db.Close())
	_, err = bolt.RebuildLists(ctx, path, bolt.Options{Now: clock.Now})
	ok(t, err)
	p = point(t, openAt(t, path, clock))
	p.finds("car", "a/1 my car")
	p.remembers("f", "car", "f1")
	p.missing(0)
}

func TestLongMessagesGetSeveralVectorsAndTheExcerptOfTheNearest(t *testing.T) {
	t.Parallel()
	db, _, _ := vectorDB(t)
	long := strings.Repeat("nothing here. ", 400) + "the dog at the end"
	say(t, db, "a", long, strings.Repeat("word ", 100_000))
	p := point(t, db)
	if made := p.all(); made < 4+8-1 || made > 16 {
		t.Errorf("%d vectors were made", made)
	}
	hits, err := p.Messages(t.Context(), near.Query{Space: p.space, Vector: direction("dog"), Words: "dog", Floor: 0.5})
	ok(t, err)
	if len(hits) != 1 || !strings.Contains(hits[0].Excerpt, "the dog at the end") {
		t.Errorf("got %+v", hits)
	}
}
