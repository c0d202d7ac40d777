package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// filed is what the n-th file or long result of the child below has.
func filed(n int) []byte { return noise(byte(n), 1+(n*37_777)%200_000) }

// childPut stores long results and attached files for ever, each of them new, and
// prints a line after each is on disk. It goes on behind what is there.
func childPut(path string) error {
	db, err := bolt.Open(path, bolt.Options{Purpose: "put"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	if err != nil {
		return err
	}
	s, err := db.Sessions().Get(ctx, "s")
	if err != nil && !errors.Is(err, harness.ErrNotFound) {
		return err
	}
	for n := s.Messages; ; n++ {
		m := harness.UserText(strconv.Itoa(n))
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a", Data: filed(2 * n)}})
		if _, err := db.Transcript().Append(ctx, l, harness.Record{Message: &m}); err != nil {
			return err
		}
		fmt.Println(2 * n)
		if _, err := db.Artifacts().Put(ctx, "s", filed(2*n+1)); err != nil {
			return err
		}
		fmt.Println(2*n + 1)
	}
}

// TestKillWhilePuttingLosesNothing kills a process that stores artifacts: each is
// there whole, or not at all.
func TestKillWhilePuttingLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	random := rand.New(rand.NewPCG(7, 8))
	acknowledged := map[int]bool{}
	for round := range 8 {
		c := startChild(t, "put", path)
		for range 1 + random.IntN(6) {
			if !c.lines.Scan() {
				t.Fatalf("round %d: the child ended", round)
			}
			n, err := strconv.Atoi(c.lines.Text())
			ok(t, err)
			acknowledged[n] = true
		}
		c.kill(t)
	}
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	whole(t, db)
	for n := range acknowledged {
		has(t, db, "s", filed(n))
	}
	log, err := db.Transcript().Log(t.Context(), "s", 0, 0)
	ok(t, err)
	for n, r := range log {
		if r.Message.Text() != strconv.Itoa(n) || r.Message.Parts[1].File.Artifact != sumOf(filed(2*n)) {
			t.Fatalf("record %d is %+v", n+1, r.Message)
		}
		has(t, db, "s", filed(2*n))
	}
	counts, err := db.Count(t.Context())
	ok(t, err)
	if least, most := len(log), 2*len(log); counts.Artifacts < least || counts.Artifacts > most || len(log) < 8 {
		t.Fatalf("%d artifacts of %d messages", counts.Artifacts, len(log))
	}
	t.Logf("%d acknowledged, %v", len(acknowledged), counts)
}

const (
	// spendLimit is the day's limit of the processes below, spendMost the most that
	// one of their calls costs.
	spendLimit, spendMost = 40.0, 0.5
	// spendGiveUp is how often a process is refused before it ends.
	spendGiveUp = 25
)

// childSpend holds money, spends some of it, and books a part of that, until it was
// often refused. What it spends it prints before it books it: that is gone whatever
// becomes of the process.
func childSpend(path string) error {
	db, err := bolt.Open(path, bolt.Options{Purpose: "spend"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	out := bufio.NewWriter(os.Stdout)
	for refused := 0; refused < spendGiveUp; {
		session := harness.SessionID([]string{"a", "b"}[rand.IntN(2)])
		amount := rand.Float64() * spendMost
		id, err := db.Spending().Hold(ctx, harness.Hold{Session: session, Model: "p/m", Amount: amount}, harness.SpendingLimits{Session: 30, Day: spendLimit})
		if errors.As(err, new(*harness.SpendingError)) {
			refused++
			continue
		}
		if err != nil {
			return err
		}
		cost := amount * rand.Float64()
		if _, err := fmt.Fprintln(out, session, cost); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		booked := cost
		if rand.IntN(4) == 0 {
			booked = cost / 3
		}
		if err := db.Ledger().Book(ctx, session, "p/m", harness.Usage{Input: 1, Cost: booked, CostKnown: true}); err != nil {
			return err
		}
		if err := db.Spending().Settle(ctx, id, max(0, cost-booked)); err != nil {
			return err
		}
	}
	return db.Close()
}

// TestProcessesShareABudget lets processes spend side by side, kills some of them
// in the middle of that, and adds up what was spent in truth.
func TestProcessesShareABudget(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	for _, id := range []harness.SessionID{"a", "b"} {
		say(t, db, id, "1")
	}
	ok(t, db.Close())
	var mu sync.Mutex
	spent := map[string]float64{}
	calls := 0
	read := func(c *child, most int) {
		for n := 0; n != most && c.lines.Scan(); n++ {
			session, text, _ := strings.Cut(c.lines.Text(), " ")
			cost, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			spent[session] += cost
			spent["day"] += cost
			calls++
			mu.Unlock()
		}
	}
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(9, uint64(i)))
			for range 4 {
				c := startChild(t, "spend", path)
				read(c, 1+random.IntN(12))
				if err := c.cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
				read(c, -1)
				// It was killed, or had ended just before that.
				if err := c.cmd.Wait(); err != nil && c.cmd.ProcessState.Exited() {
					t.Error(err)
				}
			}
			c := startChild(t, "spend", path)
			read(c, -1)
			if err := c.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	db, err = bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	whole(t, db)
	t.Logf("%d calls, spent %v", calls, spent)
	const slack = 1e-6
	if spent["day"] > spendLimit+slack || spent["a"] > 30+slack || spent["b"] > 30+slack {
		t.Errorf("more was spent than the limit of %v: %v", spendLimit, spent)
	}
	// What is left is less than a call may cost: it was given out but for what the
	// dead hold.
	_, err = db.Spending().Hold(t.Context(), harness.Hold{Session: "new", Model: "p/m", Amount: spendMost}, harness.SpendingLimits{Day: spendLimit})
	var refused *harness.SpendingError
	if !errors.As(err, &refused) {
		t.Fatalf("in the end: %v", err)
	}
	if refused.Held > 12*spendMost+spendLimit/4 || refused.Spent < spendLimit/2 {
		t.Errorf("in the end: %+v", *refused)
	}
}

// TestJournalKeepsTheBytesOfFiles starts a run with a picture, and closes it in the
// start of the next one with another.
func TestJournalKeepsTheBytesOfFiles(t *testing.T) {
	t.Parallel()
	r := newReopener(t)
	db := r.open()
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	picture := func(n byte) *harness.Message {
		m := harness.UserText("look")
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a", Data: noise(n, 10_000)}})
		return &m
	}
	_, _, err = db.Journal().Create(ctx, l, harness.Run{ID: "one"}, run.Entry{Kind: "begun", Message: picture(1)})
	ok(t, err)
	_, err = db.Journal().Append(ctx, l, "one", 1, run.Entry{Kind: "more", Message: picture(2)})
	ok(t, err)
	_, _, err = db.Journal().Create(ctx, l, harness.Run{ID: "two"}, run.Entry{Kind: "begun", Message: picture(4)},
		run.Closing{Run: "one", After: 2, Entries: []run.Entry{{Kind: "end", Message: picture(3), Status: harness.RunCancelled}}})
	ok(t, err)
	db = r.open()
	for n := byte(1); n <= 4; n++ {
		has(t, db, "s", noise(n, 10_000))
	}
	whole(t, db)
}

// TestOthersWaitForALargeArtifact reads beside a process that stores more than goes
// unannounced, which takes long on a slow disk.
func TestOthersWaitForALargeArtifact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{Purpose: "worker"})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	other, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, other.Close()) }()
	say(t, db, "s", "1")
	large := noise(9, 8<<20)
	done := make(chan error)
	go func() {
		_, err := db.Artifacts().Put(t.Context(), "s", large)
		done <- err
	}()
	for going := true; going; {
		select {
		case err := <-done:
			ok(t, err)
			going = false
		default:
			_, err := other.Sessions().Get(t.Context(), "s")
			ok(t, err)
		}
	}
	has(t, other, "s", large)
}

// TestOthersAreToldOfALargeCopy lets a fork keep what its parent has.
func TestOthersAreToldOfALargeCopy(t *testing.T) {
	t.Parallel()
	r := newReopener(t)
	db := r.open()
	say(t, db, "s", "1")
	large, small := noise(9, 9<<20), []byte("small")
	put(t, db, "s", large)
	put(t, db, "s", small)
	_, err := db.Sessions().Fork(t.Context(), "s", harness.Origin{Record: 1}, harness.Session{ID: "f"})
	ok(t, err)
	for _, c := range []struct {
		data []byte
		want string
	}{{large, "copy of a large file"}, {small, ""}} {
		if work, err := db.NamedIn(t.Context(), "f", sumOf(c.data)); err != nil || work != c.want {
			t.Errorf("others are told %q, %v", work, err)
		}
	}
	whole(t, db)
	db = r.open()
	has(t, db, "f", large)
}
