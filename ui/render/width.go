package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// tabStop is the distance of tab stops in cells.
const tabStop = 4

const reset = "\x1b[0m"

// Width is the number of cells the widest line of s takes, counted by grapheme
// clusters; SGR sequences take none.
func Width(s string) int {
	if !strings.Contains(s, "\n") {
		return lineWidth(s)
	}
	w := 0
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, lineWidth(line))
	}
	return w
}

func lineWidth(s string) int {
	w := 0
	for i := 0; i < len(s); {
		t := next(s[i:])
		w += t.width
		if t.kind == tabToken {
			w += tabStop - w%tabStop
		}
		i += t.n
	}
	return w
}

// Truncate cuts a line to at most w cells and ends it with tail if it was cut.
// Styles that were on are ended. A tail wider than w is itself cut.
func Truncate(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if lineWidth(s) <= w {
		return s
	}
	tw := lineWidth(tail)
	if tw > w {
		return Truncate(tail, w, "")
	}
	var b strings.Builder
	used, styled := 0, false
	for i := 0; i < len(s); {
		t := next(s[i:])
		if used+t.width > w-tw {
			break
		}
		styled = t.kind == sgrToken && !isReset(s[i:i+t.n]) || t.kind != sgrToken && styled
		b.WriteString(s[i : i+t.n])
		used += t.width
		i += t.n
	}
	if styled {
		b.WriteString(reset)
	}
	b.WriteString(tail)
	return b.String()
}

// Pad fills a line with spaces to w cells; a longer line is left as it is.
func Pad(s string, w int) string {
	if n := w - lineWidth(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Fit makes a line of exactly w cells with left at its left and right at its
// right end. When both do not fit, left is cut; right only when it alone is
// too wide. A cut part ends in tail, "…" if none is given.
func Fit(left, right string, w int, tail ...string) string {
	if w <= 0 {
		return ""
	}
	cut := "…"
	if len(tail) > 0 {
		cut = tail[0]
	}
	rw := lineWidth(right)
	if rw > w {
		return Pad(Truncate(right, w, cut), w)
	}
	room := w - rw
	if rw > 0 && room > 0 {
		room--
	}
	left = Truncate(left, room, cut)
	return left + strings.Repeat(" ", w-rw-lineWidth(left)) + right
}

// Columns sets blocks of lines side by side, each padded or cut to its width,
// with sep between them. The result has as many lines as the longest block.
func Columns(sep string, widths []int, blocks ...[]string) []string {
	rows := 0
	for _, b := range blocks {
		rows = max(rows, len(b))
	}
	out := make([]string, rows)
	var line strings.Builder
	for r := range out {
		line.Reset()
		for c, b := range blocks {
			if c > 0 {
				line.WriteString(sep)
			}
			cell := ""
			if r < len(b) {
				cell = Truncate(b[r], widths[c], "…")
			}
			line.WriteString(Pad(cell, widths[c]))
		}
		out[r] = line.String()
	}
	return out
}

// tokenKind classifies what next finds.
type tokenKind uint8

const (
	graphemeToken tokenKind = iota
	spaceToken
	tabToken
	newlineToken
	sgrToken
	dropToken // a control sequence that is no SGR: not drawn
)

type token struct {
	kind  tokenKind
	n     int // bytes
	width int // cells; 0 for a tab, whose width depends on its column
}

// next reads the token at the start of s, which must not be empty.
func next(s string) token {
	switch c := s[0]; {
	case c == ' ':
		return token{spaceToken, 1, 1}
	case c > 0x20 && c < 0x7f && (len(s) == 1 || s[1] < 0x80):
		return token{graphemeToken, 1, 1}
	case c == '\n':
		return token{newlineToken, 1, 0}
	case c == '\t':
		return token{tabToken, 1, 0}
	case c == 0x1b:
		return escape(s)
	case c < 0x20 || c == 0x7f:
		return token{dropToken, 1, 0}
	}
	g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return token{graphemeToken, len(g), w}
}

// escape reads an escape sequence; only SGR is kept by those who draw.
func escape(s string) token {
	if len(s) < 2 || s[1] != '[' {
		return token{dropToken, 1, 0}
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c == ';' || c == ':':
		case c == 'm':
			return token{sgrToken, i + 1, 0}
		default:
			return token{dropToken, 1, 0}
		}
	}
	return token{dropToken, 1, 0}
}

func isReset(seq string) bool { return seq == reset || seq == "\x1b[m" }

// ideographic tells whether a line may break before and after the cluster:
// scripts written without spaces.
func ideographic(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60 || r == 0x30fc
}

// noBreakBefore and noBreakAfter are the marks that East Asian typesetting
// does not start or end a line with.
const (
	noBreakBefore = "、。，．・：；？！）］｝」』】〉》〕〗〙〟”’ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ゛゜…‥％"
	noBreakAfter  = "（［｛「『【〈《〔〖〘〝“‘"
)
