package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness/memory/markdown"
)

// importLong explains what is done with what is found.
const importLong = `Import %s from a Markdown file, from a directory with all folders below it, or
from standard input with "-".

Of files that cairn exported, an entry that is the same does nothing; one whose
text, title, tags, category, state or pin was changed becomes a new revision
with --update and is skipped without. One without an id, or with an id that
this store never gave it, is new. Facts that are known already, and what was
forgotten, are skipped. Nothing is merged, and an import forgets nothing.

Other Markdown files become notes: the title is that of the front matter, else
the first heading, else the file's name; tags are those of the front matter and
the #tags of the text. Hidden files and folders and links are left out.

With --from, or by their shape, also: harnessx, notes and facts of HarnessX
(.agent_memory); strands, the memory of Strands (.agent/memory), each line of a
file without heading a fact.

A secret is refused and the rest goes on; the exit code then is 1. So it is for
a file with a fault, of which nothing is imported.`

// sources are the values of --from.
func sources() []string { return []string{"auto", "markdown", "harnessx", "strands"} }

// importCommand is `cairn facts import` and its siblings.
func (a *app) importCommand(k kinds) *cobra.Command {
	im := &memoryImport{a: a, kinds: k, counts: map[string]int{}, edited: map[string]string{}}
	what := map[string]string{"facts": "facts", "notes": "notes", "memory": "facts and notes"}[k.command()]
	cmd := &cobra.Command{
		Use: "import FILE|DIR|-", Short: "Import " + what + " from Markdown files",
		Long: fmt.Sprintf(importLong, what) + "\n\n" + secretsRule, Args: exactly(1, "a file, a directory, or - for standard input"),
	}
	cmd.Flags().BoolVar(&im.update, "update", false, "make changed entries new revisions")
	cmd.Flags().BoolVar(&im.dry, "dry-run", false, "only tell what would be done")
	cmd.Flags().StringVar(&im.from, "from", "auto", "read the files of `PROGRAM`: auto, markdown, harnessx or strands")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		if !slices.Contains(sources(), im.from) {
			return usage("there is no --from %q%s", im.from, suggest(im.from, "--from ", sources()))
		}
		return im.run(ctx, args[0])
	})
	return cmd
}

// memoryImport is one import and what became of its entries.
type memoryImport struct {
	a *app
	kinds
	update, dry bool
	from        string

	st     Store
	known  knownMemory
	counts map[string]int
	// edited has the files from which the texts of ids were taken.
	edited map[string]string
	// left counts the entries that are of the other kind.
	left int
}

// run imports what is at a path.
func (im *memoryImport) run(ctx context.Context, typed string) error {
	if typed == "-" {
		text, err := im.a.readStdin(ctx)
		if err != nil {
			return err
		}
		if err := im.open(ctx); err != nil {
			return err
		}
		if err := im.file(ctx, "standard input", []byte(text), true); err != nil {
			return err
		}
		return im.end(typed)
	}
	at := absolute(im.a.s, expand(im.a.s, typed))
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(ExitNotFound, "there is no file or directory %s", typed)
	case err != nil:
		return fmt.Errorf("import %s: %w", typed, cause(err))
	}
	dir := at
	if !info.IsDir() {
		dir = filepath.Dir(at)
	}
	if im.from == "auto" && strings.HasSuffix(filepath.ToSlash(dir)+"/", "/.agent/memory/") {
		im.from = "strands"
	}
	if err := im.open(ctx); err != nil {
		return err
	}
	if info.IsDir() {
		err = im.walk(ctx, at)
	} else {
		err = im.read(ctx, filepath.Base(at), func() (io.ReadCloser, error) { return os.Open(at) }, true)
	}
	if err != nil {
		return err
	}
	return im.end(typed)
}

// open opens the store and learns what is in it. To tell what would be done makes
// none.
func (im *memoryImport) open(ctx context.Context) (err error) {
	if im.dry {
		im.st, err = im.a.reading(ctx)
	} else {
		im.st, err = im.a.store(ctx)
	}
	if err != nil {
		return err
	}
	im.known, err = learn(ctx, im.st)
	return err
}

// walk imports all files below a directory, by name.
func (im *memoryImport) walk(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("import %s: %w", dir, cause(err))
	}
	defer root.Close() //nolint:errcheck // it was only read
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return im.tell(importedEntry{File: name, Action: entryRefused, Reason: cause(err).Error()})
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir() || !im.wants(name):
			return nil
		case !d.Type().IsRegular():
			im.a.notice("%s is no regular file and is left out", name)
			return nil
		}
		return im.read(ctx, name, func() (io.ReadCloser, error) { return root.Open(name) }, false)
	})
}

// wants reports whether a file in a directory may hold something.
func (im *memoryImport) wants(name string) bool {
	return isMarkdown(name) || (im.from == "auto" || im.from == "harnessx") && path.Ext(name) == ".json"
}

// read imports one file; asked says that the person named it.
func (im *memoryImport) read(ctx context.Context, name string, open func() (io.ReadCloser, error), asked bool) error {
	data, err := readBounded(open)
	if err != nil {
		return im.tell(importedEntry{File: name, Action: entryRefused, Reason: err.Error()})
	}
	return im.file(ctx, name, data, asked)
}

// file imports the entries of one file.
func (im *memoryImport) file(ctx context.Context, name string, data []byte, asked bool) error {
	file, err := im.parse(name, data)
	var at *markdown.Error
	switch {
	case errors.Is(err, markdown.ErrOther) && !asked:
		return nil
	case errors.As(err, &at) && path.Ext(name) == ".json" && im.from == "auto" && !asked:
		im.a.notice("%s is left out: %s", name, at.Reason)
		return nil
	case errors.As(err, &at):
		return im.tell(importedEntry{File: name, Line: at.Line, Action: entryRefused, Reason: at.Reason + "; nothing of this file was imported"})
	case err != nil:
		return im.tell(importedEntry{File: name, Action: entryRefused, Reason: err.Error()})
	}
	if len(file.Ignored) > 0 {
		im.a.notice("%s: not kept: %s", name, strings.Join(file.Ignored, ", "))
	}
	if len(file.Missing) > 0 {
		im.a.notice("%s: %s not in the list any more, and not forgotten; to forget: cairn facts forget %s", name, areOrIs(file.Missing), strings.Join(file.Missing, " "))
	}
	for _, e := range file.Entries {
		if e.Fact != nil && !im.facts || e.Note != nil && !im.notes {
			im.left++
			continue
		}
		r, err := im.entry(ctx, name, e)
		if err != nil {
			return fmt.Errorf("import %s, line %d: %w", name, e.Line, err)
		}
		r.File, r.Line = name, e.Line
		if err := im.tell(r); err != nil {
			return err
		}
	}
	return nil
}

func areOrIs(ids []string) string {
	if len(ids) == 1 {
		return ids[0] + " is"
	}
	return strings.Join(ids, ", ") + " are"
}

// parse reads a file as --from says, or by its shape.
func (im *memoryImport) parse(name string, data []byte) (markdown.File, error) {
	switch {
	case im.from == "strands":
		return markdown.ParseStrands(name, data)
	case im.from != "markdown" && (path.Ext(name) == ".json" || !isMarkdown(name) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))):
		return markdown.ParseHarnessXFact(data)
	case im.from == "harnessx", im.from == "auto" && markdown.IsHarnessXNote(data):
		return markdown.ParseHarnessXNote(name, data)
	}
	return markdown.Parse(name, data)
}
