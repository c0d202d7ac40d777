//go:build linux || darwin || freebsd

package cli

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes may still be written to the file system of a
// directory; ok is false if that cannot be told.
func freeSpace(dir string) (free int64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Bsize <= 0 {
		return 0, false
	}
	blocks, block := uint64(s.Bavail), uint64(s.Bsize) //nolint:gosec,unconvert // their types differ between systems
	if blocks > math.MaxInt64/block {
		return math.MaxInt64, true
	}
	return int64(blocks * block), true //nolint:gosec // bounded above
}
