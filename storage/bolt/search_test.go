package bolt_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

// queries ask for some, for many and for what there is not.
func queries() []string {
	return []string{"apple", "pears plum", `"plum apple"`, "what about figs?", "app", "quince", "absent"}
}

// say appends messages to a session that this process may take.
func say(tb testing.TB, db *bolt.DB, id harness.SessionID, texts ...string) {
	tb.Helper()
	l, err := db.Owners().Acquire(tb.Context(), harness.Session{ID: id}, harness.Holder{})
	ok(tb, err)
	ok(tb, appendTexts(tb, db, l, texts...))
	ok(tb, db.Owners().Release(tb.Context(), l))
}

func appendTexts(tb testing.TB, db *bolt.DB, l harness.Lease, texts ...string) error {
	tb.Helper()
	var records []harness.Record
	for _, text := range texts {
		m := harness.UserText(text)
		records = append(records, harness.Record{Message: &m})
	}
	_, err := db.Transcript().Append(tb.Context(), l, records...)
	return err
}

// must is what rapid and testing have in common here.
type must interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// sameAsLooking fails unless a search finds what looking at all messages does,
// with the same scores. What is summed up in another order differs a little.
func sameAsLooking(tb testing.TB, t must, db *bolt.DB) {
	tb.Helper()
	t.Helper()
	ctx := tb.Context()
	sessions, err := db.Sessions().List(ctx, harness.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var all []index.Doc
	for _, s := range sessions {
		for seq := range s.Records {
			r, err := db.Transcript().Record(ctx, s.ID, seq+1)
			if err != nil {
				t.Fatal(err)
			}
			if doc, ok := rules.Document(s.ID, r); ok {
				all = append(all, doc)
			}
		}
	}
	text := func(id string, seq int) (string, error) {
		r, err := db.Transcript().Record(ctx, harness.SessionID(id), seq)
		if err != nil {
			return "", err
		}
		return r.Message.Text(), nil
	}
	for _, q := range queries() {
		want, err := index.Search(index.NewQuery(q), nil, all, 0, index.Options{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Searcher().Search(ctx, q, 0)
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		scores := map[string]float64{}
		for _, m := range want {
			scores[fmt.Sprint(m.Session, "/", m.Message)] = m.Score
		}
		for _, h := range got {
			name := fmt.Sprint(h.Session, "/", h.Message)
			if score, ok := scores[name]; !ok || math.Abs(score-h.Score) > 1e-4*score || h.Excerpt == "" {
				t.Fatalf("%q finds %+v, and its score should be %f", q, h, score)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q finds %d of %d", q, len(got), len(want))
		}
	}
}

// TestSearchFindsWhatLookingAtAllFinds lets random operations happen to a
// database that two users have open, with a search index of small segments.
func TestSearchFindsWhatLookingAtAllFinds(t *testing.T) {
	t.Parallel()
	const rounds = 30 // each is many files, and one that fails is tried again to make it short
	dir, n, failed := t.TempDir(), 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if n++; n > rounds && !failed {
			return
		}
		defer func() { failed = failed || rt.Failed() }()
		s := &searched{t: rt, tb: t, path: filepath.Join(dir, fmt.Sprint(n), bolt.FileName), clock: harnesstest.NewClock(), forked: map[harness.SessionID]bool{}}
		s.open()
		defer s.close()
		rt.Repeat(map[string]func(*rapid.T){
			"look":    func(*rapid.T) { sameAsLooking(t, rt, s.users[0]) },
			"say":     s.say,
			"import":  s.bring,
			"trash":   s.trash,
			"purge":   s.purge,
			"old":     s.purgeAsBefore,
			"fork":    s.fork,
			"index":   func(t *rapid.T) { s.do(s.any(t).IndexMessages(s.tb.Context())) },
			"other":   func(*rapid.T) { sameAsLooking(t, rt, s.users[1]) },
			"reopen":  func(*rapid.T) { s.close(); s.open() },
			"compact": func(t *rapid.T) { _, _, err := s.any(t).Compact(s.tb.Context()); s.do(0, err) },
		})
		if report, err := s.users[0].Check(t.Context()); err != nil || len(report.Problems) != 0 {
			rt.Fatalf("check: %v, %v", report.Problems, err)
		}
	})
}

type searched struct {
	t     *rapid.T
	tb    testing.TB
	path  string
	clock *harnesstest.Clock
	users [2]*bolt.DB
	// forked are the sessions that others go on from.
	forked map[harness.SessionID]bool
}

func (s *searched) open() {
	for i := range s.users {
		db, err := bolt.Open(s.path, bolt.Options{Now: s.clock.Now})
		s.do(0, err)
		db.CutSegments(3, 7)
		s.users[i] = db
	}
}

func (s *searched) close() {
	for _, db := range s.users {
		s.do(0, db.Close())
	}
}

func (s *searched) do(_ int, err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *searched) any(t *rapid.T) *bolt.DB {
	return s.users[rapid.IntRange(0, len(s.users)-1).Draw(t, "user")]
}

func texts(t *rapid.T) []string {
	word := rapid.SampledFrom([]string{"apple", "Apples", "pear", "plum", "figs", "quinces", "the"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), " ")
	}), 1, 6).Draw(t, "texts")
}

func (s *searched) say(t *rapid.T) {
	db, id := s.any(t), anyID(t)
	l, err := db.Owners().Acquire(s.tb.Context(), harness.Session{ID: id}, harness.Holder{})
	if errors.Is(err, harness.ErrExists) {
		return // it is in the trash
	}
	s.do(0, err)
	s.do(0, appendTexts(s.tb, db, l, texts(t)...))
	s.do(0, db.Owners().Release(s.tb.Context(), l))
}

// fork makes a session that goes on from another, which has to outlive it.
func (s *searched) fork(t *rapid.T) {
	db, id := s.any(t), anyID(t)
	ctx := s.tb.Context()
	parent, err := db.Sessions().Get(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		return
	}
	s.do(0, err)
	at := rapid.IntRange(1, parent.Records).Draw(t, "at")
	meta := harness.Session{ID: harness.SessionID(harness.NewID()), Parent: &harness.Origin{Session: id, Record: at}}
	l, err := db.Owners().Acquire(ctx, meta, harness.Holder{})
	s.do(0, err)
	s.forked[id] = true
	s.do(0, appendTexts(s.tb, db, l, texts(t)...))
	s.do(0, db.Owners().Release(ctx, l))
}

func (s *searched) bring(t *rapid.T) {
	var records []harness.Record
	// A session that takes the id of one that an older program purged is told
	// from it by its records, so no two are of the same moment.
	s.clock.Add(time.Millisecond)
	at := s.clock.Now()
	for _, text := range texts(t) {
		m := harness.AssistantText(text)
		if rapid.Bool().Draw(t, "notice") {
			m.Mark = harness.MarkNotice
		}
		records = append(records, harness.Record{At: at, Message: &m}, harness.Record{At: at, Kind: harness.RecordConfig})
	}
	_, _, err := s.any(t).Sessions().Import(s.tb.Context(), harness.Session{ID: anyID(t)}, records)
	s.do(0, err)
}

// trash deletes a session or brings it back.
func (s *searched) trash(t *rapid.T) {
	db, id := s.any(t), anyID(t)
	if err := db.Sessions().Delete(s.tb.Context(), id); errors.Is(err, harness.ErrNotFound) {
		if err := db.Sessions().Restore(s.tb.Context(), id); !errors.Is(err, harness.ErrNotFound) {
			s.do(0, err)
		}
	} else {
		s.do(0, err)
	}
}

func (s *searched) purge(t *rapid.T) {
	_, err := s.any(t).Purge(s.tb.Context(), s.clock.Now().Add(time.Hour))
	s.do(0, err)
}

// purgeAsBefore purges a session as a cairn that knows no search index does.
func (s *searched) purgeAsBefore(t *rapid.T) {
	db, id := s.any(t), anyID(t)
	deleted, err := db.Sessions().List(s.tb.Context(), harness.SessionFilter{Deleted: true})
	s.do(0, err)
	if slices.ContainsFunc(deleted, func(d harness.Session) bool { return d.ID == id }) && !s.forked[id] {
		s.do(0, db.DropSession(s.tb.Context(), id))
	}
}
