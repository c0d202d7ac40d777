package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/ui/plain/proposal"
	"cairn/ui/render"
)

// shownRun is the document of `cairn runs show --json`.
type shownRun struct {
	harness.Run
	// Steps are the entries of the run's journal, oldest first.
	Steps []runStep `json:"steps"`
}

// runStep is one entry of a journal.
type runStep struct {
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	// Text says in words what happened.
	Text string `json:"text"`
	// Data is the record as it is stored, without its message.
	Data json.RawMessage `json:"data,omitempty"`
	// Message is the number of the message in the session's log, 0 for none.
	Message int `json:"message,omitempty"`
}

func (a *app) runsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show one run: its steps, who decided what, and what it waits for in full",
		Args: exactly(1, "the id of a run"), ValidArgsFunction: a.completeRun,
		RunE: runner(func(ctx context.Context, args []string) error {
			if b, err := a.direct(ctx); err != nil || b != nil {
				if err != nil {
					return err
				}
				j, entries, err := findJob(ctx, b, args[0])
				if err != nil {
					return err
				}
				return a.showRun(j.Run, entries)
			}
			st, err := a.reading(ctx)
			if err != nil {
				return err
			}
			r, err := findRun(ctx, st, args[0])
			if err != nil {
				return err
			}
			runs := []harness.Run{r}
			if err := a.withPending(ctx, st, runs); err != nil {
				return err
			}
			entries, err := a.entriesOf(ctx, st, runs[0])
			if err != nil {
				return fmt.Errorf("read run %s: %w", r.ID, err)
			}
			return a.showRun(runs[0], entries)
		}),
	}
}

// entriesOf are the steps of a run, those at its engine among them if it can be
// reached.
func (a *app) entriesOf(ctx context.Context, st Store, r harness.Run) ([]run.Entry, error) {
	if r.Away() && r.Unfetched > 0 && r.Unreachable == "" {
		b, err := a.keeper(ctx, r)
		if err != nil {
			return nil, err
		}
		entries, err := b.Read(ctx, r.ID, 0)
		for i := range entries {
			entries[i].Record = 0
		}
		return entries, err
	}
	return st.Runs.Read(ctx, r.ID, 0)
}

// showRun prints a run whole.
func (a *app) showRun(r harness.Run, entries []run.Entry) error {
	for i, e := range entries {
		if e.Record > run.AwayRecord {
			entries[i].Record = 0
		}
	}
	steps, err := stepsOf(entries)
	if err != nil {
		return fmt.Errorf("read run %s: %w", r.ID, err)
	}
	if a.flags.json {
		return a.out.document(shownRun{r, steps})
	}
	a.printRun(r)
	a.printSteps(steps)
	a.printPending(r)
	return nil
}

// printSteps prints the steps of a run, whole.
func (a *app) printSteps(steps []runStep) {
	a.out.line("")
	for _, s := range steps {
		a.out.line("%3d  %s  %s", s.Seq, a.when(s.At), render.SafeLine(s.Text))
	}
}

// printPending prints what a run waits for, in full. Also a file of it cannot
// drive a terminal later; the exact text is in --json.
func (a *app) printPending(r harness.Run) {
	for _, p := range r.Pending {
		a.out.line("\n%s: call %s", proposal.State(p), render.SafeLine(p.Call.ID))
		for _, line := range proposal.Lines(p) {
			a.out.line("%s", line)
		}
		if p.Proposal != nil && p.Proposal.Session != "" {
			a.out.line("  --session would allow: %s", render.SafeLine(p.Proposal.Session))
		}
		if p.Proposal != nil && p.Proposal.Always != "" {
			a.out.line("  --always would allow: %s", render.SafeLine(p.Proposal.Always))
		}
		a.out.line("  %s", decisionCommands(r.ID, p))
	}
}

// decisionCommands are the commands that answer a decision.
func decisionCommands(id harness.RunID, p harness.Pending) string {
	call := render.SafeLine(p.Call.ID)
	switch {
	case p.Uncertain:
		return fmt.Sprintf("cairn runs resolve %s %s --result TEXT | --retry | --abort", id, call)
	case p.Question():
		return fmt.Sprintf("cairn runs answer %s %s TEXT, or cairn runs decline %s %s", id, call, id, call)
	}
	return fmt.Sprintf("cairn runs approve %s %s, or cairn runs decline %s %s", id, call, id, call)
}

// stepsOf tells a journal in words.
func stepsOf(entries []run.Entry) ([]runStep, error) {
	steps := make([]runStep, 0, len(entries))
	var state loop.State
	for _, e := range entries {
		r, err := loop.Decode(loop.Encoded{Kind: e.Kind, Data: e.Data, Message: e.Message})
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		text := stepText(state, r)
		state, _ = loop.Step(state, r)
		steps = append(steps, runStep{Seq: e.Seq, At: e.At, Kind: e.Kind, Text: text, Data: e.Data, Message: e.Record})
	}
	return steps, nil
}

// stepText says what a record that follows a state tells.
func stepText(s loop.State, r loop.Record) string {
	named := func(id string) string {
		if c := s.Call(id); c.Name != "" {
			return c.Name + " (" + id + ")"
		}
		return "call " + id
	}
	switch r := r.(type) {
	case loop.Started:
		return "you: " + excerpt(r.Message.Text())
	case loop.Answered:
		return answeredText(r)
	case loop.Judged:
		if r.Permission == "ask" && asksPerson(s, r) {
			return named(r.CallID) + " asks the person"
		}
		return judgedText(named(r.CallID), r, r.Digest != "" && s.Approved(r.CallID) == r.Digest)
	case loop.Decided:
		return named(r.CallID) + " " + decidedText(r)
	case loop.Resolved:
		return named(r.CallID) + by(resolvedWord(r.How), r.By)
	case loop.Began:
		return named(r.CallID) + " began"
	case loop.Ended:
		return endedText(r.Message)
	case loop.Noted:
		return "cairn to the model (" + strings.ReplaceAll(r.Reason, "_", " ") + "): " + excerpt(r.Message.Text())
	case loop.Steered:
		return "said into the run: " + excerpt(r.Message.Text())
	case loop.Delivered:
		return "you: " + excerpt(r.Message.Text())
	case loop.Cut:
		return "half an answer was kept: " + excerpt(r.Message.Text())
	case loop.Resumed:
		return "the run went on (" + string(r.How) + ")"
	case loop.Rested:
		return restedText(r)
	}
	return ""
}

func answeredText(r loop.Answered) string {
	text := fmt.Sprintf("attempt %d: the model answered nothing", r.Attempt)
	if r.Message == nil {
		return text
	}
	var parts []string
	if said := excerpt(r.Message.Text()); said != "" {
		parts = append(parts, said)
	}
	for _, c := range r.Message.Calls() {
		parts = append(parts, "calls "+c.Name+" "+excerpt(string(c.Input)))
	}
	return fmt.Sprintf("attempt %d: %s", r.Attempt, strings.Join(parts, "; "))
}

// asksPerson reports whether a verdict makes a question wait.
func asksPerson(s loop.State, r loop.Judged) bool {
	s, _ = loop.Step(s, r)
	return slices.ContainsFunc(s.Waiting(), func(p harness.Pending) bool { return p.Call.ID == r.CallID && p.Question() })
}

// judgedText tells a verdict; approved says that a person agreed to just this
// before.
func judgedText(call string, r loop.Judged, approved bool) string {
	text := call + " "
	switch {
	case r.Unasked:
		text += "denied, because nobody could be asked"
	case r.Impossible:
		return text + "not possible: " + r.Reason
	case r.Permission == "ask" && approved:
		return text + "is still what was approved"
	case r.Permission == "ask":
		text += "needs consent"
	case r.Permission == "later":
		return text + "waits for the calls before it"
	case r.Permission == "allow":
		text += "allowed"
	default:
		text += "denied"
	}
	switch {
	case r.Rule != "":
		text += " by the rule " + r.Rule
	case r.Permission == "ask", r.Reason == "":
		text += " by the tool's own permission"
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func decidedText(r loop.Decided) string {
	text := "refused"
	switch {
	case r.Approved && r.Rule != "" && r.Scope != harness.ScopeOnce:
		text = "approved, with the rule " + r.Rule + " (" + string(r.Scope) + "),"
	case r.Approved:
		text = "approved once"
	}
	text = strings.TrimSpace(by(text, r.By))
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// resolvedWord says what was said about an uncertain call or a question.
func resolvedWord(how harness.DecisionHow) string {
	switch how {
	case harness.DecideAnswer:
		return "answered"
	case harness.DecideResult:
		return "given a result"
	case harness.DecideRetry:
		return "to be run again"
	case harness.DecideAbort:
		return "not decided, the run ended"
	default:
		return string(how)
	}
}

// by adds who did it.
func by(what, who string) string {
	if who == "" {
		return " " + what
	}
	return " " + what + " by " + who
}

func endedText(m harness.Message) string {
	for _, p := range m.Parts {
		if p.Result == nil {
			continue
		}
		word := "ended"
		switch {
		case p.Result.Unknown:
			word = "ended, outcome unknown"
		case p.Result.Failed:
			word = "failed"
		}
		return p.Result.Name + " (" + p.Result.CallID + ") " + word + ": " + excerpt(p.Result.Text)
	}
	return "a call ended"
}

func restedText(r loop.Rested) string {
	text := "the run is " + strings.ReplaceAll(string(r.Status), "_", " ")
	if r.Status == harness.RunAwaiting {
		text = "the run waits for a person"
	}
	if r.Error != nil {
		text += ": " + r.Error.Text
	}
	return text
}

// maxExcerpt bounds how much of a message a step shows, in cells: the
// conversation has the whole.
const maxExcerpt = 100

// excerpt is the beginning of a text on one line.
func excerpt(text string) string {
	return render.Truncate(strings.Join(strings.Fields(text), " "), maxExcerpt, "…")
}
