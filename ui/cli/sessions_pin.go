package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// pinned is the JSON of a message that was pinned, or is no longer.
type pinned struct {
	Session harness.SessionID `json:"session"`
	// Message is its number, in the session In if that is another one.
	Message int               `json:"message"`
	In      harness.SessionID `json:"in,omitempty"`
	Pinned  bool              `json:"pinned"`
}

func (a *app) sessionsPin() *cobra.Command {
	return a.pinning("pin", "Keep a message in the context, whatever is condensed", false)
}

func (a *app) sessionsUnpin() *cobra.Command {
	return a.pinning("unpin", "Let a pinned message be condensed again", true)
}

// pinning is one of the two.
func (a *app) pinning(name, short string, off bool) *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use: name + " SESSION N", Short: short,
		Long: short + ". Messages have the numbers that cairn sessions show prints. It counts on\nthe branch on screen, and on those that go on from it.",
		Args: exactly(2, "a session and the number of a message"),
	}
	cmd.Flags().StringVar(&in, "in", "", "in a fork: the `SESSION` before it in which the message is")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		n, err := strconv.Atoi(strings.TrimPrefix(args[1], "#"))
		if err != nil || n < 1 {
			return usage("%q is no number of a message; see: cairn sessions show %s", args[1], args[0])
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(ctx, st, args[0])
		if err != nil {
			return err
		}
		p := pinned{Session: s.ID, Message: n, Pinned: !off}
		if in != "" && harness.SessionID(in) != s.ID {
			p.In = harness.SessionID(in)
		}
		return a.pin(ctx, st, s, p)
	})
	return cmd
}

// pin stores whether a message is pinned.
func (a *app) pin(ctx context.Context, st Store, s harness.Session, p pinned) error {
	lease, err := st.Owners.Acquire(ctx, s, a.holder())
	if err != nil {
		return err
	}
	changed, err := a.pinUnder(ctx, st, lease, s, p)
	err = errors.Join(err, st.Owners.Release(context.WithoutCancel(ctx), lease))
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.document(p)
	}
	is := map[bool]string{true: "is", false: "was"}[changed]
	if p.Pinned {
		a.out.line("message %d of %s %s pinned%s", p.Message, s.ID, is, map[bool]string{false: " already"}[changed])
		return nil
	}
	a.out.line("message %d of %s %s not pinned%s", p.Message, s.ID, is, map[bool]string{true: " any more"}[changed])
	return nil
}

// pinUnder is pin with the right to the session.
func (a *app) pinUnder(ctx context.Context, st Store, lease harness.Lease, s harness.Session, p pinned) (changed bool, err error) {
	branch, err := st.Transcript.Tail(ctx, s.ID, 0, 0)
	if err != nil {
		return false, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	m, err := pinnable(branch, s.ID, p)
	if err != nil {
		return false, err
	}
	now, err := standingOf(ctx, st, s, branch)
	if err != nil || now.pinned[harness.Origin{Session: m.In, Record: m.Seq}] == p.Pinned {
		return false, err
	}
	data, err := json.Marshal(harness.Pin{Message: p.Message, In: p.In, Off: !p.Pinned})
	if err != nil {
		return false, fmt.Errorf("write a pin: %w", err)
	}
	if _, err := st.Transcript.Append(ctx, lease, harness.Record{Kind: harness.RecordPin, At: a.s.Now(), Data: data}); err != nil {
		return false, fmt.Errorf("pin message %d of session %s: %w", p.Message, s.ID, err)
	}
	return true, nil
}

// pinnable finds the message to be pinned on a branch.
func pinnable(branch []harness.Record, id harness.SessionID, p pinned) (harness.Record, error) {
	for _, r := range branch {
		if r.Seq != p.Message || r.In != p.In {
			continue
		}
		m := r.Message
		if m == nil || m.Mark == harness.MarkNotice || m.Role == harness.RoleTool || strings.TrimSpace(m.Text()) == "" {
			return r, usage("[%s] is nothing that somebody said; only such messages can be pinned", numberOf(r))
		}
		return r, nil
	}
	return harness.Record{}, fail(ExitNotFound, "no message %d is on the branch on screen of session %s; see: cairn sessions show %s", p.Message, id, id)
}
