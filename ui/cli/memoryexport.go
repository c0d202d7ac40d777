package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/markdown"
	"cairn/ui/render"
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
		docs, err := a.exported(cmd.Context(), o, args)
		if err != nil {
			return err
		}
		if to == "-" {
			return a.exportOne(docs, cmd.CommandPath())
		}
		return a.exportTo(cmd.Context(), o, absolute(a.s, expand(a.s, to)), docs, len(args) == 0 && o.category == "")
	}
	return cmd
}

// exportedFile is one file to write.
type exportedFile struct {
	// ids are the fact ids or the one note id in it, and key what a file of it is
	// known by: the category or the id and time of the note.
	kind  markdown.Kind
	ids   []string
	key   string
	title string
	data  []byte
}

// exported are the files for what is to be exported: facts by category, then notes
// by id.
func (a *app) exported(ctx context.Context, o exportOptions, ids []string) ([]exportedFile, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return nil, err
	}
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
		for _, f := range byCategory[c] {
			doc.ids = append(doc.ids, f.ID)
		}
		if doc.data, err = markdown.WriteFacts(c, byCategory[c]); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		docs = append(docs, doc)
	}
	for _, n := range notes {
		doc := exportedFile{kind: markdown.KindNote, key: noteKey(n), ids: []string{n.ID}, title: markdown.Name(n.Title, n.ID)}
		if doc.data, err = markdown.WriteNote(n); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// noteKey tells a note from those of other stores, which count from 1 as well.
func noteKey(n harness.Note) string { return n.ID + " " + strconv.FormatInt(n.Created.UnixNano(), 10) }

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

// exportOne writes one file to standard output, as it is unless that is a terminal.
func (a *app) exportOne(docs []exportedFile, command string) error {
	switch len(docs) {
	case 0:
		return fail(ExitNotFound, "there is nothing to export")
	case 1:
	default:
		return usage("these are %d files, and standard output is one: name one note or one category, or export to a directory; see: %s --help", len(docs), command)
	}
	if a.flags.json {
		return a.out.document(struct {
			Name string   `json:"name"`
			IDs  []string `json:"ids"`
			Text string   `json:"text"`
		}{docs[0].title + markdown.Ending, docs[0].ids, string(docs[0].data)})
	}
	a.out.text(a.safe(string(docs[0].data)))
	return nil
}

// exportResult is the JSON line of one exported file.
type exportResult struct {
	// File is the path below the directory.
	File string   `json:"file"`
	IDs  []string `json:"ids"`
	// Action is "written", "unchanged" or "refused".
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
}

// exportTo writes the files below a directory, which it makes. whole says that
// they are all there is.
func (a *app) exportTo(ctx context.Context, o exportOptions, dir string, docs []exportedFile, whole bool) error {
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	root, err := openRoot(dir)
	if err != nil {
		return fmt.Errorf("export to %s: %w", dir, cause(err))
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	refused := 0
	for _, kind := range []markdown.Kind{markdown.KindFacts, markdown.KindNote} {
		if kind == markdown.KindFacts && !o.facts || kind == markdown.KindNote && !o.notes {
			continue
		}
		folder := "."
		if o.facts && o.notes {
			folder = map[markdown.Kind]string{markdown.KindFacts: "facts", markdown.KindNote: "notes"}[kind]
		}
		mine := slices.DeleteFunc(slices.Clone(docs), func(d exportedFile) bool { return d.kind != kind })
		n, err := a.exportFolder(ctx, exportFolder{root: root, at: folder, st: st, force: o.force}, mine, whole)
		if err != nil {
			return fmt.Errorf("export to %s: %w", dir, err)
		}
		refused += n
	}
	switch {
	case refused > 0:
		return fail(ExitFailed, "%d of %s not written; to write over what is there: --force", refused, count(len(docs), "file"))
	case len(docs) == 0:
		a.notice("there is nothing to export")
	}
	return nil
}

// openRoot opens a directory, and makes it if there is none.
func openRoot(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// exportFolder writes files into one folder and returns how many it did not write.
func (a *app) exportFolder(ctx context.Context, f exportFolder, docs []exportedFile, whole bool) (refused int, err error) {
	if len(docs) > 0 && f.at != "." {
		if err := f.root.Mkdir(f.at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, cause(err)
		}
	}
	if err := f.look(); err != nil {
		return 0, err
	}
	for _, doc := range docs {
		name := f.place(doc)
		r := exportResult{File: path.Join(f.at, name), IDs: doc.ids, Action: "written"}
		switch written, reason, err := f.put(ctx, name, doc); {
		case err != nil:
			return refused, fmt.Errorf("%s: %w", r.File, cause(err))
		case reason != "":
			refused++
			r.Action, r.Reason = "refused", reason
		case !written:
			r.Action = "unchanged"
		}
		if err := a.exportLine(r); err != nil {
			return refused, err
		}
	}
	if whole {
		for _, name := range f.leftOver() {
			a.notice("%s is of an earlier export, and what it holds is no longer there; remove it if you do not want it", path.Join(f.at, name))
		}
	}
	return refused, nil
}

func (a *app) exportLine(r exportResult) error {
	if a.flags.json {
		return a.out.object(r)
	}
	switch r.Action {
	case "refused":
		a.complain(r.File + " " + r.Reason)
	default:
		a.out.line("%s %s (%s)", r.Action, render.SafeLine(r.File), idsInWords(r.IDs))
	}
	return nil
}

// idsInWords names what is in a file, or counts it.
func idsInWords(ids []string) string {
	if len(ids) > 3 {
		return strconv.Itoa(len(ids)) + " facts"
	}
	return strings.Join(ids, ", ")
}
