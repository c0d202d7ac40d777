// Package recall searches the prompts that were sent earlier, as ctrl+r does in a
// shell. The one thing to know: looking for matches is work for a command, which
// returns what was found with the number of the search. The screen never waits for
// it, and what comes too late is dropped.
package recall

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the keys.
const (
	Older = "recall.older"
	Newer = "recall.newer"
	Take  = "recall.take"
	Close = "recall.close"
)

// offClosed is why the keys are off.
const offClosed = "no prompts are searched"

// lookMax bounds how much of a prompt is searched, in bytes.
const lookMax = 64 << 10

// Prompt is an earlier prompt, ready to be searched.
type Prompt struct {
	text, folded string
}

// Prepare makes prompts of texts, newest first, each once. It is for a command: it
// takes as long as they are.
func Prepare(texts []string) []Prompt {
	all := make([]Prompt, 0, len(texts))
	seen := make(map[string]bool, len(texts))
	for _, t := range texts {
		if strings.TrimSpace(t) == "" || seen[t] {
			continue
		}
		seen[t] = true
		all = append(all, Prompt{t, widget.Fold(widget.Head(t, lookMax))})
	}
	return all
}

// Model is the search. It is a value, and the zero value is closed.
type Model struct {
	open, read bool
	field      widget.Field
	prompts    []Prompt
	// hits are the prompts that have all words, newest first, and at the chosen
	// one. Asked is the number of the newest search, and found of what hits are of.
	hits         []int
	words        []string
	at           int
	asked, found int
}

// Opened is the search before the prompts are read. What a search of an earlier
// opening finds is not shown in it.
func (m Model) Opened() Model {
	return Model{open: true, field: widget.Line(""), asked: m.asked + 1}
}

// Closed is the search when it is over.
func (m Model) Closed() Model { return Model{asked: m.asked + 1} }

// Open reports whether prompts are searched.
func (m Model) Open() bool { return m.open }

// Bindings are the keys of the search. Own replaces keys by action.
func (m Model) Bindings(own map[string][]string) []render.Binding {
	off := ""
	if !m.open {
		off = offClosed
	}
	b := func(action, help string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Prompts", Rank: 1, Off: off}
	}
	return widget.Rebind([]render.Binding{
		b(Take, "take it into the box", "enter", "tab"),
		b(Older, "older", "ctrl+r", "up", "ctrl+p"),
		b(Newer, "newer", "ctrl+s", "down", "ctrl+n"),
		b(Close, "close", "esc", "ctrl+g", "ctrl+c"),
	}, own)
}

// Found is what a search brought.
type Found struct {
	number int
	words  []string
	hits   []int
}

// With takes the prompts, and says what is to be looked for in them.
func (m Model) With(prompts []Prompt) (Model, func(context.Context) Found) {
	m.prompts, m.read = prompts, true
	return m.look()
}

// Key handles a key that edits what is looked for; ok is false if it is none.
func (m Model) Key(msg tea.KeyMsg) (next Model, find func(context.Context) Found, ok bool) {
	was := m.field.Text()
	field, ok := m.field.Key(msg)
	if !ok {
		return m, nil, false
	}
	m.field = field
	if field.Text() == was {
		return m, nil, true
	}
	m, find = m.look()
	return m, find, true
}

// Insert adds a text to what is looked for.
func (m Model) Insert(text string) (Model, func(context.Context) Found) {
	m.field = m.field.Insert(text)
	return m.look()
}

// look begins a search.
func (m Model) look() (Model, func(context.Context) Found) {
	m.asked++
	if !m.read {
		return m, nil
	}
	number, prompts, words := m.asked, m.prompts, widget.Words(m.field.Text())
	return m, func(ctx context.Context) Found {
		out := Found{number: number, words: words, hits: make([]int, 0, 64)}
		for i, p := range prompts {
			if i%1024 == 0 && ctx.Err() != nil {
				break
			}
			if widget.Has(p.folded, words) {
				out.hits = append(out.hits, i)
			}
		}
		return out
	}
}

// Show takes what was found, unless something else is looked for since.
func (m Model) Show(f Found) Model {
	if f.number != m.asked {
		return m
	}
	m.hits, m.words, m.found, m.at = f.hits, f.words, f.number, 0
	return m
}

// Do moves among the matches.
func (m Model) Do(action string) Model {
	switch action {
	case Older:
		m.at = min(m.at+1, max(len(m.hits)-1, 0))
	case Newer:
		m.at = max(m.at-1, 0)
	}
	return m
}

// Chosen is the prompt that is chosen. What is typed faster than it is found
// chooses the first that has it.
func (m Model) Chosen() (string, bool) {
	if m.found != m.asked {
		words := widget.Words(m.field.Text())
		for _, p := range m.prompts {
			if widget.Has(p.folded, words) {
				return p.text, true
			}
		}
		return "", false
	}
	if m.at >= len(m.hits) {
		return "", false
	}
	return m.prompts[m.hits[m.at]].text, true
}
