//go:build !unix

package bolt_test

// setUmask has nothing to set where there are no modes.
func setUmask(int) int { return 0 }
