package snapshot

import (
	"context"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"cairn/harness"
)

// digestLength is that of a sha256 in hexadecimal.
const digestLength = 64

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

// Get returns what has this sha256 in the session, or [harness.ErrNotFound]. The
// first digits do, at least [harness.MinArtifact] of them, if they are those of one
// artifact alone. Bytes that are not its own are [harness.ErrDamaged].
func (a Artifacts) Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error) {
	if err := checkID(session); err != nil {
		return nil, fmt.Errorf("get artifact: %w", err)
	}
	data, err := a.get(ctx, session, strings.ToLower(sha256))
	if err != nil {
		return nil, fmt.Errorf("get artifact %.64s of session %s: %w", sha256, session, err)
	}
	return data, nil
}

func (a Artifacts) get(ctx context.Context, session harness.SessionID, digits string) ([]byte, error) {
	sum, err := a.find(ctx, session, digits)
	if err != nil {
		return nil, err
	}
	data, err := a.Store.Get(ctx, artifactKey(session, sum))
	if err != nil {
		return nil, err
	}
	if digest(data) != sum {
		return nil, fmt.Errorf("%w: checksum mismatch", harness.ErrDamaged)
	}
	return data, nil
}

// find returns the whole digest that begins with some digits.
func (a Artifacts) find(ctx context.Context, session harness.SessionID, digits string) (string, error) {
	if checkDigest(digits) == nil {
		return digits, nil
	}
	if len(digits) < harness.MinArtifact || len(digits) >= digestLength || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("it is neither a sha256 nor the first %d digits of one: %w", harness.MinArtifact, harness.ErrNotFound)
	}
	keys, err := a.Store.List(ctx, artifactKey(session, digits))
	if err != nil {
		return "", err
	}
	var found []string
	for _, key := range keys {
		if sum := path.Base(key); checkDigest(sum) == nil {
			found = append(found, sum)
		}
	}
	switch len(found) {
	case 0:
		return "", harness.ErrNotFound
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("several artifacts begin so, give more digits: %w", harness.ErrNotFound)
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
