package snapshot

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"cairn/harness"
)

// Artifacts keeps the artifacts of sessions where their snapshots have them: what
// a tool stores there is on disk before any document names it. It is what the
// Artifacts of a tool set may be.
type Artifacts struct{ Store Store }

// Put stores data in the session and returns its sha256 in hexadecimal.
func (a Artifacts) Put(ctx context.Context, session harness.SessionID, data []byte) (sha256 string, err error) {
	sum := digest(data)
	if err := checkID(session); err != nil {
		return "", fmt.Errorf("put artifact %s: %w", sum, err)
	}
	if err := a.Store.Put(ctx, artifactKey(session, sum), data); err != nil {
		return "", fmt.Errorf("put artifact %s of session %s: %w", sum, session, err)
	}
	return sum, nil
}

// Get returns what has this sha256 in the session, or [harness.ErrNotFound].
// Bytes that are not its own are [harness.ErrDamaged].
func (a Artifacts) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	if err := errors.Join(checkID(session), checkDigest(sha256)); err != nil {
		return nil, fmt.Errorf("get artifact: %w", err)
	}
	data, err := a.Store.Get(ctx, artifactKey(session, sha256))
	if err != nil {
		return nil, fmt.Errorf("get artifact %s of session %s: %w", sha256, session, err)
	}
	if digest(data) != sha256 {
		return nil, fmt.Errorf("get artifact %s of session %s: %w: checksum mismatch", sha256, session, harness.ErrDamaged)
	}
	return data, nil
}

// put stores the artifacts of d but those that the store has already.
func put(ctx context.Context, store Store, d Document, has map[string]bool) error {
	for _, a := range d.Artifacts {
		if a.Data == nil && has[a.SHA256] {
			continue
		}
		if int64(len(a.Data)) != a.Size || digest(a.Data) != a.SHA256 {
			return fmt.Errorf("%w: the bytes of artifact %s are not its own", ErrInvalid, a.SHA256)
		}
	}
	for _, a := range d.Artifacts {
		if has[a.SHA256] {
			continue
		}
		if err := store.Put(ctx, artifactKey(d.ID, a.SHA256), a.Data); err != nil {
			return fmt.Errorf("artifact %s: %w", a.SHA256, err)
		}
	}
	return nil
}

// checkID refuses what is no id in its sanitised form.
func checkID(id harness.SessionID) error {
	if parsed, changed, err := harness.ParseSessionID(string(id)); err != nil || changed {
		return fmt.Errorf("the id %q is not one in its sanitised form (%q)", id, parsed)
	}
	return nil
}

// checkDigest refuses what is no sha256 as documents spell it.
func checkDigest(sum string) error {
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || hex.EncodeToString(raw) != sum {
		return fmt.Errorf("%q is no sha256 in lower-case hexadecimal", sum)
	}
	return nil
}
