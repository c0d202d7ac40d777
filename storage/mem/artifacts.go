package mem

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Artifacts = (*Artifacts)(nil)

// Artifacts keeps large results and files of a store.
type Artifacts struct{ st *Store }

// Artifacts returns the view that implements [harness.Artifacts].
func (st *Store) Artifacts() *Artifacts { return &Artifacts{st} }

// Put implements [harness.Artifacts].
func (v *Artifacts) Put(ctx context.Context, session harness.SessionID, data []byte) (string, error) {
	op := "put an artifact of session " + string(session)
	b, err := rules.NewBytes(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	err = v.st.change(ctx, op, func() error {
		s := v.st.sessions[session]
		if s == nil {
			return harness.ErrNotFound
		}
		return v.st.keepArtifacts(s, []rules.Bytes{b})
	})
	if err != nil {
		return "", err
	}
	return b.SHA256, nil
}

// Get implements [harness.Artifacts].
func (v *Artifacts) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	op := fmt.Sprintf("get artifact %.64s of session %s", sha256, session)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	digits, err := rules.Digits(sha256)
	if err != nil {
		return nil, fmt.Errorf("get artifact of session %s: %w", session, err)
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	name, err := v.st.findArtifact(session, digits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	data, err := v.st.blobs.get(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return data, nil
}

// findArtifact returns the name that begins with some digits, in a session or in
// one that it was forked from.
func (st *Store) findArtifact(id harness.SessionID, digits string) (string, error) {
	found := ""
	seen := map[harness.SessionID]bool{}
	for s := st.sessions[id]; s != nil && !seen[s.info.ID]; {
		seen[s.info.ID] = true
		for _, name := range slices.Sorted(maps.Keys(s.artifacts)) {
			if !strings.HasPrefix(name, digits) {
				continue
			}
			if found != "" && found != name {
				return "", rules.Ambiguous(digits)
			}
			found = name
		}
		if s.info.Parent == nil {
			break
		}
		s = st.sessions[s.info.Parent.Session]
	}
	if found == "" {
		return "", harness.ErrNotFound
	}
	return found, nil
}

// keepArtifacts stores what a session does not have yet.
func (st *Store) keepArtifacts(s *session, files []rules.Bytes) error {
	for _, b := range files {
		if err := st.blobs.put(b); err != nil {
			return err
		}
		s.artifacts[b.SHA256] = true
	}
	return nil
}

// blobs keeps bytes by their names.
type blobs interface {
	// put keeps bytes; those that are there already stay.
	put(b rules.Bytes) error
	// get returns a copy of what has a name.
	get(name string) ([]byte, error)
	// close forgets them; nothing can be put or got after it.
	close() error
}

// inMemory are blobs in memory.
type inMemory struct {
	all    map[string][]byte
	closed bool
}

func (m *inMemory) put(b rules.Bytes) error {
	if m.closed {
		return harness.ErrClosed
	}
	if _, ok := m.all[b.SHA256]; !ok {
		m.all[b.SHA256] = bytes.Clone(b.Data)
	}
	return nil
}

func (m *inMemory) get(name string) ([]byte, error) {
	data, ok := m.all[name]
	switch {
	case m.closed:
		return nil, harness.ErrClosed
	case !ok:
		return nil, harness.ErrNotFound
	}
	return bytes.Clone(data), nil
}

func (m *inMemory) close() error {
	m.all, m.closed = nil, true
	return nil
}
