package attach

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cairn/ui/widget"
)

const (
	// rowsMax bounds the paths that the list holds.
	rowsMax = 100
	// lookUp is how many paths are ranked between two looks at whether that is
	// still wanted.
	lookUp = 1024
)

// ranked are the paths that fit a query, best first: those whose name begins
// with it, has it, whose path has it, or has its letters in their order. An empty
// query lists what is nearest, directories first.
func ranked(ctx context.Context, paths []string, query string) []string {
	type hit struct {
		path  string
		score int
	}
	var hits []hit
	q := widget.Fold(query)
	for i, p := range paths {
		if i%lookUp == 0 && ctx.Err() != nil {
			return nil
		}
		if s, ok := score(p, q); ok {
			hits = append(hits, hit{p, s})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(depth(a.path), depth(b.path)),
			cmp.Compare(rank(a.path), rank(b.path)), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	rows := make([]string, min(len(hits), rowsMax))
	for i := range rows {
		rows[i] = hits[i].path
	}
	return rows
}

// depth is how many directories a path is in.
func depth(p string) int { return strings.Count(strings.TrimSuffix(p, "/"), "/") }

// rank puts directories before files.
func rank(p string) int {
	if strings.HasSuffix(p, "/") {
		return 0
	}
	return 1
}

// score says how well a path fits a folded query; less is better. Hidden files
// fit only a query that begins with a dot.
func score(p, q string) (int, bool) {
	whole := strings.TrimSuffix(p, "/")
	name := whole[strings.LastIndexByte(whole, '/')+1:]
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(q, ".") {
		return 0, false
	}
	if q == "" {
		return 0, true
	}
	folded := widget.Fold(name)
	at := strings.Index(folded, q)
	switch {
	case folded == q:
		return 0, true
	case at == 0:
		return 1, true
	case at > 0:
		return 2, true
	}
	if folded = widget.Fold(whole); strings.Contains(folded, q) {
		return 3, true
	}
	gaps, ok := spread(folded, q)
	return 4 + gaps, ok
}

// spread reports whether a text has the letters of a query in their order, and
// how many gaps are between them. It reads from the end, where the name is.
func spread(text, query string) (gaps int, ok bool) {
	i, together := len(text), true
	for j := len(query); j > 0; {
		if i == 0 {
			return 0, false
		}
		i--
		if text[i] == query[j-1] {
			if !together {
				gaps++
			}
			together = true
			j--
			continue
		}
		together = false
	}
	return gaps, true
}
