package bolt_test

import (
	"path/filepath"
	"testing"

	"cairn/harness/harnesstest"
	"cairn/harness/run/runtest"
	"cairn/storage/bolt"
	"cairn/storage/bolt/bolttest"
)

// reopener opens one file again and again, as one process after the other.
type reopener struct {
	t     *testing.T
	path  string
	clock *harnesstest.Clock
	db    *bolt.DB
}

func newReopener(t *testing.T) *reopener {
	t.Helper()
	r := &reopener{t: t, path: filepath.Join(t.TempDir(), "data", bolt.FileName), clock: harnesstest.NewClock()}
	t.Cleanup(func() {
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *reopener) open() *bolt.DB {
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	db, err := bolt.Open(r.path, bolt.Options{Now: r.clock.Now, Purpose: "test", Terminal: "pts/9"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.db = db
	return db
}

func (r *reopener) stores() harnesstest.Stores {
	db := r.open()
	return harnesstest.Stores{
		Sessions: db.Sessions(), Transcript: db.Transcript(), Owners: db.Owners(), Drafts: db.Drafts(), Prompts: db.Prompts(),
		Facts: db.Facts(), Notes: db.Notes(), Searcher: db.Searcher(), Watcher: db, Grants: db.Grants(), Inbox: db.Inbox(), Ledger: db.Ledger(), Limits: db.Limits(),
		Artifacts: db.Artifacts(), Spending: db.Spending(), Clock: r.clock, Reopen: r.stores,
	}
}

func open(t *testing.T) harnesstest.Stores {
	t.Helper()
	return newReopener(t).stores()
}

func TestSessions(t *testing.T)   { harnesstest.TestSessions(t, open) }
func TestTranscript(t *testing.T) { harnesstest.TestTranscript(t, open) }
func TestOwners(t *testing.T)     { harnesstest.TestOwners(t, open) }
func TestDrafts(t *testing.T)     { harnesstest.TestDrafts(t, open) }
func TestPrompts(t *testing.T)    { harnesstest.TestPrompts(t, open) }
func TestFacts(t *testing.T)      { harnesstest.TestFacts(t, open) }
func TestNotes(t *testing.T)      { harnesstest.TestNotes(t, open) }
func TestSearcher(t *testing.T)   { harnesstest.TestSearcher(t, open) }
func TestWatcher(t *testing.T)    { harnesstest.TestWatcher(t, open) }
func TestInbox(t *testing.T)      { harnesstest.TestInbox(t, open) }
func TestLedger(t *testing.T)     { harnesstest.TestLedger(t, open) }
func TestArtifacts(t *testing.T)  { harnesstest.TestArtifacts(t, open) }
func TestSpending(t *testing.T)   { harnesstest.TestSpending(t, open) }
func TestLimits(t *testing.T)     { harnesstest.TestLimits(t, open) }
func TestGrants(t *testing.T)     { harnesstest.TestGrants(t, open) }

func TestJournal(t *testing.T) { runtest.TestJournal(t, bolttest.Home) }

func TestEngine(t *testing.T) {
	runtest.TestEngine(t, func(t *testing.T, w runtest.Work) runtest.EngineFixture {
		t.Helper()
		return runtest.LocalEngine(t, bolttest.Home(t), w)
	})
}
