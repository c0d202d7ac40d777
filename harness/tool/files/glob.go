package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cairn/harness/tool"
)

const (
	// defaultPaths are named without a limit, maxPaths at most.
	defaultPaths = 200
	maxPaths     = 1_000
	// maxPattern bounds a pattern, in bytes, and maxChoices the ways to choose
	// in its braces, as each of them is tried.
	maxPattern = 1_000
	maxChoices = 100
)

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"such as *.go for the directory itself, **/*.go for all below it, {cmd,ui}/**/*_test.go"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search, relative to the working directory; left out for the working directory itself"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many paths to name, 200 if left out, at most 1000"`
}

// split returns the directory to search and the pattern below it: the start of
// a pattern that has no wildcards is a directory, also an absolute one.
func (in globIn) split() (dir, pattern string) {
	dir, pattern = doublestar.SplitPattern(in.Pattern)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(orHere(in.Path), dir)
	}
	return dir, pattern
}

// glob makes the tool glob.
func (f family) glob() (tool.Tool, error) {
	return tool.New("glob",
		"Find files by the pattern of their path, sorted by path. What .gitignore names is left out, and links to directories are not followed.",
		func(ctx context.Context, c tool.Call, in globIn) (string, error) {
			s, err := f.space(c)
			if err != nil {
				return "", err
			}
			return glob(ctx, s, in)
		}, reading(f, func(in globIn) string { dir, _ := in.split(); return dir })...)
}

func glob(ctx context.Context, s space, in globIn) (text string, err error) {
	if in.Path != "" {
		if err := plausible(in.Path); err != nil {
			return "", err
		}
	}
	dir, pattern := in.split()
	switch {
	case in.Limit < 0:
		return "", errors.New("limit must not be negative")
	case in.Pattern == "":
		return "", errors.New("pattern is empty; it must be one for paths, such as **/*.go")
	}
	if err := checkGlob(in.Pattern); err != nil {
		return "", err
	}
	p, err := s.existing(dir)
	if err != nil {
		return "", err
	}
	defer closing(&err, p.close)
	if !p.info.IsDir() {
		return "", fmt.Errorf("%q is no directory to search: it %w", dir, ErrKind)
	}
	var found []string
	w := walk{visit: func(_ *os.Root, rel string, e fs.DirEntry) error {
		if doublestar.MatchUnvalidated(pattern, rel) && s.isFile(filepath.Join(p.path, filepath.FromSlash(rel)), e) {
			found = append(found, s.show(filepath.Join(p.path, filepath.FromSlash(rel))))
		}
		return nil
	}}
	if err := w.run(ctx, p); err != nil {
		return "", err
	}
	return paths(found, in.Limit) + w.leftOut(), nil
}

// checkGlob refuses what is no pattern, or one that would take for ever.
func checkGlob(pattern string) error {
	if len(pattern) > maxPattern || !doublestar.ValidatePattern(pattern) {
		return fmt.Errorf("%q is no pattern for paths; use *, **, ?, [a-z] and {one,two}", tool.Clip(pattern, maxPattern))
	}
	choices := 1
	for group := range strings.SplitSeq(pattern, "{") {
		if choices *= strings.Count(group, ",") + 1; choices > maxChoices {
			return fmt.Errorf("the pattern for paths has more than %d ways to choose in its braces; search several times", maxChoices)
		}
	}
	return nil
}

// isFile reports whether an entry is a file, or a link to one that may be read.
func (s space) isFile(full string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	p, err := s.existing(full)
	if err != nil {
		return false
	}
	return p.close() == nil && p.info.Mode().IsRegular()
}

// paths writes one path a line, sorted.
func paths(found []string, limit int) string {
	if len(found) == 0 {
		return "(no file matches)\n"
	}
	if limit == 0 {
		limit = defaultPaths
	}
	limit = min(limit, maxPaths, len(found))
	slices.Sort(found)
	var b strings.Builder
	for _, name := range found[:limit] {
		b.WriteString(label(name))
		b.WriteByte('\n')
	}
	if left := len(found) - limit; left > 0 {
		fmt.Fprintf(&b, "(%d more match and are left out)\n", left)
	}
	return b.String()
}
