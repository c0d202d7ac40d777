//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package cli

import (
	"errors"
	"os"
)

// discard cannot be done here, so nothing that is typed counts as consent.
func discard(*os.File) error { return errors.ErrUnsupported }
