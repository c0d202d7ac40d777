// Package files has the tools that read, find, write and edit files. The one
// thing to know: a path is judged by where it really leads, after all links,
// and is opened one name at a time below an [os.Root], so that nothing outside
// the allowed directories is ever touched, not even when a link is swapped in
// between; and files that hold keys are not touched at all, wherever they are.
package files

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cairn/harness/tool"
)

// Options say where the tools may work.
type Options struct {
	// Dir is the working directory of calls that name none.
	Dir string
	// Roots are further directories that may be used, absolute. Links in them
	// are resolved once, by [Register].
	Roots []string
}

// Register adds read_file, list_directory, glob, grep, write_file and
// edit_file to a set. The reading ones are allowed, the writing ones ask. An
// error means that a root is not absolute or that the set has such a tool.
func Register(set *tool.Set, o Options) error {
	f := family{dir: o.Dir}
	for _, root := range o.Roots {
		if !filepath.IsAbs(root) {
			return fmt.Errorf("register file tools: %q is no absolute path: it %w", root, ErrPath)
		}
		real, err := follow(filepath.Clean(root), maxLinks)
		if err != nil {
			return fmt.Errorf("register file tools: find %q: %w", root, err)
		}
		f.roots = append(f.roots, real)
	}
	if home, err := os.UserHomeDir(); err == nil {
		f.home = home
	}
	for _, make := range []func() (tool.Tool, error){f.readFile, f.listDirectory, f.glob, f.grep, f.writeFile, f.editFile} {
		t, err := make()
		if err != nil {
			return fmt.Errorf("register file tools: %w", err)
		}
		if err := set.Add(t); err != nil {
			return fmt.Errorf("register file tools: %w", err)
		}
	}
	return nil
}

// family is what the tools share.
type family struct {
	// dir is the working directory of calls that name none, roots are the
	// further real ones; home shortens what people are shown.
	dir   string
	roots []string
	home  string
}

// space is where a call may work.
func (f family) space(c tool.Call) (space, error) {
	dir := c.Dir
	if dir == "" {
		dir = f.dir
	}
	return newSpace(dir, f.roots)
}

// arguments reads what a call asks for and where it may work.
func arguments[In any](f family, c tool.Call) (in In, s space, err error) {
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return in, s, fmt.Errorf("read arguments: %w", err)
	}
	s, err = f.space(c)
	return in, s, err
}

// touches makes the function that says which path a call would touch; at gets
// the path out of the arguments.
func touches[In any](f family, kind tool.AccessKind, at func(In) string) tool.Option {
	return tool.WithTouches(func(c tool.Call) ([]tool.Access, error) {
		in, s, err := arguments[In](f, c)
		if err != nil {
			return nil, err
		}
		p, err := s.locate(at(in))
		if err != nil {
			return nil, err
		}
		return []tool.Access{{Kind: kind, Path: p.path, Root: p.base}}, nil
	})
}

// reading are the options of the tools that only look.
func reading[In any](f family, at func(In) string) []tool.Option {
	return []tool.Option{tool.WithPermission(tool.Allow), tool.WithReplay(tool.Safe), touches(f, tool.AccessRead, at)}
}

// writing are the options of the tools that change a file. An edit whose
// effect is unknown must not be made twice.
func writing[In any](f family, at func(In) string, opts ...tool.Option) []tool.Option {
	return slices.Concat([]tool.Option{
		tool.WithPermission(tool.Ask), tool.WithReplay(tool.Manual), tool.Sequential(), touches(f, tool.AccessWrite, at),
	}, opts)
}

// orHere returns the directory of an argument that may be left out.
func orHere(name string) string { return cmp.Or(name, ".") }

// closing joins the error of closing something that was only read.
func closing(err *error, what func() error) { *err = errors.Join(*err, what()) }
