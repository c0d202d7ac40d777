package chat

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

const (
	// maxOffered bounds the facts, and the notes, that /forget offers to choose
	// from.
	maxOffered = 50
	// maxDraft bounds the message that /remember makes a draft of, and
	// maxQuote what is kept of it as the source's words; in characters.
	maxDraft = 2_000
	maxQuote = 200
	// tellWidth is how much of a fact a notice tells, in cells.
	tellWidth = 60
)

// remembered is how facts and notes are named.
const remembered = `^[fn][0-9]{1,18}$`

// quoted is the message that /remember made a draft of; record 0 is none.
type quoted struct {
	from harness.Origin
	text string
	role harness.Role
	// draft is the box as it was made.
	draft string
}

// rememberThis saves what follows /remember. If nothing does, the last message
// of the person comes into the box to be made a fact of.
func (m Model) rememberThis(text string) (Model, tea.Cmd) {
	if text != "" || m.deps.Facts == nil {
		m, cmd := m.learnFact(text)
		m.quoted = quoted{}
		return m, cmd
	}
	next, ok := m.quote(harness.RoleUser)
	if !ok {
		next.notice = "write the fact after it: /remember I prefer table tests"
	}
	return next, nil
}

// quote makes a draft of the last whole message of a role.
func (m Model) quote(role harness.Role) (Model, bool) {
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		rec := m.pages.items[i].rec
		if rec.Message == nil || rec.Message.Role != role || rec.Message.Mark != harness.MarkNone {
			continue
		}
		said := strings.TrimSpace(rec.Message.Text())
		if said == "" {
			continue
		}
		m.box = m.box.SetText("/remember " + clip(said, maxDraft))
		m.draft.version++
		m.quoted = quoted{origin(rec), clip(said, maxQuote), role, m.box.Text()}
		whose, other := "your last message", "the answer"
		if role == harness.RoleAssistant {
			whose, other = "the last answer", "your message"
		}
		m.notice = whose + ": make a fact of it, enter saves it"
		if k := m.usual(actComplete); k != "" {
			m.notice += ", " + k + " takes " + other
		}
		return m, true
	}
	return m, false
}

// requote makes a draft of the other side's last message, if the present one
// was not touched.
func (m Model) requote() (Model, bool) {
	if m.quoted.from.Record == 0 || m.box.Text() != m.quoted.draft {
		return m, false
	}
	role := harness.RoleAssistant
	if m.quoted.role == role {
		role = harness.RoleUser
	}
	return m.quote(role)
}

// clip is at most the first n characters of a text.
func clip(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// forgetFact forgets the fact or note that the words find. If they find several,
// they are offered and none is forgotten.
func (m Model) forgetFact(words string) (Model, tea.Cmd) {
	switch {
	case m.deps.Facts == nil && m.deps.Notes == nil:
		m.notice = "memory is off in this chat"
		return m, nil
	case words == "":
		m.notice = "write words of the fact after it, or its id: /forget table tests"
		return m, nil
	}
	ctx, facts, notes, to := m.ctx, m.deps.Facts, m.deps.Notes, m.to()
	return m, func() tea.Msg {
		out := forgetMsg{to: to, words: words}
		out.found, out.err = FindRemembered(ctx, facts, notes, words)
		if out.err == nil && len(out.found) == 1 {
			out.err = Forget(ctx, facts, notes, out.found[0].ID)
		}
		return out
	}
}

// Remembered is a fact or a note. Its text is not safe to print.
type Remembered struct{ ID, Text string }

// FindRemembered are the facts and the notes that words or an id find, facts
// first, best first, and none of the trash. Either store may be nil.
func FindRemembered(ctx context.Context, facts Facts, notes Notes, words string) ([]Remembered, error) {
	var found []Remembered
	byID := regexp.MustCompile(remembered).MatchString(words)
	if facts != nil && (!byID || words[0] == 'f') {
		list, err := findFacts(ctx, facts, words, byID)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			found = append(found, Remembered{f.ID, f.Text})
		}
	}
	if notes != nil && (!byID || words[0] == 'n') {
		list, err := findNotes(ctx, notes, words, byID)
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			found = append(found, Remembered{n.ID, n.Title})
		}
	}
	return found, nil
}

func findFacts(ctx context.Context, facts Facts, words string, byID bool) ([]harness.Fact, error) {
	if !byID {
		return facts.List(ctx, harness.MemoryFilter{Query: words, State: harness.StateAny, Limit: maxOffered})
	}
	f, err := facts.Get(ctx, words)
	if errors.Is(err, harness.ErrNotFound) || err == nil && f.State == harness.StateTrashed {
		return nil, nil
	}
	return []harness.Fact{f}, err
}

func findNotes(ctx context.Context, notes Notes, words string, byID bool) ([]harness.Note, error) {
	if !byID {
		return notes.List(ctx, harness.MemoryFilter{Query: words, State: harness.StateAny, Limit: maxOffered})
	}
	n, err := notes.Get(ctx, words)
	if errors.Is(err, harness.ErrNotFound) || err == nil && n.State == harness.StateTrashed {
		return nil, nil
	}
	return []harness.Note{n}, err
}

// Forget moves what [FindRemembered] found to the trash.
func Forget(ctx context.Context, facts Facts, notes Notes, id string) error {
	if id[0] == 'n' {
		return notes.Forget(ctx, id)
	}
	return facts.Forget(ctx, id)
}

// forgetMsg brings what /forget found: one fact or note, which is forgotten now,
// or several.
type forgetMsg struct {
	to
	words string
	found []Remembered
	err   error
}

func (msg forgetMsg) apply(m Model) (Model, tea.Cmd) {
	words := render.SafeLine(clip(msg.words, tellWidth))
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case len(msg.found) == 0:
		m.notice = fmt.Sprintf("nothing remembered says \"%s\"", words)
	case len(msg.found) == 1:
		f := msg.found[0]
		m = m.wrote(write{did: didForget, id: f.ID})
		text := render.Truncate(render.SafeLine(f.Text), tellWidth, m.deps.Theme.Ornaments.Ellipsis)
		m.notice = fmt.Sprintf("forgot %s: %s", f.ID, text) + m.undoHint("; ", "brings it back") + m.offWords()
	default:
		ids := make([]string, len(msg.found))
		for i, f := range msg.found {
			ids[i] = f.ID
		}
		m.wanted = Intent{
			Kind: WantMemory, IDs: ids, Text: fmt.Sprintf("\"%s\"", words),
			Say: "Which one? None is forgotten yet.",
		}
	}
	return m, nil
}
