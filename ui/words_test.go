package ui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"cairn/harness"
	"cairn/ui"
)

func TestEveryErrorIsASentenceThatHelps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{&harness.RunError{Kind: "auth", Text: "the key was refused; set ANTHROPIC_API_KEY"}, "The key was refused; set ANTHROPIC_API_KEY."},
		{&harness.RunError{Text: "openai: the model does not exist (HTTP 404)"}, "openai: the model does not exist (HTTP 404)."},
		{&harness.RunError{Kind: "spending", Text: "the limit of $1.00 would be passed; raise spending.day in the configuration"}, "in the configuration; a raised limit counts once cairn is started again."},
		{fmt.Errorf("condense session a: %w", &harness.SpendingError{Scope: "session", Limit: 1, Spent: 1}), "The spending limit of $1.00 would be passed: $1.00 is spent in this session"},
		{
			fmt.Errorf("read session k: %w by pid 7 since noon; try again, or end that process", harness.ErrLocked),
			"The store is in use by pid 7 since noon; nothing is lost: try again, or end that process.",
		},
		{fmt.Errorf("acquire: %w", &harness.HeldError{Session: "a", Holder: harness.Holder{PID: 7}}), "The session is open in pid 7; /takeover takes it over."},
		{
			fmt.Errorf("resume: %w", &harness.HeldError{Session: "a", Run: "r1", Holder: harness.Holder{PID: 7, Purpose: "worker", Host: "box"}}),
			"The run is driven by worker pid 7 on box; wait until it rests, or stop it with: cairn runs cancel r1.",
		},
		{fmt.Errorf("append: %w", harness.ErrLost), "Another window took this session over; what you typed is still here."},
		{fmt.Errorf("write: %w", syscall.ENOSPC), "The disk is full, so this is not saved; free some space and go on."},
		{fmt.Errorf("open: %w", harness.ErrDamaged), "cairn db check"},
		{fmt.Errorf("open the runs in /home/ada/runs.db: the file is not one of SQLite; name another: %w", harness.ErrForeign), "name another: " + harness.ErrForeign.Error() + "."},
		{fmt.Errorf("run r at sqlite:/home/ada/runs.db: %w: move the file aside", harness.ErrDamaged), "move the file aside."},
		{fmt.Errorf("open: %w", harness.ErrNewer), "--dir"},
		{fmt.Errorf("start: %w", harness.ErrBusy), "An answer is under way"},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), "took too long"},
		{fmt.Errorf("decide: run r: call c is not what was shown any more: %w", harness.ErrStale), "look at it as it is now"},
		{fmt.Errorf("decide: the tool t is not what was shown any more; approve once: %w", harness.ErrStale), "approve once"},
		{fmt.Errorf("cancel run r: it came to rest first (paused): %w", harness.ErrStale), "look at it again"},
		{errors.New("decide: run r: \"answer\" for call c (approval): not an answer to what is asked"), "not an answer to what is asked."},
		{errors.New("not a rule: it is empty; write a tool's name such as run_command"), "Not a rule: it is empty; write a tool's name"},
		{fmt.Errorf("decide: run r: grant for call c: %w for this call: \"ls\" is not about the tool run_command", harness.ErrRule), "Not a rule for this call: \"ls\" is not"},
		{errors.New("several\nlines  of text"), "Several lines of text."},
		{errors.New(""), "Something failed without saying what."},
	} {
		got := ui.Words(c.err)
		if !strings.Contains(got, c.want) || strings.Contains(got, "\n") || !strings.HasSuffix(got, ".") {
			t.Errorf("%v: %q lacks %q", c.err, got, c.want)
		}
	}
	if got := ui.Words(nil); got != "" {
		t.Errorf("no error is %q", got)
	}
}
