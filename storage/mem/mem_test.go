package mem_test

import (
	"testing"

	"cairn/harness/harnesstest"
	"cairn/harness/run/runtest"
	"cairn/storage/mem"
)

func open(t *testing.T) harnesstest.Stores {
	t.Helper()
	s, _ := stores(t)
	return s
}

// stores are the contracts of a new store.
func stores(t *testing.T) (harnesstest.Stores, *mem.Store) {
	t.Helper()
	clock := harnesstest.NewClock()
	st := mem.New(clock.Now)
	var again func() harnesstest.Stores
	again = func() harnesstest.Stores {
		return harnesstest.Stores{
			Sessions: st.Sessions(), Transcript: st.Transcript(), Owners: st.Owners(), Drafts: st.Drafts(), Prompts: st.Prompts(),
			Facts: st.Facts(), Notes: st.Notes(), Searcher: st.Searcher(), Watcher: st, Grants: st.Grants(), Inbox: st.Inbox(), Ledger: st.Ledger(), Limits: st.Limits(),
			Artifacts: st.Artifacts(), Spending: st.Spending(), Clock: clock,
			Reopen: func() harnesstest.Stores { st.Abandon(); return again() },
		}
	}
	return again(), st
}

func openJournal(*testing.T) runtest.Stores {
	clock := harnesstest.NewClock()
	st := mem.New(clock.Now)
	var stores func() runtest.Stores
	stores = func() runtest.Stores {
		return runtest.Stores{
			Journal: st.Journal(), Owners: st.Owners(), Sessions: st.Sessions(), Transcript: st.Transcript(),
			Facts: st.Facts(), Notes: st.Notes(), Inbox: st.Inbox(), Artifacts: st.Artifacts(), Grants: st.Grants(), ID: st.ID(),
			Advance: clock.Add,
			Reopen:  func() runtest.Stores { st.Abandon(); return stores() },
		}
	}
	return stores()
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
func TestJournal(t *testing.T)    { runtest.TestJournal(t, openJournal) }

func TestEngine(t *testing.T) {
	runtest.TestEngine(t, func(t *testing.T, w runtest.Work) runtest.EngineFixture {
		t.Helper()
		return runtest.LocalEngine(t, openJournal(t), w)
	})
}
