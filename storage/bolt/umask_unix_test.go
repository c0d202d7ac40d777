//go:build unix

package bolt_test

import "syscall"

func setUmask(mask int) int { return syscall.Umask(mask) }

// makePipe makes a named pipe.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
