// Package decide is the dialog in which a person decides about one thing that
// a run waits for: consent to a call, a question, or a call whose outcome is
// uncertain.
//
// The one thing to know: a dialog is a value that only says what the person
// chose ([Outcome]); it never decides by itself, and what is preselected does
// no harm. All of what would be agreed to can be read in it, made safe but never
// cut, and it says how much of it is not on screen.
package decide

import (
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/widget"
)

// Actions of the dialog, as keys are given to them.
const (
	Once     = "chat.approve-once"
	Session  = "chat.approve-session"
	Always   = "chat.approve-always"
	Refuse   = "chat.refuse"
	WithText = "chat.refuse-draft"
	EditRule = "chat.edit-rule"
	Result   = "chat.give-result"
	Again    = "chat.run-again"
	Abort    = "chat.abort-turn"
	Later    = "chat.decide-later"
	Choose   = "chat.choose"
	Up       = "chat.choice-up"
	Down     = "chat.choice-down"
	PageUp   = "chat.proposal-up"
	PageDown = "chat.proposal-down"
	Top      = "chat.proposal-top"
	Bottom   = "chat.proposal-end"
	Whole    = "chat.full-text"
	Side     = "chat.side-by-side"
	// option answers with one of the choices offered, free with what was typed.
	option = "option"
	free   = "free"
)

// sideWidth is the width from which the two sides of a change fit side by side.
const sideWidth = 100

// mode says where typed text goes.
type mode int

const (
	choosing mode = iota
	reasoning
	ruling
	resulting
	modes
)

// Dialog is the dialog about one [harness.Pending].
type Dialog struct {
	p harness.Pending
	// n of of says which of the decisions that wait it is.
	n, of int
	// since is when the call was asked for.
	since time.Time

	at    int // the highlighted choice
	mode  mode
	texts [modes]widget.Field
	// rules are those that would be made, as edited so far.
	rules  map[harness.GrantScope]string
	editAt harness.GrantScope
	// digit is the number of a choice just typed, which becomes text if more
	// follows.
	digit string
	top   int
	// whole says that the text has the whole screen, side that both sides of a
	// change are beside each other.
	whole, side bool
	note        string
	// warned is the scope whose rule was brought on screen because it was not
	// to be seen when it was chosen.
	warned harness.GrantScope
	laid   *memo
}

// Env is what a dialog depends on besides itself.
type Env struct {
	Theme *themes.Theme
	// Width and Height are the room; the dialog takes what it needs of it.
	Width, Height int
	// Awake says that keys are heard.
	Awake bool
	// Draft says that unsent text can go along with a refusal or as an answer.
	Draft bool
	// Ephemeral says that nothing of the conversation outlives the program.
	Ephemeral bool
	// Keys replaces keys by action.
	Keys map[string][]string
	// Fault says in a sentence what is wrong with the text of a rule, empty if
	// nothing is; nil takes any.
	Fault func(rule string) string
	// Now tells which times are of today.
	Now time.Time
}

// Outcome is what the person wants.
type Outcome struct {
	// Decision is to be stored if it is not nil; its By is not filled in.
	Decision *harness.Decision
	// Draft says that the unsent text is to be the decision's text.
	Draft bool
	// Later says that it is decided later.
	Later bool
}

// New returns the dialog about p, the nth of so many. Since is when the call was
// asked for; the zero time if that is not known.
func New(p harness.Pending, n, of int, since time.Time) Dialog {
	d := Dialog{p: p, n: n, of: of, since: since, rules: map[harness.GrantScope]string{}, laid: new(memo)}
	d.texts = [modes]widget.Field{
		choosing: widget.Area(""), reasoning: widget.Line(""), ruling: widget.Line(""), resulting: widget.Area(""),
	}
	if pr := p.Proposal; pr != nil && !p.Uncertain {
		d.rules[harness.ScopeSession], d.rules[harness.ScopeAlways] = pr.Session, pr.Always
	}
	for i, c := range d.choices(false) {
		if c.action == Refuse && !p.Question() || c.action == Later || c.action == free {
			d.at = i
		}
	}
	return d
}

// Pending is what the dialog is about.
func (d Dialog) Pending() harness.Pending { return d.p }

// About reports whether the dialog shows exactly p.
func (d Dialog) About(p harness.Pending) bool {
	return d.laid != nil && d.p.Call.ID == p.Call.ID && d.p.Digest == p.Digest && d.p.Uncertain == p.Uncertain
}

// Counted says which of how many the dialog is.
func (d Dialog) Counted(n, of int) Dialog {
	d.n, d.of = n, of
	return d
}

// After takes over what was written in an earlier dialog about the same call.
func (d Dialog) After(old Dialog) Dialog {
	if old.laid != nil && old.p.Call.ID == d.p.Call.ID {
		d.texts = old.texts
	}
	return d
}

// Say shows a sentence in the dialog, such as why a decision was not taken.
func (d Dialog) Say(text string) Dialog {
	d.note = text
	return d
}

// Mend says why a rule was not made and opens it for editing again.
func (d Dialog) Mend(scope harness.GrantScope, text string) Dialog {
	d.note = text
	if d.rules[scope] != "" {
		d = d.edit(scope)
	}
	return d
}

// Whole reports whether the dialog wants the whole screen.
func (d Dialog) Whole() bool { return d.whole }

// Writes reports whether characters are text for the dialog and not keys.
func (d Dialog) Writes() bool { return d.mode != choosing || d.p.Question() }

// Written reports whether a text is being written that esc would put aside.
func (d Dialog) Written() bool { return d.mode != choosing || !d.texts[choosing].Empty() }

// Answer is the text that would answer a question now, empty if a choice would.
func (d Dialog) Answer() string {
	list := d.choices(false)
	if d.mode != choosing || d.at >= len(list) || list[d.at].action != free {
		return ""
	}
	return d.texts[choosing].Text()
}

// Unanswered takes the text of an answer away.
func (d Dialog) Unanswered() Dialog {
	d.texts[choosing] = d.texts[choosing].Set("")
	return d
}

// choice is one row to choose.
type choice struct {
	action string
	index  int // of an option
	// word names it in a few letters, text in full; rule is what it would make,
	// for scope.
	word, text, rule string
	scope            harness.GrantScope
}

// choices are the rows, the one with the draft last so that none moves when it
// comes.
func (d Dialog) choices(draft bool) []choice {
	switch {
	case d.p.Uncertain:
		return []choice{
			{action: Result, word: "result", text: "give a result: you know how it ended"},
			{action: Again, word: "again", text: "run it again: it may then happen twice"},
			{action: Abort, word: "abort", text: "abort the turn"},
			{action: Later, word: "later", text: "decide later"},
		}
	case d.p.Question():
		var list []choice
		for i, c := range d.p.Proposal.Choices {
			list = append(list, choice{action: option, index: i, text: c})
		}
		list = append(list, choice{action: free, text: "write an answer"}, choice{action: Refuse, word: "no answer", text: "do not answer"})
		if draft {
			list = append(list, choice{action: WithText, word: "draft", text: "answer with what you wrote"})
		}
		return list
	}
	list := []choice{{action: Once, word: "once", text: "allow once"}}
	if r := d.rules[harness.ScopeSession]; r != "" {
		list = append(list, choice{action: Session, word: "session", text: "allow for this session", rule: r, scope: harness.ScopeSession})
	}
	if r := d.rules[harness.ScopeAlways]; r != "" {
		list = append(list, choice{action: Always, word: "always", text: "always allow", rule: r, scope: harness.ScopeAlways})
	}
	list = append(list, choice{action: Refuse, word: "refuse", text: "refuse, and tell it why"})
	if draft {
		list = append(list, choice{action: WithText, word: "draft", text: "refuse, and send what you wrote as the reason"})
	}
	return list
}
