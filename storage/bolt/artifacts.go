package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Artifacts = (*Artifacts)(nil)

// Artifacts keeps large results and files apart from the conversations of a file.
type Artifacts struct{ d *DB }

// Artifacts returns the view that implements [harness.Artifacts].
func (d *DB) Artifacts() *Artifacts { return &Artifacts{d} }

// Put implements [harness.Artifacts].
func (v *Artifacts) Put(ctx context.Context, session harness.SessionID, data []byte) (string, error) {
	op := "put an artifact of session " + string(session)
	b, err := rules.NewBytes(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	p, err := pack(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	err = v.d.update(ctx, op, func(t *tx) error {
		s, ok, err := t.find(session)
		if err != nil {
			return err
		}
		if !ok || s.info.Hidden {
			return harness.ErrNotFound
		}
		was := s.info.Artifacts
		if err := s.putArtifacts([]packed{p}); err != nil || s.info.Artifacts == was {
			return err
		}
		return s.save()
	})
	if err != nil {
		return "", err
	}
	return b.SHA256, nil
}

// Get implements [harness.Artifacts]. What is in the file is copied in one
// transaction and looked at after it, so that nobody waits for that.
func (v *Artifacts) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	op := fmt.Sprintf("get artifact %.64s of session %s", sha256, session)
	digits, err := rules.Digits(sha256)
	if err != nil {
		return nil, fmt.Errorf("get artifact of session %s: %w", session, err)
	}
	var stored storedArtifact
	err = v.d.view(ctx, op, func(t *tx) error {
		s, ok, err := t.find(session)
		if err != nil {
			return err
		}
		if !ok || s.info.Hidden {
			return harness.ErrNotFound
		}
		b, err := s.findArtifact(digits)
		if err != nil {
			return err
		}
		stored, err = b.stored()
		return err
	})
	if err != nil {
		return nil, err
	}
	data, err := stored.data(v.d)
	if err != nil {
		if errors.Is(err, harness.ErrDamaged) {
			v.d.faulted()
		}
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return data, nil
}

// artifact is the bucket of one artifact.
type artifact struct {
	bucket
	name string
}

// artifacts returns the bucket of the session's artifacts, if there are any.
func (s *session) artifacts() (bucket, bool, error) {
	b, ok := s.sub(artifactsName)
	if !ok && s.info.Artifacts != 0 {
		return b, false, s.t.d.damaged(b.path, "the bucket is missing")
	}
	return b, ok, nil
}

// ownArtifact returns an artifact of this session alone, if it has it.
func (s *session) ownArtifact(name string) (artifact, bool, error) {
	all, ok, err := s.artifacts()
	if err != nil || !ok {
		return artifact{}, false, err
	}
	b, ok := all.sub(name)
	return artifact{b, name}, ok, nil
}

// findArtifact returns the artifact that begins with some digits, of this session
// or of one that it was forked from.
func (s *session) findArtifact(digits string) (artifact, error) {
	var found artifact
	chain, err := s.chain()
	if err != nil {
		return found, err
	}
	for _, at := range chain {
		like, err := at.artifactsLike(digits)
		if err != nil {
			return found, err
		}
		for _, a := range like {
			if found.name != "" && found.name != a.name {
				return found, rules.Ambiguous(digits)
			}
			if found.name == "" {
				found = a
			}
		}
		if len(digits) == rules.DigestLength && found.name != "" {
			return found, nil
		}
	}
	if found.name != "" {
		return found, nil
	}
	// It is not there, unless damage has changed its name or lost it.
	for _, at := range chain {
		if err := at.checkArtifactNames(); err != nil {
			return found, err
		}
	}
	return found, harness.ErrNotFound
}

// chain returns this session and those that it was forked from.
func (s *session) chain() ([]*session, error) {
	chain := []*session{s}
	seen := map[harness.SessionID]bool{s.info.ID: true}
	for s.info.Parent != nil && !seen[s.info.Parent.Session] {
		seen[s.info.Parent.Session] = true
		up, ok, err := s.t.find(s.info.Parent.Session)
		if err != nil {
			return nil, err
		}
		if !ok {
			break // imported from a store that had the parent
		}
		chain, s = append(chain, up), up
	}
	return chain, nil
}

// artifactsLike returns the artifacts of this session alone that begin with some
// digits.
func (s *session) artifactsLike(digits string) ([]artifact, error) {
	all, ok, err := s.artifacts()
	if err != nil || !ok {
		return nil, err
	}
	var names []string
	err = all.each([]byte(digits), func(key, _ []byte) (bool, error) {
		names = append(names, string(key))
		return len(names) < 2, nil
	})
	var like []artifact
	for _, name := range names {
		if err != nil {
			break
		}
		var b bucket
		b, err = all.must(name)
		like = append(like, artifact{b, name})
	}
	return like, err
}

// checkArtifactNames looks whether the session has as many artifacts as its info
// says, and whether each is under its own name.
func (s *session) checkArtifactNames() error {
	all, ok, err := s.artifacts()
	if err != nil || !ok {
		return err
	}
	n := 0
	err = all.each(nil, func(key, value []byte) (bool, error) {
		n++
		if value != nil || len(key) != rules.DigestLength {
			return false, s.t.d.damaged(place(all.path, key), "it is no artifact")
		}
		b, err := all.must(string(key))
		if err != nil {
			return false, err
		}
		return true, b.need(keyHead, &artifactHead{})
	})
	if err == nil && s.info.Artifacts != 0 && n != s.info.Artifacts {
		err = s.t.d.damaged(all.path, fmt.Sprintf("it has %d artifacts of %d", n, s.info.Artifacts))
	}
	return err
}

// countArtifacts counts them where the info does not say how many there are, as a
// cairn that knows none leaves it.
func (s *session) countArtifacts() (int, error) {
	all, ok, err := s.artifacts()
	if err != nil || !ok || s.info.Artifacts != 0 {
		return s.info.Artifacts, err
	}
	n := 0
	return n, all.each(nil, func([]byte, []byte) (bool, error) { n++; return true, nil })
}

// putArtifacts stores what the session does not have yet. The caller saves it.
func (s *session) putArtifacts(all []packed) error {
	if len(all) == 0 {
		return nil
	}
	s.t.announceLarge(sizeOf(all))
	n, err := s.countArtifacts()
	if err != nil {
		return err
	}
	for _, p := range all {
		_, have, err := s.ownArtifact(p.name)
		if err != nil {
			return err
		}
		if have {
			continue
		}
		b, err := s.newArtifact(p.name)
		if err != nil {
			return err
		}
		if err := b.fill(p); err != nil {
			return err
		}
		n++
		s.info.Artifacts = n
	}
	return nil
}

// newArtifact makes the bucket of an artifact.
func (s *session) newArtifact(name string) (artifact, error) {
	all, err := s.make(artifactsName)
	if err != nil {
		return artifact{}, err
	}
	b, err := all.make(name)
	if err != nil {
		return artifact{}, err
	}
	b.b.FillPercent = appendFill
	return artifact{b, name}, nil
}

// keepNamed returns the artifacts that a message names and that the session has.
// Those of sessions that it was forked from become its own: these can be purged.
// What is nowhere here was never given to this store.
func (s *session) keepNamed(m *harness.Message) ([]string, error) {
	if m == nil {
		return nil, nil
	}
	var kept []string
	for _, name := range m.Artifacts() {
		if len(name) != rules.DigestLength {
			continue
		}
		_, ok, err := s.ownArtifact(name)
		if err == nil && !ok && s.info.Parent != nil {
			ok, err = s.inherit(name)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, name)
		}
	}
	return kept, nil
}

// inherit copies an artifact of a session that this one was forked from, if one
// of them has it. The caller saves the session.
func (s *session) inherit(name string) (bool, error) {
	from, err := s.findArtifact(name)
	if errors.Is(err, harness.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var head artifactHead
	if err := from.need(keyHead, &head); err != nil {
		return false, err
	}
	s.t.announceLarge(head.Size)
	n, err := s.countArtifacts()
	if err != nil {
		return false, err
	}
	to, err := s.newArtifact(name)
	if err != nil {
		return false, err
	}
	err = from.each(nil, func(key, value []byte) (bool, error) {
		if err := from.verify(key, value); err != nil {
			return false, err
		}
		return true, to.putPayload(bytes.Clone(key), payload(value))
	})
	s.info.Artifacts = n + 1
	return err == nil, err
}

// dropArtifacts drops all artifacts of the session but some. The caller saves it.
func (s *session) dropArtifacts(keep map[string]bool) error {
	all, ok, err := s.artifacts()
	if err != nil || !ok {
		return err
	}
	var gone []string
	kept := 0
	err = all.each(nil, func(key, _ []byte) (bool, error) {
		if keep[string(key)] {
			kept++
		} else {
			gone = append(gone, strings.Clone(string(key)))
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	s.info.Artifacts = kept
	if kept == 0 {
		return s.drop(artifactsName)
	}
	for _, name := range gone {
		if err := all.drop(name); err != nil {
			return err
		}
	}
	return nil
}
