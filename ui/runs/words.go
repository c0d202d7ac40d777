package runs

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/account"
	"cairn/ui/runs/standing"
)

// state says in words where a run stands; short is for narrow columns.
func (m Model) state(it item) (long, short string) {
	r := it.run
	switch {
	case len(r.Pending) > 0 && (r.Status == harness.RunAwaiting || r.Interrupted):
		return waiting(r.Pending)
	case r.Interrupted:
		return "interrupted", "interrupted"
	}
	if long, short := standing.Word(r, m.c.Self); long != "" {
		return long, short
	}
	switch r.Status {
	case harness.RunRunning:
		switch _, driven := m.drives[r.Session]; {
		case driven || it.owner == nil || m.mine(*it.owner):
			return "running here", "running here"
		default:
			return fmt.Sprintf("running in pid %d", it.owner.PID), fmt.Sprintf("in pid %d", it.owner.PID)
		}
	case harness.RunAwaiting:
		return "waits for you", "waits"
	case harness.RunCompleted:
		return "done", "done"
	case harness.RunCancelled:
		if r.Stop == harness.StopDropped {
			return "dropped", "dropped"
		}
		return "stopped", "stopped"
	case harness.RunPaused:
		return "paused", "paused"
	case harness.RunFailed:
		return "failed", "failed"
	}
	return string(r.Status), string(r.Status)
}

// waiting says for what a run waits. What is uncertain goes first: it is
// decided first.
func waiting(pending []harness.Pending) (long, short string) {
	question := true
	for _, p := range pending {
		if p.Uncertain {
			return "uncertain", "uncertain"
		}
		question = question && p.Question()
	}
	if question {
		return "waits for an answer", "answer"
	}
	return "waits for approval", "approval"
}

// summary says in a few words what a run waits for, or why it failed.
func summary(r harness.Run) string {
	if len(r.Pending) > 0 {
		p := r.Pending[0]
		text := p.Call.Name
		if q := p.Proposal; q != nil {
			switch q.Kind {
			case harness.ProposalQuestion:
				text = q.Body
			case harness.ProposalCommand:
				text += " " + q.Body
			case harness.ProposalEdit:
				text += fmt.Sprintf(" %s +%d -%d", q.Subject, q.Added, q.Removed)
			default:
				text += " " + q.Subject
			}
		}
		if n := len(r.Pending) - 1; n > 0 {
			text = fmt.Sprintf("(%d more) %s", n, text)
		}
		return text
	}
	if r.Error != nil {
		return r.Error.Text
	}
	return r.Config.Model
}

// about are the facts of a run on a line.
func (m Model) about(it item) string {
	r := it.run
	state, _ := m.state(it)
	parts := []string{state, string(r.ID), r.Config.Model, "begun " + m.when(r.Started)}
	if !r.Updated.Equal(r.Started) {
		parts = append(parts, "moved on "+m.when(r.Updated))
	}
	if tokens := r.Usage.Input + r.Usage.Output; tokens > 0 {
		parts = append(parts, account.Tokens(r.Usage))
		if r.Usage.CostKnown {
			parts = append(parts, account.Cost(r.Usage))
		}
	}
	if it.owner != nil && !m.mine(*it.owner) {
		parts = append(parts, "open in "+it.owner.String())
	}
	parts = append(parts, m.notes(r)...)
	if r.Dir != "" {
		parts = append(parts, "in "+r.Dir)
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

func (m Model) when(t time.Time) string {
	now := m.c.Now()
	t = t.In(now.Location())
	if now.Sub(t) < 12*time.Hour {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 2006 15:04")
}
