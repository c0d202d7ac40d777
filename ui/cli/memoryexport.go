package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// exportLong explains the files.
const exportLong = `Export %s as Markdown files that can be edited, that Obsidian opens and that
cairn %s import reads back. A note is one file, named by its title; facts are
one file for each category, a list in which each fact ends with its id (^f12).
Tags, source, times and the rest are in the front matter. Forgotten ones are
never exported, those that are off with --all.

A file that cairn did not write, or that was changed since and not imported, is
left alone, unless --force is given. With IDs only those are exported. With -
in the place of the directory, or --stdout, one file goes to standard output.`

// exportOptions are the flags of an export.
type exportOptions struct {
	kinds
	all, force, stdout bool
	category           string
}

// exportCommand is `cairn facts export` and its siblings.
func (a *app) exportCommand(k kinds) *cobra.Command {
	o := exportOptions{kinds: k}
	what := map[string]string{"facts": "facts", "notes": "notes", "memory": "facts and notes"}[k.command()]
	cmd := &cobra.Command{
		Use: "export DIR|- [ID...]", Short: "Export " + what + " as Markdown files",
		Long: fmt.Sprintf(exportLong, what, k.command()), Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "also those that are off")
	cmd.Flags().BoolVar(&o.force, "force", false, "write over files that hold something else")
	cmd.Flags().BoolVar(&o.stdout, "stdout", false, "write one file to standard output")
	if k.facts {
		cmd.Flags().StringVar(&o.category, "category", "", "only facts of `CATEGORY`")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !o.stdout && len(args) == 0 {
			return usage("%s needs a directory, or - for standard output; see: %s --help", cmd.CommandPath(), cmd.CommandPath())
		}
		to := "-"
		if !o.stdout || len(args) > 0 && args[0] == "-" {
			to, args = args[0], args[1:]
		}
		st, err := a.reading(cmd.Context())
		if err != nil {
			return err
		}
		docs, err := exported(cmd.Context(), st, o, args)
		if err != nil {
			return err
		}
		if to == "-" {
			return a.exportOne(docs, cmd.CommandPath())
		}
		return a.exportTo(cmd.Context(), st, o, absolute(a.s, expand(a.s, to)), docs, len(args) == 0 && o.category == "")
	}
	return cmd
}

// exportedFile is one file to write.
type exportedFile struct {
	kind markdown.Kind
	// ids are the fact ids or the one note id in it, and key is what a file of it is
	// known by: the category, or the id of the note, made at that time.
	ids     []string
	key     string
	created time.Time
	title   string
	data    []byte
}

// exported are the files for what is to be exported: facts by category, then notes
// by id.
func exported(ctx context.Context, st Store, o exportOptions, ids []string) ([]exportedFile, error) {
	facts, notes, err := o.chosen(ctx, st, ids)
	if err != nil {
		return nil, err
	}
	byCategory, categories := map[string][]harness.Fact{}, []string{}
	for _, f := range facts {
		if byCategory[f.Category] == nil {
			categories = append(categories, f.Category)
		}
		byCategory[f.Category] = append(byCategory[f.Category], f)
	}
	slices.Sort(categories)
	var docs []exportedFile
	for _, c := range categories {
		doc := exportedFile{kind: markdown.KindFacts, key: c, title: markdown.Name(c, "facts")}
		for i, f := range byCategory[c] {
			doc.ids = append(doc.ids, f.ID)
			byCategory[c][i].Session = sessionInFile(f.Session)
		}
		if doc.data, err = markdown.WriteFacts(c, byCategory[c]); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		docs = append(docs, doc)
	}
	for _, n := range notes {
		doc := exportedFile{kind: markdown.KindNote, key: n.ID, created: n.Created, ids: []string{n.ID}, title: markdown.Name(n.Title, n.ID)}
		n.Session = sessionInFile(n.Session)
		if doc.data, err = markdown.WriteNote(n); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// sessionInFile is a session as a file names it: none if it is no session.
func sessionInFile(id harness.SessionID) harness.SessionID {
	if id == harness.NoSession {
		return ""
	}
	return id
}

// chosen are the facts and notes to export, by number.
func (o exportOptions) chosen(ctx context.Context, st Store, ids []string) (facts []harness.Fact, notes []harness.Note, err error) {
	if len(ids) > 0 {
		return o.named(ctx, st, ids)
	}
	f := harness.MemoryFilter{}
	if o.all {
		f.State = harness.StateAny
	}
	if o.notes && o.category == "" {
		if notes, err = listNotes(ctx, st, f); err != nil {
			return nil, nil, err
		}
	}
	if f.Category = o.category; o.facts {
		if facts, err = listFacts(ctx, st, f); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(facts, func(a, b harness.Fact) int { return byNumber(a.ID, b.ID) })
	slices.SortFunc(notes, func(a, b harness.Note) int { return byNumber(a.ID, b.ID) })
	return facts, notes, nil
}

// byNumber orders ids by the number in them.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// named are the facts and notes of ids.
func (o exportOptions) named(ctx context.Context, st Store, ids []string) (facts []harness.Fact, notes []harness.Note, err error) {
	if o.category != "" {
		return nil, nil, usage("--category and ids each choose facts; give one of them")
	}
	seen := map[string]bool{}
	for _, typed := range ids {
		id := memoryID(typed)
		fact, err := isFact(typed)
		switch {
		case err != nil:
			return nil, nil, err
		case seen[id]:
			continue
		case fact && !o.facts || !fact && !o.notes:
			return nil, nil, usage("%s is none of the %s; see: cairn memory export --help", id, o.command())
		}
		seen[id] = true
		state := harness.FactState("")
		if fact {
			var x harness.Fact
			if x, err = getFact(ctx, st, id); err == nil {
				facts, state = append(facts, x), x.State
			}
		} else {
			var n harness.Note
			if n, err = getNote(ctx, st, id); err == nil {
				notes, state = append(notes, n), n.State
			}
		}
		if err != nil {
			return nil, nil, err
		}
		if state == harness.StateTrashed {
			return nil, nil, fail(ExitNotFound, "%s is forgotten; bring it back with: cairn memory restore %s", id, id)
		}
	}
	return facts, notes, nil
}

func getFact(ctx context.Context, st Store, id string) (harness.Fact, error) {
	facts, err := factsOf(st)
	if err != nil {
		return harness.Fact{}, err
	}
	x, err := facts.Get(ctx, id)
	if err != nil {
		return x, memoryError("export", "fact", id, err)
	}
	return x, nil
}

func getNote(ctx context.Context, st Store, id string) (harness.Note, error) {
	notes, err := notesOf(st)
	if err != nil {
		return harness.Note{}, err
	}
	n, err := notes.Get(ctx, id)
	if err != nil {
		return n, memoryError("export", "note", id, err)
	}
	return n, nil
}
