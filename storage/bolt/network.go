package bolt

import (
	"fmt"
	"slices"
	"strings"
)

// warnOfNetwork tells if the directory is where other machines can write, too.
func (d *DB) warnOfNetwork() { d.warnOf(fileSystem(d.dir)) }

func (d *DB) warnOf(name string) {
	if !remote(name) {
		return
	}
	d.tell(NoticeNetwork, fmt.Sprintf("%s is on a network file system (%s), where locks and a sudden loss of power are not safe: "+
		"use it on one machine at a time, or choose a local directory with --dir or CAIRN_DIR", d.dir, name))
}

// Remote names the network file system that a directory is on, "" if it is on none
// or that cannot be told.
func Remote(dir string) string {
	if kind := fileSystem(dir); remote(kind) {
		return kind
	}
	return ""
}

// remote reports whether a kind of file system is one that is reached over a
// network, or by a program that may do that.
func remote(kind string) bool {
	kind = strings.ToLower(kind)
	return slices.Contains([]string{
		"9p", "afpfs", "afs", "ceph", "cifs", "coda", "fuse", "gfs2", "lustre", "ncp", "nfs", "ocfs2", "osxfuse", "macfuse",
		"smb", "smb2", "smbfs", "webdav",
	}, kind)
}
