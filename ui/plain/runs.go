package plain

import (
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

const (
	runsHelp = "a number shows it whole; a number and a word does more: open (decides what waits there, or asks what is to become of it), continue, retry, drop, approve, cancel. " +
		"all lists also those that ended, ? says this again, an empty line goes back"
	// runsMax bounds the runs that are listed of those that ended.
	runsMax = 100
)

// runs lists the unfinished runs of all sessions.
func (p *plain) runs() { p.listRuns(true) }

// listRuns lists the unfinished runs, or all, and returns them.
func (p *plain) listRuns(unfinished bool) []harness.Run {
	filter := harness.RunFilter{Unfinished: unfinished}
	if !unfinished {
		filter.Limit = runsMax
	}
	runs, err := p.Chat.Engine.List(p.ctx, filter)
	if err != nil {
		p.trouble(err)
		return nil
	}
	if len(runs) == 0 {
		p.say(map[bool]string{true: "no run is unfinished", false: "there is no run"}[unfinished])
	}
	for i, r := range runs {
		p.out.line(fmt.Sprintf("  %-3d run %s, session %s, %s", i+1, r.ID, r.Session, render.SafeLine(p.runState(r))))
	}
	return runs
}

// runState says in words how a run stands.
func (p *plain) runState(r harness.Run) string {
	state := strings.ReplaceAll(string(r.Status), "_", " ")
	if r.Interrupted {
		state = string(harness.MarkInterrupted)
	}
	if !r.Status.Closed() { // of those that ended nothing waits
		if full, err := p.Chat.Engine.Get(p.ctx, r.ID); err == nil && len(full.Pending) > 0 {
			w := full.Pending[0]
			state = proposal.State(w) + ", " + w.Call.Name + ": " + proposal.Brief(w)
		}
	}
	if long, _ := standing.Word(r, p.Chat.Holder); long != "" {
		state = long
	}
	if r.Away() {
		state = strings.Join(append([]string{state, "on " + r.Engine}, standing.Notes(r, p.Chat.Holder)...), "; ")
	}
	return state
}

// runsMenu lists the runs and asks what to do.
func (p *plain) runsMenu(arg string) {
	runs := p.listRuns(arg != "all")
	if len(runs) == 0 {
		return
	}
	p.menu("runs", len(runs), runsHelp, func(w wish) bool {
		if w.n == 0 {
			if w.word == "all" || w.word == "unfinished" {
				runs = p.listRuns(w.word != "all")
			} else {
				p.unknown(w)
			}
			return false
		}
		i, ok := p.meantOf(w, len(runs))
		if !ok {
			return false
		}
		return p.toRun(runs[i], w)
	})
}

// toRun does what was typed about a run.
func (p *plain) toRun(r harness.Run, w wish) (done bool) {
	switch w.word {
	case "", "show":
		p.showRun(r.ID)
	case "open", "approve", "decide", "refuse":
		p.openRun(r, "")
		return true
	case "continue":
		p.openRun(r, harness.ResumeContinue)
		return true
	case "retry":
		p.openRun(r, harness.ResumeRetry)
		return true
	case "drop":
		p.endRun(r)
	case "cancel", "stop":
		if err := p.Chat.Engine.Cancel(p.ctx, r.ID); errors.Is(err, harness.ErrNotFound) {
			p.endRun(r) // it is at rest
		} else if err != nil {
			p.trouble(fmt.Errorf("cancel run %s: %w", r.ID, err))
		} else {
			p.say("run " + string(r.ID) + " is asked to stop")
		}
	default:
		p.unknown(w)
	}
	return false
}

// showRun writes what there is to know of a run.
func (p *plain) showRun(id harness.RunID) {
	r, err := p.Chat.Engine.Get(p.ctx, id)
	if err != nil {
		p.trouble(fmt.Errorf("read run %s: %w", id, err))
		return
	}
	zone := p.Chat.Now().Location()
	p.say(fmt.Sprintf("run %s of session %s: %s", r.ID, r.Session, p.runState(r)))
	p.out.line("  model: " + render.SafeLine(r.Config.Model))
	p.out.line("  last changed: " + r.Updated.In(zone).Format("2006-01-02 15:04"))
	if r.Error != nil {
		p.out.line("  why: " + render.SafeLine(p.Chat.Words(r.Error)))
	}
	for _, w := range r.Pending {
		p.say(proposal.State(w) + ":")
		for _, l := range proposal.Lines(w) {
			p.out.line(l)
		}
	}
	if r.Partial != nil && r.Partial.Text != "" {
		p.out.speak("cairn (unfinished)", r.Partial.Text)
	}
}

// openRun opens the session of a run, where its decisions are asked for, or what
// is to become of it is done.
func (p *plain) openRun(r harness.Run, how harness.ResumeHow) {
	if r.Status.Closed() {
		p.say("the run has ended; its session is opened")
		how = ""
	}
	p.wish = how
	if r.Session != p.session.ID {
		p.change(harness.Session{ID: r.Session})
	} else {
		p.resume()
	}
	p.wish = ""
}

// endRun ends a run that is at rest. What it said stays in the conversation.
func (p *plain) endRun(r harness.Run) {
	lease, mine := p.lease, r.Session == p.session.ID && p.owner
	var err error
	if !mine {
		lease, err = p.Chat.Owners.Acquire(p.ctx, harness.Session{ID: r.Session}, p.Chat.Holder)
	}
	if holder, held := harness.AsHeld(err); held {
		p.say("its session is open in " + holder.String() + ": decide it there")
		return
	}
	if err == nil {
		var h harness.RunHandle
		if h, err = p.Chat.Engine.Resume(p.ctx, lease, r.ID, harness.ResumeDrop); err == nil {
			_, err = h.Wait(p.ctx)
		}
		if !mine {
			err = errors.Join(err, p.Chat.Owners.Release(p.ctx, lease))
		}
	}
	if err != nil {
		p.trouble(fmt.Errorf("drop run %s: %w", r.ID, err))
		return
	}
	if p.waits == r.ID {
		p.waits = ""
	}
	p.say("dropped; what it said stays")
}
