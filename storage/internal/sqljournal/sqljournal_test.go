package sqljournal

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
)

func TestPlaceholdersAreNumberedWhereTheyHaveTo(t *testing.T) {
	t.Parallel()
	const statement = "UPDATE runs SET a = ?, b = ? WHERE c = ?"
	if got := (Dialect{}).bind(statement); got != statement {
		t.Errorf("unnumbered: %q", got)
	}
	if got, want := (Dialect{Numbered: true}).bind(statement), "UPDATE runs SET a = $1, b = $2 WHERE c = $3"; got != want {
		t.Errorf("numbered: %q, want %q", got, want)
	}
}

// Whoever changes released definitions makes every database foreign: a change is a
// new version.
func TestDefinitionsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	want := []string{"b6fbfb0ab2ba1a146079ed7ad38621f1f765ff4bb75012088f352a00d05924c6"}
	versions := Dialect{Serial: "SERIAL", Blob: "BLOB"}.versions()
	if len(versions) != len(want) {
		t.Fatalf("%d versions, want %d", len(versions), len(want))
	}
	for i, v := range versions {
		if got := checksum(v); got != want[i] {
			t.Errorf("version %d has checksum %s, want %s", i+1, got, want[i])
		}
		if all := strings.Join(v, "\n"); strings.Contains(all, "SERIAL_KEY") || strings.Contains(all, "BYTES") || strings.Contains(all, "?") {
			t.Errorf("version %d has a word that no database knows:\n%s", i+1, all)
		}
	}
}

func TestValuesAreReadOnlyWhereAndAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	stored, err := encode("here", map[string]string{"tea": "green"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := decode("here", stored, &got); err != nil || got["tea"] != "green" {
		t.Fatalf("read %v (%v)", got, err)
	}
	if err := decode("elsewhere", stored, &got); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("a value of another place: %v", err)
	}
	for at := range stored {
		flipped := []byte(string(stored))
		flipped[at] ^= 1
		if err := decode("here", flipped, &got); !errors.Is(err, harness.ErrDamaged) && !errors.Is(err, harness.ErrNewer) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
		if err := decode("here", stored[:at], &got); !errors.Is(err, harness.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", at, err)
		}
	}
	stored[0]++
	if err := decode("here", stored, &got); !errors.Is(err, harness.ErrNewer) {
		t.Errorf("a value of a newer program: %v", err)
	}
}

func TestHubTellsEachWatcherOfItsRun(t *testing.T) {
	t.Parallel()
	var h Hub
	ctx, cancel := context.WithCancel(t.Context())
	a, err := h.Watch(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Watch(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	told := func(ch <-chan struct{}) bool {
		select {
		case _, ok := <-ch:
			return ok
		default:
			return false
		}
	}
	h.Tell("a", "a", "c")
	h.Tell("a")
	if !told(a) || told(a) || told(b) {
		t.Error("several changes are one, and only for who watches the run")
	}
	h.TellAll()
	if !told(a) || !told(b) {
		t.Error("not all were told")
	}
	cancel()
	if _, ok := <-a; ok {
		t.Error("the channel of a watcher that left has something")
	}
	h.Tell("a")
	if n := h.Watched(); n != 1 {
		t.Errorf("%d watch", n)
	}
	h.Close()
	if _, ok := <-b; ok {
		t.Error("the channel of a closed hub has something")
	}
	if _, err := h.Watch(t.Context(), "a"); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("watching a closed hub: %v", err)
	}
}
