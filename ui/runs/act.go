package runs

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

type (
	// halted says that a run was asked to stop, or why it was not.
	halted struct {
		run  harness.RunID
		what string
		err  error
	}
	// pruned says how many ended runs were removed.
	pruned struct {
		n   int
		err error
	}
)

func (halted) runsMsg() {}
func (pruned) runsMsg() {}

// goOn takes the session of the selected run and goes on with it here.
func (m Model) goOn(how harness.ResumeHow) (Model, tea.Cmd) {
	it, _ := m.list.selected()
	m = m.working(it.run.ID, true)
	m.notice = notice{text: "Taking the run up."}
	said := "The run goes on."
	if how == harness.ResumeRetry {
		said = "Asked again; the run goes on."
	}
	return m, m.taken(it.run, said, func(ctx context.Context, l harness.Lease) (harness.RunHandle, error) {
		return m.c.Engine.Resume(ctx, l, it.run.ID, how)
	})
}

// taken takes the session of a run, does something that has it go on, and keeps
// the session for it.
func (m Model) taken(run harness.Run, said string, do func(context.Context, harness.Lease) (harness.RunHandle, error)) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		out := decided{run: run.ID, said: said}
		out.lease, out.err = c.Owners.Acquire(ctx, harness.Session{ID: run.Session}, c.Self)
		if out.err != nil {
			out.err = fmt.Errorf("go on with run %s: %w", run.ID, out.err)
			return out
		}
		if out.handle, out.err = do(ctx, out.lease); out.err != nil {
			out.err = errors.Join(fmt.Errorf("go on with run %s: %w", run.ID, out.err), release(ctx, c, out.lease))
		}
		return out
	}
}

// halt asks whoever drives the selected run to pause it or to stop it.
func (m Model) halt(cancel bool) (Model, tea.Cmd) {
	it, _ := m.list.selected()
	m = m.working(it.run.ID, true)
	ctx, c, id := m.ctx, m.c, it.run.ID
	do, what := c.Engine.Pause, "Paused."
	if cancel {
		do, what = c.Engine.Cancel, "Stopped."
	}
	m.notice = notice{text: "Asking whoever drives it."}
	return m, func() tea.Msg {
		err := do(ctx, id)
		if err != nil {
			err = fmt.Errorf("stop run %s: %w", id, err)
		}
		return halted{id, what, err}
	}
}

func (m Model) onHalted(msg halted) (Model, tea.Cmd, Intent) {
	m = m.working(msg.run, false)
	if msg.err != nil {
		return m.refused(msg.run, msg.err)
	}
	m.notice = notice{text: msg.what}
	m, cmd := m.reload()
	return m, cmd, nil
}

// unhaltable says why the selected run cannot be stopped here.
func (m Model) unhaltable() string {
	it, ok := m.list.selected()
	switch {
	case !ok:
		return "no run is selected"
	case it.run.Status.Closed():
		return "it has ended"
	case it.run.Unreachable != "":
		return "where it is kept cannot be reached"
	case it.run.Status != harness.RunRunning || it.run.Interrupted:
		return "it rests already"
	case m.busy[it.run.ID]:
		return "something is done with it"
	case it.run.Away():
		return ""
	case it.owner != nil && !m.mine(*it.owner):
		return "it runs in " + it.owner.String() + ": stop it there"
	default:
		return ""
	}
}

// unresumable says why the selected run cannot go on.
func (m Model) unresumable() string {
	it, ok := m.list.selected()
	switch {
	case !ok:
		return "no run is selected"
	case it.run.Status.Closed():
		return "it has ended"
	case it.run.Unreachable != "":
		return "where it is kept cannot be reached"
	case m.busy[it.run.ID]:
		return "something is done with it"
	case m.underWay(it):
		return "it goes on already"
	default:
		return ""
	}
}

// unretriable says why the selected run cannot ask again.
func (m Model) unretriable() string {
	it, _ := m.list.selected()
	if off := m.unresumable(); off != "" {
		return off
	}
	if it.run.Status == harness.RunAwaiting {
		return "it waits for a decision"
	}
	return ""
}

// underWay reports whether somebody drives a run now.
func (m Model) underWay(it item) bool {
	r := it.run
	if _, driven := m.drives[r.Session]; driven {
		return true
	}
	return r.Status == harness.RunRunning && !r.Interrupted && (!r.Away() || r.Worker != nil)
}

// resume goes on with the selected run, or opens its conversation where that waits
// for a decision.
func (m Model) resume() (Model, tea.Cmd, Intent) {
	it, _ := m.list.selected()
	if it.run.Status == harness.RunAwaiting || it.owner != nil {
		return m.open()
	}
	m, cmd := m.goOn(harness.ResumeContinue)
	return m, cmd, nil
}

// unresolvable says why what became of a call cannot be said here.
func (m Model) unresolvable() string {
	p := m.firstUncertain()
	it, _ := m.list.selected()
	switch {
	case p == nil:
		return "no call is uncertain"
	case m.busy[it.run.ID]:
		return "it is being decided"
	case it.owner != nil:
		return m.held(*it.owner)
	default:
		return m.asleep()
	}
}

// firstUncertain is the call of the page, or else the first one, that nobody saw
// end.
func (m Model) firstUncertain() *harness.Pending {
	it, _ := m.list.selected()
	for i := range it.run.Pending {
		if p := &it.run.Pending[i]; p.Uncertain && (m.mode != modeDecide || p.Call.ID == m.call) {
			return p
		}
	}
	return nil
}

// resolve says what is to become of a call that nobody saw end. From where it is
// not shown in full, it only shows it.
func (m Model) resolve(again bool) (Model, tea.Cmd) {
	p := m.firstUncertain()
	if m.mode != modeDecide {
		m.mode, m.call = modeDecide, p.Call.ID
		return m, nil
	}
	it, _ := m.list.selected()
	d := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideAbort, By: m.by()}
	said := "The run is ended."
	if again {
		d.How, said = harness.DecideRetry, "The call runs again; the run goes on."
	}
	m.mode, m.call = modeList, ""
	m = m.working(it.run.ID, true)
	m.notice = notice{text: "Storing the decision."}
	return m, m.taken(it.run, said, func(ctx context.Context, l harness.Lease) (harness.RunHandle, error) {
		return m.c.Engine.Decide(ctx, l, it.run.ID, d)
	})
}

// unprunable says why no ended runs can be removed.
func (m Model) unprunable() string {
	if m.c.Prune == nil {
		return "runs are removed with: cairn runs prune"
	}
	return ""
}

// prune removes old ended runs at the second key.
func (m Model) prune(again bool) (Model, tea.Cmd) {
	if !again {
		m.pruning = true
		m.notice = notice{text: m.key("runs.prune", "P") + " again removes the journals of runs that ended more than 30 days ago; conversations keep all that was said."}
		return m, nil
	}
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		n, err := c.Prune(ctx)
		return pruned{n, err}
	}
}

func (m Model) onPruned(msg pruned) (Model, tea.Cmd) {
	m.notice = notice{text: "Removed " + harness.Count(msg.n, "run") + "."}
	if msg.err != nil {
		m.notice = notice{text: m.c.Words(msg.err), failed: true}
	}
	return m.reload()
}

// elsewhere reports whether any run of the list is kept elsewhere.
func (l list) elsewhere() bool {
	for _, it := range l.items {
		if it.run.Away() {
			return true
		}
	}
	return false
}

// notes are what there is to say of a run that is kept elsewhere.
func (m Model) notes(r harness.Run) []string {
	notes := standing.Notes(r, m.c.Self)
	if r.Away() {
		notes = append([]string{"on " + r.Engine}, notes...)
	}
	return notes
}
