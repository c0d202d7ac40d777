package cli

import (
	"context"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// memoryCommand is `cairn memory`, which is facts and notes together.
func (a *app) memoryCommand() *cobra.Command {
	return group("memory", "Facts and notes together, and the suggestions that wait for you",
		a.memoryList(), a.memorySearch(), a.memoryShow(), a.memoryAdd(), a.memoryEdit(), a.memoryForget(), a.memoryRestore(),
		a.memoryInbox(), a.memoryIndex(), a.exportCommand(allKinds()), a.importCommand(allKinds()))
}

// kinds says which of the two a command is about.
type kinds struct{ facts, notes bool }

func factsOnly() kinds { return kinds{facts: true} }
func notesOnly() kinds { return kinds{notes: true} }
func allKinds() kinds  { return kinds{facts: true, notes: true} }

// command is the name of the command that is about these kinds.
func (k kinds) command() string {
	switch k {
	case factsOnly():
		return "facts"
	case notesOnly():
		return "notes"
	}
	return "memory"
}

// factOrNote are the forms of ids.
var factOrNote = regexp.MustCompile(`^[fn][0-9]+$`)

// isFact tells whether an id is that of a fact or that of a note.
func isFact(typed string) (bool, error) {
	id := memoryID(typed)
	if !factOrNote.MatchString(id) {
		return false, usage("%q is no id of a fact, such as f12, or of a note, such as n3", typed)
	}
	return id[0] == 'f', nil
}

// anID is what the commands for both want.
const anID = "the id of a fact or a note, such as f12 or n3"

// remembered is a fact or a note in a list for both.
type remembered struct {
	fact *harness.Fact
	note *harness.Note
}

// document is what JSON has for it: the fact or the note and its kind.
func (r remembered) document() any {
	if r.fact != nil {
		return struct {
			Kind string `json:"kind"`
			harness.Fact
		}{"fact", *r.fact}
	}
	return struct {
		Kind string `json:"kind"`
		harness.Note
	}{"note", *r.note}
}

func (a *app) memoryList() *cobra.Command {
	return a.memoryListing(&cobra.Command{
		Use: "list [WORD...]", Short: "List facts and notes, those that match the words if given", Args: cobra.ArbitraryArgs,
	})
}

func (a *app) memorySearch() *cobra.Command {
	return a.memoryListing(&cobra.Command{
		Use: "search WORD...", Short: "Find facts and notes, the best matches of each in turn", Args: atLeastOne("words to look for"),
	})
}

// memoryListing lets a command list facts and notes.
func (a *app) memoryListing(cmd *cobra.Command) *cobra.Command {
	var f harness.MemoryFilter
	memoryFlags(cmd, &f)
	cmd.RunE = runner(a.telling(func(ctx context.Context, words []string) error {
		if err := a.memoryFilter(&f, words); err != nil {
			return err
		}
		list, err := a.remembered(ctx, f)
		if err != nil {
			return err
		}
		documents, t := []any{}, table{}
		for _, r := range list {
			documents = append(documents, r.document())
			if x := r.fact; x != nil {
				t.add(x.ID, a.when(x.Updated), memoryWord(x.State, x.Pinned), x.Text, tags(x.Tags))
			} else {
				t.add(r.note.ID, a.when(r.note.Updated), memoryWord(r.note.State, r.note.Pinned), r.note.Title, tags(r.note.Tags))
			}
		}
		if a.flags.json {
			return a.out.document(documents)
		}
		t.write(a.out, a.s.Width)
		return nil
	}))
	return cmd
}

// remembered lists facts and notes together: what matches words in turn, because
// the ranks of the two cannot be compared, else what changed last first.
func (a *app) remembered(ctx context.Context, f harness.MemoryFilter) ([]remembered, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	facts, err := listFacts(ctx, st, f)
	if err != nil {
		return nil, err
	}
	notes, err := listNotes(ctx, st, f)
	if err != nil {
		return nil, err
	}
	var all []remembered
	for len(facts) > 0 || len(notes) > 0 {
		factFirst := len(notes) == 0 || len(facts) > 0 && (f.Query != "" || !notes[0].Updated.After(facts[0].Updated))
		if factFirst {
			all, facts = append(all, remembered{fact: &facts[0]}), facts[1:]
		}
		if len(notes) > 0 && (!factFirst || f.Query != "") {
			all, notes = append(all, remembered{note: &notes[0]}), notes[1:]
		}
	}
	if f.Limit > 0 {
		all = all[:min(f.Limit, len(all))]
	}
	return all, nil
}

func (a *app) memoryShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a fact or a note", Args: exactly(1, anID),
		RunE: runner(func(ctx context.Context, args []string) error {
			fact, err := isFact(args[0])
			switch {
			case err != nil:
				return err
			case fact:
				return a.showFact(ctx, args[0])
			}
			return a.showNote(ctx, args[0])
		}),
	}
}

func (a *app) memoryAdd() *cobra.Command {
	var category, title string
	var tags []string
	var pin bool
	cmd := &cobra.Command{
		Use: "add TEXT|-", Short: "Add a fact, or with --title a note in Markdown",
		Long: "Add a fact, or with --title a note in Markdown. " + secretsRule, Args: atLeastOne("the text"),
	}
	cmd.Flags().StringVar(&title, "title", "", "add a note with the title `TITLE`")
	cmd.Flags().StringVar(&category, "category", harness.DefaultCategory, "file the fact under `CATEGORY`")
	cmd.Flags().StringSliceVar(&tags, "tag", nil, "give it the tag `TAG` (repeatable)")
	cmd.Flags().BoolVar(&pin, "pin", false, "put it into every request")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if !cmd.Flags().Changed("title") {
			f := newFact()
			f.Category, f.Tags, f.Pinned = category, tags, pin
			return a.addFact(cmd.Context(), f, words)
		}
		if cmd.Flags().Changed("category") {
			return usage("a note has no category; give --title or --category")
		}
		n := newNote()
		n.Title, n.Tags, n.Pinned = title, tags, pin
		return a.addNote(cmd.Context(), n, words)
	}
	return cmd
}

func (a *app) memoryEdit() *cobra.Command {
	var m memoryEdit
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change a fact or a note; the old text stays as a revision",
		Long: "Change a fact or a note; the old text stays as a revision. " + secretsRule,
		Args: exactly(1, anID),
	}
	var body string
	cmd.Flags().StringVar(&m.text, "text", "", "the new `TEXT` of a fact")
	cmd.Flags().StringVar(&m.category, "category", "", "the new `CATEGORY` of a fact")
	cmd.Flags().StringVar(&m.title, "title", "", "the new `TITLE` of a note")
	cmd.Flags().StringVar(&body, "body", "", "the new `BODY` of a note, - to read it from standard input")
	m.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		fact, err := isFact(args[0])
		if err != nil {
			return err
		}
		foreign, kind := []string{"title", "body"}, "fact"
		if !fact {
			foreign, kind = []string{"text", "category"}, "note"
		}
		if i := slices.IndexFunc(foreign, cmd.Flags().Changed); i >= 0 {
			return usage("%s is a %s, which has no --%s; see: cairn %ss edit --help", args[0], kind, foreign[i], kind)
		}
		if fact {
			return a.editFact(cmd, args[0], &m)
		}
		m.text = body
		return a.editNote(cmd, args[0], &m)
	}
	return cmd
}

func (a *app) memoryForget() *cobra.Command {
	return &cobra.Command{
		Use: "forget ID...", Short: "Forget facts and notes; they can be restored for 30 days", Aliases: []string{"rm"},
		Args: atLeastOne(anID), RunE: a.eachOf(byKind(a.forgetFact, a.forgetNote)),
	}
}

func (a *app) memoryRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore ID...", Short: "Bring forgotten facts and notes back", Args: atLeastOne(anID),
		RunE: a.eachOf(byKind(a.restoreFact, a.restoreNote)),
	}
}

// byKind does for an id what is done for facts or for notes.
func byKind(fact, note func(context.Context, Store, string) error) func(context.Context, Store, string) error {
	return func(ctx context.Context, st Store, id string) error {
		is, err := isFact(id)
		switch {
		case err != nil:
			return err
		case is:
			return fact(ctx, st, id)
		}
		return note(ctx, st, id)
	}
}
