package overlay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/widget"
)

// sought is a text that words are looked for in, folded once.
type sought struct {
	name string
	// more are further words that it is found by.
	more string
	// also are other names of it, such as that of its command.
	also []string
}

func soughtIn(name string, more ...string) sought {
	s := sought{name: widget.Fold(name), more: widget.Fold(strings.Join(more, " "))}
	for _, w := range strings.Fields(s.more) {
		if command, ok := strings.CutPrefix(w, "/"); ok {
			s.also = append(s.also, command)
		}
	}
	return s
}

// How well a word fits: the smaller, the better.
const (
	fitSame    = -2 // it is the name, or another one
	fitStart   = 0  // the name begins with it
	fitWord    = 1  // a word of the name begins with it
	fitInside  = 3  // it is in the name
	fitMore    = 4  // one of the further words begins with it
	fitMoreIn  = 6  // it is in one of them
	fitLetters = 12 // its letters are in the name, in this order
	leastFuzzy = 3  // letters that a word must have for that
	fitTooFar  = 4  // how many times its length its letters may be apart
	fitNowhere = 99 // a word is nowhere
)

// fit is how well a text fits all of the words, fitNowhere if it lacks one.
func (s sought) fit(words []string) int {
	sum := 0
	for _, w := range words {
		n := s.fitOne(w)
		if n == fitNowhere {
			return n
		}
		sum += n
	}
	return min(sum, fitNowhere-1)
}

func (s sought) fitOne(word string) int {
	switch {
	case s.name == word, slices.Contains(s.also, word):
		return fitSame
	case strings.HasPrefix(s.name, word):
		return fitStart
	case slices.ContainsFunc(s.also, func(a string) bool { return strings.HasPrefix(a, word) }):
		return fitWord
	case beginsWord(s.name, word):
		return fitWord
	case strings.Contains(s.name, word):
		return fitInside
	case beginsWord(s.more, word):
		return fitMore
	case strings.Contains(s.more, word):
		return fitMoreIn
	case len(lettersIn(s.name, word)) > 0:
		return fitLetters
	}
	return fitNowhere
}

// beginsWord reports whether a word of a text begins with what is looked for.
func beginsWord(text, word string) bool {
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); at == 0 || !letter(before) {
			return true
		}
		at += len(word)
	}
	return false
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// lettersIn are the bytes of a text at which the letters of a word are, in their
// order and not far apart; nil if they are not.
func lettersIn(text, word string) []int {
	if len(word) < leastFuzzy {
		return nil
	}
	var at []int
	from := 0
	for _, r := range word {
		i := strings.IndexRune(text[from:], r)
		if i < 0 {
			return nil
		}
		at = append(at, from+i)
		from += i + len(string(r))
	}
	if at[len(at)-1]-at[0] >= fitTooFar*len(word) {
		return nil
	}
	return at
}

// bestFirst are the numbers of the texts that fit the words, the best first. Without
// words all fit in their order, those that were used last before the others.
func bestFirst(texts []sought, words []string, used func(i int) int) []int {
	type hit struct{ i, fit, used int }
	var hits []hit
	for i, s := range texts {
		if n := s.fit(words); n != fitNowhere {
			hits = append(hits, hit{i, n, used(i)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.fit, b.fit), cmp.Compare(a.used, b.used))
	})
	out := make([]int, len(hits))
	for n, h := range hits {
		out[n] = h.i
	}
	return out
}

// spansOf are the parts of a line of text that a query has found.
func spansOf(line string, words []string) []widget.Span {
	spans := widget.Found(line, words)
	lower := strings.ToLower(line)
	for _, w := range words {
		if strings.Contains(widget.Fold(line), w) || len(lower) != len(line) {
			continue
		}
		for _, at := range lettersIn(lower, w) {
			spans = append(spans, widget.Span{From: at, To: at + 1})
		}
	}
	slices.SortFunc(spans, func(a, b widget.Span) int { return a.From - b.From })
	return spans
}

// painted is a line whose spans are painted as found. The rest has the paint of the
// ground, which goes on behind each of them.
func painted(line string, spans []widget.Span, ground, match themes.Paint) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.From < at || s.To > len(line) {
			continue
		}
		b.WriteString(line[at:s.From])
		b.WriteString(string(ground) + string(match) + line[s.From:s.To])
		if match != "" || ground != "" {
			b.WriteString(themes.Reset + string(ground))
		}
		at = s.To
	}
	b.WriteString(line[at:])
	return b.String()
}

// choosing is a list that filters as one types: what is typed, and which of the
// rows that are left is chosen.
type choosing struct {
	field   widget.Field
	at, top int
}

// words are those that are looked for. A slash before a word is that of a command.
func (c choosing) words() []string {
	words := widget.Words(c.field.Text())
	for i, w := range words {
		if rest := strings.TrimPrefix(w, "/"); rest != "" {
			words[i] = rest
		}
	}
	return words
}

// by moves in a list of n rows, of which room are on screen.
func (c choosing) by(d, n, room int) choosing {
	c.at = max(min(c.at+d, n-1), 0)
	c.top = widget.Scroll(c.top, c.at, n, room)
	return c
}

// move does the moves that such lists have in common; done is false if the action
// is none of them. name is the part of the actions before the dot.
func (c choosing) move(name, action string, n, room int) (next choosing, done bool) {
	page := max(room-1, 1)
	by, ok := map[string]int{".up": -1, ".down": 1, ".page-up": -page, ".page-down": page, ".first": -n, ".last": n}[strings.TrimPrefix(action, name)]
	if !ok {
		return c, false
	}
	return c.by(by, n, room), true
}

// typed gives a key to the field; what is typed begins the list anew.
func (c choosing) typed(k tea.KeyMsg) choosing {
	before := c.field.Text()
	if c.field, _ = c.field.Key(k); c.field.Text() != before {
		c.at, c.top = 0, 0
	}
	return c
}

// wheel moves as the wheel was turned.
func (c choosing) wheel(m tea.MouseMsg, n, room int) choosing {
	const lines = 3
	switch m.Button {
	case tea.MouseButtonWheelUp:
		return c.by(-lines, n, room)
	case tea.MouseButtonWheelDown:
		return c.by(lines, n, room)
	default:
		return c
	}
}
