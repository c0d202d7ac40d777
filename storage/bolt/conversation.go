package bolt

import (
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// conversation returns the session's records.
func (s *session) conversation() (bucket, error) {
	b, err := s.must("conversation")
	if err == nil {
		b.b.FillPercent = appendFill
	}
	return b, err
}

// addRecords numbers records after the head, stores them and moves the head.
// The caller saves the session.
func (s *session) addRecords(records []harness.Record) ([]harness.Record, error) {
	added := make([]harness.Record, 0, len(records))
	for _, r := range records {
		r = rules.AddRecord(&s.info.Session, r, s.t.now)
		if err := s.putRecord(r); err != nil {
			return nil, err
		}
		added = append(added, r)
	}
	return added, nil
}

// putRecord stores a record whose artifacts are stored already.
func (s *session) putRecord(r harness.Record) error {
	log, err := s.conversation()
	if err != nil {
		return err
	}
	artifacts, err := s.keepNamed(r.Message)
	if err != nil {
		return err
	}
	return log.put(number(r.Seq), storedRecord{r, artifacts})
}

// record reads one record; a number that was given out has one.
func (s *session) record(seq int) (harness.Record, error) {
	log, err := s.conversation()
	if err != nil {
		return harness.Record{}, err
	}
	return s.recordIn(log, seq)
}

func (s *session) recordIn(log bucket, seq int) (harness.Record, error) {
	var r harness.Record
	if seq < 1 || seq > s.info.Records {
		return r, notFound("record", seq)
	}
	if err := log.need(number(seq), &r); err != nil {
		return r, err
	}
	if r.Seq != seq || r.Prev >= seq {
		return r, s.t.d.damaged(place(log.path, number(seq)), fmt.Sprintf("record %d follows record %d", r.Seq, r.Prev))
	}
	return r, nil
}
