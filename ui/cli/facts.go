package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// factsCommand is `cairn facts`.
func (a *app) factsCommand() *cobra.Command {
	return group("facts", "List, show, add, edit, forget and restore facts",
		a.factsList(), a.factsShow(), a.factsAdd(), a.factsEdit(), a.factsForget(), a.factsRestore())
}

// facts opens the facts that are there.
func (a *app) facts(ctx context.Context) (harness.Facts, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	if st.Facts == nil {
		return nil, fail(ExitNotFound, "there is no fact yet; add one with: cairn facts add TEXT")
	}
	return st.Facts, nil
}

func (a *app) factsList() *cobra.Command {
	var f harness.MemoryFilter
	cmd := &cobra.Command{
		Use: "list [WORD...]", Short: "List facts, those that match the words if given", Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().StringVar(&f.Category, "category", "", "only those of `CATEGORY`")
	memoryFlags(cmd, &f)
	cmd.RunE = runner(func(ctx context.Context, words []string) error {
		if err := a.memoryFilter(&f, words); err != nil {
			return err
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		var list []harness.Fact
		if st.Facts != nil {
			if list, err = st.Facts.List(ctx, f); err != nil {
				return fmt.Errorf("list facts: %w", err)
			}
		}
		if a.flags.json {
			return a.out.document(orEmpty(list))
		}
		var t table
		for _, x := range list {
			t.add(x.ID, x.Category, memoryWord(x.State, x.Pinned), x.Text, tags(x.Tags))
		}
		t.write(a.out, a.s.Width)
		return nil
	})
	return cmd
}

func (a *app) factsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FACT", Short: "Show a fact with its revisions", Args: exactly(1, "the id of a fact, such as f12"),
		RunE: runner(func(ctx context.Context, args []string) error {
			facts, err := a.facts(ctx)
			if err != nil {
				return err
			}
			x, err := facts.Get(ctx, memoryID(args[0]))
			if err != nil {
				return memoryError("show", "fact", args[0], err)
			}
			revisions, err := facts.History(ctx, x.ID)
			if err != nil {
				return memoryError("show", "fact", args[0], err)
			}
			if a.flags.json {
				return a.out.document(struct {
					harness.Fact
					Revisions []harness.Fact `json:"revisions"`
				}{x, orEmpty(revisions)})
			}
			a.printFact(x)
			for _, r := range revisions {
				if r.Revision != x.Revision {
					a.out.line("revision %d, %s: %s", r.Revision, a.when(r.Updated), render.SafeLine(r.Text))
				}
			}
			return nil
		}),
	}
}

// printFact prints one fact for people.
func (a *app) printFact(x harness.Fact) {
	a.out.line("%s  %s", x.ID, render.SafeLine(x.Text))
	about := []string{string(x.State), "category " + x.Category, "by " + string(x.By), "changed " + a.when(x.Updated)}
	if x.Pinned {
		about = append(about, "pinned")
	}
	if len(x.Tags) > 0 {
		about = append(about, tags(x.Tags))
	}
	if x.Source.Session != "" && x.Source.Session != harness.NoSession {
		about = append(about, fmt.Sprintf("from message %d of session %s", x.Source.Message, x.Source.Session))
	}
	a.out.line("%s", render.SafeLine(strings.Join(about, ", ")))
}

func (a *app) factsAdd() *cobra.Command {
	f := harness.Fact{By: harness.ByYou, State: harness.StateActive, Session: harness.NoSession}
	cmd := &cobra.Command{
		Use: "add TEXT|-", Short: "Add a fact", Long: "Add a fact. " + secretsRule, Args: atLeastOne("the text of the fact"),
	}
	cmd.Flags().StringVar(&f.Category, "category", harness.DefaultCategory, "file it under `CATEGORY`")
	cmd.Flags().StringSliceVar(&f.Tags, "tag", nil, "give it the tag `TAG` (repeatable)")
	cmd.Flags().BoolVar(&f.Pinned, "pin", false, "put it into every request")
	cmd.RunE = runner(func(ctx context.Context, words []string) error {
		text, err := a.textOf(ctx, words)
		if err != nil {
			return err
		}
		if f.Text = strings.TrimSpace(text); f.Text == "" {
			return usage("the fact is empty; give one statement")
		}
		if err := validText("the fact", append([]string{f.Text, f.Category}, f.Tags...)...); err != nil {
			return err
		}
		st, err := a.store(ctx)
		if err != nil {
			return err
		}
		stored, created, err := st.Facts.Save(ctx, f, "")
		if err != nil {
			return saveError("fact", err)
		}
		if a.flags.json {
			return a.out.document(stored)
		}
		if !created {
			a.out.line("%s says so already: %s", stored.ID, render.SafeLine(stored.Text))
			return nil
		}
		a.out.line("saved %s; undo with: cairn facts forget %s", stored.ID, stored.ID)
		return nil
	})
	return cmd
}

func (a *app) factsEdit() *cobra.Command {
	var m memoryEdit
	cmd := &cobra.Command{
		Use: "edit FACT", Short: "Change a fact; the old text stays as a revision",
		Long: "Change a fact; the old text stays as a revision. " + secretsRule,
		Args: oneToEdit("the id of a fact, such as f12", "text"),
	}
	cmd.Flags().StringVar(&m.text, "text", "", "the new `TEXT`")
	cmd.Flags().StringVar(&m.category, "category", "", "the new `CATEGORY`")
	m.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := m.check(cmd); err != nil {
			return err
		}
		if err := validText("the fact", append([]string{m.text, m.category}, m.tags...)...); err != nil {
			return err
		}
		facts, err := a.facts(cmd.Context())
		if err != nil {
			return err
		}
		e := harness.FactEdit{
			Text: given(cmd, "text", &m.text), Category: given(cmd, "category", &m.category),
			Tags: given(cmd, "tag", &m.tags), Pinned: m.pinned(), State: m.state(),
		}
		if e.Text != nil && strings.TrimSpace(*e.Text) == "" {
			return usage("the fact would be empty; to remove it: cairn facts forget %s", args[0])
		}
		x, err := facts.Edit(cmd.Context(), memoryID(args[0]), e)
		if err != nil {
			return memoryError("edit", "fact", args[0], err)
		}
		if a.flags.json {
			return a.out.document(x)
		}
		a.printFact(x)
		return nil
	}
	return cmd
}

func (a *app) factsForget() *cobra.Command {
	return &cobra.Command{
		Use: "forget FACT...", Short: "Forget facts; they can be restored for 30 days", Aliases: []string{"rm"},
		Args: atLeastOne("the id of a fact, such as f12"),
		RunE: runner(func(ctx context.Context, args []string) error {
			facts, err := a.facts(ctx)
			if err != nil {
				return err
			}
			for _, arg := range args {
				if err := facts.Forget(ctx, memoryID(arg)); err != nil {
					return memoryError("forget", "fact", arg, err)
				}
				a.out.line("forgot %s; for 30 days it comes back with: cairn facts restore %s", memoryID(arg), memoryID(arg))
			}
			return nil
		}),
	}
}

func (a *app) factsRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore FACT...", Short: "Bring forgotten facts back", Args: atLeastOne("the id of a fact, such as f12"),
		RunE: runner(func(ctx context.Context, args []string) error {
			facts, err := a.facts(ctx)
			if err != nil {
				return err
			}
			for _, arg := range args {
				x, err := facts.Restore(ctx, memoryID(arg))
				if err != nil {
					return memoryError("restore", "fact", arg, err)
				}
				a.out.line("restored %s: %s", x.ID, render.SafeLine(x.Text))
			}
			return nil
		}),
	}
}
