package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// MinArtifact is the least number of digits by which an artifact can be asked
// for.
const MinArtifact = 12

// ArtifactName is what an artifact is named by: the sha256 of its bytes in
// lower-case hexadecimal.
func ArtifactName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Artifacts keeps large results of tools and attached files out of the
// conversations that name them, for as long as the session is kept. They are
// named by their content, so that the same bytes are stored once in a session.
// All methods are safe for concurrent use, also from several processes.
//
// The bytes of a [File] need no Put: a store of conversations takes the Data out
// of a message that it is given, in the transaction that stores the message, and
// leaves Artifact in it. Such a message is read without Data.
type Artifacts interface {
	// Put stores data in a session and returns its sha256 in lower-case
	// hexadecimal. It is on disk when Put returns. Putting it again changes
	// nothing. A session that is not stored is [ErrNotFound].
	Put(ctx context.Context, session SessionID, data []byte) (name string, err error)
	// Get returns what has this sha256 in the session, or in one that it was
	// forked from, else [ErrNotFound]. The first digits do, at least
	// [MinArtifact] of them, if they are those of one artifact alone. Bytes that
	// are not its own are [ErrDamaged]. The caller may change what it is given.
	Get(ctx context.Context, session SessionID, name string) ([]byte, error)
}
