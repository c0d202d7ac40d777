package picker

import (
	"slices"
	"strings"

	"cairn/ui/widget"
)

// query is what stands in the search box, folded.
type query struct {
	text  string
	words []string // each must be in the title, the id or a tag
	tags  []string // each must be a tag
	begun string   // a tag must begin so: it is still being typed
	typed bool     // whether one is; a lone hash asks for any tag
}

// parseQuery reads the search box. A tag counts as typed to its end once a
// space follows.
func parseQuery(text string) query {
	q := query{text: widget.Fold(text)}
	fields := strings.Fields(q.text)
	for i, w := range fields {
		tag, hashed := strings.CutPrefix(w, "#")
		tag = strings.TrimLeft(tag, "#")
		switch {
		case !hashed:
			q.words = append(q.words, w)
		case i == len(fields)-1 && strings.HasSuffix(q.text, w):
			q.begun, q.typed = tag, true
		case tag != "":
			q.tags = append(q.tags, tag)
		}
	}
	return q
}

// said are the words of the search box that messages are searched for.
func said(text string) string {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool {
		return strings.HasPrefix(widget.Fold(w), "#")
	})
	return strings.Join(words, " ")
}

// tagged reports whether tags are asked for.
func (q query) tagged() bool { return q.typed || len(q.tags) > 0 }

func (q query) hasTags(it *item) bool {
	for _, t := range q.tags {
		if !slices.Contains(it.tags, t) {
			return false
		}
	}
	return !q.typed || slices.ContainsFunc(it.tags, func(t string) bool { return strings.HasPrefix(t, q.begun) })
}

func (q query) has(it *item) bool { return q.hasTags(it) && widget.Has(it.folded, q.words) }

// marks are the words to point out in what was found.
func (q query) marks() []string {
	out := slices.Concat(q.words, q.tags)
	if q.begun != "" {
		out = append(out, q.begun)
	}
	return out
}
