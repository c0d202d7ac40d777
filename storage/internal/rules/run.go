package rules

import (
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// NewRun returns r as it is stored first.
func NewRun(r harness.Run, session harness.SessionID, now time.Time) harness.Run {
	r.Session, r.Cursor, r.First, r.Partial, r.Interrupted = session, 0, 0, nil, false
	if r.Status == "" {
		r.Status = harness.RunRunning
	}
	if r.Started.IsZero() {
		r.Started = now
	}
	r.Updated = now
	return r
}

// AddEntry numbers e as the next entry of r and lets r and s follow it. The
// record that the entry's message became, if it has one, is returned for the
// store to keep.
func AddEntry(r *harness.Run, s *harness.Session, e run.Entry, now time.Time) (run.Entry, *harness.Record) {
	r.Cursor++
	r.Driver = s.Generation
	e.Seq = r.Cursor
	if e.At.IsZero() {
		e.At = now
	}
	var rec *harness.Record
	if e.Message != nil {
		before := s.Head
		added := AddRecord(s, harness.Record{Run: r.ID, At: e.At, Kind: harness.RecordMessage, Message: e.Message}, now)
		if e.Rewind {
			s.Head = before
		}
		e.Record, rec = added.Seq, &added
	}
	if e.Status != "" {
		r.Status, r.Stop, r.Error = e.Status, e.Stop, e.Error
	}
	r.Usage, s.Usage = r.Usage.Add(e.Usage), s.Usage.Add(e.Usage)
	r.Updated, s.Updated = now, now
	if r.Status.Closed() {
		if s.OpenRun == r.ID {
			s.OpenRun, s.OpenStatus = "", ""
		}
	} else {
		s.OpenRun, s.OpenStatus = r.ID, r.Status
	}
	return e, rec
}

// DropsPartial reports whether e removes the run's partial text.
func DropsPartial(e run.Entry) bool {
	return e.Message != nil && e.Message.Role == harness.RoleAssistant || e.Status.Closed()
}

// Blocks returns why an open run keeps a new one of its session from starting.
func Blocks(open harness.Run) error {
	if open.Status == harness.RunAwaiting {
		return harness.ErrAwaiting
	}
	return harness.ErrBusy
}

// MatchRun reports whether r passes f, apart from its limit.
func MatchRun(r harness.Run, f harness.RunFilter) bool {
	return (f.Session == "" || r.Session == f.Session) && (!f.Unfinished || !r.Status.Closed())
}

// UsageModel names the model that an entry's usage is booked under.
func UsageModel(r harness.Run, e run.Entry) string {
	switch {
	case e.Message != nil && e.Message.Model != "":
		return e.Message.Model
	case r.Config.Model != "":
		return r.Config.Model
	}
	return "unknown"
}

// Interrupted reports whether a run of a session at a generation, whose owner
// lives or not, is stored as running and driven by nobody.
func Interrupted(r harness.Run, generation int, alive bool) bool {
	return r.Status == harness.RunRunning && (!alive || r.Driver != generation)
}
