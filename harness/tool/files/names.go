package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names returns the paths of files and directories below a directory, which is
// base or in it, for a person to choose from: relative to that directory, those
// of directories with a slash at the end, the nearest first, at most so many. All
// below are meant if deep, else those in it. What .gitignore files name and where
// keys are kept is left out; more says that there are others than were returned.
func Names(ctx context.Context, base, dir string, deep bool, most int) (paths []string, more bool, err error) {
	s, err := newSpace(base, nil)
	if err != nil {
		return nil, false, err
	}
	p, err := s.existing(orHere(dir))
	if err != nil {
		return nil, false, err
	}
	defer closing(&err, p.close)
	if !p.info.IsDir() {
		return nil, false, fmt.Errorf("%q is no directory to list: it %w", dir, ErrKind)
	}
	w := walk{
		visit: func(_ *os.Root, rel string, e fs.DirEntry) error {
			full := filepath.Join(p.path, filepath.FromSlash(rel))
			if !secret(full) && s.isFile(full, e) {
				paths = append(paths, rel)
			}
			return nil
		},
		enter: func(rel string) bool {
			paths = append(paths, rel+"/")
			return deep
		},
	}
	if err := w.run(ctx, p); err != nil {
		return nil, false, err
	}
	depth := func(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b)) })
	if len(paths) > most {
		return paths[:most], true, nil
	}
	return paths, w.cut, nil
}
