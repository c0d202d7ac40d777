package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
)

// noRoom is why a store takes nothing.
const noRoom = "cairn.db: no space left on device; free some space, nothing of this step was saved"

// A store that takes nothing ends the wait by itself: the reason is told once,
// the answer is printed, and nobody is told that it is kept.
func TestFullStoreEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, s, out, errs := world1(t)
		begun := time.Now()
		code := Main(context.Background(), s, []string{"-p", "-s", "one", "delta The answer\nfull " + noRoom}, w.wire())
		if code != ExitFailed || out.String() != "The answer\n" {
			t.Errorf("exit code %d, output %q", code, out)
		}
		if took := time.Since(begun); took < storePatience || took > storePatience+time.Second {
			t.Errorf("it took %v", took)
		}
		if n := strings.Count(errs.String(), "not saved yet: "+noRoom); n != 1 {
			t.Errorf("the reason is told %d times: %s", n, errs)
		}
		if !strings.Contains(errs.String(), "the answer is not stored in session one: "+noRoom) || !strings.Contains(errs.String(), "cairn runs resume run1") {
			t.Errorf("%s", errs)
		}
		for _, wrong := range []string{"kept", "still waiting", "interrupted"} {
			if strings.Contains(errs.String(), wrong) {
				t.Errorf("it says %q: %s", wrong, errs)
			}
		}
	})
}

// An interrupt while the store takes nothing does not promise what is not so.
func TestInterruptWithAFullStore(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-p", "-s", "one"}, {"-p", "--json", "-s", "one"}} {
		synctest.Test(t, func(t *testing.T) {
			w, s, out, errs := world1(t)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			code := Main(ctx, s, append(args, "delta The answer\nfull "+noRoom), w.wire())
			if code != ExitFailed || !strings.Contains(errs.String(), "the answer is not stored in session one: "+noRoom) {
				t.Errorf("%v: exit code %d: %s", args, code, errs)
			}
			if strings.Contains(errs.String(), "kept") || !strings.Contains(out.String(), "The answer") {
				t.Errorf("%v: %s%s", args, out, errs)
			}
		})
	}
}

// A store that works again in time fails nothing, however long the answer takes.
func TestStoreThatWorksAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := patience{}
		full := harness.Event{Type: harness.EventWaiting, Wait: 1, Error: &harness.RunError{Kind: "store", Text: noRoom}}
		for _, e := range []harness.Event{full, {Type: harness.EventText, Text: "x"}} {
			p.heed(e)
		}
		select {
		case <-p.over():
			t.Error("it gave up on a store that took something")
		case <-time.After(2 * storePatience):
		}
		p.heed(full)
		time.Sleep(storePatience / 2)
		p.heed(full)
		select {
		case <-p.over():
		case <-time.After(storePatience/2 + time.Second):
			t.Error("each try began the wait anew")
		}
	})
}

// Only the answer that was under way is printed when it cannot be stored.
func TestUnstoredAnswerIsTheLastAttempt(t *testing.T) {
	t.Parallel()
	text := func(attempt, offset int, s string) harness.Event {
		return harness.Event{Type: harness.EventText, Attempt: attempt, Offset: offset, Text: s}
	}
	whole := harness.AssistantText("One. ")
	var out, errs bytes.Buffer
	p := newApp(Streams{Out: &out, Err: &errs}, Wire{}).printer("one")
	for _, e := range []harness.Event{
		text(1, 0, "One. "),
		{Type: harness.EventMessage, Attempt: 1, Message: &whole},
		text(2, 0, "Void"),
		{Type: harness.EventReset, Attempt: 3},
		text(3, 0, "Tw"), text(3, 1, "wo"),
	} {
		if err := p.event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(harness.Result{Status: harness.RunFailed, Error: &harness.RunError{Kind: "store"}}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "One. Two\n" {
		t.Errorf("%q", out.String())
	}
}
