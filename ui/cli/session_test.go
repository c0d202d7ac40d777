package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// The last session is the one that the list of sessions shows first, also when
// the clock went wrong; an old pinned one is not the last.
func TestContinueOpensTheSessionUsedLast(t *testing.T) {
	t.Parallel()
	w, s, out, errs := world1(t)
	run := func(args ...string) string {
		t.Helper()
		out.Reset()
		errs.Reset()
		s.In = strings.NewReader("")
		if code := Main(context.Background(), s, args, w.wire()); code != ExitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		return out.String()
	}
	run("-p", "-s", "first", "text a")
	w.clock = w.clock.Add(-24 * time.Hour)
	run("-p", "-s", "second", "text b")
	run("-p", "-c", "text c")
	if got := run("sessions", "show", "second"); !strings.Contains(got, "4 messages") {
		t.Errorf("another session went on: %s", got)
	}
	pinned := true
	if _, err := w.store.Sessions().Edit(context.Background(), "first", harness.SessionEdit{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(72 * time.Hour)
	run("-p", "-s", "second", "text d")
	run("-p", "-c", "text e")
	if got := run("sessions", "show", "second"); !strings.Contains(got, "8 messages") {
		t.Errorf("the pinned session went on: %s", got)
	}
}

// A conversation that was imported without a directory goes on where the chat is
// started: tools need one.
func TestAConversationWithoutDirectoryTakesTheOneOfTheStart(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	hello := harness.UserText("hello")
	for id, dir := range map[harness.SessionID]string{"nowhere": "", "elsewhere": t.TempDir()} {
		_, _, err := w.store.Sessions().Import(t.Context(), harness.Session{ID: id, Dir: dir},
			[]harness.Record{{Kind: harness.RecordMessage, Message: &hello, At: w.now()}})
		if err != nil {
			t.Fatal(err)
		}
		s.InTTY, s.OutTTY = true, true
		if code := Main(t.Context(), s, []string{"-r", string(id)}, w.wire()); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if dir == "" {
			dir = s.Dir
		}
		if got := w.chats[len(w.chats)-1].Session.Dir; got != dir {
			t.Errorf("%s works in %q, not %q", id, got, dir)
		}
	}
}
