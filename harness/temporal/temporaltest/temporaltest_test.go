package temporaltest_test

import (
	"log/slog"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"cairn/harness/temporal/temporaltest"
)

func TestWhatAServerStoredIsThereAfterAKill(t *testing.T) {
	t.Parallel()
	s := temporaltest.Own(t)
	c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "w", TaskQueue: "q"}, "any"); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DescribeWorkflow(t.Context(), "w", ""); err != nil {
		t.Fatal(err)
	}
}
