package bolt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// populated makes a database with some of everything and returns its path.
func populated(t *testing.T) string {
	t.Helper()
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), "data", bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{Now: clock.Now})
	ok(t, err)
	ctx := t.Context()
	for i, id := range []harness.SessionID{"alpha", "beta", "gamma", "trashed"} {
		clock.Add(time.Minute)
		meta := harness.Session{ID: id, Dir: "/src", System: strings.Repeat("Be brief. ", 30*i)}
		l, err := db.Owners().Acquire(ctx, meta, harness.Holder{PID: 1})
		ok(t, err)
		if i == 0 {
			ok(t, db.Drafts().Save(ctx, id, harness.Holder{PID: 1}, harness.Draft{Text: "unsent"}))
		}
		for n := range 1 + 15*i {
			converse(t, db, l, n)
		}
		ok(t, db.Prompts().Add(ctx, id, "a prompt of "+string(id)))
		_, _, err = db.Facts().Save(ctx, harness.Fact{Session: id, Text: "A fact from " + string(id)}, string(id))
		ok(t, err)
		_, err = db.Notes().Save(ctx, harness.Note{Session: id, Title: "Note", Body: text(i)}, "")
		ok(t, err)
	}
	for i, id := range []harness.SessionID{"", "beta", "beta", "gamma", "", "trashed"} {
		_, err := db.Grants().Save(ctx, harness.Grant{Session: id, Rule: fmt.Sprintf("run_command(rule %d)", i), Tool: "a tool"})
		ok(t, err)
	}
	ok(t, db.Grants().Revoke(ctx, "g3"))
	for i, m := range []string{"p/m", "p/n", "q/m"} {
		ok(t, db.Limits().Learn(ctx, m, harness.LearnedLimits{Window: 8_192 + i, Reply: i}))
	}
	for _, id := range []harness.SessionID{"beta", "gamma", "trashed"} {
		for i := range 3 {
			_, err := db.Artifacts().Put(ctx, id, []byte(strings.Repeat(fmt.Sprintln(id, i), 1+7_000*i)))
			ok(t, err)
		}
	}
	for i := range 3 {
		h := harness.Hold{Session: "beta", Model: "p/m", Amount: 0.25, Holder: harness.Holder{PID: 1 + i}}
		_, err := db.Spending().Hold(ctx, h, harness.SpendingLimits{Day: 1})
		ok(t, err)
	}
	edited := "An edited fact"
	_, err = db.Facts().Edit(ctx, "f2", harness.FactEdit{Text: &edited})
	ok(t, err)
	ok(t, db.Facts().Forget(ctx, "f3"))
	ok(t, db.Facts().Used(ctx, "f1"))
	ok(t, db.Sessions().Delete(ctx, "trashed"))
	ok(t, db.Drafts().Save(ctx, "nosession", harness.Holder{PID: 1}, harness.Draft{Text: "lost chat", Queue: []string{"q"}}))
	for i := range 40 {
		_, _, err := db.Sessions().Import(ctx, harness.Session{ID: harness.SessionID(fmt.Sprint("filler", i))}, conversation(3))
		ok(t, err)
	}
	db.CutSegments(20, 40)
	_, err = db.IndexMessages(ctx)
	ok(t, err)
	ok(t, db.Close())
	return path
}

// converse lets a session have one run.
func converse(t *testing.T, db *bolt.DB, l harness.Lease, n int) {
	t.Helper()
	id := harness.RunID(fmt.Sprint(l.Session, n))
	ask, answer := harness.UserText(fmt.Sprint("question ", n)), harness.AssistantText(text(n))
	_, _, err := db.Journal().Create(t.Context(), l, harness.Run{ID: id, Request: fmt.Sprint(n)}, run.Entry{Kind: "begun", Message: &ask})
	ok(t, err)
	ok(t, db.Journal().SavePartial(t.Context(), l, id, harness.Partial{Attempt: 1, Text: "partial"}))
	if n == 15 {
		_, err = db.Journal().Append(t.Context(), l, id, 1, run.Entry{Kind: "pause", Status: harness.RunCancelled})
		ok(t, err)
		return
	}
	_, err = db.Journal().Append(t.Context(), l, id, 1, run.Entry{Kind: "answer", Message: &answer, Usage: harness.Usage{Input: 5}},
		run.Entry{Kind: "end", Status: harness.RunCompleted})
	ok(t, err)
}

// often is how often a test does something at random: usually, or as a variable of
// the environment says.
func often(t *testing.T, what string, usually int) int {
	t.Helper()
	v := os.Getenv("CAIRN_TEST_" + what)
	if v == "" {
		return usually
	}
	n, err := strconv.Atoi(v)
	ok(t, err)
	return n
}

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// answers asks a database everything.
type answers map[string]string

func ask(t *testing.T, db *bolt.DB) (answers, map[string]error) {
	t.Helper()
	all, errs := answers{}, map[string]error{}
	keep := func(what string, v any, err error) {
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			errs[what] = err
			return
		}
		raw, jsonErr := json.Marshal(v)
		ok(t, jsonErr)
		all[what] = string(raw) + fmt.Sprint(err != nil)
	}
	ctx := t.Context()
	for _, f := range []harness.SessionFilter{{}, {Deleted: true}, {Limit: 2}} {
		v, err := db.Sessions().List(ctx, f)
		keep(fmt.Sprintf("sessions %+v", f), v, err)
	}
	for _, id := range []harness.SessionID{"alpha", "beta", "gamma", "trashed", "none", "filler7"} {
		s, err := db.Sessions().Get(ctx, id)
		keep("session "+string(id), s, err)
		tail, err := db.Transcript().Tail(ctx, id, 0, 0)
		keep("tail "+string(id), tail, err)
		record, err := db.Transcript().Record(ctx, id, 2)
		keep("record "+string(id), record, err)
		draft, err := db.Drafts().Load(ctx, id)
		keep("draft "+string(id), draft, err)
		runs, err := db.Journal().List(ctx, harness.RunFilter{Session: id})
		keep("runs of "+string(id), runs, err)
		grants, err := db.Grants().List(ctx, id)
		keep("grants in "+string(id), grants, err)
	}
	draft, err := db.Drafts().Load(ctx, "nosession")
	keep("draft of a chat", draft, err)
	runs, err := db.Journal().List(ctx, harness.RunFilter{Unfinished: true})
	keep("unfinished", runs, err)
	runs, err = db.Journal().List(ctx, harness.RunFilter{})
	keep("runs", runs, err)
	for _, id := range []harness.RunID{"alpha0", "beta15", "gamma29", "none"} {
		r, err := db.Journal().Get(ctx, id)
		keep("run "+string(id), r, err)
		entries, err := db.Journal().Read(ctx, id, 0)
		keep("entries "+string(id), entries, err)
	}
	for _, f := range []harness.MemoryFilter{{}, {State: harness.StateTrashed}, {Query: "fact"}} {
		facts, err := db.Facts().List(ctx, f)
		keep(fmt.Sprintf("facts %+v", f), facts, err)
		notes, err := db.Notes().List(ctx, f)
		keep(fmt.Sprintf("notes %+v", f), notes, err)
	}
	for _, id := range []string{"f1", "f2", "f3", "f9"} {
		history, err := db.Facts().History(ctx, id)
		keep("history "+id, history, err)
	}
	prompts, err := db.Prompts().Recent(ctx, "beta", 0)
	keep("prompts", prompts, err)
	usage, err := db.Ledger().Days(ctx, harnesstest.NewClock().Now(), harnesstest.NewClock().Now())
	keep("usage", usage, err)
	for _, m := range []string{"p/m", "p/n", "q/m", "r/m"} {
		l, err := db.Limits().Get(ctx, m)
		keep("limits of "+m, l, err)
	}
	for _, id := range []harness.SessionID{"alpha", "beta", "gamma"} {
		for i := range 4 {
			sum := sha256.Sum256([]byte(strings.Repeat(fmt.Sprintln(id, i), 1+7_000*i)))
			data, err := db.Artifacts().Get(ctx, id, hex.EncodeToString(sum[:])[:12+i])
			keep(fmt.Sprint("artifact ", i, " of ", id), data, err)
		}
	}
	held, err := db.Holds(ctx)
	keep("spending", held, err)
	hits, err := db.Searcher().Search(ctx, "question", 5)
	keep("search", hits, err)
	return all, errs
}

// compare fails unless every answer is the original one or names damage.
func compare(t *testing.T, what string, want, got answers, errs map[string]error) {
	t.Helper()
	for q, a := range want {
		if err := errs[q]; err != nil {
			if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), bolt.FileName) {
				t.Fatalf("%s: %s: error %v", what, q, err)
			}
			continue
		}
		if got[q] != a {
			t.Fatalf("%s: another answer to %s:\n got %.300s\nwant %.300s", what, q, got[q], a)
		}
	}
}

// TestFlippedByteIsNamedOrHarmless changes single bytes of a file and asks
// everything, both with the damage there at the start and with it coming while
// the database is in use.
func TestFlippedByteIsNamedOrHarmless(t *testing.T) {
	t.Parallel()
	path := populated(t)
	whole, err := os.ReadFile(path)
	ok(t, err)
	running, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, running.Close()) }()
	want, errs := ask(t, running)
	if len(errs) != 0 {
		t.Fatalf("the whole file: %v", errs)
	}
	flips := often(t, "FLIPS", 25)
	random := rand.New(rand.NewPCG(1, uint64(flips)))
	found := 0
	for range flips {
		at, mask := random.IntN(len(whole)), byte(1+random.IntN(255))
		for whole[at] == 0 && random.IntN(4) > 0 { // most of the file is in no use
			at = random.IntN(len(whole))
		}
		what := fmt.Sprintf("byte %d ^ %#x", at, mask)
		flipped := bytes.Clone(whole)
		flipped[at] ^= mask
		ok(t, os.WriteFile(path, flipped, 0o600))

		running.Rest()
		got, errs := ask(t, running)
		compare(t, what+" while running", want, got, errs)
		if len(errs) > 0 {
			found++
		}
		running.Rest()

		db, err := bolt.Open(path, bolt.Options{})
		if err == nil {
			got, errs := ask(t, db)
			compare(t, what+" at start", want, got, errs)
			ok(t, db.Close())
		} else if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s: error %v", what, err)
		}
		after, err := os.ReadFile(path)
		ok(t, err)
		if !bytes.Equal(after, flipped) {
			t.Fatalf("%s: the damaged file was changed", what)
		}
	}
	t.Logf("%d of %d flips were noticed", found, flips)
	if found < flips/10 {
		t.Fatalf("only %d of %d flips were noticed: the test does not hit what is in use", found, flips)
	}
	ok(t, os.WriteFile(path, whole, 0o600))
	running.Rest()
}

// TestDamagedSessionIsNotTaken takes a session of which something that would be
// shown at once is damaged. Taking it must not be what changes the file.
func TestDamagedSessionIsNotTaken(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{Now: clock.Now})
	ok(t, err)
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s", Dir: "/of the session"}, harness.Holder{})
	ok(t, err)
	var records []harness.Record
	for i := range 250 {
		m := harness.UserText(fmt.Sprintf("message %03d", i))
		records = append(records, harness.Record{Message: &m})
	}
	_, err = db.Transcript().Append(ctx, l, records...)
	ok(t, err)
	question := harness.UserText("the open question")
	_, _, err = db.Journal().Create(ctx, l, harness.Run{ID: "open"}, run.Entry{Kind: "kind of entry", Message: &question})
	ok(t, err)
	ok(t, db.Journal().SavePartial(ctx, l, "open", harness.Partial{Attempt: 1, Text: "half an answer"}))
	ok(t, db.Close())
	whole, err := os.ReadFile(path)
	ok(t, err)
	for what, damaged := range map[string]bool{
		"message 249": true, "message 100": true, "the open question": true, "kind of entry": true, "half an answer": true, "/of the session": true,
		// A record that nobody has asked for yet is no obstacle.
		"message 003": false,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), bolt.FileName)
			broken := bytes.ReplaceAll(whole, []byte(what), []byte(strings.ToUpper(what)))
			if bytes.Equal(broken, whole) {
				t.Fatal("no such text in the file")
			}
			ok(t, os.WriteFile(path, broken, 0o600))
			db := openAt(t, path, clock) //nolint:contextcheck // opening takes none
			for op, take := range map[string]func() (harness.Lease, error){
				"acquire": func() (harness.Lease, error) {
					return db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
				},
				"force": func() (harness.Lease, error) {
					return db.Owners().Force(ctx, harness.Session{ID: "s"}, harness.Holder{})
				},
			} {
				l, err := take()
				if !damaged {
					ok(t, err)
					ok(t, db.Owners().Release(ctx, l))
					continue
				}
				if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "sessions/s") {
					t.Errorf("%s: error %v", op, err)
				}
				unchanged(t, path, broken)
				if left, err := os.ReadDir(filepath.Join(filepath.Dir(path), "locks")); err != nil || len(left) != 0 {
					t.Errorf("%s: lock files %v, %v", op, left, err)
				}
			}
		})
	}
}

// TestDamageHasAPlace meets damage before any key was looked up.
func TestDamageHasAPlace(t *testing.T) {
	t.Parallel()
	db := openAt(t, populated(t), harnesstest.NewClock())
	err := db.DamageBefore(t.Context())
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), db.Path()+": the page tree: assertion failed") {
		t.Fatalf("error %v", err)
	}
}
