package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxWalked is how many entries one search looks at, maxDepth how deep it
	// goes.
	maxWalked = 200_000
	maxDepth  = 100
)

// errEnough ends a walk that has what it wants.
var errEnough = errors.New("enough")

// walk goes through the files below a directory, in the order of their names.
// It follows no links, and leaves out .git, what .gitignore files name, and
// directories that hold keys.
type walk struct {
	// base is the allowed directory, top the one that is walked.
	base, top string
	// visit gets each file and link. Its path is relative to top, with slashes;
	// dir is open for the time of the visit.
	visit func(dir *os.Root, rel string, e fs.DirEntry) error
	// found, if set, gets each directory before what is in it; with [fs.SkipDir]
	// that is not looked at.
	found func(rel string) error
	// wide, if set, gets each directory that is to be walked, which then is left
	// for later; see [walk.near].
	wide func(left)

	seen, ignored, secret, unreadable int
	cut                               bool
}

// run walks the directory at p.
func (w *walk) run(ctx context.Context, p place) error {
	return w.begin(p, func(root *os.Root, rules []rule) error {
		return w.dir(ctx, root, ".", rules, maxDepth)
	})
}

// begin opens the directory at p for a walk.
func (w *walk) begin(p place, walked func(root *os.Root, rules []rule) error) error {
	w.base, w.top = p.base, p.path
	rules, err := ignoreAbove(p.base, p.path)
	if err != nil {
		return plainly(p.asked, err)
	}
	root, err := p.root()
	if err != nil {
		return err
	}
	err = walked(root, rules)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return errors.Join(err, root.Close())
}

// below is the path of something in the walk from the allowed directory.
func (w *walk) below(rel string) string {
	from, err := filepath.Rel(w.base, filepath.Join(w.top, filepath.FromSlash(rel)))
	if err != nil || from == "." {
		return ""
	}
	return filepath.ToSlash(from)
}

// dir walks one directory. rel is where it is below the top.
func (w *walk) dir(ctx context.Context, dir *os.Root, rel string, rules []rule, depth int) error {
	f, err := dir.Open(".")
	if err != nil {
		w.unreadable++
		return nil //nolint:nilerr // it is counted and told
	}
	entries, more, err := scan(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.unreadable++
		return nil // it is counted and told
	}
	w.cut = w.cut || more
	here := w.below(rel)
	if own := readIgnore(dir, here); len(own) > 0 {
		rules = append(rules[:len(rules):len(rules)], own...)
	}
	if w.wide != nil {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(shown(a), shown(b)) })
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.seen++; w.seen > maxWalked {
			w.cut = true
			return errEnough
		}
		if err := w.entry(ctx, dir, path.Join(rel, e.Name()), here, e, rules, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at one entry of the directory here.
func (w *walk) entry(ctx context.Context, dir *os.Root, rel, here string, e fs.DirEntry, rules []rule, depth int) error {
	name := e.Name()
	switch {
	case name == ".git" || temporary(name):
		return nil
	case ignored(rules, path.Join(here, name), e.IsDir()):
		w.ignored++
		return nil
	case !e.IsDir():
		return w.visit(dir, rel, e)
	}
	full := filepath.Join(w.top, filepath.FromSlash(rel))
	if secret(full) || system(full) {
		w.secret++
		return nil
	}
	if w.found != nil {
		if err := w.found(rel); errors.Is(err, fs.SkipDir) {
			return nil
		} else if err != nil {
			return err
		}
	}
	switch {
	case depth == 0:
		w.cut = true
		return nil
	case w.wide != nil:
		w.wide(left{rel: rel, rules: rules, depth: depth - 1})
		return nil
	}
	next, err := step(dir, name)
	if err != nil {
		w.unreadable++
		return nil //nolint:nilerr // it is counted and told
	}
	return errors.Join(w.dir(ctx, next, rel, rules, depth-1), next.Close())
}

// leftOut tells what the walk did not look at, as sentences in parentheses.
func (w *walk) leftOut() string {
	var b strings.Builder
	say := func(n int, one, many string) {
		switch {
		case n == 1:
			fmt.Fprintf(&b, "(%s)\n", one)
		case n > 1:
			fmt.Fprintf(&b, "(%d %s)\n", n, many)
		}
	}
	say(w.ignored, "1 entry is left out by .gitignore", "entries are left out by .gitignore")
	say(w.secret, "1 entry that may hold keys or passwords is left out", "entries that may hold keys or passwords are left out")
	say(w.unreadable, "1 entry could not be read", "entries could not be read")
	if w.cut {
		b.WriteString("(there is more than one search looks at; search a directory below)\n")
	}
	return b.String()
}
