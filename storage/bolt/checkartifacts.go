package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"cairn/harness"
)

// checkPieces is how many pieces of artifacts a check reads between two looks at
// the clock.
const checkPieces = checkBytes / pieceSize

// artifactCheck is how far the check of a session's artifacts is.
type artifactCheck struct {
	listed bool
	// names are those to be read, the first of them from piece on; sum is nil
	// before that.
	names []string
	head  artifactHead
	piece int
	size  int64
	sum   hash.Hash
}

// step reads some pieces. What is not there any more was purged meanwhile.
func (c *artifactCheck) step(s *session, r *Report) (done bool, err error) {
	all, ok, err := s.artifacts()
	if err != nil || !ok {
		return true, err
	}
	if !c.listed {
		if err := s.checkArtifactNames(); err != nil {
			return true, err
		}
		c.listed = true
		err := all.each(nil, func(key, _ []byte) (bool, error) {
			c.names = append(c.names, string(key))
			return true, nil
		})
		return false, err
	}
	for room := checkPieces; room > 0 && len(c.names) > 0; room-- {
		a, ok, err := s.ownArtifact(c.names[0])
		if err != nil {
			return true, err
		}
		if ok {
			ok, err = c.read(a, r)
		} else {
			ok = true
		}
		if err != nil {
			return true, err
		}
		if ok {
			c.names, c.sum = c.names[1:], nil
		}
	}
	return len(c.names) == 0, nil
}

// read reads one piece of an artifact, or after the last one looks whether they
// were what its name says.
func (c *artifactCheck) read(a artifact, r *Report) (done bool, err error) {
	if c.sum == nil {
		c.head, c.piece, c.size, c.sum = artifactHead{}, 0, 0, sha256.New()
		return false, a.need(keyHead, &c.head)
	}
	if c.piece < c.head.Pieces {
		c.piece++
		data, err := a.pieceAt(c.piece)
		c.size += int64(len(data))
		c.sum.Write(data) // never fails
		return false, err
	}
	r.Artifacts++
	if c.size != c.head.Size || hex.EncodeToString(c.sum.Sum(nil)) != a.name || a.has(number(c.head.Pieces+1)) {
		return true, a.t.d.damaged(a.path, "the bytes are not those that its name says")
	}
	return true, nil
}

// pieceAt reads a piece.
func (a artifact) pieceAt(n int) ([]byte, error) {
	key := number(n)
	a.t.touch(a.path, key)
	raw := a.b.Get(key)
	if raw == nil {
		return nil, a.t.d.damaged(place(a.path, key), "the value is missing")
	}
	if err := a.verify(key, raw); err != nil {
		return nil, err
	}
	data, err := appendPiece(nil, payload(raw))
	if err != nil {
		return nil, a.t.d.damaged(place(a.path, key), err.Error())
	}
	return data, nil
}

// checkNamed looks whether a record has the artifacts that were stored with it.
func (s *session) checkNamed(log bucket, seq int) error {
	raw := log.b.Get(number(seq))
	if !bytes.Contains(raw, []byte(`"artifacts":[`)) {
		return nil
	}
	var r storedRecord
	if err := log.need(number(seq), &r); err != nil {
		return err
	}
	for _, name := range r.Artifacts {
		if _, ok, err := s.ownArtifact(name); err != nil {
			return err
		} else if !ok {
			return s.t.d.damaged(place(log.path, number(seq)), fmt.Sprintf("artifact %s of it is missing", name))
		}
	}
	return nil
}

// parents lets the check go on with the sessions that are only kept for s.
func (c *crossCheck) parents(s *session) error {
	chain, err := s.chain()
	if err != nil {
		return err
	}
	if c.hidden == nil {
		c.hidden = map[harness.SessionID]bool{}
	}
	for _, up := range chain[1:] {
		if id := up.info.ID; up.info.Hidden && !c.hidden[id] {
			c.hidden[id] = true
			c.sessions = append(c.sessions, id)
		}
	}
	return nil
}
