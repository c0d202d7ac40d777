package snapshot

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"cairn/harness"
)

// DefaultDir is the directory that [Open] takes if it is given no URL.
const DefaultDir = "./.agent/sessions"

// Store keeps bytes under keys that this package makes: one or more names joined
// by slashes, each of lower-case letters, digits, "_", "-" and ".", beginning with
// a letter or digit and at most 255 bytes long. A store may refuse all others.
// Methods are safe for concurrent use. An own implementation is tested with
// package snapshottest.
type Store interface {
	// Put keeps content that its key names, such as an artifact: if the key
	// holds as many bytes already it may leave them.
	Put(ctx context.Context, key string, data []byte) error
	// Replace makes data what the key holds, at once and durably: whoever reads
	// meanwhile, or after a crash, gets all of data or all of what was before.
	Replace(ctx context.Context, key string, data []byte) error
	// Get returns what the key holds, or [harness.ErrNotFound].
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the keys that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes the key. One that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// Open returns the store at a URL: the path of a directory, a file URL of one,
// or "mem://" for a new one in memory. Empty means [DefaultDir]; blank is an
// error. A directory is made by the first save, with mode 0700, its files with
// 0600. Anything else is an [ErrAddress]: implement [Store] for it.
func Open(ctx context.Context, address string) (Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	switch scheme, _, ok := strings.Cut(address, "://"); {
	case address == "":
		address = DefaultDir
	case strings.TrimSpace(address) == "":
		return nil, fmt.Errorf("open snapshots: %w: the address is blank; leave it empty for %s", ErrAddress, DefaultDir)
	case address == "mem://":
		return &memory{objects: map[string][]byte{}}, nil
	case ok && scheme == "file":
		u, err := url.Parse(address)
		if err != nil || (u.Host != "" && u.Host != "localhost") || u.RawQuery != "" || u.Path == "" {
			return nil, fmt.Errorf("open snapshots: %w: %q is no file URL of a directory here", ErrAddress, address)
		}
		address = filepath.FromSlash(u.Path)
	case ok:
		// The rest of an address may hold a password.
		return nil, fmt.Errorf("open snapshots: %w: %q; give a directory, a file URL or mem://", ErrAddress, scheme+"://")
	}
	dir, err := filepath.Abs(address)
	if err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", address, err)
	}
	return &directory{path: dir}, nil
}

// A prefix before the id keeps it from being a device's name or an option.
const prefix = "session-"

// key returns where the document of a session is.
func key(id harness.SessionID) string { return prefix + string(id) + ".json" }

// artifactKey returns where an artifact of a session is, or with no digest the
// beginning of all of them. Each session has its own, so that one can be deleted.
func artifactKey(id harness.SessionID, sum string) string {
	return "artifacts/" + prefix + string(id) + "/" + sum
}

// checkKey refuses what is not a key as [Store] describes them. It is no pattern,
// because every start of the program would compile that.
func checkKey(key string) error {
	for name := range strings.SplitSeq(key, "/") {
		if name == "" || len(name) > 255 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" || strings.ContainsRune("._-", rune(name[0])) {
			return fmt.Errorf("%q is not a key of a snapshot", key)
		}
	}
	return nil
}
