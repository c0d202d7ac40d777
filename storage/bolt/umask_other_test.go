//go:build !unix

package bolt_test

import "errors"

// setUmask has nothing to set where there are no modes.
func setUmask(int) int { return 0 }

// makePipe says that there are no named pipes.
func makePipe(string) error { return errors.ErrUnsupported }
