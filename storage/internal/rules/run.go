package rules

import (
	"encoding/json"
	"fmt"
	"slices"
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
// record that the entry's message or condensing became, if it has one, is
// returned for the store to keep.
func AddEntry(r *harness.Run, s *harness.Session, e run.Entry, now time.Time) (run.Entry, *harness.Record, error) {
	r.Cursor++
	r.Driver = s.Generation
	e.Seq = r.Cursor
	if e.At.IsZero() {
		e.At = now
	}
	rec, err := recordOf(e)
	if err != nil {
		return e, nil, err
	}
	if rec != nil {
		before := s.Head
		rec.Run = r.ID
		*rec = AddRecord(s, *rec, now)
		if e.Rewind {
			s.Head = before
		}
		e.Record = rec.Seq
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
	return e, rec, nil
}

// recordOf returns the record that an entry becomes in the conversation, nil if
// it becomes none.
func recordOf(e run.Entry) (*harness.Record, error) {
	switch {
	case e.Message != nil:
		return &harness.Record{At: e.At, Kind: harness.RecordMessage, Message: e.Message}, nil
	case e.Condensed != nil:
		data, err := json.Marshal(e.Condensed)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		return &harness.Record{At: e.At, Kind: harness.RecordCondensed, Data: data}, nil
	default:
		return nil, nil
	}
}

// Apart returns the entry without what the conversation and the memory keep of it.
func Apart(e run.Entry) run.Entry {
	e.Message, e.Condensed, e.Effects = nil, nil, nil
	return e
}

// Join gives an entry back what the conversation keeps of it in a record.
func Join(e run.Entry, rec harness.Record) (run.Entry, error) {
	if rec.Kind != harness.RecordCondensed {
		e.Message = rec.Message
		return e, nil
	}
	e.Condensed = new(harness.Condensed)
	if err := json.Unmarshal(rec.Data, e.Condensed); err != nil {
		return e, fmt.Errorf("condensed record %d: %w: %w", rec.Seq, harness.ErrDamaged, err)
	}
	return e, nil
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
	case e.Condensed != nil && e.Condensed.Dropped > 0 && e.Condensed.Model != "":
		return e.Condensed.Model
	case r.Config.Model != "":
		return r.Config.Model
	}
	return "unknown"
}

// Interrupted reports whether a run of a session at a generation, whose owner
// lives or not, is stored as running and driven by nobody. Of a run that is kept
// elsewhere only its engine knows.
func Interrupted(r harness.Run, generation int, alive bool) bool {
	return r.Status == harness.RunRunning && !r.Away() && (!alive || r.Driver != generation)
}

// EntriesApart does for the messages of entries what [RecordsApart] does for those
// of records.
func EntriesApart(entries []run.Entry) (apart []run.Entry, files []Bytes, err error) {
	apart = entries
	for i, e := range entries {
		m, more, err := MessageApart(e.Message)
		if err != nil {
			return nil, nil, err
		}
		if len(more) == 0 {
			continue
		}
		if len(files) == 0 {
			apart = slices.Clone(entries)
		}
		apart[i].Message, files = m, append(files, more...)
	}
	return apart, files, nil
}

// ClosingsApart does the same for the entries that end runs.
func ClosingsApart(closes []run.Closing) (apart []run.Closing, files []Bytes, err error) {
	apart = closes
	for i, c := range closes {
		entries, more, err := EntriesApart(c.Entries)
		if err != nil {
			return nil, nil, err
		}
		if len(more) == 0 {
			continue
		}
		if len(files) == 0 {
			apart = slices.Clone(closes)
		}
		apart[i].Entries, files = entries, append(files, more...)
	}
	return apart, files, nil
}

// Prunes reports whether p removes a closed run, of which so many newer ones are
// kept.
func Prunes(p run.Prune, r harness.Run, newer int) bool {
	return r.Updated.Before(p.Before) || p.Keep > 0 && newer >= p.Keep
}
