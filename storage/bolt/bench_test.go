package bolt_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// text is about what a message of a chat says.
func text(n int) string {
	return fmt.Sprintf("message %d: ", n) + strings.Repeat("the quick brown fox jumps over the lazy dog. ", 11)
}

func conversation(n int) []harness.Record {
	records := make([]harness.Record, n)
	for i := range records {
		m := harness.UserText(text(i))
		if i%2 == 1 {
			m = harness.AssistantText(text(i))
		}
		records[i] = harness.Record{Message: &m}
	}
	return records
}

func openBench(b *testing.B) *bolt.DB {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), "data", bolt.FileName), bolt.Options{Purpose: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func fill(b *testing.B, db *bolt.DB, id harness.SessionID, n int) {
	b.Helper()
	_, _, err := db.Sessions().Import(b.Context(), harness.Session{ID: id, Title: "filled"}, conversation(n))
	check(b, err)
}

// written returns how many bytes this process has written to files.
func written(b *testing.B) int {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip("no /proc/self/io here:", err)
	}
	for line := range strings.Lines(string(raw)) {
		if v, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(v))
			check(b, err)
			return n
		}
	}
	return 0
}

// BenchmarkStep commits one step of a turn, from opening the file to closing
// it, in conversations of different lengths, and after half of all messages
// were deleted for good. Every other commit is one of the same bytes to a bbolt
// file that stays open; "ratio" compares the medians.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint("messages=", n), func(b *testing.B) {
			db := openBench(b)
			fill(b, db, "s", n)
			benchStep(b, db, n)
		})
	}
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("messages=%d, with a search index", n), func(b *testing.B) {
			db := openBench(b)
			fill(b, db, "s", n)
			_, err := db.IndexMessages(b.Context())
			check(b, err)
			benchStep(b, db, n)
		})
	}
	b.Run("messages=100000, half of them purged", func(b *testing.B) {
		db := openBench(b)
		for i := range 100 {
			fill(b, db, harness.SessionID(fmt.Sprint("s", i)), 1000)
			if i%2 == 0 {
				check(b, db.Sessions().Delete(b.Context(), harness.SessionID(fmt.Sprint("s", i))))
			}
		}
		fill(b, db, "s", 1000)
		_, err := db.Purge(b.Context(), time.Now().Add(time.Hour))
		check(b, err)
		benchStep(b, db, 50_000)
	})
}

func benchStep(b *testing.B, db *bolt.DB, n int) {
	b.Helper()
	ctx := b.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	check(b, err)
	ask := harness.UserText(text(1))
	r := harness.Run{ID: "r", Config: harness.RunConfig{Agent: "a@1", Model: "p/m", System: strings.Repeat("Be brief. ", 300)}}
	_, _, err = db.Journal().Create(ctx, l, r, run.Entry{Kind: "begun", Message: &ask})
	check(b, err)
	plain := openPlain(b, conversation(n))
	// What the long import left to write would be waited for by the first commits.
	check(b, exec.Command("sync").Run())
	answer := harness.AssistantText(text(2))
	step := run.Entry{Kind: "answer", Message: &answer, Usage: harness.Usage{Input: 1000, Output: 100}}
	var ours, theirs []time.Duration
	bytes := 0
	for i := 1; b.Loop(); i++ {
		db.Rest()
		before, start := written(b), time.Now()
		_, err := db.Journal().Append(ctx, l, "r", i, step)
		check(b, err)
		db.Rest()
		ours = append(ours, time.Since(start))
		bytes += written(b) - before
		start = time.Now()
		plain.put(b, n+i)
		theirs = append(theirs, time.Since(start))
	}
	report(b, ours, theirs, bytes)
}

func report(b *testing.B, ours, theirs []time.Duration, bytes int) {
	b.Helper()
	slices.Sort(ours)
	slices.Sort(theirs)
	mid, base := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(mid.Microseconds()), "p50-µs")
	b.ReportMetric(float64(ours[len(ours)*95/100].Microseconds()), "p95-µs")
	b.ReportMetric(float64(mid)/float64(base), "ratio")
	b.ReportMetric(float64(bytes)/float64(len(ours)), "written-B/op")
}

// plain is a bbolt file that is simply open.
type plain struct{ db *bbolt.DB }

func openPlain(b *testing.B, records []harness.Record) plain {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "plain.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	check(b, err)
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	check(b, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("b"))
		for i := range records {
			if err == nil {
				err = bucket.Put([]byte(fmt.Sprintf("%08d", i)), []byte(text(i)))
			}
		}
		return err
	}))
	return plain{db}
}

// put commits about the bytes of one step: a message, an entry of the log, and
// the descriptions of the run and of the session.
func (p plain) put(b *testing.B, i int) {
	b.Helper()
	check(b, p.db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("b"))
		return bucket.Put([]byte(fmt.Sprintf("%08d", i)), []byte(text(i)+strings.Repeat("x", 1200)))
	}))
}

// BenchmarkTail reads the end and the whole of a conversation of 10,000
// messages.
func BenchmarkTail(b *testing.B) {
	db := openBench(b)
	fill(b, db, "s", 10_000)
	for _, limit := range []int{200, 0} {
		b.Run(fmt.Sprint("limit=", limit), func(b *testing.B) {
			for b.Loop() {
				db.Rest()
				got, err := db.Transcript().Tail(b.Context(), "s", 0, limit)
				check(b, err)
				if want := limit; len(got) != want && len(got) != 10_000 {
					b.Fatalf("read %d", len(got))
				}
			}
		})
	}
}

// BenchmarkList lists 10,000 sessions, of which 20 are open.
func BenchmarkList(b *testing.B) {
	db := openBench(b)
	records := conversation(2)
	for i := range 10_000 {
		_, _, err := db.Sessions().Import(b.Context(), harness.Session{ID: harness.SessionID(fmt.Sprint("s", i)), Title: "a title"}, records)
		check(b, err)
	}
	for i := range 20 {
		_, err := db.Owners().Acquire(b.Context(), harness.Session{ID: harness.SessionID(fmt.Sprint("s", i))}, harness.Holder{})
		check(b, err)
	}
	for name, f := range map[string]harness.SessionFilter{"all": {}, "first 50": {Limit: 50}, "query": {Query: "s77"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				db.Rest()
				_, err := db.Sessions().List(context.Background(), f)
				check(b, err)
			}
		})
	}
}

// BenchmarkSearch searches 100,000 messages in one conversation and in many: with
// the search index and all that is kept in memory, as the next letter that is
// typed does; as another process does that starts; and after somebody wrote, who
// is not the one that searches.
func BenchmarkSearch(b *testing.B) {
	for _, sessions := range []int{1, 1000, 10_000} {
		db := openBench(b)
		for i := range sessions {
			fill(b, db, harness.SessionID(fmt.Sprint("s", i)), 100_000/sessions)
		}
		start := time.Now()
		_, err := db.Searcher().Search(b.Context(), "message 4711", 25)
		check(b, err)
		first := time.Since(start)
		start = time.Now()
		n, err := db.IndexMessages(b.Context())
		check(b, err)
		b.Logf("%d sessions: the first search %v, making the rest of the index (%d records) %v", sessions, first, n, time.Since(start))
		for name, query := range map[string]string{"rare": "message 47", "common": "quick brown fox", "question": "who jumps over the lazy dog?"} {
			for _, how := range []string{"again", "at start", "after a write"} {
				b.Run(fmt.Sprintf("sessions=%d/%s/%s", sessions, name, how), func(b *testing.B) {
					benchSearch(b, db, query, how)
				})
			}
		}
	}
}

func benchSearch(b *testing.B, db *bolt.DB, query, how string) {
	b.Helper()
	other, err := bolt.Open(db.Path(), bolt.Options{})
	check(b, err)
	defer func() { check(b, other.Close()) }()
	for b.Loop() {
		switch how {
		case "at start":
			db.ForgetSearches()
		case "after a write":
			b.StopTimer()
			check(b, other.Prompts().Add(b.Context(), "s", "a prompt"))
			other.Rest()
			b.StartTimer()
		}
		db.Rest()
		hits, err := db.Searcher().Search(b.Context(), query, 25)
		check(b, err)
		if len(hits) != 25 {
			b.Fatalf("%d hits", len(hits))
		}
	}
}

// BenchmarkOpen opens and closes a database, which looks at all pages of one
// that is not large.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10, 10_000, 25_000, 100_000} {
		b.Run(fmt.Sprint("messages=", n), func(b *testing.B) {
			db := openBench(b)
			fill(b, db, "s", n)
			db.Rest()
			for b.Loop() {
				again, err := bolt.Open(db.Path(), bolt.Options{})
				check(b, err)
				check(b, again.Close())
			}
		})
	}
}

// BenchmarkThreeWriters lets three users of one file, each with a lock of its
// own as three processes have, commit 50 times a second.
func BenchmarkThreeWriters(b *testing.B) {
	first := openBench(b)
	users := []*bolt.DB{first}
	for range 2 {
		db, err := bolt.Open(first.Path(), bolt.Options{})
		check(b, err)
		b.Cleanup(func() { check(b, db.Close()) })
		users = append(users, db)
	}
	took := make([][]time.Duration, len(users))
	var wait sync.WaitGroup
	for i, db := range users {
		wait.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for range max(b.N, 50) {
				<-tick.C
				start := time.Now()
				if err := db.Prompts().Add(b.Context(), "s", text(i)); err != nil {
					b.Error(err)
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	wait.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkArtifact stores and reads long results and files beside a conversation
// of 1,000 messages.
func BenchmarkArtifact(b *testing.B) {
	for name, data := range map[string][]byte{
		"text of 30 kB": []byte(strings.Repeat(text(1), 60)), "text of 1 MB": []byte(strings.Repeat(text(2), 2_000)),
		"picture of 1 MB": noise(1, 1<<20), "picture of 20 MB": noise(2, 20<<20),
	} {
		b.Run(name, func(b *testing.B) {
			db := openBench(b)
			fill(b, db, "s", 1000)
			var put, got time.Duration
			n, size := 0, 0
			for b.Loop() {
				n++
				// Each is another one.
				data[n%len(data)]++
				before := written(b)
				start := time.Now()
				sum, err := db.Artifacts().Put(b.Context(), "s", data)
				check(b, err)
				put += time.Since(start)
				size += written(b) - before
				start = time.Now()
				_, err = db.Artifacts().Get(b.Context(), "s", sum)
				check(b, err)
				got += time.Since(start)
			}
			b.ReportMetric(float64(put.Microseconds())/float64(n), "put-µs")
			b.ReportMetric(float64(got.Microseconds())/float64(n), "get-µs")
			b.ReportMetric(float64(size)/float64(n)/float64(len(data)), "written/size")
		})
	}
}

// BenchmarkHold holds and settles money beside what a day's broken calls left.
func BenchmarkHold(b *testing.B) {
	db := openBench(b)
	fill(b, db, "s", 1000)
	l := harness.SpendingLimits{Session: 1e6, Day: 1e6}
	hold := func() string {
		id, err := db.Spending().Hold(b.Context(), harness.Hold{Session: "s", Model: "p/m", Amount: 0.01}, l)
		check(b, err)
		return id
	}
	for range 50 {
		check(b, db.Spending().Settle(b.Context(), hold(), 0.001))
	}
	for b.Loop() {
		check(b, db.Spending().Settle(b.Context(), hold(), 0))
	}
}
