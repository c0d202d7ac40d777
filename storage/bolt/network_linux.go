package bolt

import "syscall"

// fileSystem names the kind of file system that a directory is on, "" if it is
// none that matters or cannot be told.
func fileSystem(dir string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return ""
	}
	// The kernel's numbers are of 32 bits; some of them are negative on machines
	// where the field is too.
	return map[uint32]string{
		0x01021997: "9p", 0x5346414F: "afs", 0x6B414653: "afs", 0x00C36400: "ceph", 0xFF534D42: "cifs", 0x73757245: "coda",
		0x65735546: "fuse", 0x01161970: "gfs2", 0x0BD00BD0: "lustre", 0x564C: "ncp", 0x6969: "nfs", 0x7461636F: "ocfs2",
		0x517B: "smb", 0xFE534D42: "smb2",
	}[uint32(s.Type)] //nolint:gosec // see above
}
