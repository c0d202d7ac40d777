// Package standing says in words how a run stands that is kept outside of its
// session's store. The one thing to know: it only words what the run's engine
// filled in, so a run that is kept in the store has nothing to be said here.
package standing

import (
	"fmt"
	"strings"

	"cairn/harness"
)

// Driver names who drives a run, such as "worker pid 12 on box".
func Driver(h harness.Holder) string {
	text := fmt.Sprintf("pid %d", h.PID)
	if h.Purpose != "" {
		text = h.Purpose + " " + text
	}
	for _, place := range []string{h.Terminal, h.Host} {
		if place != "" {
			text += " on " + place
		}
	}
	return text
}

// Worker is the purpose of the processes that drive the runs of others.
const Worker = "worker"

// Silent says of a driver that is not heard of until when, a time of day, it has
// its run nevertheless.
func Silent(h harness.Holder, until string) string {
	return strings.TrimSpace(fmt.Sprintf("%s pid %d", h.Purpose, h.PID)) + " is silent: it has the run until " + until + " unless it goes on"
}

// Same reports whether two holders are the same process. A host that is not
// told is this one.
func Same(a, b harness.Holder) bool {
	return a.PID == b.PID && (a.Host == "" || b.Host == "" || a.Host == b.Host)
}

// Driven says who drives a run, unless that is the process self or nobody; else
// it is empty.
func Driven(r harness.Run, self harness.Holder) string {
	if r.Worker == nil || Same(*r.Worker, self) {
		return ""
	}
	return "driven by " + Driver(*r.Worker)
}

// Word is the state of a run as far as its engine makes it special, and the same
// for a narrow column. Both are empty if there is nothing special about it.
func Word(r harness.Run, self harness.Holder) (long, short string) {
	switch {
	case !r.Away():
		return "", ""
	case r.Unreachable != "":
		return "unreachable", "unreachable"
	case r.Status.Closed() && r.Unfetched > 0:
		return "finished, not fetched", "not fetched"
	case r.Status != harness.RunRunning || r.Interrupted:
		return "", ""
	case r.Worker != nil && Same(*r.Worker, self):
		return "running here", "running here"
	case r.Worker != nil:
		who := fmt.Sprintf("pid %d", r.Worker.PID)
		return "driven by " + who, "in " + who
	case r.Waits != "":
		return "waits for a worker", "no worker"
	default:
		return "", ""
	}
}

// Notes are what there is to say of a run besides its state: who drives it, why
// nobody does, what is not fetched, and why its engine cannot be asked.
func Notes(r harness.Run, self harness.Holder) []string {
	if !r.Away() {
		return nil
	}
	var out []string
	if who := Driven(r, self); who != "" {
		out = append(out, who)
	}
	if r.Waits != "" {
		out = append(out, "waits: "+r.Waits)
	}
	switch {
	case r.Unfetched > 0 && r.Status.Closed():
		out = append(out, "opening its session fetches "+harness.Count(r.Unfetched, "step"))
	case r.Unfetched > 0:
		out = append(out, harness.Count(r.Unfetched, "step")+" not fetched yet")
	}
	if why := Unreachable(r); why != "" {
		out = append(out, why)
	}
	return out
}

// Unreachable says that the engine of a run cannot be asked, and why; empty if
// it can.
func Unreachable(r harness.Run) string {
	if r.Unreachable == "" {
		return ""
	}
	if strings.Contains(r.Unreachable, r.Engine) { // the reason names it already
		return strings.TrimSuffix(r.Unreachable, ".")
	}
	return r.Engine + " cannot be reached: " + strings.TrimSuffix(r.Unreachable, ".")
}

// OfEngine reports whether an error's text is about an engine outside of the store:
// what can be done about the store does not help then.
func OfEngine(text string) bool {
	for _, name := range []string{"open the runs in ", "sqlite:", "postgres://", "temporal://"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// Fetched says what a session was handed over of runs that engines kept. It is
// empty if that is nothing.
func Fetched(f harness.Fetched, engines []string) string {
	if f.Entries == 0 {
		return ""
	}
	of := "a run"
	if f.Runs > 1 {
		of = harness.Count(f.Runs, "run")
	}
	on := ""
	if len(engines) > 0 {
		on = " on " + strings.Join(engines, " and ")
	}
	was := "were"
	if f.Entries == 1 {
		was = "was"
	}
	return harness.Count(f.Entries, "step") + " of " + of + on + " " + was + " fetched"
}

// Unclaimed says that nobody has taken a run, and why.
func Unclaimed(why string) string {
	const nobody = "no worker has taken the run"
	why = strings.TrimSuffix(strings.TrimSpace(why), ".")
	if before, ok := strings.CutSuffix(why, "no worker has taken it"); ok || why == "" {
		return before + nobody
	}
	return nobody + " (" + why + ")"
}
