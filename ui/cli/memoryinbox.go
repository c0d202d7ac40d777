package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// inboxLong explains the inbox.
const inboxLong = `Suggestions are facts that a model would like to add, change or forget. They wait
here until you decide, and until then no conversation recalls them. Without a
command those that wait are listed. A refused one is not made again for 30 days;
both answers can be taken back with reopen, and what accepting did is undone with
the fact itself.`

// aSuggestion is what the commands of the inbox want.
const aSuggestion = "the id of a suggestion, such as i7"

// suggestionForm is the form of the ids of suggestions.
var suggestionForm = regexp.MustCompile(`^i[0-9]+$`)

// memoryInbox is `cairn memory inbox`.
func (a *app) memoryInbox() *cobra.Command {
	cmd := group("inbox", "List, show, accept and refuse what a model suggests to remember",
		a.inboxList(), a.inboxShow(), a.inboxAccept(), a.inboxRefuse(), a.inboxReopen())
	cmd.Long = inboxLong
	unknown := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 0 {
			return unknown(cmd, words)
		}
		return a.listInbox(cmd.Context(), harness.InboxFilter{})
	}
	return cmd
}

// inbox opens the inbox that is there. Where there is no store it is nil, and
// nothing waits in it.
func (a *app) inbox(ctx context.Context) (Store, error) {
	st, err := a.reading(ctx)
	if err == nil && st.Facts == nil {
		st.Inbox = nil
	}
	return st, err
}

// suggestionID is the id of a suggestion as stored.
func suggestionID(typed string) (string, error) {
	id := memoryID(typed)
	if !suggestionForm.MatchString(id) {
		return "", usage("%q is no id of a suggestion, such as i7; see: cairn memory inbox", typed)
	}
	return id, nil
}

// inboxError words a failure about one suggestion.
func inboxError(what, id string, err error) error {
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return fail(ExitNotFound, "no suggestion %q waits; see: cairn memory inbox", id)
	case errors.Is(err, harness.ErrStale):
		return fail(ExitFailed, "the fact has changed since %s was suggested; compare them with: cairn memory inbox show %s", id, id)
	case errors.Is(err, harness.ErrSecret):
		return usage("%w", err)
	}
	return fmt.Errorf("%s suggestion %s: %w", what, id, err)
}

// suggestions are those that wait, none where there is no store.
func suggestions(ctx context.Context, st Store, f harness.InboxFilter) ([]harness.Suggestion, error) {
	if st.Inbox == nil {
		return nil, nil
	}
	list, err := st.Inbox.List(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list suggestions: %w", err)
	}
	return list, nil
}

// suggestion is one that waits.
func suggestion(ctx context.Context, st Store, typed string) (harness.Suggestion, error) {
	id, err := suggestionID(typed)
	if err != nil {
		return harness.Suggestion{}, err
	}
	if st.Inbox == nil {
		return harness.Suggestion{}, inboxError("read", id, harness.ErrNotFound)
	}
	s, err := st.Inbox.Get(ctx, id)
	if err != nil {
		return s, inboxError("read", id, err)
	}
	return s, nil
}

// theseSuggestions are those that the arguments name, each once. All are found
// before anything is decided, so that a slip in one id decides nothing.
func theseSuggestions(ctx context.Context, st Store, args []string) ([]harness.Suggestion, error) {
	var list []harness.Suggestion
	for _, arg := range args {
		s, err := suggestion(ctx, st, arg)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(have harness.Suggestion) bool { return have.ID == s.ID }) {
			list = append(list, s)
		}
	}
	return list, nil
}

func (a *app) inboxList() *cobra.Command {
	var f harness.InboxFilter
	cmd := &cobra.Command{Use: "list", Short: "List the suggestions that wait, oldest first", Args: exactly(0, "")}
	cmd.Flags().StringVar(&f.Fact, "fact", "", "only those about the fact `FACT`, or against it")
	limitFlag(cmd, &f.Limit)
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		f.Fact = memoryID(f.Fact)
		return a.listInbox(ctx, f)
	})
	return cmd
}

// listInbox lists what waits.
func (a *app) listInbox(ctx context.Context, f harness.InboxFilter) error {
	st, err := a.inbox(ctx)
	if err != nil {
		return err
	}
	list, err := suggestions(ctx, st, f)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.document(orEmpty(list))
	}
	var t table
	for _, s := range list {
		text, about, against := s.Text, s.Fact, ""
		if s.Kind == harness.SuggestAdd {
			about = s.Category
		}
		if text == "" {
			x, err := st.Facts.Get(ctx, s.Fact)
			if err != nil && !errors.Is(err, harness.ErrNotFound) {
				return memoryError("list", "fact", s.Fact, err)
			}
			text = x.Text
		}
		if len(s.Against) > 0 {
			against = "against " + strings.Join(s.Against, ", ")
		}
		t.add(s.ID, string(s.Kind), about, against, text, tags(s.Tags))
	}
	t.write(a.out, a.s.Width)
	return nil
}

func (a *app) inboxShow() *cobra.Command {
	return &cobra.Command{
		Use: "show SUGGESTION", Short: "Show a suggestion, what it would change and what it contradicts",
		Args: exactly(1, aSuggestion), ValidArgsFunction: a.completeSuggestion,
		RunE: runner(func(ctx context.Context, args []string) error {
			st, err := a.inbox(ctx)
			if err != nil {
				return err
			}
			s, err := suggestion(ctx, st, args[0])
			if err != nil {
				return err
			}
			doc, err := weigh(ctx, st, s)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.out.document(doc)
			}
			a.printSuggestion(doc)
			return nil
		}),
	}
}

func (a *app) inboxRefuse() *cobra.Command {
	return &cobra.Command{
		Use: "refuse SUGGESTION...", Short: "Refuse suggestions; they are not made again for 30 days",
		Args: atLeastOne(aSuggestion), ValidArgsFunction: a.completeSuggestion,
		RunE: runner(func(ctx context.Context, args []string) error {
			st, err := a.inbox(ctx)
			if err != nil {
				return err
			}
			list, err := theseSuggestions(ctx, st, args)
			if err != nil {
				return err
			}
			for _, s := range list {
				if err := st.Inbox.Refuse(ctx, s.ID); err != nil {
					return inboxError("refuse", s.ID, err)
				}
				if err := a.decided(decidedSuggestion{ID: s.ID, Action: suggestionRefused},
					"refused %s; for 30 days it comes back with: cairn memory inbox reopen %s", s.ID, s.ID); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (a *app) inboxReopen() *cobra.Command {
	return &cobra.Command{
		Use: "reopen SUGGESTION...", Short: "Let suggestions that were decided in the last 30 days wait again",
		Args: atLeastOne(aSuggestion),
		RunE: a.eachOf(func(ctx context.Context, st Store, typed string) error {
			id, err := suggestionID(typed)
			if err != nil {
				return err
			}
			missing := fail(ExitNotFound, "no suggestion %q was decided in the last 30 days", id)
			if st.Inbox == nil {
				return missing
			}
			s, err := st.Inbox.Reopen(ctx, id)
			switch {
			case errors.Is(err, harness.ErrNotFound):
				return missing
			case err != nil:
				return inboxError("reopen", id, err)
			}
			if err := a.decided(decidedSuggestion{ID: id, Action: suggestionReopened, Suggestion: &s}, "%s waits again", id); err != nil {
				return err
			}
			// What is moot, such as a fact that is there now, is in no list.
			if _, err := st.Inbox.Get(ctx, id); errors.Is(err, harness.ErrNotFound) {
				a.notice("%s is not listed while a fact says so already or the fact is forgotten", id)
			} else if err != nil {
				return inboxError("read", id, err)
			}
			return nil
		}),
	}
}

// What became of a suggestion.
const (
	suggestionAccepted = "accepted"
	suggestionRefused  = "refused"
	suggestionReopened = "reopened"
)

// decidedSuggestion is the JSON line of one suggestion that was decided.
type decidedSuggestion struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	// Fact is the fact as accepting has left it.
	Fact *harness.Fact `json:"fact,omitempty"`
	// Suggestion is the one that waits again.
	Suggestion *harness.Suggestion `json:"suggestion,omitempty"`
}

// decided tells what became of a suggestion, as JSON or in a sentence.
func (a *app) decided(d decidedSuggestion, format string, args ...any) error {
	if a.flags.json {
		return a.out.object(d)
	}
	a.out.line("%s", render.SafeLine(fmt.Sprintf(format, args...)))
	return nil
}

// completeSuggestion completes the ids of suggestions.
func (a *app) completeSuggestion(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.offer(cmd, start, func(ctx context.Context) ([]string, error) {
		st, err := a.inbox(ctx)
		if err != nil {
			return nil, err
		}
		list, err := suggestions(ctx, st, harness.InboxFilter{Limit: maxCompleted})
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, s := range list {
			ids = append(ids, cobra.CompletionWithDesc(s.ID, render.Truncate(render.SafeLine(string(s.Kind)+" "+s.Fact+s.Text), maxBrief, "…")))
		}
		return ids, nil
	})
}
