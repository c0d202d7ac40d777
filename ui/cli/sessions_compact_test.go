package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"cairn/harness"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// Whatever the way is that an error comes, the person reads one sentence.
func TestWhyASessionIsNotCondensedIsSaidInOneSentence(t *testing.T) {
	t.Parallel()
	note := func(err error) error {
		return errors.Join(fmt.Errorf("condense session one: %w: %w", condense.ErrSummary, err), nil)
	}
	spent := &harness.SpendingError{Scope: "day", Limit: 1, Spent: 0.9, Needed: 0.2}
	for name, c := range map[string]struct {
		err  error
		code int
		want string
	}{
		"interrupted": {note(fmt.Errorf("openai: %w", context.Canceled)), ExitInterrupted, "interrupted; session one has what was condensed before"},
		"too dear":    {note(spent), ExitFailed, "session one is not condensed further: " + spent.Error()},
		"no price":    {note(&policy.PriceError{Model: "a/b"}), ExitFailed, "session one is not condensed further: " + (&policy.PriceError{Model: "a/b"}).Error()},
		"no answer":   {note(errors.New("the reply is empty")), ExitProvider, "session one is not condensed further: condense session one: no usable note was written: the reply is empty"},
		"no network":  {note(&model.Error{Kind: model.KindNetwork, Message: "down"}), ExitProvider, "session one is not condensed further: condense session one: no usable note was written: down"},
		"no session":  {fmt.Errorf("read: %w", harness.ErrNotFound), ExitNotFound, "read: " + harness.ErrNotFound.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &app{s: Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}}
			err := a.notShrunk("one", c.err)
			if got := a.words(err); got != c.want || exitCode(err) != c.code {
				t.Errorf("exit code %d: %q", exitCode(err), got)
			}
		})
	}
}
