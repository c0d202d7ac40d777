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

// firstFiles and firstOthers are how many of the files, and then of each other kind, come before all the
// rest.
const firstFiles, firstOthers = 4, 2

// rankedOthers are the others that a query fits: their paths have it, or their
// titles have all its words; behind a colon, what has the rest in either.
func rankedOthers(others []Other, query string) []Other {
	q, words := widget.Fold(query), widget.Words(query)
	of, rest, within := strings.Cut(q, ":")
	fits := func(o Other) int {
		p := widget.Fold(o.Path)
		kind, id, _ := strings.Cut(p, ":")
		switch {
		case strings.HasPrefix(p, q), strings.HasPrefix(id, q):
			return 1
		case widget.Has(widget.Fold(widget.Head(o.Title, titleMax)), words):
			return 2
		case within && kind == of && (strings.Contains(id, rest) || strings.Contains(widget.Fold(widget.Head(o.Title, titleMax)), rest)):
			return 2
		}
		return 0
	}
	var out, later []Other
	for _, o := range others {
		switch fits(o) {
		case 1:
			out = append(out, o)
		case 2:
			later = append(later, o)
		}
	}
	out = append(out, later...)
	return out[:min(len(out), rowsMax)]
}

// titleMax bounds how much of a title is looked at, in bytes.
const titleMax = 500

// grouped are the rows of files and others: some of each kind, and then the rest.
func grouped(files []string, others []Other) []string {
	if len(others) == 0 {
		return files
	}
	out := append([]string(nil), files[:min(len(files), firstFiles)]...)
	var rest []string
	seen := map[string]int{}
	for _, o := range others {
		kind, _, _ := source(o.Path)
		if seen[kind]++; seen[kind] <= firstOthers || len(files) == 0 {
			out = append(out, o.Path)
		} else {
			rest = append(rest, o.Path)
		}
	}
	out = append(out, files[min(len(files), firstFiles):]...)
	return append(out, rest...)
}

// title is what a row that is no file is called.
func (l list) title(row string) (string, bool) {
	if l.dir != "" {
		return "", false
	}
	for _, o := range l.others {
		if o.Path == row {
			return o.Title, true
		}
	}
	return "", false
}
