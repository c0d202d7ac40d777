package browser

import (
	"strings"
	"unicode"

	"cairn/themes"
	"cairn/ui/render"
)

// op says what became of a piece of text from one revision to the next.
type op int

const (
	kept op = iota
	deleted
	inserted
)

// piece is a run of text with one fate.
type piece struct {
	op   op
	text string
}

// maxCells bounds the work of a comparison. Texts that differ more are shown
// as all deleted and all inserted.
const maxCells = 250_000

// compare finds what was deleted and inserted between two lists of tokens: a
// longest common subsequence, after what both begin and end with.
func compare(a, b []string) []piece {
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	post := 0
	for post < len(a)-pre && post < len(b)-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	var out []piece
	out = pieces(out, kept, a[:pre])
	out = between(out, a[pre:len(a)-post], b[pre:len(b)-post])
	return pieces(out, kept, a[len(a)-post:])
}

func pieces(out []piece, o op, tokens []string) []piece {
	for _, t := range tokens {
		out = append(out, piece{o, t})
	}
	return out
}

// between compares what is left of two lists.
func between(out []piece, a, b []string) []piece {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > maxCells {
		return pieces(pieces(out, deleted, a), inserted, b)
	}
	w := len(b) + 1
	common := make([]int, (len(a)+1)*w) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, piece{kept, a[i]})
			i++
			j++
		case common[(i+1)*w+j] >= common[i*w+j+1]:
			out = append(out, piece{deleted, a[i]})
			i++
		default:
			out = append(out, piece{inserted, b[j]})
			j++
		}
	}
	return pieces(pieces(out, deleted, a[i:]), inserted, b[j:])
}

// words cuts a text into words and the blanks between them. Characters of
// scripts without spaces are words of their own.
func words(text string) []string {
	var out []string
	start, blank := 0, false
	for i, r := range text {
		space := unicode.IsSpace(r)
		ideograph := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		if i > start && (space != blank || ideograph) {
			out = append(out, text[start:i])
			start = i
		}
		blank = space
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// wordDiff shows what changed within a sentence: [-taken out-] and {+put in+},
// so that it reads without colours too.
func wordDiff(old, now string, p themes.Paints, width int) []string {
	var b strings.Builder
	last := kept
	end := func() {
		switch last {
		case deleted:
			b.WriteString(p.Deleted.On("-]"))
		case inserted:
			b.WriteString(p.Inserted.On("+}"))
		default:
		}
	}
	for _, c := range compare(words(old), words(now)) {
		if c.op != last {
			end()
			switch c.op {
			case deleted:
				b.WriteString(p.Deleted.On("[-"))
			case inserted:
				b.WriteString(p.Inserted.On("{+"))
			default:
			}
			last = c.op
		}
		paint := [...]themes.Paint{kept: "", deleted: p.Deleted, inserted: p.Inserted}[c.op]
		b.WriteString(paint.On(render.SafeLine(c.text)))
	}
	end()
	return render.Wrap(b.String(), width)
}

// lineDiff shows the lines that changed, with one line around them.
func lineDiff(old, now string, p themes.Paints, width int) []string {
	all := compare(strings.Split(old, "\n"), strings.Split(now, "\n"))
	near := func(i int) bool {
		for _, n := range []int{i - 1, i, i + 1} {
			if n >= 0 && n < len(all) && all[n].op != kept {
				return true
			}
		}
		return false
	}
	var out []string
	skipped := false
	for i, c := range all {
		if !near(i) {
			if !skipped && len(out) > 0 {
				out = append(out, "")
			}
			skipped = true
			continue
		}
		skipped = false
		sign := [...]string{kept: "  ", deleted: "- ", inserted: "+ "}[c.op]
		paint := [...]themes.Paint{kept: "", deleted: p.Deleted, inserted: p.Inserted}[c.op]
		for n, l := range render.Wrap(render.SafeLine(c.text), max(width-2, 1)) {
			if n > 0 {
				sign = "  "
			}
			out = append(out, paint.On(sign+l))
		}
	}
	return out
}
