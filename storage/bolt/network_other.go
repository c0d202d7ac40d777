//go:build !linux && !darwin

package bolt

// fileSystem names the kind of file system that a directory is on; here that
// cannot be told.
func fileSystem(string) string { return "" }
