package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// When silence is told of is what the person's own file says, and 30 seconds if
// it says nothing.
func TestSilenceIsSettledForAStart(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]time.Duration{
		"":                          30 * time.Second,
		"[chat]\nstill = \"2m\"\n":  2 * time.Minute,
		"[chat]\nstill = \"off\"\n": stillOff,
	} {
		w, s, _, errs := world1(t)
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, file, 0o600)
		wire, got := w.wire(), time.Duration(0)
		wire.Plain = func(_ context.Context, c ChatSetup) (ChatExit, error) {
			got = c.Linear.Still
			return ChatExit{}, nil
		}
		if code := Main(t.Context(), s, []string{"--config", path, "--plain"}, wire); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if got != want {
			t.Errorf("with %q silence is told after %v, not %v", file, got, want)
		}
	}
}

func TestSilenceThatMeansNothing(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "soon", "1s", "2h", "-5s", "30"} {
		w, s, _, errs := world1(t)
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, "[chat]\nstill = \""+value+"\"\n", 0o600)
		want := `config.toml:2: "chat.still" must be a time from "5s" to "1h", or "off", not "` + value + `"`
		if code := Main(t.Context(), s, []string{"--config", path, "-p", "text x"}, w.wire()); code != ExitUsage || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit code %d: %s", value, code, errs)
		}
	}
}

// Ctrl+c is told to who took it, and ends the program otherwise.
func TestCtrlCIsWhoseItIs(t *testing.T) {
	t.Parallel()
	b := new(breaks)
	ctx := context.WithValue(t.Context(), breaksKey{}, b)
	if b.tell() {
		t.Error("it is taken by nobody")
	}
	told, release := interrupts(ctx)
	for range 2 { // the second one is not heeded yet
		if !b.tell() {
			t.Error("it is not taken")
		}
	}
	<-told
	release()
	if b.tell() {
		t.Error("it is taken still")
	}
	if told, release := interrupts(t.Context()); told != nil {
		t.Error("there is no context of signals")
		release()
	}
}
