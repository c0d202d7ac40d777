package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// left is a directory that a walk has come across and not looked into yet.
type left struct {
	rel   string
	rules []rule
	depth int
}

// near is like run, but what is near comes first: a directory is entered when
// all that lies less deep was visited. Those of one depth come in the order of
// their paths, where a directory's ends in a slash, so that whoever wants the
// first few paths in this order can end the walk with errEnough.
func (w *walk) near(ctx context.Context, p place) error {
	return w.begin(p, func(root *os.Root, rules []rule) error {
		queue := []left(nil)
		w.wide = func(l left) { queue = append(queue, l) }
		err := w.dir(ctx, root, ".", rules, maxDepth)
		d := descent{root: root, above: root, at: "."}
		for err == nil && len(queue) > 0 {
			next := queue[0]
			queue = queue[1:]
			dir, gone := d.open(next.rel)
			if gone != nil {
				w.unreadable++
				continue
			}
			err = errors.Join(w.dir(ctx, dir, next.rel, next.rules, next.depth), dir.Close())
		}
		return errors.Join(err, d.close())
	})
}

// shown is the name of an entry as paths for a person have it.
func shown(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// descent opens directories below root and follows no links. It keeps the one
// above the last open: the next is mostly beside it.
type descent struct {
	root, above *os.Root
	at          string
}

// open opens the directory at rel, which has to be below the root.
func (d *descent) open(rel string) (*os.Root, error) {
	if parent := path.Dir(rel); parent != d.at {
		if err := d.close(); err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(parent, "/") {
			next, err := step(d.above, name)
			if err != nil {
				return nil, err
			}
			at := path.Join(d.at, name)
			if err := d.close(); err != nil {
				return nil, errors.Join(err, next.Close())
			}
			d.above, d.at = next, at
		}
	}
	return step(d.above, path.Base(rel))
}

// close closes what is open below the root, and goes back there.
func (d *descent) close() error {
	above := d.above
	d.above, d.at = d.root, "."
	if above == d.root {
		return nil
	}
	return above.Close()
}
