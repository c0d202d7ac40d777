package cli

import (
	"cairn/harness"
	away "cairn/ui/runs/standing"
)

// progress tells how far a tool is, where tools are told at all.
func (a *app) progress(e harness.Event) {
	if !a.flags.verbose || e.Call == nil || e.Progress == nil || !a.pace.Due(e.Call.ID, *e.Progress, a.s.Now()) {
		return
	}
	if words := away.Progress(*e.Progress, "-"); words != "" {
		a.notice("tool %s: %s", e.Call.Name, words)
	}
}
