package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/overlay"
)

// showContext shows what fills the window of the next request, with what the
// last one carried.
func (m Model) showContext() (Model, tea.Cmd) {
	last := m.lastCounted()
	switch {
	case m.deps.Picture != nil && m.stored:
		return m, m.picture(last)
	case last == nil:
		m.notice = "no request was sent in this chat yet"
		return m, nil
	}
	answer, at := last.Message, last.At
	lines := ContextLines(*answer, m.setup, m.session)
	hint := ""
	if k := m.usual(actUsed); k != "" && len(answer.Used) > 0 {
		hint = "\n" + k + " shows what the answer on screen used"
	}
	ctx, d, to, used := m.ctx, m.deps, m.to(), answer.Used
	return m, func() tea.Msg {
		carried, err := CarriedLines(ctx, d.Facts, d.Notes, used, at)
		return contextMsg{to, strings.Join(append(lines, carried...), "\n") + hint, err}
	}
}

// lastCounted is the last answer that says what its request came to, nil if none
// is loaded.
func (m Model) lastCounted() *harness.Record {
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		if rec := m.pages.items[i].rec; Counted(rec) {
			return &rec
		}
	}
	return nil
}

// pictureMsg brings what fills the window.
type pictureMsg struct {
	to
	picture overlay.Picture
	lines   []string
	err     error
}

// picture reads what fills the window, and what the last request carried.
func (m Model) picture(last *harness.Record) tea.Cmd {
	ctx, d, to, id, setup, session, cut := m.ctx, m.deps, m.to(), m.session.ID, m.setup, m.session, m.cut
	return func() tea.Msg {
		out := pictureMsg{to: to}
		if out.picture, out.err = d.Picture(ctx, id); out.err != nil {
			return out
		}
		out.picture.Last, out.picture.At = cut.last, cut.when
		var pins []harness.Record
		if pins, out.err = pinnedOf(ctx, d, id); out.err != nil {
			return out
		}
		for _, r := range pins {
			out.picture.Pins = append(out.picture.Pins, overlay.Pinned{Message: r.Seq, In: r.In, Text: r.Message.Text()})
		}
		if last != nil {
			out.lines = requestLines(*last.Message, setup, nil)
			var carried []string
			carried, out.err = CarriedLines(ctx, d.Facts, d.Notes, last.Message.Used, last.At)
			out.lines = append(out.lines, carried...)
		}
		if cost := costWords(session.Usage); cost != "" {
			out.lines = append(out.lines, cost+" in this session")
		}
		return out
	}
}

func (msg pictureMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	if m.covered() { // the person went elsewhere meanwhile
		return m, nil
	}
	c := overlay.NewContext(overlay.ContextConfig{
		Picture: msg.picture, Lines: msg.lines, Theme: m.deps.Theme, Now: m.deps.Now(), Keys: m.deps.Keys,
	})
	m.over = over{context: &c}.resized(m.width, m.height)
	return m, nil
}

// Counted reports whether a record is an answer that says what its request
// came to.
func Counted(r harness.Record) bool {
	return r.Message != nil && r.Message.Role == harness.RoleAssistant && r.Message.Usage != nil
}

// ContextLines tell what the request behind an answer carried, as far as the
// answer recorded that, with what is configured for the next one.
func ContextLines(answer harness.Message, next Setup, s harness.Session) []string {
	lines := requestLines(answer, next, sentLines(answer.Sent, next.Window))
	remembered := "nothing"
	if len(answer.Used) > 0 {
		remembered = strings.Join(answer.Used, " ")
	}
	system := "the default prompt"
	if own := next.Run.System; own != "" {
		system = "a prompt of " + harness.Count(utf8.RuneCountInString(own), "character")
	}
	lines = append(lines,
		"  remembered "+remembered,
		"  system     "+system+", for the next one",
		"  session    "+harness.Count(s.Messages+s.Inherited, "message")+", all branches")
	if cost := costWords(s.Usage); cost != "" {
		lines = append(lines, "  cost       "+cost+" in this session")
	}
	return lines
}

// requestLines tell what the request behind an answer and the answer took, with
// the parts of the request between them.
func requestLines(answer harness.Message, next Setup, parts []string) []string {
	var u harness.Usage
	if answer.Usage != nil {
		u = *answer.Usage
	}
	lines := []string{
		"the last request:",
		"  model      " + answer.Model,
		"  sent       " + harness.Grouped(u.Input) + " tokens" + share(u.Input, next.Window),
	}
	if u.CacheRead > 0 || u.CacheWrite > 0 {
		lines = append(lines, fmt.Sprintf("  cache      %s tokens read, %s written", harness.Grouped(u.CacheRead), harness.Grouped(u.CacheWrite)))
	}
	lines = append(lines, parts...)
	reply := "  reply      " + harness.Grouped(u.Output) + " tokens"
	if u.Reasoning > 0 {
		reply += ", " + harness.Grouped(u.Reasoning) + " of them reasoning"
	}
	lines = append(lines, reply)
	if u.Incomplete {
		lines = append(lines, "             counted in part only: some of it never arrived")
	}
	return lines
}

// barWidth is the number of cells of the bar of the window.
const barWidth = 30

// sentLines tell what filled the window, by kind, and what of the conversation
// was not in it. Answers of older versions do not know.
func sentLines(sent *harness.Sent, window int64) []string {
	if sent == nil {
		return nil
	}
	var lines []string
	used := 0
	parts := []struct {
		mark, name string
		tokens     int
	}{
		{"s", "system", sent.System},
		{"r", "remembered, day, directory", sent.Recalled},
		{"t", "tools", sent.Tools},
		{"m", "messages", sent.Messages},
		{"o", "room for the reply", sent.Reply},
	}
	var bar strings.Builder
	for _, p := range parts {
		if p.tokens == 0 {
			continue
		}
		used += p.tokens
		line := fmt.Sprintf("  %s %8s  %s", p.mark, harness.Grouped(p.tokens), p.name)
		if p.mark == "m" {
			line += ": " + harness.Count(sent.Count, "message")
		}
		lines = append(lines, line)
		if window > 0 {
			end := min(int((int64(used)*barWidth+window-1)/window), barWidth)
			bar.WriteString(strings.Repeat(p.mark, max(end-bar.Len(), 0)))
		}
	}
	if window > 0 {
		lines = append([]string{"  estimated  [" + bar.String() + strings.Repeat(".", barWidth-bar.Len()) + "] by kind, in tokens:"}, lines...)
	} else {
		lines = append([]string{"  estimated by kind, in tokens:"}, lines...)
	}
	if sent.Dropped > 0 {
		lines = append(lines, "  not in it  "+harness.Count(sent.Dropped, "older message")+"; they stay readable and are found by search")
	}
	if sent.Cleared > 0 {
		lines = append(lines, "  shortened  "+harness.Count(sent.Cleared, "tool result")+" of the last turn, which is larger than the window")
	}
	return lines
}

// share is what part of the window a number of tokens is.
func share(tokens, window int64) string {
	if window <= 0 {
		return ", of a window that is not known"
	}
	if tokens > 0 && tokens*100 < window {
		return ", less than 1% of the window of " + harness.Grouped(window)
	}
	return fmt.Sprintf(", %d%% of the window of %s", tokens*100/window, harness.Grouped(window))
}
