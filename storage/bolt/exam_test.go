package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// told are the notices of a database.
type told struct {
	mu  sync.Mutex
	all []bolt.Notice
	got chan bolt.Notice
}

func newTold() *told { return &told{got: make(chan bolt.Notice, 100)} }

func (n *told) notify(notice bolt.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, notice)
	n.got <- notice
}

func (n *told) list() []bolt.Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// overwrite changes every occurrence of a text in a file without changing its
// length.
func overwrite(t *testing.T, path, old, now string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	ok(t, err)
	changed := bytes.ReplaceAll(raw, []byte(old), []byte(now))
	if bytes.Equal(raw, changed) || len(old) != len(now) {
		t.Fatalf("%q is not in the file", old)
	}
	ok(t, os.WriteFile(path, changed, 0o600))
}

// TestDailyCheckTellsOfDamageThatNobodyHasMet damages a value that nobody reads.
func TestDailyCheckTellsOfDamageThatNobodyHasMet(t *testing.T) {
	t.Parallel()
	clock, notices := harnesstest.NewClock(), newTold()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{Now: clock.Now, Notify: notices.notify})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	first, err := db.Housekeep(t.Context())
	ok(t, err)
	if !first.Checked || first.Problems != 0 || len(notices.list()) != 0 {
		t.Fatalf("at first %+v, %v", first, notices.list())
	}
	if again, err := db.Housekeep(t.Context()); err != nil || again.Checked {
		t.Fatalf("the second time %+v, %v", again, err)
	}
	db.Rest()
	overwrite(t, path, "A fact from beta", "A fact from Beta")
	overwrite(t, path, "A fact from alpha", "A fact from Alpha")
	broken, err := os.ReadFile(path)
	ok(t, err)
	if again, err := db.Housekeep(t.Context()); err != nil || again.Checked {
		t.Fatalf("the same day %+v, %v", again, err)
	}
	for range 2 {
		clock.Add(day)
		found, err := db.Housekeep(t.Context())
		ok(t, err)
		if !found.Checked || found.Problems < 2 || found.Purged != (bolt.Purged{}) {
			t.Fatalf("a day later %+v", found)
		}
		all := notices.list()
		if len(all) == 0 || all[0].Kind != bolt.NoticeDamaged || !strings.Contains(all[0].Text, "sessions/alpha") ||
			!strings.Contains(all[0].Text, "cairn db restore") || !strings.Contains(all[0].Text, "other place") {
			t.Fatalf("notices %v", all)
		}
		db.Rest()
		unchanged(t, path, broken)
	}
}

// patience is a context that ends after it was asked some times.
type patience struct {
	context.Context //nolint:containedctx // it is one
	asked, most     int
}

func (p *patience) Err() error {
	if p.asked++; p.asked > p.most {
		return context.Canceled
	}
	return p.Context.Err()
}

// TestCheckGoesOnWhereItWasBrokenOff breaks off a check after less than all of it
// would take, until it is done.
func TestCheckGoesOnWhereItWasBrokenOff(t *testing.T) {
	t.Parallel()
	db := openAt(t, populated(t), harnesstest.NewClock())
	whole := &patience{Context: t.Context(), most: 1 << 30}
	if problems, err := db.Examine(whole); err != nil || problems != 0 {
		t.Fatalf("%d problems, %v", problems, err)
	}
	for tries := 1; ; tries++ {
		problems, err := db.Examine(&patience{Context: t.Context(), most: whole.asked * 2 / 3})
		if err == nil && problems == 0 && tries > 1 {
			break
		}
		if !errors.Is(err, context.Canceled) || tries > 5 {
			t.Fatalf("try %d: %d problems, %v", tries, problems, err)
		}
	}
}

// TestGuardChecksTheFileAfterAFault meets damage in one place and is told of
// another.
func TestGuardChecksTheFileAfterAFault(t *testing.T) {
	t.Parallel()
	notices := newTold()
	path := populated(t)
	db, err := bolt.Open(path, bolt.Options{Now: harnesstest.NewClock().Now, Notify: notices.notify})
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		db.Guard(ctx)
		close(ended)
	}()
	db.Rest()
	overwrite(t, path, "A fact from alpha", "A fact from Alpha")
	overwrite(t, path, "A fact from beta", "A fact from Beta")
	if _, err := db.Facts().Get(ctx, "f1"); !errors.Is(err, harness.ErrDamaged) {
		t.Fatalf("error %v", err)
	}
	if n := <-notices.got; n.Kind != bolt.NoticeDamaged || !strings.Contains(n.Text, "other place") {
		t.Fatalf("notice %v", n)
	}
	cancel()
	<-ended
	ok(t, db.Close())
}

// TestFreeSpaceIsOfferedOnceADay frees most of a file by hand.
func TestFreeSpaceIsOfferedOnceADay(t *testing.T) {
	t.Parallel()
	clock, notices := harnesstest.NewClock(), newTold()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{Now: clock.Now, Notify: notices.notify})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	for n := range 20 {
		// What is written over becomes free.
		d := harness.Draft{Text: strings.Repeat(fmt.Sprint(n), 1<<20)}
		ok(t, db.Drafts().Save(ctx, "s", l.Holder, d))
	}
	ok(t, db.Drafts().Save(ctx, "s", l.Holder, harness.Draft{}))
	for range 2 {
		_, err = db.Housekeep(ctx)
		ok(t, err)
	}
	all := notices.list()
	if s, err := db.Stats(ctx); err != nil || s.Wasteful() != (len(all) == 1) {
		t.Fatalf("%+v, %v, notices %v", s, err, all)
	}
	if len(all) > 0 && (all[0].Kind != bolt.NoticeSpace || !strings.Contains(all[0].Text, "are free: cairn db compact gives them back")) {
		t.Fatalf("notices %v", all)
	}
}
