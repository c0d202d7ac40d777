package bolt_test

import (
	"context"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
)

func TestAQuietMomentComesWithTheLullTheBoundOrTheEnd(t *testing.T) {
	t.Parallel()
	db := openAt(t, populated(t), harnesstest.NewClock())
	db.Quiet(t.Context(), time.Millisecond, time.Hour)
	ended, end := context.WithCancel(t.Context())
	end()
	db.Quiet(ended, time.Hour, time.Hour)

	// Somebody who never rests: only the bound is left.
	writing, rest := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for writing.Err() == nil {
			if err := db.Prompts().Add(writing, harness.SessionID("beta"), "again"); err != nil && writing.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	db.Quiet(t.Context(), time.Hour, 50*time.Millisecond)
	rest()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
