//go:build !linux

package cli

import "runtime/debug"

// Shed gives back the memory that only the start needed. Call it when nobody waits.
func Shed() error {
	debug.FreeOSMemory()
	return nil
}
