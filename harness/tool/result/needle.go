package result

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	// maxPattern bounds what is searched for, in characters.
	maxPattern = 200
	// longPart is how many bytes are searched in one piece. Of longer ones each
	// lookEvery are searched before a look whether somebody still waits: with an
	// expression of many states each byte takes long.
	longPart  = 64 << 10
	lookEvery = 4 << 10
)

// needle is what is searched for: a text, and the same as a regular expression
// if it is one.
type needle struct {
	text string
	re   *regexp.Regexp
	// anchored says that the expression asks for the beginning of a line, so that
	// it has one match in each at most.
	anchored bool
}

func newNeedle(pattern string) (needle, error) {
	if n := utf8.RuneCountInString(pattern); n > maxPattern {
		return needle{}, fmt.Errorf("search has %d characters; at most %d can be searched for", n, maxPattern)
	}
	found := needle{text: pattern}
	if regexp.QuoteMeta(pattern) == pattern {
		return found, nil // a text alone, which is found quickly
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return found, nil //nolint:nilerr // what is no expression is a text
	}
	if found.re, err = regexp.Compile(pattern); err != nil {
		found.re = nil
	}
	found.anchored = anchored(parsed)
	return found, nil
}

func anchored(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginLine || re.Op == syntax.OpBeginText {
		return true
	}
	for _, sub := range re.Sub {
		if anchored(sub) {
			return true
		}
	}
	return false
}

// in begins to look for it in a line.
func (n needle) in(line string) *finder { return &finder{needle: n, line: line} }

// finder looks for a needle in one line, from left to right. What it found of the
// one kind stays as long as that is ahead, so that a line is searched once for
// each, however often the other is found.
type finder struct {
	needle

	line        string
	text, match span
}

// span is the next place of a kind, once it was looked for; it begins at -1 if
// there is no more.
type span struct {
	begin, end int
	looked     bool
}

func (s span) stale(from int) bool { return !s.looked || s.begin >= 0 && s.begin < from }

// next returns the first place from a position on, -1 if there is none. The
// position never goes back.
func (f *finder) next(ctx context.Context, from int) (begin, end int, err error) {
	if f.text.stale(from) {
		f.text = span{-1, -1, true}
		if at := strings.Index(f.line[from:], f.needle.text); at >= 0 {
			f.text = span{from + at, from + at + len(f.needle.text), true}
		}
	}
	if f.re == nil || f.anchored && from > 0 {
		return f.text.begin, f.text.end, nil
	}
	if f.match.stale(from) {
		f.match = span{-1, -1, true}
		at, err := f.expression(ctx, from)
		if err != nil {
			return -1, -1, err
		}
		if at != nil {
			f.match = span{from + at[0], from + at[1], true}
		}
	}
	if f.text.begin < 0 || f.match.begin >= 0 && f.match.begin < f.text.begin {
		return f.match.begin, f.match.end, nil
	}
	return f.text.begin, f.text.end, nil
}

// expression returns where the expression is found from a position on, nil if it
// is not.
func (f *finder) expression(ctx context.Context, from int) ([]int, error) {
	rest := f.line[from:]
	if len(rest) <= longPart {
		return f.re.FindStringIndex(rest), nil
	}
	skipped := 0
	if first, _ := f.re.LiteralPrefix(); first != "" && !f.anchored {
		if skipped = strings.Index(rest, first); skipped < 0 {
			return nil, ctx.Err()
		}
	}
	r := runes{ctx: ctx, text: rest[skipped:]}
	at := f.re.FindReaderIndex(&r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if at != nil {
		at[0], at[1] = at[0]+skipped, at[1]+skipped
	}
	return at, nil
}

// runes gives a text to an expression until nobody waits for it any more.
type runes struct {
	ctx  context.Context
	text string
	at   int
	// look is where the next look at the context is due.
	look int
}

// ReadRune implements [io.RuneReader].
func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.at >= r.look {
		if r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
		r.look = r.at + lookEvery
	}
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c, size, nil
}
