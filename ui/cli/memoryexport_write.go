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
	"sync"

	"cairn/harness"
	"cairn/harness/memory/markdown"
	"cairn/ui/render"
)

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
func (a *app) exportTo(ctx context.Context, st Store, o exportOptions, dir string, docs []exportedFile, whole bool) error {
	root, err := openRoot(dir)
	if err != nil {
		return fmt.Errorf("export to %s: %w", dir, cause(err))
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	known := sync.OnceValues(func() (knownMemory, error) { return learn(ctx, st) })
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
		n, err := a.exportFolder(ctx, exportFolder{root: root, at: folder, st: st, force: o.force, known: known}, mine, whole)
		if err != nil {
			return fmt.Errorf("export to %s: %w", dir, err)
		}
		refused += n
	}
	switch {
	case refused > 0:
		return fail(ExitFailed, "%d of %s not written; to write over what is there: --force", refused, harness.Count(len(docs), "file"))
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
