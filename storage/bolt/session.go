package bolt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var keyInfo = []byte("info") //nolint:gochecknoglobals // a key that nobody changes

const (
	// pinnedBit in the order of a session puts it behind, and so before, all
	// that are not pinned.
	pinnedBit = uint64(1) << 63
	// longSystem is the length from which a system prompt is kept apart, once
	// for all runs of the session.
	longSystem = 200
	// trashSessions is the kind of deleted sessions in trash/.
	trashSessions = "session"
)

// sessionInfo is what is stored of a session besides its records.
type sessionInfo struct {
	harness.Session
	// SystemRef names Session.System in systems/ if it is long.
	SystemRef string `json:"system_ref,omitempty"`
	// Order is the session's place in recent/, without the pinned bit.
	Order uint64 `json:"order"`
	Draft bool   `json:"draft,omitempty"`
	// Hidden says that the session was purged and that only what its forks
	// reach is kept.
	Hidden bool `json:"hidden,omitempty"`
	// Runs counts the runs kept. LastRun and LastCursor are the run that was
	// written last and where it then stood.
	Runs       int           `json:"runs,omitempty"`
	LastRun    harness.RunID `json:"last_run,omitempty"`
	LastCursor int           `json:"last_cursor,omitempty"`
	// Artifacts counts them. It is 0, and says nothing, if a cairn that knows
	// none wrote the info last.
	Artifacts int `json:"artifacts,omitempty"`
}

// session is one session's bucket with its info.
type session struct {
	bucket
	info sessionInfo
}

func whereSession(id harness.SessionID) []byte { return []byte("s/" + string(id)) }

// find returns a session, deleted or not; ok is false if there is none. That
// it is listed where it should be shows that nothing vanished and that the info
// is the last one written.
func (t *tx) find(id harness.SessionID) (s *session, ok bool, err error) {
	if id == "" || id == harness.NoSession {
		return nil, false, nil
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return nil, false, err
	}
	where, err := t.root("where")
	if err != nil {
		return nil, false, err
	}
	known := where.has(whereSession(id))
	b, ok := sessions.sub(string(id))
	if ok != known {
		return nil, false, t.d.damaged(b.path, "the session is listed in one place only")
	}
	if !ok {
		return nil, false, nil
	}
	s = &session{bucket: b}
	if err := s.load(); err != nil {
		return nil, false, err
	}
	return s, true, s.checkListed()
}

// load reads the info.
func (s *session) load() error {
	if err := s.need(keyInfo, &s.info); err != nil {
		return err
	}
	if s.info.SystemRef != "" {
		system, err := s.longText(s.info.SystemRef)
		if err != nil {
			return err
		}
		s.info.System = system
	}
	return nil
}

func (s *session) checkListed() error {
	if s.info.Hidden {
		return nil
	}
	if s.info.Deleted != nil {
		trash, err := s.t.root("trash")
		if err != nil {
			return err
		}
		kind, ok := trash.sub(trashSessions)
		if !ok || !kind.has(s.trashKey()) {
			return s.t.d.damaged(s.path, "the deleted session is not in the trash")
		}
		return nil
	}
	recent, err := s.t.root("recent")
	if err != nil {
		return err
	}
	if !recent.has(s.recentKey()) {
		return s.t.d.damaged(s.path, "the session is not listed")
	}
	return nil
}

func (s *session) recentKey() []byte {
	order := s.info.Order
	if s.info.Pinned {
		order |= pinnedBit
	}
	return append(binary.BigEndian.AppendUint64(nil, order), s.info.ID...)
}

func (s *session) trashKey() []byte { return trashKey(*s.info.Deleted, string(s.info.ID)) }

func trashKey(at time.Time, id string) []byte {
	return append(number(int(at.UnixNano())), id...)
}

// save writes the info.
func (s *session) save() error {
	info := s.info
	info.HasDraft, info.Owner, info.SystemRef = false, nil, ""
	if len(info.System) >= longSystem {
		ref, err := s.keepText(info.System)
		if err != nil {
			return err
		}
		info.System, info.SystemRef = "", ref
	}
	return s.put(keyInfo, info)
}

// keepText stores a long text in the session once and returns its name.
func (s *session) keepText(text string) (string, error) {
	systems, err := s.make("systems")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	ref := hex.EncodeToString(sum[:16])
	if systems.has([]byte(ref)) {
		return ref, nil
	}
	return ref, systems.put([]byte(ref), text)
}

func (s *session) longText(ref string) (string, error) {
	systems, err := s.must("systems")
	if err != nil {
		return "", err
	}
	var text string
	return text, systems.need([]byte(ref), &text)
}

// touch makes the session the last used one. Nothing is written if it is that
// already; a new one is not, also if one that had its id was and is gone.
func (s *session) touch() error {
	if s.info.Deleted != nil {
		return nil
	}
	recent, err := s.t.root("recent")
	if err != nil {
		return err
	}
	c, err := s.t.counters()
	if err != nil || c.LastUsed == s.info.ID && s.info.Order != 0 {
		return err
	}
	if s.info.Order != 0 {
		if err := recent.del(s.recentKey()); err != nil {
			return err
		}
	}
	c.LastUsed, c.LastOrder = s.info.ID, max(uint64(s.t.now.UnixNano())&^pinnedBit, c.LastOrder+1)
	s.info.Order = c.LastOrder
	return recent.put(s.recentKey(), listed{})
}

// listed is the value of index keys that say all they have to say.
type listed struct{}

// writable returns the session of a lease for writing, made if this is its
// first write.
func (t *tx) writable(l harness.Lease) (*session, error) {
	if err := rules.CheckSessionID(l.Session); err != nil {
		return nil, err
	}
	s, ok, err := t.find(l.Session)
	if err != nil {
		return nil, err
	}
	if ok {
		return s, s.writableBy(l)
	}
	if reserved, err := t.lastGeneration(l.Session); err != nil {
		return nil, err
	} else if l.Generation == 0 || reserved != l.Generation {
		return nil, harness.ErrLost
	}
	s, err = t.newSession(rules.NewSession(l, t.now))
	if err != nil {
		return nil, err
	}
	return s, s.takeDraft()
}

// writableBy returns why a lease gives no right to write to a stored session.
func (s *session) writableBy(l harness.Lease) error {
	switch {
	case s.info.Hidden:
		return harness.ErrNotFound
	case s.info.Generation != l.Generation:
		return harness.ErrLost
	}
	return nil
}

// listedAt puts a new session among those that were used before and after a time, and
// first if that is no time before now.
func (s *session) listedAt(at time.Time) error {
	if at.Before(time.Unix(0, 1)) || at.After(s.t.now) {
		return s.touch()
	}
	recent, err := s.t.root("recent")
	if err != nil {
		return err
	}
	c, err := s.t.counters()
	if err != nil {
		return err
	}
	if c.LastUsed != s.info.ID { // if so, it was purged
		if err := s.t.usedAfter(at); err != nil {
			return err
		}
	}
	s.info.Order = uint64(at.UnixNano())
	if s.info.Order >= c.LastOrder {
		s.info.Order = max(s.info.Order, c.LastOrder+1)
		c.LastUsed, c.LastOrder = s.info.ID, s.info.Order
	}
	return recent.put(s.recentKey(), listed{})
}

// usedAfter brings the place of the session that is first up to its last use, if that
// was after a time: as long as it was first its uses moved nothing.
func (t *tx) usedAfter(at time.Time) error {
	c, err := t.counters()
	if err != nil {
		return err
	}
	first, ok, err := t.find(c.LastUsed)
	if errors.Is(err, harness.ErrDamaged) {
		return nil // it keeps the place that it has
	}
	if err != nil || !ok || !first.info.Updated.After(at) {
		return err
	}
	c.LastUsed = ""
	if err := first.touch(); err != nil {
		return err
	}
	return first.save()
}

// newSession makes the buckets of a session and lists it as the last used one. The
// caller saves it.
func (t *tx) newSession(info harness.Session) (*session, error) {
	s, err := t.madeSession(info)
	if err != nil {
		return nil, err
	}
	return s, s.touch()
}

// madeSession makes the buckets of a session that is not listed yet.
func (t *tx) madeSession(info harness.Session) (*session, error) {
	sessions, err := t.root("sessions")
	if err != nil {
		return nil, err
	}
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	b, err := sessions.make(string(info.ID))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"conversation", "runs"} {
		if _, err := b.make(name); err != nil {
			return nil, err
		}
	}
	c.Sessions++
	s := &session{bucket: b, info: sessionInfo{Session: info}}
	return s, where.put(whereSession(info.ID), info.ID)
}

// notFound names what was looked for.
func notFound(what string, id any) error {
	return fmt.Errorf("%s %v: %w", what, id, harness.ErrNotFound)
}
