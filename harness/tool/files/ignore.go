package files

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	ignoreFile = ".gitignore"
	// maxIgnore and maxRules bound one such file, in bytes and lines.
	maxIgnore = 256 << 10
	maxRules  = 2_000
)

// rule is one line of a .gitignore file.
type rule struct {
	// base is the directory of the file, below the allowed directory, "" for
	// that one; pattern matches what is below base.
	base, pattern string
	// keep takes back what an earlier line ignored; only says that it counts
	// for directories alone.
	keep, only bool
}

// ignored reports whether the rules leave out a path; the last one that
// matches decides. That a directory above it is left out is the walk's affair.
func ignored(rules []rule, name string, dir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		if r.only && !dir {
			continue
		}
		rel := name
		if r.base != "" {
			var ok bool
			if rel, ok = strings.CutPrefix(name, r.base+"/"); !ok {
				continue
			}
		}
		if doublestar.MatchUnvalidated(r.pattern, rel) {
			return !r.keep
		}
	}
	return false
}

// parseIgnore reads the lines of a .gitignore file in the directory base.
func parseIgnore(base, text string) []rule {
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(text, mark)) {
		if len(rules) == maxRules {
			break
		}
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			r.base = base
			rules = append(rules, r)
		}
	}
	return rules
}

// parseRule reads one line.
func parseRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.only = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	// A pattern without a slash counts at any depth, one with a slash only
	// from its own directory.
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	switch {
	case line == "":
		return r, false
	case !anchored:
		line = "**/" + line
	case strings.HasSuffix(line, "/**"):
		line += "/*" // what is in it, but not the directory itself
	}
	// Braces have no meaning in these files.
	r.pattern = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(line)
	return r, doublestar.ValidatePattern(r.pattern)
}

// readIgnore reads the .gitignore file of an open directory, if it has one.
// One that cannot be read ignores nothing.
func readIgnore(dir *os.Root, base string) []rule {
	info, err := dir.Lstat(ignoreFile)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := openSame(dir, ignoreFile, info)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	return parseIgnore(base, string(text))
}

// ignoreAbove reads the .gitignore files from the allowed directory down to
// the one above the directory target.
func ignoreAbove(base, target string) ([]rule, error) {
	rel, err := filepath.Rel(base, target)
	if err != nil || rel == "." {
		return nil, err
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	var rules []rule
	at := ""
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		rules = append(rules, readIgnore(dir, at)...)
		next, err := step(dir, name)
		if err = errors.Join(err, dir.Close()); err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return nil, err
		}
		dir, at = next, path.Join(at, name)
	}
	return rules, dir.Close()
}
