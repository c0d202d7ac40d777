package result

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/harness/tool"
)

const (
	// longLine is how many characters a line may have to be shown whole; of a
	// longer one excerptAround are shown on both sides of what was found.
	longLine      = 400
	excerptAround = 120
	// linesAround are shown before and after a line with a match.
	linesAround = 2
)

// findings is what a search writes.
type findings struct {
	strings.Builder

	room, count int
}

// fits writes a text if there is room for it, and reports whether there was.
func (f *findings) fits(text string) bool {
	n := utf8.RuneCountInString(text)
	if n > f.room {
		return false
	}
	f.room -= n
	f.WriteString(text)
	return true
}

// search shows the lines that have something in them, with those around, and of
// very long ones the part.
func (d document) search(ctx context.Context, in input) (string, error) {
	want, err := newNeedle(in.Search)
	if err != nil {
		return "", err
	}
	if d.text == "" {
		return fmt.Sprintf("(the result %s is empty)", d.id), nil
	}
	n, from, to, err := d.start(in)
	if err != nil {
		return "", err
	}
	out := findings{room: within(in.MaxChars, defaultChars, minChars, maxChars)}
	limit := within(in.Limit, defaultLines, 1, maxLines)
	shown := n - 1 // the last line that is in the output
	begin := strings.LastIndexByte(d.text[:from], '\n') + 1
	for ; ; n++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		next, done, err := d.match(ctx, &out, want, place{n, begin, from, to}, &shown, limit)
		if err != nil {
			return "", err
		}
		if done {
			return d.found(&out, want, next), nil
		}
		if n == d.lines {
			return d.found(&out, want, ""), nil
		}
		begin = to + 1
		from, to = begin, d.end(begin)
	}
}

// place is a line and where in it the search goes on.
type place struct{ n, begin, from, to int }

// match writes what is found in one line. It returns where to go on, and that
// there is no more room.
func (d document) match(ctx context.Context, out *findings, want needle, p place, shown *int, limit int) (next string, done bool, err error) {
	line := d.text[p.begin:p.to]
	find := want.in(line)
	begin, end, err := find.next(ctx, p.from-p.begin)
	if err != nil || begin < 0 {
		return "", false, err
	}
	if out.count >= limit {
		return fmt.Sprintf("offset %d", p.n), true, nil
	}
	if tool.Clip(line, longLine) == line {
		text, err := d.around(ctx, out, want, p, shown)
		if err != nil {
			return "", false, err
		}
		if !out.fits(text) {
			return fmt.Sprintf("offset %d", p.n), true, nil
		}
		out.count++
		return "", false, nil
	}
	at, counted := 0, 0
	for begin >= 0 {
		text, after := excerpt(line, begin, end)
		at, counted = at+utf8.RuneCountInString(line[counted:begin]), begin
		if out.count >= limit || !out.fits(fmt.Sprintf("%d: character %d: %s\n", p.n, at, text)) {
			return fmt.Sprintf("offset %d, char_offset %d", p.n, at), true, nil
		}
		out.count++
		if after >= len(line) {
			break
		}
		if begin, end, err = find.next(ctx, after); err != nil {
			return "", false, err
		}
	}
	*shown = p.n
	return "", false, nil
}

// around is a line that was found, with the lines around it: before it those
// that are not in the output yet, behind it those up to the next that is found.
func (d document) around(ctx context.Context, out *findings, want needle, p place, shown *int) (string, error) {
	var before []string
	for at, n := p.begin, p.n-1; n > *shown && n >= p.n-linesAround && at > 0; n-- {
		from := strings.LastIndexByte(d.text[:at-1], '\n') + 1
		before = append(before, numbered(n, '-', d.text[from:at-1]))
		at = from
	}
	var b strings.Builder
	if out.count > 0 && p.n-len(before) > *shown+1 {
		b.WriteString("--\n")
	}
	slices.Reverse(before)
	b.WriteString(strings.Join(before, ""))
	b.WriteString(numbered(p.n, ':', d.text[p.begin:p.to]))
	*shown = p.n
	for at := p.to; *shown < min(d.lines, p.n+linesAround); *shown++ {
		from := at + 1
		at = d.end(from)
		begin, _, err := want.in(d.text[from:at]).next(ctx, 0)
		if err != nil {
			return "", err
		}
		if begin >= 0 {
			break
		}
		b.WriteString(numbered(*shown+1, '-', d.text[from:at]))
	}
	return b.String(), nil
}

func numbered(n int, mark rune, line string) string {
	if cut := tool.Clip(line, longLine); cut != line {
		line = cut + "…"
	}
	return fmt.Sprintf("%d%c %s\n", n, mark, strings.TrimSuffix(line, "\r"))
}

// excerpt is the part of a long line around what was found in it, and where it
// ends.
func excerpt(line string, begin, end int) (text string, after int) {
	from, to := begin, end
	for range excerptAround {
		_, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
	}
	for n := 0; n < excerptAround && to < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[to:])
		to += size
	}
	from = tool.Boundary(line, from)
	shown := tool.Clip(line[from:to], longLine)
	if shown == "" {
		shown = firstChars(line[from:to], longLine)
	}
	after = max(from+len(shown), end)
	if after == begin {
		_, size := utf8.DecodeRuneInString(line[after:])
		after += size
	}
	text = shown
	if from > 0 {
		text = "…" + text
	}
	if from+len(shown) < len(line) {
		text += "…"
	}
	return text, after
}

// found puts a head on what was found.
func (d document) found(out *findings, want needle, next string) string {
	of := fmt.Sprintf("result %s, %d lines, %d characters", d.id, d.lines, d.chars)
	kind := "the text"
	if want.re != nil {
		kind = "the text or regular expression"
	}
	switch {
	case out.count == 0 && next == "":
		return fmt.Sprintf("(%s: nothing is found for %s %q from there on)", of, kind, want.text)
	case out.count == 0:
		return fmt.Sprintf("(%s: what is found does not fit; raise max_chars, or read from %s)", of, next)
	case next == "":
		return fmt.Sprintf("(%s: %d found for %s %q; that is all)\n%s", of, out.count, kind, want.text, out)
	}
	return fmt.Sprintf("(%s: %d found for %s %q; there may be more from %s)\n%s", of, out.count, kind, want.text, next, out)
}
