package temporal

import (
	"context"
	"fmt"
	"sync"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// sink collects what a step produces. Nothing of it is stored before the activity
// returns it: the history takes it in as one.
type sink struct {
	b    *Backend
	info harness.Run
	desk *run.Desk
	away bool
	turn *agent.Turn

	mu      sync.Mutex
	entries []run.Entry
	state   loop.State
	// answered is the last attempt of which the answer is whole.
	answered int
}

// Put implements [agent.Sink].
func (s *sink) Put(ctx context.Context, usage harness.Usage, records ...loop.Record) ([]agent.Stored, error) {
	entries, err := run.EntriesOf(s.b.o.Now().UTC(), usage, records...)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s.info.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, artifacts := s.desk.Pack(s.info.Cursor, s.away, entries)
	for _, data := range artifacts {
		if err := s.b.blobs.putArtifact(context.WithoutCancel(ctx), data); err != nil {
			return nil, fmt.Errorf("run %s: %w", s.info.ID, err)
		}
	}
	s.desk.Stored(entries)
	stored := make([]agent.Stored, len(entries))
	for i, e := range entries {
		s.info.Cursor++
		stored[i].Seq = s.info.Cursor
		if e.Message != nil || e.Condensed != nil {
			stored[i].Record = run.AwayRecord + s.info.Cursor
		}
		s.info.Usage = s.info.Usage.Add(e.Usage)
		if e.Status != "" {
			s.info.Status, s.info.Stop, s.info.Error = e.Status, e.Stop, e.Error
		}
		s.state, _ = loop.Step(s.state, records[i])
		if r, ok := records[i].(loop.Answered); ok {
			s.answered = r.Attempt
		}
	}
	s.entries = append(s.entries, entries...)
	return stored, nil
}

// Emit implements [agent.Sink].
func (s *sink) Emit(e harness.Event) {
	e.Session, e.Run = s.info.Session, s.info.ID
	if e.At.IsZero() {
		e.At = s.b.o.Now()
	}
	s.b.live.Add(s.info.ID, e)
}

// Streamed implements [agent.Sink]. The next sign of life has the text.
func (s *sink) Streamed() {}

// partial is the half answer that is under way, nil if there is none: the turn
// still has the text of an answer for a moment after it is stored.
func (s *sink) partial() *harness.Partial {
	p := s.turn.Partial()
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == nil || p.Attempt <= s.answered {
		return nil
	}
	return p
}

// status is where the run stands with what was collected.
func (s *sink) status() harness.RunStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.Status
}
