package chat

import (
	"maps"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

// progress is how far the calls of a turn say that they are. It is a value: taking
// more gives another one.
type progress struct {
	calls map[string]harness.Progress
	// moved counts what was told.
	moved int
}

// told takes what a call told.
func (p progress) told(call string, x harness.Progress) progress {
	next := progress{calls: map[string]harness.Progress{}, moved: p.moved + 1}
	maps.Copy(next.calls, p.calls)
	next.calls[call] = x
	return next
}

// ended forgets a call, since its result says more.
func (p progress) ended(call string) progress {
	if _, ok := p.calls[call]; !ok {
		return p
	}
	next := progress{calls: maps.Clone(p.calls), moved: p.moved + 1}
	delete(next.calls, call)
	return next
}

// progresses shows how far a tool is: on its own line, and where the run is told.
func (m Model) progresses(e harness.Event) Model {
	if e.Call == nil || e.Progress == nil || m.results[e.Call.ID] != nil {
		return m
	}
	m.turn.progress = m.turn.progress.told(e.Call.ID, *e.Progress)
	dot := m.deps.Theme.Ornaments.Dot
	m.turn.live.now = "running " + render.SafeLine(e.Call.Name)
	if words := standing.Progress(*e.Progress, dot); words != "" { // a name may leave no room for it
		m.turn.live.now = words + " " + dot + " " + m.turn.live.now
	}
	return m
}

// moved tells apart what the calls of an item told: 0 for one of which none tells.
func (d desk) moved(it item) int {
	if len(d.m.turn.progress.calls) == 0 || it.rec.Message == nil || !d.m.turn.runs(it.rec.Run) {
		return 0
	}
	for _, p := range it.rec.Message.Parts {
		if p.Call == nil {
			continue
		}
		if _, ok := d.m.turn.progress.calls[p.Call.ID]; ok {
			return d.m.turn.progress.moved
		}
	}
	return 0
}

// running says that a call runs, and how far it is.
func (d desk) running(call string) string {
	words := "running" + d.l.theme.Ornaments.Ellipsis
	p, ok := d.m.turn.progress.calls[call]
	if !ok {
		return words
	}
	if far := standing.Progress(p, d.l.theme.Ornaments.Dot); far != "" {
		words += " " + far
	}
	return words
}
