package chat

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// pastMax is how many earlier prompts are read.
const pastMax = 200

// past is the history of prompts as up, down and the search walk through it.
type past struct {
	prompts []string // newest first; nil if not read yet
	reading bool
	at      int    // 1-based place in prompts; 0 is what was being typed
	typed   string // that text
	want    int    // moves asked for before the prompts were read

	searching bool
	query     string
	hit       int // index of the prompt found
}

// added puts a prompt that was just sent before the others.
func (p past) added(text string) past {
	if p.prompts != nil && (len(p.prompts) == 0 || p.prompts[0] != text) {
		p.prompts = append([]string{text}, p.prompts...)
	}
	p.at, p.typed = 0, ""
	return p
}

// find is the first prompt from index i on that holds the query, -1 for none.
func (p past) find(i int) int {
	q := strings.ToLower(p.query)
	for ; i < len(p.prompts); i++ {
		if strings.Contains(strings.ToLower(p.prompts[i]), q) {
			return i
		}
	}
	return -1
}

// promptsMsg brings the earlier prompts.
type promptsMsg struct {
	to
	prompts []string
	err     error
}

// recall reads the earlier prompts once.
func (m Model) recall() (Model, tea.Cmd) {
	if m.past.prompts != nil || m.past.reading {
		return m, nil
	}
	m.past.reading = true
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		prompts, err := d.Prompts.Recent(ctx, id, pastMax)
		if prompts == nil {
			prompts = []string{}
		}
		return promptsMsg{to, prompts, err}
	}
}

func (msg promptsMsg) apply(m Model) (Model, tea.Cmd) {
	m.past.reading = false
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.past.prompts = msg.prompts
	want := m.past.want
	m.past.want = 0
	if want > 0 {
		m = m.walk(want)
	}
	return m, nil
}

// remember stores a prompt in the history.
func (m Model) remember(text string) tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		if err := d.Prompts.Add(ctx, id, text); err != nil {
			return troubleMsg{to, err}
		}
		return nil
	}
}

// history moves by n prompts, towards older ones if positive.
func (m Model) history(n int) (Model, tea.Cmd) {
	m, cmd := m.recall()
	if m.past.prompts == nil {
		m.past.want = max(m.past.want+n, 0)
		return m, cmd
	}
	return m.walk(n), cmd
}

// walk moves through the prompts read.
func (m Model) walk(n int) Model {
	to := min(max(m.past.at+n, 0), len(m.past.prompts))
	if to == m.past.at {
		return m
	}
	if m.past.at == 0 {
		m.past.typed = m.box.Text()
	}
	m.past.at = to
	text := m.past.typed
	if to > 0 {
		text = m.past.prompts[to-1]
	}
	m.box = m.box.SetText(text)
	m.draft.version++
	return m
}

// search opens the search of prompts, or goes to the next match.
func (m Model) search() (Model, tea.Cmd) {
	if !m.past.searching {
		m.past.searching, m.past.query, m.past.hit = true, "", 0
		return m.recall()
	}
	if i := m.past.find(m.past.hit + 1); i >= 0 {
		m.past.hit = i
	}
	return m, nil
}

// searchType adds to what is searched for.
func (m Model) searchType(s string) Model {
	m.past.query += s
	m.past.hit = max(m.past.find(0), 0)
	return m
}

// searchKey handles a key while prompts are searched. Other keys than those of
// the search accept the match and then do what they do.
func (m Model) searchKey(msg tea.KeyMsg) (next Model, cmd tea.Cmd, done bool) {
	switch key := msg.String(); {
	case msg.Type == tea.KeyRunes && !msg.Alt, msg.Type == tea.KeySpace:
		return m.searchType(string(msg.Runes)), nil, true
	case key == "backspace", key == "ctrl+h":
		if r := []rune(m.past.query); len(r) > 0 {
			m.past.query = string(r[:len(r)-1])
			m.past.hit = max(m.past.find(0), 0)
		}
		return m, nil, true
	case key == "esc", key == "ctrl+c", key == "ctrl+g":
		m.past.searching = false
		return m, nil, true
	case key == "ctrl+r":
		m, cmd = m.search()
		return m, cmd, true
	case key == "enter", key == "tab":
		return m.accept(), nil, true
	}
	return m.accept(), nil, false
}

// accept puts the prompt found into the box.
func (m Model) accept() Model {
	m.past.searching = false
	if i := m.past.find(m.past.hit); i >= 0 {
		m.box = m.box.SetText(m.past.prompts[i])
		m.draft.version++
	}
	return m
}
