package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
	"cairn/storage/index"
)

// indexed makes a database with a search index of small segments of two sessions.
func indexed(t *testing.T) *bolt.DB {
	t.Helper()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	db.CutSegments(5, 10)
	for i := range 23 {
		say(t, db, "a", fmt.Sprint("apple plum ", i), "pears")
		say(t, db, "b", fmt.Sprint("quince ", i, " figs"))
	}
	_, err := db.IndexMessages(t.Context())
	ok(t, err)
	segments, err := db.Segments(t.Context())
	ok(t, err)
	if len(segments) != 7 {
		t.Fatalf("%d segments", len(segments))
	}
	return db
}

// TestBrokenIndexIsMadeAnew breaks a part of the search index. No answer may
// change, a check says it, and the next time there is time it is made anew.
func TestBrokenIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	for what, damage := range map[string]func(*testing.T, *bolt.DB) error{
		"a flipped bit in the data": func(t *testing.T, db *bolt.DB) error {
			t.Helper()
			return db.ChangeSegment(t.Context(), 2, "data", false, flip)
		},
		"a flipped bit in the head": func(t *testing.T, db *bolt.DB) error {
			t.Helper()
			return db.ChangeSegment(t.Context(), 0, "head", false, flip)
		},
		"a head of other records": func(t *testing.T, db *bolt.DB) error {
			t.Helper()
			return db.ChangeSegment(t.Context(), 1, "head", true, func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"from":`), []byte(`"from":-`), 1)
			})
		},
		"data that is no base64": func(t *testing.T, db *bolt.DB) error {
			t.Helper()
			return db.ChangeSegment(t.Context(), 1, "data", true, func(b []byte) []byte { b[2] = '*'; return b })
		},
		"data that is cut": func(t *testing.T, db *bolt.DB) error {
			t.Helper()
			return db.ChangeData(t.Context(), 6, func(b []byte) []byte { return b[:len(b)/2] })
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db := indexed(t)
			ok(t, damage(t, db))
			db.ForgetSearches()
			report, err := db.Check(t.Context())
			ok(t, err)
			if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "postings/0000000") || !strings.Contains(report.Problems[0], "made anew") {
				t.Fatalf("problems %q", report.Problems)
			}
			reader := openAt(t, db.Path(), harnesstest.NewClock())
			sameAsLooking(t, t, reader)
			if after, err := reader.Check(t.Context()); err != nil || len(after.Problems) != 1 {
				t.Fatalf("a search changed what is broken: %q, %v", after.Problems, err)
			}
			made, err := db.IndexMessages(t.Context())
			ok(t, err)
			if made == 0 {
				t.Fatal("nothing was made anew")
			}
			whole(t, db)
			sameAsLooking(t, t, db)
			sameAsLooking(t, t, reader)
		})
	}
}

// TestWrongIndexIsNoticed breaks what no checksum shows.
func TestWrongIndexIsNoticed(t *testing.T) {
	t.Parallel()
	db := indexed(t)
	ok(t, db.ChangeData(t.Context(), 6, func(b []byte) []byte {
		// The end of the words is far behind what the search for one reads.
		return append(b[:len(b)-1:len(b)-1], b[len(b)-1]^1)
	}))
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "not what its messages give") {
		t.Fatalf("problems %q", report.Problems)
	}
}

// TestSearchGoesOnWhereTheIndexEnds breaks a segment in a way that only the search
// which comes upon it can see.
func TestSearchGoesOnWhereTheIndexEnds(t *testing.T) {
	t.Parallel()
	db := indexed(t)
	q := index.NewQuery("apple")
	breaking := func(whole []byte) []byte {
		for i := range whole {
			broken := bytes.Clone(whole)
			broken[i] = 0xff
			if s, err := index.OpenSegment(broken); err == nil {
				if _, err := index.Search(q, []*index.Segment{s}, nil, 0, index.Options{}); errors.Is(err, index.ErrSegment) {
					return broken
				}
			}
		}
		t.Fatal("no byte of the segment matters")
		return nil
	}
	want, err := db.Searcher().Search(t.Context(), "apple", 0)
	ok(t, err)
	ok(t, db.ChangeData(t.Context(), 3, breaking))
	got, err := db.Searcher().Search(t.Context(), "apple", 0)
	ok(t, err)
	if !slices.Equal(got, want) || len(got) != 23 {
		t.Fatalf("hits %+v, want %+v", got, want)
	}
}

// TestSearchWithoutAnIndex has no bucket for it.
func TestSearchWithoutAnIndex(t *testing.T) {
	t.Parallel()
	db := indexed(t)
	ok(t, db.DropPostings(t.Context()))
	sameAsLooking(t, t, db)
	n, err := db.IndexMessages(t.Context())
	if n != 0 || err != nil {
		t.Fatalf("%d records in no bucket, %v", n, err)
	}
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "postings: the bucket is missing") {
		t.Fatalf("problems %q", report.Problems)
	}
}

// TestPurgeLeavesNoWordInTheIndex purges one of two sessions that share segments,
// once as it is and once with a fork that needs some of its records, and once as
// a cairn does that knows no search index.
func TestPurgeLeavesNoWordInTheIndex(t *testing.T) {
	t.Parallel()
	// A word is stored without what it shares with the one before it.
	words := func(t *testing.T, db *bolt.DB, word string) bool {
		t.Helper()
		all, err := db.Segments(t.Context())
		ok(t, err)
		return slices.ContainsFunc(all, func(b []byte) bool { return bytes.Contains(b, []byte(word)) })
	}
	for what, purge := range map[string]func(*testing.T, *bolt.DB){
		"alone": func(t *testing.T, db *bolt.DB) {
			t.Helper()
			_, err := db.Purge(t.Context(), time.Now().Add(time.Hour))
			ok(t, err)
		},
		"with a fork": func(t *testing.T, db *bolt.DB) {
			t.Helper()
			l, err := db.Owners().Acquire(t.Context(), harness.Session{ID: "fork", Parent: &harness.Origin{Session: "a", Record: 3}}, harness.Holder{})
			ok(t, err)
			ok(t, appendTexts(t, db, l, "apple"))
			_, err = db.Purge(t.Context(), time.Now().Add(time.Hour))
			ok(t, err)
		},
		"by an older cairn": func(t *testing.T, db *bolt.DB) {
			t.Helper()
			ok(t, db.DropSession(t.Context(), "a"))
			_, _, err := db.Compact(t.Context())
			ok(t, err)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db := indexed(t)
			say(t, db, "a", "zyxomma", "1", "2", "3", "4", "5")
			_, err := db.IndexMessages(t.Context())
			ok(t, err)
			if !words(t, db, "zyxomma") || !words(t, db, "lum") || !words(t, db, "quinc") {
				t.Fatal("the words are not in the index")
			}
			ok(t, db.Sessions().Delete(t.Context(), "a"))
			purge(t, db)
			if words(t, db, "zyxomma") || words(t, db, "lum") {
				t.Fatal("the index holds words of what was purged")
			}
			whole(t, db)
			sameAsLooking(t, t, db)
			_, err = db.IndexMessages(t.Context())
			ok(t, err)
			if !words(t, db, "quinc") {
				t.Fatal("the words of others are not in the index again")
			}
			whole(t, db)
		})
	}
}

// TestFirstSearchMakesTheIndex searches a database that has no index yet.
func TestFirstSearchMakesTheIndex(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	db.CutSegments(5, 10)
	_, _, err := db.Sessions().Import(t.Context(), harness.Session{ID: "big"}, conversation(123))
	ok(t, err)
	for range 2 {
		hits, err := db.Searcher().Search(t.Context(), "fox", 0)
		ok(t, err)
		if left, err := db.Unindexed(t.Context()); len(hits) != 123 || left != 3 || err != nil {
			t.Fatalf("%d hits, %d in no segment, %v", len(hits), left, err)
		}
	}
	whole(t, db)
}

// TestSegmentsAreMadeByMany lets several users of one file write, search and make
// segments at the same time.
func TestSegmentsAreMadeByMany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	var wait sync.WaitGroup
	for i := range 3 {
		db, err := bolt.Open(path, bolt.Options{})
		ok(t, err)
		t.Cleanup(func() { ok(t, db.Close()) })
		db.CutSegments(5, 10)
		wait.Go(func() {
			id := harness.SessionID(fmt.Sprint("s", i))
			l, err := db.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{})
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 40 {
				err := appendTexts(t, db, l, fmt.Sprint("apple ", n), "pears")
				hits, searchErr := db.Searcher().Search(t.Context(), fmt.Sprint("apple ", n), 0)
				mine := slices.ContainsFunc(hits, func(h harness.Hit) bool { return h.Session == id && h.Message == 2*n+1 })
				if err := errors.Join(err, searchErr); err != nil || !mine {
					t.Errorf("user %d, message %d: found %v, %v", i, n, mine, err)
				}
				if _, err := db.IndexMessages(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	db := openAt(t, path, harnesstest.NewClock())
	whole(t, db)
	sameAsLooking(t, t, db)
	report, err := db.Check(t.Context())
	ok(t, err)
	if report.Indexed < 200 {
		t.Fatalf("%d of 240 records are in segments", report.Indexed)
	}
}

// childIndex makes the search index and takes it away, for ever.
func childIndex(path string) error {
	ctx := context.Background()
	db, err := bolt.Open(path, bolt.Options{Purpose: "index"})
	if err != nil {
		return err
	}
	db.CutSegments(5, 10)
	for n := 0; ; n++ {
		id := harness.SessionID(fmt.Sprint("gone", n))
		if _, _, err := db.Sessions().Import(ctx, harness.Session{ID: id}, conversation(8)); err != nil {
			return err
		}
		made, err := db.IndexMessages(ctx)
		if err != nil {
			return err
		}
		fmt.Println("made", made)
		if err := db.Sessions().Delete(ctx, id); err != nil {
			return err
		}
		if _, err := db.Purge(ctx, time.Now().Add(time.Hour)); err != nil {
			return err
		}
		fmt.Println("purged", id)
	}
}

// TestKilledIndexingLosesNothing kills a process that makes the search index and
// drops parts of it, again and again on one file.
func TestKilledIndexingLosesNothing(t *testing.T) {
	t.Parallel()
	path := indexed(t).Path()
	random := rand.New(rand.NewPCG(9, 10))
	for range 10 {
		c := startChild(t, "index", path)
		for range 1 + random.IntN(20) {
			c.lines.Scan()
		}
		c.kill(t)
		db, err := bolt.Open(path, bolt.Options{})
		ok(t, err)
		whole(t, db)
		sameAsLooking(t, t, db)
		ok(t, db.Close())
	}
}

// TestPurgedIDCanBeUsedAgain gives the id of the session that was used last, and
// is purged, to a new one.
func TestPurgedIDCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	say(t, db, "s", "apple")
	ok(t, db.Sessions().Delete(t.Context(), "s"))
	_, err := db.Purge(t.Context(), time.Now().Add(time.Hour))
	ok(t, err)
	say(t, db, "s", "plum")
	list, err := db.Sessions().List(t.Context(), harness.SessionFilter{})
	if len(list) != 1 || err != nil {
		t.Fatalf("sessions %v, %v", list, err)
	}
	whole(t, db)
}
