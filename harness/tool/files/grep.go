package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cairn/harness/tool"
)

const (
	// defaultMatches are shown without a limit, maxMatches at most.
	defaultMatches = 100
	maxMatches     = 200
	// maxAround bounds the lines around a match.
	maxAround = 10
	// maxSearched bounds a file that is searched, in bytes.
	maxSearched = 64 << 20
)

type grepIn struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression (RE2), matched within single lines"`
	Path    string `json:"path,omitempty" jsonschema:"the file or directory to search, relative to the working directory; left out for the working directory itself"`
	Glob    string `json:"glob,omitempty" jsonschema:"search only files whose path matches, such as *.go (at any depth) or cmd/**/*.go"`
	Ignore  bool   `json:"ignore_case,omitempty" jsonschema:"true to take upper and lower case for the same"`
	Context int    `json:"context,omitempty" jsonschema:"how many lines to show around each match, at most 10"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many matching lines to show, 100 if left out, at most 200"`
}

// grep makes the tool grep.
func (f family) grep() (tool.Tool, error) {
	return tool.New("grep",
		"Search the text of files for a regular expression; each match is shown as file:line: text. Binary files and what .gitignore names are left out.",
		func(ctx context.Context, c tool.Call, in grepIn) (string, error) {
			s, err := f.space(c)
			if err != nil {
				return "", err
			}
			return grep(ctx, s, in)
		}, reading(f, func(in grepIn) string { return orHere(in.Path) })...)
}

func grep(ctx context.Context, s space, in grepIn) (text string, err error) {
	g, err := newSearch(in)
	if err != nil {
		return "", err
	}
	p, err := s.existing(orHere(in.Path))
	if err != nil {
		return "", err
	}
	defer closing(&err, p.close)
	if !p.info.IsDir() {
		if err := p.regular(); err != nil {
			return "", err
		}
		if err := g.file(ctx, p.dir, p.name, label(s.show(p.path))); err != nil && !errors.Is(err, errEnough) {
			return "", err
		}
		return g.result() + g.walk.leftOut(), nil
	}
	g.walk.visit = func(dir *os.Root, rel string, e fs.DirEntry) error {
		full := filepath.Join(p.path, filepath.FromSlash(rel))
		switch name := s.show(full); {
		case !e.Type().IsRegular() || !g.wanted(rel, filepath.ToSlash(name)):
			return nil
		case secret(full):
			g.walk.secret++
			return nil
		default:
			return g.file(ctx, dir, path.Base(rel), label(name))
		}
	}
	if err := g.walk.run(ctx, p); err != nil {
		return "", err
	}
	return g.result() + g.walk.leftOut(), nil
}

// search is one search through files.
type search struct {
	re            *regexp.Regexp
	glob          string
	around, limit int
	walk          walk
	// src reads one file after the other.
	src *bufio.Reader

	out              strings.Builder
	found, looked    int
	binary, toolarge int
}

// newSearch checks what is searched for.
func newSearch(in grepIn) (*search, error) {
	switch {
	case in.Pattern == "":
		return nil, errors.New("pattern is empty; it must be a regular expression")
	case in.Context < 0 || in.Limit < 0:
		return nil, errors.New("context and limit must not be negative")
	}
	if err := checkGlob(in.Glob); err != nil {
		return nil, err
	}
	pattern := in.Pattern
	if in.Ignore {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		var at *syntax.Error
		if errors.As(err, &at) {
			return nil, fmt.Errorf("the pattern is no regular expression: %s at %q; write special characters such as ( and [ with \\ in front", at.Code, tool.Clip(at.Expr, 100))
		}
		return nil, fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultMatches
	}
	return &search{
		re: re, glob: strings.TrimPrefix(in.Glob, "./"), around: min(in.Context, maxAround), limit: min(limit, maxMatches),
		src: bufio.NewReaderSize(nil, maxMatched),
	}, nil
}

// wanted reports whether a file is to be searched, by its path below the
// searched directory and by the one that is shown.
func (g *search) wanted(rel, shown string) bool {
	switch {
	case g.glob == "":
		return true
	case !strings.Contains(g.glob, "/"):
		return doublestar.MatchUnvalidated(g.glob, path.Base(rel))
	default:
		return doublestar.MatchUnvalidated(g.glob, rel) || doublestar.MatchUnvalidated(g.glob, shown)
	}
}

// result is what was found, and what was not looked at.
func (g *search) result() string {
	switch {
	case g.found == 0 && g.looked == 1:
		g.out.WriteString("(no match in 1 file)\n")
	case g.found == 0:
		fmt.Fprintf(&g.out, "(no match in %d files)\n", g.looked)
	case g.found >= g.limit:
		fmt.Fprintf(&g.out, "(stopped after %d matching lines; there may be more)\n", g.found)
	}
	if g.binary > 0 {
		fmt.Fprintf(&g.out, "(binary files that are left out: %d)\n", g.binary)
	}
	if g.toolarge > 0 {
		fmt.Fprintf(&g.out, "(files of more than %d bytes that are left out: %d)\n", maxSearched, g.toolarge)
	}
	return g.out.String()
}
