package runs

import "cairn/harness"

func (m Model) none() string {
	if _, ok := m.list.selected(); !ok {
		return "no run is selected"
	}
	return ""
}

// undroppable says why the selected run cannot be dropped here.
func (m Model) undroppable() string {
	it, ok := m.list.selected()
	switch {
	case !ok:
		return "no run is selected"
	case it.run.Status.Closed():
		return "it has ended"
	case it.run.Unreachable != "":
		return "where it is kept cannot be reached: cairn runs drop --force gives it up"
	case it.run.Away() && it.run.Worker != nil && it.run.Status == harness.RunRunning:
		return "it goes on: " + m.key("runs.cancel", "x") + " stops it"
	case m.busy[it.run.ID]:
		return "it is being decided"
	case it.owner != nil:
		return m.held(*it.owner)
	default:
		return ""
	}
}

// undecidable says why a decision of the selected run cannot be made here.
func (m Model) undecidable(p *harness.Pending) string {
	it, _ := m.list.selected()
	enter := m.key("runs.open", "enter")
	switch {
	case p == nil && it.unread != nil:
		return "what it waits for cannot be read"
	case p == nil:
		return "nothing waits for a decision"
	case m.busy[it.run.ID]:
		return "it is being decided"
	case it.owner != nil:
		return m.held(*it.owner)
	case p.Uncertain:
		return "its outcome is unknown: " + enter + " opens the conversation, which takes its result"
	case p.Question():
		return "it is a question: " + enter + " opens the conversation to answer it"
	case p.Proposal == nil || p.Digest == "":
		return "what it would do is not known in full: " + enter + " opens the conversation"
	default:
		return ""
	}
}

// held says who has the session open.
func (m Model) held(owner harness.Holder) string {
	if m.mine(owner) {
		return "it is open here: " + m.key("runs.open", "enter") + " shows it"
	}
	return "it is open in " + owner.String() + ": decide there"
}

// mine reports whether a holder is this process.
func (m Model) mine(h harness.Holder) bool {
	sameHost := h.Host == "" || m.c.Self.Host == "" || h.Host == m.c.Self.Host
	return h.PID == m.c.Self.PID && sameHost
}

// firstOpen is the first thing that the selected run waits for and that can be
// decided here, else the first of all.
func (m Model) firstOpen() *harness.Pending {
	it, ok := m.list.selected()
	if !ok || len(it.run.Pending) == 0 {
		return nil
	}
	for i := range it.run.Pending {
		if p := &it.run.Pending[i]; m.undecidable(p) == "" {
			return p
		}
	}
	return &it.run.Pending[0]
}
