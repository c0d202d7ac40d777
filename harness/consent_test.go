package harness_test

import (
	"testing"

	"cairn/harness"
)

func TestBecauseNamesTheRuleOnce(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]harness.Pending{
		"":                            {},
		"it is new":                   {Reason: "it is new"},
		"the rule write_file asks":    {Rule: "write_file"},
		"it is new (rule: write_*)":   {Rule: "write_*", Reason: "it is new"},
		"the rule write_* let it run": {Rule: "write_*", Uncertain: true},
		"the rule write_* denies it?": {Rule: "write_*", Reason: "the rule write_* denies it?"},
	} {
		if got := p.Because(); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}
