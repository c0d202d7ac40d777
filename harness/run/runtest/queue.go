package runtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// QueueStores are a queue and how other processes have it.
type QueueStores struct {
	Queue run.Queue
	// Reopen opens the same queue as another process would after the first one
	// died, and once its claims have ended.
	Reopen func() run.Queue
	// Second opens it as another process beside the first one.
	Second func() run.Queue
	// Take claims a run for q that a living driver has and is silent about: by
	// force, or after its lease.
	Take func(q run.Queue, id harness.RunID, h harness.Holder) (run.Claim, error)
	// Advance moves the clock of what is shown.
	Advance func(time.Duration)
}

// TestQueue tests a [run.Queue]. open opens an empty one.
func TestQueue(t *testing.T, open func(t *testing.T) QueueStores) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *queueFixture){
		"a run is submitted once":                              testSubmit,
		"what a run took along comes back whole":               testCarried,
		"a claim is exclusive":                                 testExclusive,
		"a lost claim writes nothing":                          testFenced,
		"a claim that was given back writes nothing":           testReleased,
		"a driver that died leaves a broken claim":             testBroken,
		"a refusal leaves a broken claim broken":               testBrokenRefused,
		"the oldest run that is to go on is next":              testNext,
		"a run that rests is not next until it is decided":     testResting,
		"claimers at once get different runs":                  testClaimers,
		"entries are numbered and kept whole":                  testQueueAppend,
		"an entry after somebody else's is stale":              testQueueStale,
		"status and usage follow the entries":                  testFollow,
		"text goes with its answer":                            testQueuePartial,
		"the bytes of files are artifacts":                     testQueueFiles,
		"artifacts are there before the entry that names them": testArtifacts,
		"five megabytes are kept in an entry":                  testLarge,
		"what is asked of the driver":                          testAsk,
		"what is acknowledged is not pruned before":            testPruneFetched,
		"runs are pruned by age":                               testPruneAge,
		"runs are pruned by number":                            testPruneCount,
		"pruning for a store leaves those of others":           testPruneStore,
		"jobs are listed newest first":                         testJobs,
		"a watcher sees changes of every process":              testWatch,
		"a run says why it waits":                              testWaits,
		"what no queue has":                                    testQueueMissing,
		"nothing is done after the end":                        testQueueClosed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &queueFixture{QueueStores: open(t), trial: trial{t}})
		})
	}
}

// queueFixture is the queue of one case.
type queueFixture struct {
	QueueStores
	trial
}

// worker is a driver that says who it is.
func worker(pid int) harness.Holder {
	return harness.Holder{PID: pid, Host: "ada-laptop", Purpose: "worker"}
}

// submission is a run whose session has its first message as record 7.
func submission(id harness.RunID) run.Submission {
	return run.Submission{
		Run: harness.Run{
			ID: id, Session: "s", Engine: "test:place", Status: harness.RunRunning, Config: harness.RunConfig{Agent: "a@1", Model: "p/m"},
			First: 7, Host: "h", Dir: "/home/ada",
		},
		First:   begun("hello"),
		Carried: run.Carried{Store: "store", Session: harness.Session{ID: "s", Title: "hello"}, Needs: run.Needs{Agent: "a@1"}},
	}
}

// submit adds runs that wait for a worker.
func (f *queueFixture) submit(ids ...harness.RunID) {
	f.t.Helper()
	for _, id := range ids {
		_, err := f.Queue.Submit(f.ctx(), submission(id), worker(1))
		f.must(err)
	}
}

// drive adds a run that worker 1 has.
func (f *queueFixture) drive(id harness.RunID) run.Claim {
	f.t.Helper()
	s := submission(id)
	s.Here = true
	c, err := f.Queue.Submit(f.ctx(), s, worker(1))
	f.must(err)
	return c
}

func (f *queueFixture) append(c run.Claim, after int, entries ...run.Entry) []run.Entry {
	f.t.Helper()
	added, err := f.Queue.Append(f.ctx(), c, after, nil, entries...)
	f.must(err)
	return added
}

func (f *queueFixture) claim(id harness.RunID) run.Claim {
	f.t.Helper()
	c, err := f.Queue.Claim(f.ctx(), id, worker(2))
	f.must(err)
	return c
}

func (f *queueFixture) release(c run.Claim) {
	f.t.Helper()
	f.must(f.Queue.Release(f.ctx(), c, ""))
}

func (f *queueFixture) get(id harness.RunID) run.Job {
	f.t.Helper()
	j, err := f.Queue.Get(f.ctx(), id)
	f.must(err)
	return j
}

// read returns the entries of run "r".
func (f *queueFixture) read(after int) []run.Entry {
	f.t.Helper()
	entries, err := f.Queue.Read(f.ctx(), "r", after)
	f.must(err)
	return entries
}

// end closes a run.
func (f *queueFixture) end(id harness.RunID) {
	f.t.Helper()
	c := f.claim(id)
	f.append(c, f.get(id).Run.Cursor, status(harness.RunCompleted))
	f.release(c)
}

func (f *queueFixture) list(filter run.JobFilter) string {
	f.t.Helper()
	jobs, err := f.Queue.List(f.ctx(), filter)
	f.must(err)
	var ids []string
	for _, j := range jobs {
		ids = append(ids, string(j.Run.ID))
	}
	return strings.Join(ids, " ")
}

// next claims and gives back what is next, as long as there is something.
func (f *queueFixture) next(host string, skip ...harness.RunID) string {
	f.t.Helper()
	var ids []string
	var claims []run.Claim
	for {
		c, err := f.Queue.Next(f.ctx(), worker(3), host, skip)
		if errors.Is(err, harness.ErrNotFound) {
			break
		}
		f.must(err)
		ids, claims = append(ids, string(c.Run)), append(claims, c)
	}
	for _, c := range claims {
		f.release(c)
	}
	return strings.Join(ids, " ")
}
