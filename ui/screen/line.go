package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// widths is the one place that says how wide text is: by grapheme cluster.
const widths = ansi.GraphemeWidth

// tabStop is the distance of tab stops, should a tab reach a view.
const tabStop = 8

// parseLine turns one line of a view into width cells, starting with the
// colours in pen, and returns those in force at its end. Only printable text
// and colours (SGR) go in: any other sequence or control character is left
// out, so that nothing but the renderer ever drives the terminal.
//
// Wary says that the terminal may take characters of several code points for
// narrower or wider than they are: what follows one is then placed anew.
func parseLine(text string, width int, pen uv.Style, wary bool) (uv.Line, uv.Style) {
	line := uv.NewLine(width)
	for x := 0; len(text) > 0; {
		if x >= width { // only colours count from here on
			at := strings.IndexByte(text, ansi.ESC)
			if at < 0 {
				break
			}
			text = text[at:]
		}
		switch c := text[0]; {
		case c == ansi.ESC:
			text = text[escape(text, &pen):]
			continue
		case c == '\t':
			for n := tabStop - x%tabStop; n > 0; n-- {
				x = put(line, x, " ", 1, pen)
			}
			text = text[1:]
			continue
		case c < ' ' || c == 0x7f:
			text = text[1:]
			continue
		case c < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf):
			x = put(line, x, text[:1], 1, pen)
			text = text[1:]
			continue
		}
		if r, n := utf8.DecodeRuneInString(text); r == utf8.RuneError && n <= 1 {
			x = put(line, x, "\uFFFD", 1, pen)
			text = text[1:]
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(text, widths)
		text = text[len(cluster):]
		from := x
		x = putCluster(line, x, cluster, w, pen)
		if wary && from < width {
			pin(line, from)
		}
	}
	return line, pen
}

// escape returns the length of the sequence that text begins with, applying it
// to pen if it sets colours.
func escape(text string, pen *uv.Style) int {
	p := ansi.GetParser()
	defer ansi.PutParser(p)
	seq, _, n, _ := ansi.DecodeSequence(text, ansi.NormalState, p)
	if ansi.HasCsiPrefix(seq) && p.Command() == 'm' {
		uv.ReadStyle(p.Params(), pen)
	}
	return max(n, 1)
}

// put sets one cell and returns the column after it.
func put(line uv.Line, x int, content string, width int, pen uv.Style) int {
	if x < len(line) {
		line.Set(x, &uv.Cell{Content: content, Width: width, Style: pen})
	}
	return x + width
}

// putCluster sets the cell of a cluster that is not plain ASCII. Clusters of
// no width join the cell before them, as combining marks do when colours
// change between them and their letter.
func putCluster(line uv.Line, x int, cluster string, width int, pen uv.Style) int {
	if strings.ContainsFunc(cluster, drives) {
		cluster = strings.Map(func(r rune) rune {
			if drives(r) {
				return -1
			}
			return r
		}, cluster)
		width = widths.StringWidth(cluster)
	}
	if cluster == "" {
		return x
	}
	if width > 0 {
		return put(line, x, cluster, width, pen)
	}
	for at := min(x, len(line)) - 1; at >= 0 && x <= len(line); at-- {
		if line[at].Width > 0 {
			line[at].Content += cluster
			break
		}
	}
	return x
}

// pin has the cell at x put in its place whatever the terminal thinks of its width:
// its cells are blanked before it, and the cursor goes behind it by column. Only
// characters that are not as wide as their code points together need that.
func pin(line uv.Line, x int) {
	c := line.At(x)
	if c == nil || c.Width < 1 || utf8.RuneCountInString(c.Content) < 2 || ansi.WcWidth.StringWidth(c.Content) == c.Width {
		return
	}
	pinned := *c
	pinned.Content = strings.Repeat(" ", c.Width) + fmt.Sprintf("\x1b[%dG%s\x1b[%dG", x+1, c.Content, x+c.Width+1)
	line.Set(x, &pinned)
}

// drives tells of characters that act on the terminal or on the order of the
// text around them instead of being shown.
func drives(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return true
	case r == 0x2028, r == 0x2029:
		return true
	}
	return false
}
