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
	return group("facts", "List, find, show, add, edit, forget, restore, export and import facts",
		a.factsList(), a.factsSearch(), a.factsShow(), a.factsAdd(), a.factsEdit(), a.factsForget(), a.factsRestore(),
		a.exportCommand(factsOnly()), a.importCommand(factsOnly()))
}

// facts opens the facts that are there.
func (a *app) facts(ctx context.Context) (harness.Facts, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	return factsOf(st)
}

// factsOf are the facts of a store; that there are none is an error.
func factsOf(st Store) (harness.Facts, error) {
	if st.Facts == nil {
		return nil, fail(ExitNotFound, "there is no fact yet; add one with: cairn facts add TEXT")
	}
	return st.Facts, nil
}

func (a *app) factsList() *cobra.Command {
	return a.factsListing(&cobra.Command{
		Use: "list [WORD...]", Short: "List facts, those that match the words if given", Args: cobra.ArbitraryArgs,
	})
}

func (a *app) factsSearch() *cobra.Command {
	return a.factsListing(&cobra.Command{
		Use: "search WORD...", Short: "Find facts, the best match first", Args: atLeastOne("words to look for"),
	})
}

// factsListing lets a command list facts.
func (a *app) factsListing(cmd *cobra.Command) *cobra.Command {
	var f harness.MemoryFilter
	cmd.Flags().StringVar(&f.Category, "category", "", "only those of `CATEGORY`")
	memoryFlags(cmd, &f)
	cmd.RunE = runner(a.telling(func(ctx context.Context, words []string) error {
		if err := a.memoryFilter(&f, words); err != nil {
			return err
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		list, err := listFacts(ctx, st, f)
		if err != nil {
			return err
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
	}))
	return cmd
}

// listFacts are the facts that pass a filter, none where there is no store.
func listFacts(ctx context.Context, st Store, f harness.MemoryFilter) ([]harness.Fact, error) {
	if st.Facts == nil {
		return nil, nil
	}
	list, err := st.Facts.List(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list facts: %w", err)
	}
	return list, nil
}

func (a *app) factsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FACT", Short: "Show a fact with its revisions", Args: exactly(1, "the id of a fact, such as f12"),
		RunE: runner(func(ctx context.Context, args []string) error { return a.showFact(ctx, args[0]) }),
	}
}

// showFact prints one fact with its revisions.
func (a *app) showFact(ctx context.Context, id string) error {
	facts, err := a.facts(ctx)
	if err != nil {
		return err
	}
	x, err := facts.Get(ctx, memoryID(id))
	if err != nil {
		return memoryError("show", "fact", id, err)
	}
	revisions, err := facts.History(ctx, x.ID)
	if err != nil {
		return memoryError("show", "fact", id, err)
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
	if x.Source.Client != "" {
		about = append(about, "from another agent over MCP, "+x.Source.Client)
	}
	a.out.line("%s", render.SafeLine(strings.Join(about, ", ")))
}

// newFact is a fact that a person adds.
func newFact() harness.Fact {
	return harness.Fact{By: harness.ByYou, State: harness.StateActive, Session: harness.NoSession}
}

func (a *app) factsAdd() *cobra.Command {
	f := newFact()
	cmd := &cobra.Command{
		Use: "add TEXT|-", Short: "Add a fact", Long: "Add a fact. " + secretsRule, Args: atLeastOne("the text of the fact"),
	}
	cmd.Flags().StringVar(&f.Category, "category", harness.DefaultCategory, "file it under `CATEGORY`")
	cmd.Flags().StringSliceVar(&f.Tags, "tag", nil, "give it the tag `TAG` (repeatable)")
	cmd.Flags().BoolVar(&f.Pinned, "pin", false, "put it into every request")
	cmd.RunE = runner(func(ctx context.Context, words []string) error { return a.addFact(ctx, f, words) })
	return cmd
}

// addFact stores a fact whose text are the words.
func (a *app) addFact(ctx context.Context, f harness.Fact, words []string) error {
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
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.editFact(cmd, args[0], &m) }
	return cmd
}

// editFact changes a fact as the flags say.
func (a *app) editFact(cmd *cobra.Command, id string, m *memoryEdit) error {
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
		return usage("the fact would be empty; to remove it: cairn facts forget %s", id)
	}
	x, err := facts.Edit(cmd.Context(), memoryID(id), e)
	if err != nil {
		return memoryError("edit", "fact", id, err)
	}
	if a.flags.json {
		return a.out.document(x)
	}
	a.printFact(x)
	return nil
}

func (a *app) factsForget() *cobra.Command {
	return &cobra.Command{
		Use: "forget FACT...", Short: "Forget facts; they can be restored for 30 days", Aliases: []string{"rm"},
		Args: atLeastOne("the id of a fact, such as f12"), RunE: a.eachOf(a.forgetFact),
	}
}

// forgetFact moves a fact to the trash.
func (a *app) forgetFact(ctx context.Context, st Store, id string) error {
	facts, err := factsOf(st)
	if err != nil {
		return err
	}
	if err := facts.Forget(ctx, memoryID(id)); err != nil {
		return memoryError("forget", "fact", id, err)
	}
	return a.forgotten("fact", memoryID(id))
}

func (a *app) factsRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore FACT...", Short: "Bring forgotten facts back", Args: atLeastOne("the id of a fact, such as f12"),
		RunE: a.eachOf(a.restoreFact),
	}
}

// restoreFact brings a forgotten fact back.
func (a *app) restoreFact(ctx context.Context, st Store, id string) error {
	facts, err := factsOf(st)
	if err != nil {
		return err
	}
	x, err := facts.Restore(ctx, memoryID(id))
	if err != nil {
		return memoryError("restore", "fact", id, err)
	}
	if a.flags.json {
		return a.out.object(x)
	}
	if x.ID != memoryID(id) {
		a.out.line("%s says so already, so %s stays forgotten: %s", x.ID, memoryID(id), render.SafeLine(x.Text))
		return nil
	}
	a.out.line("restored %s: %s", x.ID, render.SafeLine(x.Text))
	return nil
}
