package rules

import (
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
)

// Steers checks that e may be added to r by others than its driver.
func Steers(r harness.Run, e run.Entry) error {
	switch {
	case !e.Steers():
		return fmt.Errorf("an entry of kind %q is for the driver of the run alone", e.Kind)
	case r.Status.Closed():
		return fmt.Errorf("it is %s: %w", r.Status, harness.ErrEnded)
	default:
		return nil
	}
}
