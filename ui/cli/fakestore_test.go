package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"cairn/harness"
)

// memStore keeps sessions in memory for these tests.
type memStore struct {
	mu       sync.Mutex
	now      func() time.Time
	sessions map[harness.SessionID]*harness.Session
	records  map[harness.SessionID][]harness.Record
	held     map[harness.SessionID]harness.Holder
	order    []harness.SessionID
}

func newMemStore(now func() time.Time) *memStore {
	return &memStore{
		now: now, sessions: map[harness.SessionID]*harness.Session{},
		records: map[harness.SessionID][]harness.Record{}, held: map[harness.SessionID]harness.Holder{},
	}
}

func missing(id harness.SessionID) error {
	return fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
}

func (m *memStore) Get(_ context.Context, id harness.SessionID) (harness.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok || s.Deleted != nil {
		return harness.Session{}, missing(id)
	}
	return *s, nil
}

func (m *memStore) List(_ context.Context, f harness.SessionFilter) ([]harness.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []harness.Session
	for _, id := range m.order {
		s := m.sessions[id]
		if (s.Deleted != nil) == f.Deleted && (f.Dir == "" || f.Dir == s.Dir) {
			list = append(list, *s)
		}
	}
	slices.SortStableFunc(list, func(a, b harness.Session) int { return b.Updated.Compare(a.Updated) })
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
}

func (m *memStore) Edit(_ context.Context, id harness.SessionID, e harness.SessionEdit) (harness.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok || s.Deleted != nil {
		return harness.Session{}, missing(id)
	}
	if e.Title != nil {
		s.Title, s.TitleBy = *e.Title, e.TitleBy
	}
	return *s, nil
}

func (m *memStore) Delete(_ context.Context, id harness.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok || s.Deleted != nil {
		return missing(id)
	}
	at := m.now()
	s.Deleted = &at
	return nil
}

func (m *memStore) Restore(_ context.Context, id harness.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok || s.Deleted == nil {
		return missing(id)
	}
	s.Deleted = nil
	return nil
}

func (m *memStore) Import(_ context.Context, s harness.Session, records []harness.Record) (harness.Session, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	base := s.ID
	for n := 2; ; n++ {
		if _, taken := m.sessions[s.ID]; !taken {
			break
		}
		old := m.records[s.ID]
		if slices.EqualFunc(old, records, func(a, b harness.Record) bool { return a.Message.Text() == b.Message.Text() }) {
			return *m.sessions[s.ID], true, nil
		}
		s.ID = harness.SessionID(fmt.Sprintf("%s-%d", base, n))
	}
	m.put(s, records)
	return *m.sessions[s.ID], false, nil
}

func (m *memStore) put(s harness.Session, records []harness.Record) {
	old, ok := m.sessions[s.ID]
	if !ok {
		fresh := s
		if fresh.Created.IsZero() {
			fresh.Created = m.now()
		}
		old = &fresh
		m.sessions[s.ID] = old
		m.order = append(m.order, s.ID)
	}
	for _, r := range records {
		r.Seq = len(m.records[s.ID]) + 1
		r.Prev = r.Seq - 1
		m.records[s.ID] = append(m.records[s.ID], r)
		if r.Message != nil {
			old.Messages++
		}
		old.Head, old.Records = r.Seq, r.Seq
	}
	old.Updated = m.now()
}

func (m *memStore) Tail(_ context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.records[id]
	if limit > 0 && len(all) > limit {
		all = all[len(all)-limit:]
	}
	return slices.Clone(all), nil
}

func (m *memStore) Record(_ context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq < 1 || seq > len(m.records[id]) {
		return harness.Record{}, missing(id)
	}
	return m.records[id][seq-1], nil
}

func (m *memStore) Append(_ context.Context, l harness.Lease, records ...harness.Record) ([]harness.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	meta := l.Meta
	meta.ID = l.Session
	before := len(m.records[l.Session])
	m.put(meta, records)
	return slices.Clone(m.records[l.Session][before:]), nil
}

func (m *memStore) MoveHead(context.Context, harness.Lease, int) error { return nil }

func (m *memStore) Acquire(_ context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if holder, held := m.held[meta.ID]; held {
		return harness.Lease{}, fmt.Errorf("acquire: %w", &harness.HeldError{Session: meta.ID, Holder: holder})
	}
	m.held[meta.ID] = h
	return harness.Lease{Session: meta.ID, Generation: 1, Holder: h, Meta: meta}, nil
}

func (m *memStore) Ask(context.Context, harness.SessionID, harness.Holder) error { return nil }

func (m *memStore) Asked(context.Context, harness.Lease) (harness.Holder, bool, error) {
	return harness.Holder{}, false, nil
}

func (m *memStore) Force(ctx context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	return m.Acquire(ctx, meta, h)
}

func (m *memStore) Release(_ context.Context, l harness.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held, l.Session)
	return nil
}
