package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/plain/proposal"
)

// consent is how a person agrees to a call from the command line.
type consent struct {
	yes    bool
	digest string
}

// agree shows what is to be approved and has the person agree to it. Nothing
// else that was typed counts as consent.
func (p *printing) agree(ctx context.Context, r harness.Run, w harness.Pending, d harness.Decision, c consent) error {
	for _, line := range proposal.Lines(w) {
		p.tell(line)
	}
	if d.Rule != "" {
		p.tell(fmt.Sprintf("  and from now on (%s) without asking: %s", d.Scope, d.Rule))
	}
	switch {
	case c.digest != "" && c.digest != w.Digest:
		return fail(ExitApproval, "nothing was decided: what waits is not what was seen any more, its digest is %s; look again with: cairn runs show %s", w.Digest, r.ID)
	case c.digest != "", c.yes:
		return nil
	}
	yes, err := p.confirm(ctx, "approve? [y/N] ")
	if err == nil && !yes {
		err = fail(ExitApproval, "nothing was decided; %s", howToDecide(r.Session, r.ID, []harness.Pending{w}))
	}
	return err
}

// tell writes a line of safe text to the error stream: standard output is for
// the answer.
func (a *app) tell(line string) {
	// Where this goes nowhere, there is nowhere to complain of it.
	_, _ = fmt.Fprintln(a.s.Err, line)
}

// confirm asks a question on the terminal. Only a yes that is typed after it
// counts: what was typed before is thrown away.
func (p *printing) confirm(ctx context.Context, question string) (bool, error) {
	if p.s.Discard != nil {
		if err := p.s.Discard(); err != nil {
			return false, fmt.Errorf("throw away what was typed before the question: %w", err)
		}
	}
	_, _ = fmt.Fprint(p.s.Err, question) // as in tell
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan string, 1)
	go func() {
		// An end of the input is no yes, whatever its reason.
		line, _ := bufio.NewReader(p.s.In).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		word := strings.ToLower(strings.TrimSpace(line))
		return strings.HasSuffix(line, "\n") && (word == "y" || word == "yes"), nil
	case taker := <-p.asked(watching):
		return false, fail(ExitBusy, "%s took session %s over; decide it there", taker, p.target.session.ID)
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
