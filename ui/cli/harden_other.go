//go:build !linux

package cli

// Harden does nothing here: there is no way to ask for it.
func Harden() error { return nil }
