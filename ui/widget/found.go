package widget

import (
	"slices"
	"strings"

	"cairn/ui/render"
)

// Span is the part of a text from byte From up to byte To.
type Span struct{ From, To int }

// Found are the parts of a text that match folded words, in order and apart
// from each other. No cluster is split: an accent is found with its letter.
func Found(text string, words []string) []Span {
	var folded string
	var starts, ends []int
	if ascii(text) {
		folded = strings.ToLower(text)
	} else {
		folded, starts, ends = foldedFrom(text)
	}
	var out []Span
	for _, w := range words {
		if w == "" {
			continue
		}
		for at := 0; ; {
			i := strings.Index(folded[at:], w)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(w)
			if starts == nil {
				out = append(out, Span{from, to})
			} else {
				out = append(out, Span{starts[from], ends[to-1]})
			}
			at = to
		}
	}
	return merged(out)
}

// foldedFrom folds a text cluster by cluster. For each byte of the folded text
// it says where in the text its cluster starts and ends.
func foldedFrom(text string) (folded string, starts, ends []int) {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := clusterLen(text[i:])
		f := Fold(text[i : i+n])
		b.WriteString(f)
		for range len(f) {
			starts, ends = append(starts, i), append(ends, i+n)
		}
		i += n
	}
	return b.String(), starts, ends
}

// merged joins spans that touch, so that none is painted twice.
func merged(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.From <= last.To {
			last.To = max(last.To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Around is the part of a safe line that fits in width cells and has the byte
// at in it, with an ellipsis for what is left out.
func Around(line string, at, width int, ellipsis string) string {
	if width <= 0 || at <= 0 || render.Width(line) <= width || render.Width(line[:at]) <= width*2/3 {
		return render.Truncate(line, width, ellipsis)
	}
	var starts []int
	for i := 0; i < at; i += clusterLen(line[i:]) {
		starts = append(starts, i)
	}
	room, from := width/3-render.Width(ellipsis), at
	for _, i := range slices.Backward(starts) {
		if render.Width(line[i:at]) > room {
			break
		}
		from = i
	}
	if word := strings.IndexByte(line[from:at], ' '); word >= 0 {
		from += word + 1
	}
	return render.Truncate(ellipsis+line[from:], width, ellipsis)
}
