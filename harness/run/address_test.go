package run_test

import (
	"errors"
	"strings"
	"testing"

	"cairn/harness/run"
)

func TestAddressesAreNamedWithoutPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"bbolt":                      "bbolt",
		"sqlite:/home/ada/runs.db":   "sqlite:/home/ada/runs.db",
		"sqlite:///home/ada/runs.db": "sqlite:/home/ada/runs.db",
		"postgres://ada:s3cret@db.example/runs?sslmode=disable": "postgres://db.example:5432/runs",
		"postgresql://db.example:6000/runs?schema=x":            "postgres://db.example:6000/runs?schema=x",
		"postgres:///runs?host=/run/pg&port=5433":               "postgres:///runs?host=/run/pg&port=5433",
		"postgres://ada:s3cret@/runs?schema=x&host=%2Frun%2Fpg": "postgres:///runs?host=/run/pg&schema=x",
		"postgres://ada@[::1]/runs":                             "postgres://[::1]:5432/runs",
		"temporal://localhost":                                  "temporal://localhost:7233/default",
		"temporal://key@t.example:7000/ns?blobs=file:///x":      "temporal://t.example:7000/ns",
	} {
		a, err := run.ParseAddress(text)
		if err != nil || a.Name != want {
			t.Errorf("%s is named %q, want %q (%v)", text, a.Name, want, err)
		}
		// Runs know their engine by this name, and it has to find it again.
		if again, err := run.ParseAddress(a.Name); err != nil || again.Name != a.Name {
			t.Errorf("the name %q is read as %q (%v)", a.Name, again.Name, err)
		}
	}
}

func TestBadAddressesAreExplainedWithoutPassword(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "bolt", "sqlite:", "sqlite:/", "mysql://ada:s3cret@h/d", "postgres://ada:s3cret@/", "postgres://ada:s3cret@h", "postgres://ada:s3cret@h/a/b", "postgres://ada@h/d&password=s3cret",
		"postgres://ada:s3 cret@h/d\x7f", "temporal:///ns",
	} {
		_, err := run.ParseAddress(text)
		if !errors.Is(err, run.ErrAddress) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
