package parts

import (
	"errors"
	"strings"
	"testing"

	"cairn/harness/run"
	"cairn/ui/cli"
)

// Whoever is refused with the address of an older run is told that it lacks what
// it was begun with; whoever gave the address is not.
func TestARefusedAddressOfAnOlderRunSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	a, err := run.ParseAddress("postgres://db.example/runs")
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if got := unnamed(a, cli.Setup{}, refused); !errors.Is(got, refused) || !strings.Contains(got.Error(), "CAIRN_ENGINE") {
		t.Errorf("it says %q", got)
	}
	given := cli.Setup{Config: cli.Config{Engines: []run.Address{a}}}
	if got := unnamed(a, given, refused); got.Error() != "refused" {
		t.Errorf("of a given address it says %q", got)
	}
}
