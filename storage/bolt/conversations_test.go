package bolt_test

import (
	"testing"

	"cairn/harness/agent"
	"cairn/harness/agent/agenttest"
	"cairn/storage/bolt"
)

func TestConversations(t *testing.T) {
	agenttest.TestStore(t, func(t *testing.T) agent.Store {
		t.Helper()
		c, err := bolt.OpenConversations(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return c
	})
}

func TestBlankDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := bolt.OpenConversations(" \t"); err == nil {
		t.Error("a blank directory was taken")
	}
}
