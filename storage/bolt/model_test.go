package bolt_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/storage/bolt"
)

// TestStoreActsAsAPlainMap lets random operations happen to a database and to a
// model of it in plain maps, and compares all they answer. The database is
// closed and opened again in between.
func TestStoreActsAsAPlainMap(t *testing.T) {
	t.Parallel()
	n := 0
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &model{
			t: rt, path: filepath.Join(dir, fmt.Sprint(n), bolt.FileName),
			sessions: map[harness.SessionID]*modelSession{}, leases: map[harness.SessionID]harness.Lease{},
		}
		m.open()
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"":         m.compare,
			"append":   m.append,
			"move":     m.move,
			"edit":     m.edit,
			"trash":    m.trash,
			"save":     m.save,
			"revise":   m.revise,
			"forget":   m.forget,
			"draft":    m.draft,
			"grant":    m.grant,
			"revoke":   m.revokeGrant,
			"reopen":   m.reopen,
			"rest":     func(*rapid.T) { m.db.Rest() },
			"takeover": m.takeover,
		})
	})
}

type model struct {
	t      *rapid.T
	path   string
	db     *bolt.DB
	leases map[harness.SessionID]harness.Lease
	// The model proper.
	sessions map[harness.SessionID]*modelSession
	uses     int
	facts    []modelFact
	grants   []modelGrant
}

type modelSession struct {
	prev    []int // of record i+1
	texts   []string
	head    int
	title   string
	pinned  bool
	deleted bool
	draft   string
	used    int
}

type modelFact struct {
	texts   []string
	trashed bool
}

func (m *model) open() {
	db, err := bolt.Open(m.path, bolt.Options{})
	m.must(err)
	m.db = db
}

func (m *model) close() { m.must(m.db.Close()) }

func (m *model) must(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) reopen(*rapid.T) {
	m.close()
	clear(m.leases)
	m.open()
}

// anyID draws one of few ids, so that operations meet.
func anyID(t *rapid.T) harness.SessionID {
	return rapid.SampledFrom([]harness.SessionID{"a", "b", "c-1"}).Draw(t, "session")
}

// lease returns the right to write to a session, taken if need be. It is false
// for a session in the trash.
func (m *model) lease(id harness.SessionID) (harness.Lease, bool) {
	if l, ok := m.leases[id]; ok {
		return l, true
	}
	l, err := m.db.Owners().Acquire(m.t.Context(), harness.Session{ID: id}, harness.Holder{})
	if s := m.sessions[id]; s != nil && s.deleted {
		if !errors.Is(err, harness.ErrExists) {
			m.t.Fatalf("session in the trash: error %v", err)
		}
		return l, false
	}
	m.must(err)
	m.leases[id] = l
	return l, true
}

func (m *model) append(t *rapid.T) {
	id := anyID(t)
	l, ok := m.lease(id)
	if !ok {
		return
	}
	text := rapid.StringMatching(`[a-z<&" é]{1,20}x`).Draw(t, "text")
	msg := harness.UserText(text)
	added, err := m.db.Transcript().Append(t.Context(), l, harness.Record{Message: &msg})
	m.must(err)
	s := m.sessions[id]
	if s == nil {
		s = &modelSession{draft: ""}
		m.sessions[id] = s
	}
	s.texts, s.prev = append(s.texts, text), append(s.prev, s.head)
	s.head = len(s.texts)
	if !s.deleted {
		m.uses++
		s.used = m.uses
	}
	if added[0].Seq != s.head || added[0].Prev != s.prev[s.head-1] {
		t.Fatalf("record %+v", added[0])
	}
}

func (m *model) move(t *rapid.T) {
	id := anyID(t)
	s := m.sessions[id]
	if s == nil || s.deleted {
		return
	}
	l, _ := m.lease(id)
	to := rapid.IntRange(0, len(s.texts)).Draw(t, "record")
	m.must(m.db.Transcript().MoveHead(t.Context(), l, to))
	s.head = to
	m.uses++
	s.used = m.uses
}

func (m *model) edit(t *rapid.T) {
	id := anyID(t)
	title, pinned := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "title"), rapid.Bool().Draw(t, "pinned")
	_, err := m.db.Sessions().Edit(t.Context(), id, harness.SessionEdit{Title: &title, Pinned: &pinned})
	s := m.sessions[id]
	if s == nil || s.deleted {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("edit of no session: error %v", err)
		}
		return
	}
	m.must(err)
	s.title, s.pinned = title, pinned
}

// trash deletes a session or brings it back.
func (m *model) trash(t *rapid.T) {
	id := anyID(t)
	s := m.sessions[id]
	if s == nil {
		return
	}
	if s.deleted = !s.deleted; s.deleted {
		m.must(m.db.Sessions().Delete(t.Context(), id))
	} else {
		m.must(m.db.Sessions().Restore(t.Context(), id))
	}
}

func (m *model) takeover(t *rapid.T) {
	id := anyID(t)
	if s := m.sessions[id]; s == nil || s.deleted {
		return
	}
	old, had := m.leases[id]
	l, err := m.db.Owners().Force(t.Context(), harness.Session{ID: id}, harness.Holder{})
	m.must(err)
	m.leases[id] = l
	if had {
		if err := m.db.Transcript().MoveHead(t.Context(), old, 0); !errors.Is(err, harness.ErrLost) {
			t.Fatalf("a lost lease moved the head: error %v", err)
		}
	}
}

func (m *model) draft(t *rapid.T) {
	id := anyID(t)
	text := rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "draft")
	s := m.sessions[id]
	if s == nil {
		return
	}
	m.must(m.db.Drafts().Save(t.Context(), id, harness.Holder{}, harness.Draft{Text: text}))
	s.draft = text
}

func (m *model) save(t *rapid.T) {
	text := rapid.StringMatching(`[ab]{1,2}`).Draw(t, "fact")
	f, created, err := m.db.Facts().Save(t.Context(), harness.Fact{Text: text}, "")
	m.must(err)
	if created == (m.active(text) != "") {
		t.Fatalf("fact %q: created %v", text, created)
	}
	if created {
		m.facts = append(m.facts, modelFact{texts: []string{text}})
		if want := fmt.Sprint("f", len(m.facts)); f.ID != want {
			t.Fatalf("fact %s, want %s", f.ID, want)
		}
	}
}

// active returns the id of the active fact of a text, "" if there is none. There
// is never more than one.
func (m *model) active(text string) string {
	i := slices.IndexFunc(m.facts, func(f modelFact) bool { return !f.trashed && f.now() == text })
	if i < 0 {
		return ""
	}
	return fmt.Sprint("f", i+1)
}

func (f modelFact) now() string { return f.texts[len(f.texts)-1] }

// fact draws one of the facts.
func (m *model) fact(t *rapid.T) (string, *modelFact) {
	if len(m.facts) == 0 {
		return "", nil
	}
	i := rapid.IntRange(0, len(m.facts)-1).Draw(t, "which")
	return fmt.Sprint("f", i+1), &m.facts[i]
}

func (m *model) revise(t *rapid.T) {
	id, f := m.fact(t)
	if f == nil {
		return
	}
	text := rapid.StringMatching(`[ab]{1,2}`).Draw(t, "text")
	_, err := m.db.Facts().Edit(t.Context(), id, harness.FactEdit{Text: &text})
	if f.trashed {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("edit in the trash: error %v", err)
		}
		return
	}
	if other := m.active(text); other != "" && other != id {
		if !errors.Is(err, harness.ErrExists) || !strings.Contains(err.Error(), other) {
			t.Fatalf("edit to the text of %s: error %v", other, err)
		}
		return
	}
	m.must(err)
	f.texts = append(f.texts, text)
}

// forget puts a fact into the trash or takes it out.
func (m *model) forget(t *rapid.T) {
	id, f := m.fact(t)
	if f == nil {
		return
	}
	if !f.trashed {
		m.must(m.db.Facts().Forget(t.Context(), id))
		f.trashed = true
		return
	}
	want := m.active(f.now())
	if want == "" {
		want, f.trashed = id, false
	}
	if got, err := m.db.Facts().Restore(t.Context(), id); err != nil || got.ID != want {
		t.Fatalf("restored %s: %s, %v, want %s", id, got.ID, err, want)
	}
}

// compare asks both.
func (m *model) compare(t *rapid.T) {
	list, err := m.db.Sessions().List(t.Context(), harness.SessionFilter{})
	m.must(err)
	var got, want []harness.SessionID
	for _, s := range list {
		got = append(got, s.ID)
		have := m.sessions[s.ID]
		if have == nil || s.Records != len(have.texts) || s.Head != have.head || s.Pinned != have.pinned ||
			have.title != "" && s.Title != have.title || s.HasDraft != (have.draft != "") {
			t.Fatalf("session %+v, want %+v", s, have)
		}
	}
	for id, s := range m.sessions {
		if !s.deleted {
			want = append(want, id)
		}
		m.compareSession(t, id, s)
	}
	slices.SortFunc(want, func(a, b harness.SessionID) int {
		x, y := m.sessions[a], m.sessions[b]
		if x.pinned != y.pinned {
			if x.pinned {
				return -1
			}
			return 1
		}
		return y.used - x.used
	})
	if !slices.Equal(got, want) {
		t.Fatalf("list %v, want %v", got, want)
	}
	m.compareFacts(t)
	m.compareGrants(t)
}

func (m *model) compareSession(t *rapid.T, id harness.SessionID, s *modelSession) {
	records, err := m.db.Transcript().Tail(t.Context(), id, 0, 0)
	m.must(err)
	var got, want []string
	for _, r := range records {
		got = append(got, r.Message.Text())
	}
	for at := s.head; at != 0; at = s.prev[at-1] {
		want = append(want, s.texts[at-1])
	}
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Fatalf("branch of %s is %q, want %q", id, got, want)
	}
	draft, err := m.db.Drafts().Load(t.Context(), id)
	m.must(err)
	if draft.Text != s.draft {
		t.Fatalf("draft %q, want %q", draft.Text, s.draft)
	}
}

func (m *model) compareFacts(t *rapid.T) {
	active := 0
	for i, f := range m.facts {
		history, err := m.db.Facts().History(t.Context(), fmt.Sprint("f", i+1))
		m.must(err)
		var texts []string
		for _, h := range history {
			texts = append(texts, h.Text)
		}
		if !slices.Equal(texts, f.texts) || (history[len(history)-1].State == harness.StateTrashed) != f.trashed {
			t.Fatalf("fact %+v, want %+v", history, f)
		}
		if !f.trashed {
			active++
		}
	}
	list, err := m.db.Facts().List(t.Context(), harness.MemoryFilter{})
	m.must(err)
	if len(list) != active {
		t.Fatalf("%d facts, want %d", len(list), active)
	}
}
