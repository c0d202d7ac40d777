//go:build !linux && !darwin && !freebsd

package cli

// freeSpace is how many bytes may still be written to the file system of a
// directory; here that cannot be told.
func freeSpace(string) (free int64, ok bool) { return 0, false }
