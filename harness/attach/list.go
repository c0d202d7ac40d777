package attach

import (
	"context"
	"strings"

	"cairn/harness/tool/files"
)

// maxListed bounds the paths of one list.
const maxListed = 5_000

// List returns paths below a directory for a person to choose from, relative to
// it: dir is as it was typed, empty for the working directory. Those of
// directories end in a slash, what is ignored is left out, the nearest come
// first. All below are meant if deep, else those in it. More says that there are
// others.
func (f Files) List(ctx context.Context, dir string, deep bool) (paths []string, more bool, err error) {
	base, at := f.Path(dir), "."
	if strings.TrimSpace(dir) == "" {
		base = f.Dir
	} else if below(f.Dir, base) {
		base, at = f.Dir, base // what is ignored above counts, too
	}
	paths, more, err = files.Names(ctx, base, at, deep, maxListed)
	if err != nil {
		return nil, false, unreadable(dir, err)
	}
	return paths, more, nil
}
