package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// notesCommand is `cairn notes`.
func (a *app) notesCommand() *cobra.Command {
	return group("notes", "List, find, show, add, edit, forget, restore, export and import notes",
		a.notesList(), a.notesSearch(), a.notesShow(), a.notesAdd(), a.notesEdit(), a.notesForget(), a.notesRestore(),
		a.exportCommand(notesOnly()), a.importCommand(notesOnly()))
}

// notes opens the notes that are there.
func (a *app) notes(ctx context.Context) (harness.Notes, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
	return notesOf(st)
}

// notesOf are the notes of a store; that there are none is an error.
func notesOf(st Store) (harness.Notes, error) {
	if st.Notes == nil {
		return nil, fail(ExitNotFound, "there is no note yet; add one with: cairn notes add TITLE BODY")
	}
	return st.Notes, nil
}

func (a *app) notesList() *cobra.Command {
	return a.notesListing(&cobra.Command{
		Use: "list [WORD...]", Short: "List notes, those that match the words if given", Args: cobra.ArbitraryArgs,
	})
}

func (a *app) notesSearch() *cobra.Command {
	return a.notesListing(&cobra.Command{
		Use: "search WORD...", Short: "Find notes, the best match first", Args: atLeastOne("words to look for"),
	})
}

// notesListing lets a command list notes.
func (a *app) notesListing(cmd *cobra.Command) *cobra.Command {
	var f harness.MemoryFilter
	memoryFlags(cmd, &f)
	cmd.RunE = runner(a.telling(func(ctx context.Context, words []string) error {
		if err := a.memoryFilter(&f, words); err != nil {
			return err
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		list, err := listNotes(ctx, st, f)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.out.document(orEmpty(list))
		}
		var t table
		for _, x := range list {
			t.add(x.ID, a.when(x.Updated), memoryWord(x.State, x.Pinned), x.Title, tags(x.Tags))
		}
		t.write(a.out, a.s.Width)
		return nil
	}))
	return cmd
}

// listNotes are the notes that pass a filter, none where there is no store.
func listNotes(ctx context.Context, st Store, f harness.MemoryFilter) ([]harness.Note, error) {
	if st.Notes == nil {
		return nil, nil
	}
	list, err := st.Notes.List(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	return list, nil
}

func (a *app) notesShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NOTE", Short: "Print a note", Args: exactly(1, "the id of a note, such as n3"),
		RunE: runner(func(ctx context.Context, args []string) error { return a.showNote(ctx, args[0]) }),
	}
}

// showNote prints one note, in JSON with its revisions.
func (a *app) showNote(ctx context.Context, id string) error {
	notes, err := a.notes(ctx)
	if err != nil {
		return err
	}
	n, err := notes.Get(ctx, memoryID(id))
	if err != nil {
		return memoryError("show", "note", id, err)
	}
	if !a.flags.json {
		a.printNote(n)
		return nil
	}
	revisions, err := notes.History(ctx, n.ID)
	if err != nil {
		return memoryError("show", "note", id, err)
	}
	return a.out.document(struct {
		harness.Note
		Revisions []harness.Note `json:"revisions"`
	}{n, orEmpty(revisions)})
}

// printNote prints one note for people.
func (a *app) printNote(n harness.Note) {
	a.out.line("%s  %s", n.ID, render.SafeLine(n.Title))
	about := []string{string(n.State), "by " + string(n.By), "changed " + a.when(n.Updated)}
	if n.Pinned {
		about = append(about, "pinned")
	}
	if len(n.Tags) > 0 {
		about = append(about, tags(n.Tags))
	}
	if n.Session != "" && n.Session != harness.NoSession {
		about = append(about, "of session "+string(n.Session))
	}
	a.out.line("%s\n", render.SafeLine(strings.Join(about, ", ")))
	a.block(n.Body)
}

// newNote is a note that a person adds.
func newNote() harness.Note {
	return harness.Note{By: harness.ByYou, State: harness.StateActive, Session: harness.NoSession}
}

func (a *app) notesAdd() *cobra.Command {
	n := newNote()
	cmd := &cobra.Command{
		Use: "add TITLE BODY|-", Short: "Add a note in Markdown", Long: "Add a note in Markdown. " + secretsRule,
		Args: exactly(2, "a title and a body, or - to read it from standard input"),
	}
	cmd.Flags().StringSliceVar(&n.Tags, "tag", nil, "give it the tag `TAG` (repeatable)")
	cmd.Flags().BoolVar(&n.Pinned, "pin", false, "put it into every request")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		n.Title = args[0]
		return a.addNote(ctx, n, args[1:])
	})
	return cmd
}

// addNote stores a note whose body are the words.
func (a *app) addNote(ctx context.Context, n harness.Note, words []string) error {
	body, err := a.textOf(ctx, words)
	if err != nil {
		return err
	}
	n.Title, n.Body = strings.TrimSpace(n.Title), body
	if n.Title == "" {
		return usage("the title is empty; give one, in any script")
	}
	if err := validText("the note", append([]string{n.Title, n.Body}, n.Tags...)...); err != nil {
		return err
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	stored, err := st.Notes.Save(ctx, n, "")
	if err != nil {
		return saveError("note", err)
	}
	if a.flags.json {
		return a.out.document(stored)
	}
	a.out.line("saved %s; undo with: cairn notes forget %s", stored.ID, stored.ID)
	return nil
}

func (a *app) notesEdit() *cobra.Command {
	var m memoryEdit
	cmd := &cobra.Command{
		Use: "edit NOTE", Short: "Change a note; the old text stays as a revision",
		Long: "Change a note; the old text stays as a revision. " + secretsRule,
		Args: oneToEdit("the id of a note, such as n3", "body"),
	}
	cmd.Flags().StringVar(&m.title, "title", "", "the new `TITLE`")
	cmd.Flags().StringVar(&m.text, "body", "", "the new `BODY`, - to read it from standard input")
	m.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.editNote(cmd, args[0], &m) }
	return cmd
}

// editNote changes a note as the flags say.
func (a *app) editNote(cmd *cobra.Command, id string, m *memoryEdit) error {
	if err := m.check(cmd); err != nil {
		return err
	}
	body := given(cmd, "body", &m.text)
	if body != nil {
		text, err := a.textOf(cmd.Context(), []string{*body})
		if err != nil {
			return err
		}
		body = &text
	}
	title := given(cmd, "title", &m.title)
	if title != nil && strings.TrimSpace(*title) == "" {
		return usage("the title would be empty; give one, in any script")
	}
	if err := validText("the note", append([]string{m.title, m.text}, m.tags...)...); err != nil {
		return err
	}
	notes, err := a.notes(cmd.Context())
	if err != nil {
		return err
	}
	n, err := notes.Edit(cmd.Context(), memoryID(id), harness.NoteEdit{
		Title: title, Body: body, Tags: given(cmd, "tag", &m.tags), Pinned: m.pinned(), State: m.state(),
	})
	if err != nil {
		return memoryError("edit", "note", id, err)
	}
	if a.flags.json {
		return a.out.document(n)
	}
	a.printNote(n)
	return nil
}

func (a *app) notesForget() *cobra.Command {
	return &cobra.Command{
		Use: "forget NOTE...", Short: "Forget notes; they can be restored for 30 days", Aliases: []string{"rm"},
		Args: atLeastOne("the id of a note, such as n3"), RunE: a.eachOf(a.forgetNote),
	}
}

// forgetNote moves a note to the trash.
func (a *app) forgetNote(ctx context.Context, st Store, id string) error {
	notes, err := notesOf(st)
	if err != nil {
		return err
	}
	if err := notes.Forget(ctx, memoryID(id)); err != nil {
		return memoryError("forget", "note", id, err)
	}
	return a.forgotten("note", memoryID(id))
}

func (a *app) notesRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore NOTE...", Short: "Bring forgotten notes back", Args: atLeastOne("the id of a note, such as n3"),
		RunE: a.eachOf(a.restoreNote),
	}
}

// restoreNote brings a forgotten note back.
func (a *app) restoreNote(ctx context.Context, st Store, id string) error {
	notes, err := notesOf(st)
	if err != nil {
		return err
	}
	x, err := notes.Restore(ctx, memoryID(id))
	if err != nil {
		return memoryError("restore", "note", id, err)
	}
	if a.flags.json {
		return a.out.object(x)
	}
	a.out.line("restored %s: %s", x.ID, render.SafeLine(x.Title))
	return nil
}
