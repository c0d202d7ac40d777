package run

import (
	"context"
	"errors"
	"time"

	"cairn/harness"
	"cairn/harness/policy"
)

// ErrUnfit means that a process cannot drive a run: it lacks the agent, its
// tools, an equal configuration, or is on another machine. The error around it
// says what is missing; the run waits for a worker that fits.
var ErrUnfit = errors.New("this worker cannot drive the run")

// AwayRecord is what the record numbers of entries begin above that a [Queue]
// or [Backend] keeps: an entry with a message or condensing has the Record
// AwayRecord + Seq, because its number in the conversation is known only when it
// is handed over. Whoever hands a condensing over puts the real numbers in.
const AwayRecord = 1 << 30

// Claim is the right to drive one run of a [Queue] for a while.
type Claim struct {
	Run harness.RunID
	// Generation is the fencing token: it grows with each claim of the run, and
	// every write with an older one is [harness.ErrLost].
	Generation int
	Holder     harness.Holder
	// Broken says that the driver before did not give the run back: it died, or
	// was silent for longer than its lease. What was under way is in doubt.
	Broken bool
	// Until is when the claim ends unless it is renewed, by the clock of the queue;
	// zero where an operating-system lock tells that the driver lives.
	Until time.Time
}

// Carried is what a run takes along of its session, so that it can be driven
// where that is not.
type Carried struct {
	// Store is the id of the store that has the session. A process that has that
	// store uses it directly.
	Store string `json:"store"`
	// Session describes the session as it was at the start.
	Session harness.Session `json:"session"`
	// History is the branch before the run as far as its model can see it, oldest
	// first, and Pinned the pinned messages of the branch.
	History []harness.Record `json:"history,omitempty"`
	Pinned  []harness.Record `json:"pinned,omitempty"`
	// Facts and Notes are those that its requests may recall.
	Facts []harness.Fact `json:"facts,omitempty"`
	Notes []harness.Note `json:"notes,omitempty"`
	// Grants are the standing permissions that count for the run.
	Grants []harness.Grant `json:"grants,omitempty"`
	// Needs is what a worker has to have.
	Needs Needs `json:"needs"`
	// Interactive says that a person can be asked, now or later.
	Interactive bool `json:"interactive,omitempty"`
}

// Needs is what a process must have to drive a run.
type Needs struct {
	// Agent is "name@version".
	Agent string `json:"agent"`
	// Tools are the fingerprints of the tools by name.
	Tools map[string]string `json:"tools,omitempty"`
	// Settings is a digest of what else decides how the agent works: the rules of
	// its policy and the settings of its tools.
	Settings string `json:"settings,omitempty"`
	// Host, if not empty, is the only machine whose workers may drive the run: it
	// has tools that work on that machine.
	Host string `json:"host,omitempty"`
	// Mode is the policy's mode that the run was started in.
	Mode policy.Mode `json:"mode,omitempty"`
}

// Submission is a run on its way to a [Queue] or [Backend].
type Submission struct {
	// Run has the ID, session, configuration, directory and First record that its
	// session gave it.
	Run harness.Run
	// First is its first entry, with its message whole.
	First   Entry
	Carried Carried
	// Artifacts are the bytes that the messages of Carried and First name.
	Artifacts [][]byte
	// Here asks that this process drives the run; otherwise it waits for a worker.
	Here bool
}

// Job is a run as a [Queue] or [Backend] keeps it.
type Job struct {
	// Run has Status, Cursor and the other fields brought up to date, Partial and
	// Interrupted, Worker and Waits filled in.
	Run   harness.Run
	Store string
	Needs Needs
	// Acknowledged is the number of the last entry that the session has.
	Acknowledged int
	// Asked is what was asked of the driver and not done yet.
	Asked Ask
}

// Ask is what the driver of a run is asked to do.
type Ask string

// What can be asked. A cancel is not taken back by a pause.
const (
	AskNothing Ask = ""
	AskPause   Ask = "pause"
	AskCancel  Ask = "cancel"
)

// JobFilter chooses runs of a queue.
type JobFilter struct {
	// Store and Session, if not empty, keep those of one store and session.
	Store      string
	Session    harness.SessionID
	Unfinished bool
	// Unacknowledged keeps those with entries that the session was not handed over.
	Unacknowledged bool
	Limit          int
}

// Prune says which closed runs are removed. Those that were not handed over are
// kept unless Force is set.
type Prune struct {
	// Before removes what ended before it; zero removes nothing by age.
	Before time.Time
	// Keep removes all but the newest so many closed runs; 0 removes nothing by
	// count. A run goes if one of both says so.
	Keep  int
	Force bool
	// Store, if not empty, leaves the runs of all other stores alone; Keep counts
	// those of this one then. The journal of a store has no others.
	Store string
}

// Jobs reads runs that are kept apart from their conversations.
type Jobs interface {
	// Get returns a run, or [harness.ErrNotFound].
	Get(ctx context.Context, id harness.RunID) (Job, error)
	// List returns matching runs, newest first.
	List(ctx context.Context, f JobFilter) ([]Job, error)
	// Read returns the entries past number after, in order, whole.
	Read(ctx context.Context, id harness.RunID, after int) ([]Entry, error)
	// Artifact returns bytes by their sha256, or [harness.ErrNotFound].
	Artifact(ctx context.Context, id harness.RunID, name string) ([]byte, error)
	// Watch returns a channel that receives after the run changed, or may have,
	// several changes possibly as one, until ctx ends: then it is closed.
	Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error)
	// Ask asks whoever drives the run; it sees that within a second. A run that
	// has ended needs nothing. Only [AskCancel] and [AskPause] can be asked.
	Ask(ctx context.Context, id harness.RunID, a Ask) error
	// Acknowledge says that the session has the entries up to a number.
	Acknowledge(ctx context.Context, id harness.RunID, cursor int) error
	// Prune removes closed runs and returns how many.
	Prune(ctx context.Context, p Prune) (int, error)
}

// Claims gives runs to one driver at a time and takes what they write. Every
// write checks the claim: with one that was lost it writes nothing and returns
// [harness.ErrLost].
type Claims interface {
	// Submit adds a run with its first entry, all or nothing, and claims it for h
	// if s.Here is set. The same run again changes nothing and claims nothing:
	// [harness.ErrExists].
	Submit(ctx context.Context, s Submission, h harness.Holder) (Claim, error)
	// Next claims the oldest run that is to go on and that nobody drives, of those
	// that need no host or this one and are not among skip; [harness.ErrNotFound]
	// if there is none. Several at once get different ones.
	Next(ctx context.Context, h harness.Holder, host string, skip []harness.RunID) (Claim, error)
	// Claim claims one run, in whatever state it is. A [*harness.HeldError] says
	// who drives it.
	Claim(ctx context.Context, id harness.RunID, h harness.Holder) (Claim, error)
	// Renew keeps the claim for another lease and returns what was asked of the
	// driver meanwhile.
	Renew(ctx context.Context, c Claim) (Ask, error)
	// Release gives the run back. refused, if not empty, says why this process
	// cannot drive it; others see that. Releasing a lost claim is no error. What
	// was asked of the driver is settled with it if the run rests.
	Release(ctx context.Context, c Claim, refused string) error
	// Append adds entries after number after, in one transaction, with the rules
	// of [Journal].Append; artifacts are the bytes that they name first.
	Append(ctx context.Context, c Claim, after int, artifacts [][]byte, entries ...Entry) ([]Entry, error)
	// SavePartial replaces the run's partial text.
	SavePartial(ctx context.Context, c Claim, p harness.Partial) error
	// Carried returns what the run took along.
	Carried(ctx context.Context, id harness.RunID) (Carried, error)
}

// Queue keeps runs apart from conversations, where several processes can claim
// and drive them: storage/sqlite and storage/postgres are. All methods are safe
// for concurrent use, also from several processes. When a writing method returns
// nil its effect survives a crash; otherwise nothing was written.
type Queue interface {
	Jobs
	Claims
	// Close ends the use of the queue. Claims that were not released are broken.
	Close() error
}

// Backend executes runs apart from their conversations; a [Remote] engine hands
// over what they do. [NewQueueBackend] makes one of a [Queue]; Temporal is
// another.
type Backend interface {
	Jobs
	// Submit begins a run. The same run again changes nothing.
	Submit(ctx context.Context, s Submission) error
	// Resume goes on with a run that has not ended and is driven by nobody, or
	// ends it ([harness.ResumeDrop], [harness.ResumeClose]); it returns when that
	// is stored. here asks that this process drives it. One that is under way is
	// left alone: a [*harness.HeldError].
	Resume(ctx context.Context, id harness.RunID, how harness.ResumeHow, here bool) error
	// Decide answers decisions that a run waits for, all or nothing, with the
	// errors of [harness.Engine].Decide. It goes on once nothing waits any more;
	// here asks that this process drives it then.
	Decide(ctx context.Context, id harness.RunID, here bool, ds ...harness.Decision) error
	// Live returns what a run that this process drives shows beside its entries,
	// as it comes: streamed text, retries, signs of life. ok is false if it is
	// driven elsewhere or by nobody. The channel closes when the stretch is over.
	Live(ctx context.Context, id harness.RunID) (events <-chan harness.Event, ok bool)
	// Close pauses what this process drives and ends the use of the backend.
	Close(ctx context.Context) error
}

// Wrester is a [Backend] that takes a run from the process that drives it, which
// lives and may be stopped or hang. That one's next write is [harness.ErrLost];
// the run is interrupted until another one goes on with it.
type Wrester interface {
	Wrest(ctx context.Context, id harness.RunID) error
}
