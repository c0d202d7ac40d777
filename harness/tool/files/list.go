package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cairn/harness/tool"
)

const (
	// maxEntries are listed; of more than maxScanned nobody looks further.
	maxEntries = 300
	maxScanned = 20_000
)

type listIn struct {
	Path string `json:"path,omitempty" jsonschema:"the directory, relative to the working directory; left out for the working directory itself"`
}

// listDirectory makes the tool list_directory.
func (f family) listDirectory() (tool.Tool, error) {
	return tool.New("list_directory", "List a directory of the working directory. Directories end in /, links in @.",
		func(ctx context.Context, c tool.Call, in listIn) (string, error) {
			s, err := f.space(c)
			if err != nil {
				return "", err
			}
			return list(ctx, s, orHere(in.Path))
		}, reading(f, func(in listIn) string { return orHere(in.Path) })...)
}

func list(ctx context.Context, s space, name string) (text string, err error) {
	p, err := s.existing(name)
	if err != nil {
		return "", err
	}
	defer closing(&err, p.close)
	if !p.info.IsDir() {
		return "", fmt.Errorf("%q is no directory: it %w", name, ErrKind)
	}
	dir, err := p.root()
	if err != nil {
		return "", err
	}
	defer closing(&err, dir.Close)
	f, err := dir.Open(".")
	if err != nil {
		return "", plainly(name, err)
	}
	defer closing(&err, f.Close)
	entries, more, err := scan(ctx, f)
	if err != nil {
		return "", plainly(name, err)
	}
	return table(dir, name, entries, more), nil
}

// scan reads a directory's entries, sorted by name, and says whether there are
// more than it read.
func scan(ctx context.Context, f *os.File) (entries []fs.DirEntry, more bool, err error) {
	for len(entries) < maxScanned {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		batch, err := f.ReadDir(1_000)
		entries = append(entries, batch...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, len(entries) >= maxScanned, nil
}

// table writes one entry of a directory a line.
func table(dir *os.Root, name string, entries []fs.DirEntry, more bool) string {
	if len(entries) == 0 {
		return fmt.Sprintf("(%q is empty)", name)
	}
	var b strings.Builder
	for _, e := range entries[:min(len(entries), maxEntries)] {
		b.WriteString(label(e.Name()))
		switch {
		case e.IsDir():
			b.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			b.WriteByte('@')
		case e.Type().IsRegular():
			if info, err := dir.Lstat(e.Name()); err == nil {
				fmt.Fprintf(&b, "  %d bytes", info.Size())
			}
		default:
			b.WriteString("  (device, pipe or socket)")
		}
		b.WriteByte('\n')
	}
	switch left := len(entries) - maxEntries; {
	case more:
		fmt.Fprintf(&b, "(more than %d entries; the rest is left out)\n", maxScanned)
	case left > 0:
		fmt.Fprintf(&b, "(%d more entries are left out)\n", left)
	}
	return b.String()
}

// label quotes a name that would not be one plain line.
func label(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name {
		return strconv.Quote(name)
	}
	return name
}
