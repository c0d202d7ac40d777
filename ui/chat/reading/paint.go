package reading

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
)

// sequence is the length of the painting sequence that s begins with, 0 if it
// begins with none.
func sequence(s string) int {
	if len(s) < 2 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// bare is a line without the sequences that paint it.
func bare(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var b strings.Builder
	for len(line) > 0 {
		if n := sequence(line); n > 0 {
			line = line[n:]
			continue
		}
		n := strings.IndexByte(line[1:], 0x1b) + 1
		if n == 0 {
			n = len(line)
		}
		b.WriteString(line[:n])
		line = line[n:]
	}
	return b.String()
}

// Paint is a copy of lines with the spans painted, the one at index now, if there
// is one, in another paint. A character is painted whole even if only a part of it
// was looked for.
func Paint(lines []string, spans []Span, now int, match, current themes.Paint) []string {
	if len(spans) == 0 {
		return lines
	}
	parts := map[int][]part{}
	for i, s := range spans {
		for l := s.Line; l <= s.End; l++ {
			parts[l] = append(parts[l], partOf(s, l, i == now, match, current))
		}
	}
	out := append([]string(nil), lines...)
	for l, p := range parts {
		out[l] = paintLine(lines[l], p)
	}
	return out
}

// part is what is to be painted of a line.
type part struct {
	from, to int
	paint    themes.Paint
}

// partOf is the part of a span that is on a line.
func partOf(s Span, line int, now bool, match, current themes.Paint) part {
	p := part{0, 1 << 30, match}
	if now {
		p.paint = current
	}
	if s.Line == line {
		p.from = s.From
	}
	if s.End == line {
		p.to = s.To
	}
	return p
}

// paintLine paints parts of a line, which come in order. What painted them before
// is on again behind them.
func paintLine(line string, parts []part) string {
	var b strings.Builder
	style, on := "", false
	for at := 0; len(line) > 0; {
		if n := sequence(line); n > 0 {
			seq := line[:n]
			line = line[n:]
			if style += seq; seq == themes.Reset || seq == "\x1b[m" {
				style = ""
			}
			if !on {
				b.WriteString(seq)
			}
			continue
		}
		g := cluster(line)
		for len(parts) > 0 && parts[0].to <= at {
			parts = parts[1:]
		}
		in := len(parts) > 0 && parts[0].from < at+len(g) && parts[0].paint != ""
		switch {
		case in && !on:
			b.WriteString(themes.Reset + string(parts[0].paint))
		case !in && on:
			b.WriteString(themes.Reset + style)
		}
		on = in
		b.WriteString(g)
		at += len(g)
		line = line[len(g):]
	}
	if on {
		b.WriteString(themes.Reset)
	}
	return b.String()
}

// cluster is the first character of a line as it is drawn.
func cluster(s string) string {
	if c := s[0]; c < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return s[:1]
	}
	if g, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth); g != "" {
		return g
	}
	return s[:1]
}
