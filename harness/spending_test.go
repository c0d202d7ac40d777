package harness_test

import (
	"testing"

	"cairn/harness"
)

func TestSmallAmountsAreNotToldAsNothing(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{
		0: "$0.00", 5: "$5.00", 0.01: "$0.01", 0.999: "$1.00", 0.0099: "$0.0099", 0.0001: "$0.0001", 0.00001: "less than $0.0001",
	} {
		if got := harness.Dollars(usd); got != want {
			t.Errorf("%g is %q, want %q", usd, got, want)
		}
	}
	err := &harness.SpendingError{Scope: "session", Limit: 0.005, Spent: 0.004, Held: 0.0005, Needed: 0.0031}
	const want = "the spending limit of $0.0050 would be passed: $0.0040 is spent in this session, $0.0005 is held for other calls, and this call may cost up to $0.0031; raise spending.session in the configuration or choose a cheaper model"
	if err.Error() != want {
		t.Errorf("%q", err)
	}
}
