//go:build !unix

package cli

import "os"

// healthSignal never receives: there is no signal to ask with.
func healthSignal() (asked <-chan os.Signal, done func()) { return nil, func() {} }
