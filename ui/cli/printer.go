package cli

import (
	"cmp"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/ui/render"
)

// printer shows the events of a run.
type printer interface {
	// notice tells something about the start, before any event.
	notice(text string)
	// kept is the half answer that the run goes on from.
	kept(text string)
	event(e harness.Event) error
	// end comes once, after the last event.
	end(r harness.Result) error
}

// printer chooses how events are shown: as JSON, whole answers for a pipe, or
// streaming text for a terminal.
func (a *app) printer(session harness.SessionID) printer {
	switch {
	case a.flags.json:
		return &jsonPrinter{app: a, session: session}
	case a.s.OutTTY:
		return &streamPrinter{app: a}
	}
	return &pipePrinter{app: a}
}

// EventNotice is the type of an event that this package adds to a run's: a
// sentence about the start, such as that no model but the offline one is
// there.
const EventNotice harness.EventType = "notice"

// jsonPrinter writes one event per line.
type jsonPrinter struct {
	*app
	session harness.SessionID
}

func (p *jsonPrinter) notice(text string) {
	p.app.notice("%s", text)
	// The output keeps a failure to write, and a notice always encodes.
	_ = p.out.object(harness.Event{Type: EventNotice, Session: p.session, Text: text, At: p.s.Now().UTC()})
}

// kept tells nothing: the half answer comes as a message.
func (p *jsonPrinter) kept(string) {}

func (p *jsonPrinter) event(e harness.Event) error {
	if err := p.out.object(e); err != nil {
		return err
	}
	return p.out.err
}

func (p *jsonPrinter) end(harness.Result) error { return nil }

// answer reports whether a message is an answer, or a piece of one, and not
// the words before a tool call or a half answer.
func answer(m *harness.Message) bool {
	return m != nil && m.Role == harness.RoleAssistant && m.Mark == harness.MarkNone && len(m.Calls()) == 0
}

// anew reports whether an event says that the model was asked for something else
// than the rest of its answer, such as about a task list that is not finished.
func anew(e harness.Event) bool {
	return e.Type == harness.EventRecovery && e.Message != nil && !loop.GoesOn(*e.Message)
}

// pipePrinter writes an answer when it is whole, byte by byte as stored: what
// a program reads must never be an attempt that turned out void.
type pipePrinter struct {
	*app
	last  string
	wrote bool
	// apart says that what comes next is an answer of its own.
	apart bool
	// attempt and under are the answer that streams and is no message yet.
	attempt int
	under   []byte
}

func (p *pipePrinter) notice(text string) { p.app.notice("%s", text) }

func (p *pipePrinter) kept(text string) { p.write(text) }

func (p *pipePrinter) event(e harness.Event) error {
	switch e.Type {
	case harness.EventText:
		if e.Attempt != p.attempt {
			p.attempt, p.under = e.Attempt, nil
		}
		if skip := len(p.under) - e.Offset; skip >= 0 && skip < len(e.Text) {
			p.under = append(p.under, e.Text[skip:]...)
		}
	case harness.EventReset:
		p.under = nil
	case harness.EventMessage:
		if m := e.Message; m != nil && m.Role == harness.RoleAssistant {
			p.under = nil
		}
		if answer(e.Message) {
			p.write(e.Message.Text())
		}
		p.apart = p.apart || e.Steer != "" // what comes next answers that
	case harness.EventRecovery:
		p.apart = p.apart || anew(e)
	default:
	}
	p.aside(e)
	return p.out.err
}

func (p *pipePrinter) write(text string) {
	if text == "" {
		return
	}
	if p.apart && p.wrote {
		p.out.text(strings.Repeat("\n", 2-min(trailing(p.last), 2)))
	}
	p.wrote, p.apart, p.last = true, false, text
	p.out.text(text)
}

// trailing is how many line ends a text ends with.
func trailing(text string) int { return len(text) - len(strings.TrimRight(text, "\n")) }

func (p *pipePrinter) end(r harness.Result) error {
	if !p.wrote && r.Status == harness.RunCompleted {
		p.write(r.Text)
	}
	if unstored(r) {
		// It is nowhere else.
		p.write(string(p.under))
	}
	if p.wrote && !strings.HasSuffix(p.last, "\n") {
		p.out.text("\n")
	}
	return p.out.err
}

// streamPrinter writes text to a terminal as it comes, made safe.
type streamPrinter struct {
	*app
	attempt int
	// shown is how much of the attempt's text is on the screen, in bytes, and
	// open says that its last line has no end yet.
	shown int
	open  bool
	wrote bool
}

func (p *streamPrinter) notice(text string) { p.app.notice("%s", text) }

func (p *streamPrinter) kept(text string) {
	p.write(text)
	p.shown = 0
}

func (p *streamPrinter) event(e harness.Event) error {
	switch e.Type {
	case harness.EventText:
		if e.Attempt != p.attempt {
			p.attempt, p.shown = e.Attempt, 0
		}
		if skip := p.shown - e.Offset; skip >= 0 && skip < len(e.Text) {
			p.write(e.Text[skip:])
		}
	case harness.EventReset:
		if p.shown > 0 {
			p.closeLine()
			p.app.notice("that answer broke off and does not count; asking again")
		}
		p.shown = 0
	case harness.EventMessage:
		if m := e.Message; m != nil && m.Role == harness.RoleAssistant {
			if text := m.Text(); p.shown < len(text) && answer(m) {
				p.write(text[p.shown:])
			}
			if len(m.Calls()) > 0 {
				p.closeLine()
			}
			p.shown = 0
		}
		if e.Steer != "" { // what comes next answers that
			p.closeLine()
		}
	case harness.EventRecovery:
		if anew(e) {
			p.closeLine()
		}
	default:
	}
	p.aside(e)
	return p.out.err
}

func (p *streamPrinter) write(text string) {
	p.out.text(render.Safe(text))
	p.shown += len(text)
	p.open = !strings.HasSuffix(text, "\n")
	p.wrote = true
}

func (p *streamPrinter) closeLine() {
	if p.open {
		p.out.text("\n")
		p.open = false
	}
}

func (p *streamPrinter) end(r harness.Result) error {
	if !p.wrote && r.Status == harness.RunCompleted {
		p.write(r.Text)
	}
	p.closeLine()
	return p.out.err
}

// unstored reports whether a run ended because its store took nothing more.
func unstored(r harness.Result) bool {
	return r.Status == harness.RunFailed && r.Error != nil && r.Error.Kind == storeKind
}

// storeKind is the kind of an error of the store, in events and results.
const storeKind = "store"

// takesNothing reports whether an event says that the store takes nothing now.
func takesNothing(e harness.Event) bool {
	return e.Type == harness.EventWaiting && e.Error != nil && e.Error.Kind == storeKind
}

// aside tells on the error stream what is not the answer.
func (a *app) aside(e harness.Event) {
	switch e.Type {
	case harness.EventRetry:
		a.notice("%s%s", cmp.Or(e.Text, fmt.Sprintf("asking again in %d s", e.Wait)), because(e))
	case harness.EventWaiting:
		if takesNothing(e) {
			a.unsaved(e.Error.Text)
			return
		}
		if e.Text != "" {
			a.notice("%s", e.Text) // what is done meanwhile
			return
		}
		a.notice("still waiting for the model after %d s", e.Wait)
	case harness.EventUnclaimed:
		a.notice("%s; it goes on once a worker takes it: cairn worker, or drive it here: cairn runs resume %s", cmp.Or(e.Text, "no worker has taken the run"), e.Run)
	case harness.EventRecovery, harness.EventCondensed, harness.EventMemory:
		if e.Text != "" {
			a.notice("%s", e.Text)
		}
	case harness.EventToolStart:
		if a.flags.verbose && e.Call != nil {
			a.notice("tool %s", e.Call.Name)
		}
	case harness.EventProgress:
		a.progress(e)
	default: // the answer, or nothing to tell
	}
	if e.Seq > 0 {
		a.toldUnsaved = false // the store took something
	}
}

// unsaved tells once why the store takes nothing.
func (a *app) unsaved(reason string) {
	if a.toldUnsaved {
		return
	}
	a.toldUnsaved = true
	a.notice("not saved yet: %s; trying again", withRoom(reason))
}

// withRoom adds to the reason of a store what helps against a full disk, if the
// store did not say it.
func withRoom(reason string) string {
	if strings.Contains(reason, "no space left") && !strings.Contains(reason, "free some space") {
		return reason + "; free some space"
	}
	return reason
}

func because(e harness.Event) string {
	switch {
	case e.Error != nil:
		return fmt.Sprintf(": %s", e.Error.Text)
	case e.Text != "":
		return ": " + e.Text
	}
	return ""
}
