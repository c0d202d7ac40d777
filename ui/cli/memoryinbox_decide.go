package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// weighed is a suggestion beside what it is about: the document of
// `cairn memory inbox show --json`.
type weighed struct {
	Suggestion harness.Suggestion `json:"suggestion"`
	// Fact is the fact to change or forget, as it is now.
	Fact *harness.Fact `json:"fact,omitempty"`
	// Stale says that the fact says something else than what was looked at.
	Stale bool `json:"stale"`
	// Against are the facts that it contradicts, as they are now.
	Against []harness.Fact `json:"against"`
}

// weigh reads what a suggestion is about.
func weigh(ctx context.Context, st Store, s harness.Suggestion) (weighed, error) {
	doc := weighed{Suggestion: s, Stale: s.Stale, Against: []harness.Fact{}}
	if s.Fact != "" {
		x, err := st.Facts.Get(ctx, s.Fact)
		if err != nil {
			return doc, memoryError("show", "fact", s.Fact, err)
		}
		doc.Fact = &x
	}
	for _, id := range s.Against {
		x, err := st.Facts.Get(ctx, id)
		switch {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return doc, memoryError("show", "fact", id, err)
		case x.State != harness.StateTrashed:
			doc.Against = append(doc.Against, x)
		}
	}
	return doc, nil
}

// printSuggestion prints one suggestion for people: lines with - are of the fact
// as it is, lines with + of what it would be.
func (a *app) printSuggestion(doc weighed) {
	s := doc.Suggestion
	var x harness.Fact
	if doc.Fact != nil {
		x = *doc.Fact
	}
	switch s.Kind {
	case harness.SuggestAdd:
		a.out.line("%s  add a fact", s.ID)
	case harness.SuggestChange:
		a.out.line("%s  change %s", s.ID, s.Fact)
	case harness.SuggestRetire:
		a.out.line("%s  forget %s", s.ID, s.Fact)
	}
	if doc.Stale {
		a.out.line("stale: %s has changed since; refuse this with: cairn memory inbox refuse %s", s.Fact, s.ID)
	}
	a.was("", x.Text, s.Text, s.Kind == harness.SuggestRetire)
	a.was("category ", x.Category, s.Category, false)
	a.was("", tags(x.Tags), tags(s.Tags), false)
	for _, f := range doc.Against {
		a.out.line("contradicts %s  %s", f.ID, render.SafeLine(f.Text))
	}
	if s.Why != "" {
		a.out.line("why: %s", render.SafeLine(s.Why))
	}
	about := []string{"by " + string(s.By), a.when(s.Created)}
	if s.Source.Session != "" && s.Source.Session != harness.NoSession {
		about = append(about, fmt.Sprintf("from message %d of session %s", s.Source.Message, s.Source.Session))
	}
	if s.Source.Client != "" {
		about = append(about, "from another agent over MCP, "+s.Source.Client)
	}
	if s.Own {
		about = append(about, "in your own words")
	}
	a.out.line("%s", render.SafeLine(strings.Join(about, ", ")))
	if s.Source.Quote != "" {
		a.out.line("> %s", render.SafeLine(s.Source.Quote))
	}
}

// was prints the two sides of one property, or nothing if it stays.
func (a *app) was(what, now, then string, gone bool) {
	if now == then || then == "" && !gone {
		return
	}
	if now != "" {
		a.out.line("- %s%s", what, render.SafeLine(now))
	}
	if then != "" {
		a.out.line("+ %s%s", what, render.SafeLine(then))
	}
}

func (a *app) inboxAccept() *cobra.Command {
	var m memoryEdit
	var all bool
	cmd := &cobra.Command{
		Use: "accept SUGGESTION...", Short: "Carry suggestions out, one of them also with other words",
		Long:              "Carry suggestions out. With one of them, --text, --category and --tag say it in other words. " + secretsRule,
		ValidArgsFunction: a.completeSuggestion,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if all && len(args) > 0 {
			return usage("--all accepts every suggestion, so it cannot go with %q; leave one of them out", args[0])
		}
		if all {
			return nil
		}
		return atLeastOne(aSuggestion+", or --all")(cmd, args)
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "accept all that wait")
	f.StringVar(&m.text, "text", "", "let the fact say `TEXT`")
	f.StringVar(&m.category, "category", "", "file it under `CATEGORY`")
	f.StringSliceVar(&m.tags, "tag", nil, "give it the tags `TAG` (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if changed(cmd) && (all || len(args) != 1) {
			return usage("--text, --category and --tag are for one suggestion; name just that")
		}
		e := harness.FactEdit{Text: given(cmd, "text", &m.text), Category: given(cmd, "category", &m.category), Tags: given(cmd, "tag", &m.tags)}
		if e.Text != nil && strings.TrimSpace(*e.Text) == "" {
			return usage("the fact would be empty; to leave it out: cairn memory inbox refuse %s", args[0])
		}
		if err := validText("the fact", append([]string{m.text, m.category}, m.tags...)...); err != nil {
			return err
		}
		if all {
			return a.acceptAll(cmd.Context())
		}
		return a.acceptThese(cmd.Context(), args, e, changed(cmd))
	}
	return cmd
}

// acceptThese carries out the suggestions that the arguments name, one of them
// with an edit.
func (a *app) acceptThese(ctx context.Context, args []string, e harness.FactEdit, edited bool) error {
	st, err := a.inbox(ctx)
	if err != nil {
		return err
	}
	list, err := theseSuggestions(ctx, st, args)
	if err != nil {
		return err
	}
	for _, s := range list {
		if edited && s.Kind == harness.SuggestRetire {
			return usage("%s would forget %s, so there is nothing to say in other words", s.ID, s.Fact)
		}
		if err := a.accept(ctx, st, s, e); err != nil {
			return err
		}
	}
	return nil
}

// acceptAll carries out every suggestion that waits. One that cannot be, such as
// a stale one, keeps none of the others from it.
func (a *app) acceptAll(ctx context.Context) error {
	st, err := a.inbox(ctx)
	if err != nil {
		return err
	}
	list, err := suggestions(ctx, st, harness.InboxFilter{})
	if err != nil {
		return err
	}
	left := 0
	for _, s := range list {
		err := a.accept(ctx, st, s, harness.FactEdit{})
		switch {
		case errors.Is(err, errSuggestionLeft):
			left++
			a.complain(err.Error())
		case err != nil:
			return err
		}
	}
	if left > 0 {
		return fail(ExitFailed, "%d of %s not accepted", left, harness.Count(len(list), "suggestion"))
	}
	if len(list) == 0 {
		a.notice("no suggestion waits")
	}
	return nil
}

// errSuggestionLeft marks a failure that is about one suggestion and says nothing
// of the store.
var errSuggestionLeft = errors.New("left in the inbox")

// leftError is such a failure, with its exit code and sentence.
type leftError struct{ error }

func (e leftError) Unwrap() []error { return []error{e.error, errSuggestionLeft} }

// accept carries one suggestion out and tells what it did, and what contradicts
// it and stays.
func (a *app) accept(ctx context.Context, st Store, s harness.Suggestion, e harness.FactEdit) error {
	if err := a.carryOut(ctx, st, s, e); err != nil {
		return err
	}
	for _, id := range s.Against {
		x, err := st.Facts.Get(ctx, id)
		if err != nil || x.State == harness.StateTrashed {
			continue // another one has retired it meanwhile
		}
		a.notice("%s contradicts %s, which stays; to drop it: cairn facts forget %s", s.ID, id, id)
	}
	return nil
}

func (a *app) carryOut(ctx context.Context, st Store, s harness.Suggestion, e harness.FactEdit) error {
	x, err := st.Inbox.Accept(ctx, s.ID, e)
	if err != nil {
		worded := inboxError("accept", s.ID, err)
		if errors.Is(err, harness.ErrStale) || errors.Is(err, harness.ErrNotFound) || errors.Is(err, harness.ErrSecret) || errors.Is(err, harness.ErrExists) {
			return leftError{worded}
		}
		return worded
	}
	d := decidedSuggestion{ID: s.ID, Action: suggestionAccepted, Fact: &x}
	switch {
	case s.Kind == harness.SuggestRetire:
		return a.decided(d, "accepted %s: forgot %s; for 30 days it comes back with: cairn facts restore %s", s.ID, x.ID, x.ID)
	case s.Kind == harness.SuggestChange:
		return a.decided(d, "accepted %s: %s is now %s; its old text: cairn facts show %s", s.ID, x.ID, x.Text, x.ID)
	case x.Revision > 1 || x.Source != s.Source:
		return a.decided(d, "accepted %s: %s says so already: %s", s.ID, x.ID, x.Text)
	}
	return a.decided(d, "accepted %s: saved %s: %s; undo with: cairn facts forget %s", s.ID, x.ID, x.Text, x.ID)
}
