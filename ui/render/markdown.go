// Package render turns text into safe, wrapped, styled lines.
//
// The one thing to know: every text that a model, a tool, a file or a server
// wrote passes through here before it is drawn. What comes out holds printable
// characters and SGR sequences of the theme, nothing else, and no line is wider
// than asked. Widths are counted in grapheme clusters, here and nowhere else.
package render

import (
	"github.com/yuin/goldmark/parser"

	"cairn/themes"
)

// Markdown renders messages in one theme. It keeps what it rendered, bounded,
// so that asking again for the same text and width costs a look-up. It is not
// safe for concurrent use.
type Markdown struct {
	theme    *themes.Theme
	glamour  *glamour
	parser   parser.Parser
	leaves   cache[leafKey]
	messages cache[messageKey]
	// work is how many bytes streams had parsed and drawn: what they cost, told
	// without a clock.
	work int
}

type messageKey struct {
	text  string
	width int
	after int // code blocks before it
}

// Bounds of the caches in bytes of rendered lines.
const (
	leafCacheBytes    = 1 << 20
	messageCacheBytes = 8 << 20
)

// NewMarkdown makes a renderer for a theme.
func NewMarkdown(t *themes.Theme) *Markdown {
	return &Markdown{
		theme: t, glamour: newGlamour(t), parser: newParser(),
		leaves:   cache[leafKey]{limit: leafCacheBytes},
		messages: cache[messageKey]{limit: messageCacheBytes},
	}
}

// Theme is the theme it renders in.
func (m *Markdown) Theme() *themes.Theme { return m.theme }

// Message renders a whole text. The lines are shared: do not change them.
func (m *Markdown) Message(s string, width int) []string { return m.MessageAfter(s, width, 0) }

// MessageAfter is Message for a text that goes on behind one with so many code
// blocks: its own are numbered from there on.
func (m *Markdown) MessageAfter(s string, width, codeBlocks int) []string {
	key := messageKey{s, width, codeBlocks}
	if lines, ok := m.messages.get(key); ok {
		return lines
	}
	st := NewStream(m)
	st.code = codeBlocks
	st.Append(s)
	st.Finish()
	lines := st.Lines(width)
	m.messages.put(key, lines, len(s))
	return lines
}

// Forget drops everything kept for later.
func (m *Markdown) Forget() {
	m.leaves.clear()
	m.messages.clear()
}
