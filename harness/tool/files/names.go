package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	// One more than is wanted tells that there are others.
	add := func(path string) error {
		if paths = append(paths, path); len(paths) > most {
			return errEnough
		}
		return nil
	}
	w := walk{
		visit: func(_ *os.Root, rel string, e fs.DirEntry) error {
			if full := filepath.Join(p.path, filepath.FromSlash(rel)); secret(full) || !s.isFile(full, e) {
				return nil
			}
			return add(rel)
		},
		found: func(rel string) error {
			if err := add(rel + "/"); err != nil || deep {
				return err
			}
			return fs.SkipDir
		},
	}
	if err := w.near(ctx, p); err != nil {
		return nil, false, err
	}
	if len(paths) > most {
		return paths[:most], true, nil
	}
	return paths, w.cut, nil
}
