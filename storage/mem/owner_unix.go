//go:build unix

package mem

import (
	"io/fs"
	"os"
	"syscall"
)

// privateModes says that modes tell who may look into a directory.
const privateModes = true

// mine reports whether a file belongs to who runs this process.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
