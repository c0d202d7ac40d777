package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// A server that takes the connection and never answers is told of in a sentence.
func TestTheDoctorWaitsForNoEngineForLong(t *testing.T) {
	t.Parallel()
	w, s, out, _ := world1(t)
	wire, getenv := w.wire(), s.Getenv
	s.Getenv = func(name string) string {
		if name == "CAIRN_ENGINE" {
			return "postgres://ada:verysecret@box/runs"
		}
		return getenv(name)
	}
	wire.ProbeEngine = func(ctx context.Context, _ Setup) (EngineReport, error) {
		<-ctx.Done()
		return EngineReport{}, fmt.Errorf("open the runs: %w", ctx.Err())
	}
	synctest.Test(t, func(t *testing.T) {
		if code := Main(t.Context(), s, []string{"doctor"}, wire); code != ExitFailed {
			t.Errorf("exit code %d", code)
		}
	})
	if said := out.String(); !strings.Contains(said, "box:5432/runs did not answer within 5 seconds") || strings.Contains(said, "verysecret") {
		t.Errorf("said\n%s", said)
	}
}
