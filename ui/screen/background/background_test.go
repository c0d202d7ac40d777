package background

import "testing"

func TestTheEnvironmentTellsTheBackground(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		value       string
		dark, known bool
	}{
		{"15;0", true, true},
		{"0;15", false, true},
		{"0;default;15", false, true},
		{"12;8", true, true},
		{"0;7", false, true},
		{"0;6", true, true},
		{"", false, false},
		{"15", false, false},
		{"15;default", false, false},
		{"15;16", false, false},
		{"15;-1", false, false},
	} {
		if dark, known := FromEnv(tc.value); dark != tc.dark || known != tc.known {
			t.Errorf("%q: dark %v, known %v", tc.value, dark, known)
		}
	}
}
