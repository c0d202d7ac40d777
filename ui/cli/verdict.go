package cli

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/agent"
)

// verdict turns how the run rests into an error with an exit code, nil if it
// completed.
func (p *printing) verdict(ctx context.Context, r harness.Result) error {
	id := p.target.session.ID
	kept := fmt.Sprintf("; what came is kept in session %s", id)
	if p.flags.ephemeral {
		kept = ""
	}
	p.tellUnasked(r.Unasked)
	switch r.Status {
	case harness.RunCompleted:
		if len(r.Unasked) > 0 {
			return &silent{code: ExitApproval} // it was told above
		}
		return nil
	case harness.RunAwaiting:
		return fail(ExitApproval, "%s; %s", waits(r.Pending), howToDecide(id, r.Run, r.Pending))
	case harness.RunRunning: // others drive it
		if p.taker.PID != 0 {
			return fail(ExitBusy, "%s took session %s over; the answer goes on there", p.taker, id)
		}
		return fail(ExitFailed, "the answer goes on elsewhere; see: cairn runs show %s", r.Run)
	case harness.RunPaused:
		if p.taker.PID != 0 {
			return fail(ExitBusy, "%s took session %s over; the answer goes on there", p.taker, id)
		}
		return fail(ExitFailed, "the answer was paused%s; go on with: cairn runs resume %s", kept, r.Run)
	case harness.RunCancelled:
		if p.dropping {
			return nil
		}
		if ctx.Err() != nil {
			return fail(ExitInterrupted, "interrupted%s", kept)
		}
		return fail(ExitFailed, "the answer was cancelled%s", kept)
	default:
	}
	if unstored(r) {
		return fail(ExitFailed, "%s", p.lost(r))
	}
	if ctx.Err() != nil {
		return fail(ExitInterrupted, "interrupted%s", kept)
	}
	if r.Error == nil {
		return fail(ExitFailed, "the run failed (%s)%s", r.Stop, kept)
	}
	return fail(failedCode(r.Error.Kind), "%w", r.Error)
}

// lost says that the answer is not stored, and why.
func (p *printing) lost(r harness.Result) string {
	reason := withRoom(r.Error.Text)
	if p.flags.ephemeral {
		return "the answer is not complete: " + reason
	}
	text := fmt.Sprintf("the answer is not stored in session %s: %s", p.target.session.ID, reason)
	if r.Run != "" {
		text += fmt.Sprintf("; ask again with: cairn runs resume %s", r.Run)
	}
	return text
}

// failedCode is the exit code of a failed run: 4 if the reason lies with the
// model's provider and not on this machine.
func failedCode(kind string) int {
	switch kind {
	case storeKind, "engine", "internal", "closed", "tool", agent.KindSpending, agent.KindExtension:
		return ExitFailed
	case "lost":
		return ExitBusy
	}
	return ExitProvider
}
