package chat

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/compose"
	"cairn/ui/render"
)

const (
	// takenByAll is how much every terminal takes for its clipboard, in bytes as
	// they are sent; some take no more than this.
	takenByAll = 74_000
	// mostCopied is the most that is sent to a terminal for its clipboard.
	mostCopied = 4 << 20
)

// copyText sends a text to the terminal's clipboard, and says which way it went
// and what to do if it did not arrive.
func (m Model) copyText(what, text string) (Model, Intent) {
	dot := " " + m.deps.Theme.Ornaments.Dot + " "
	size := harness.Count(utf8.RuneCountInString(text), "character")
	switch sent := base64.StdEncoding.EncodedLen(len(text)); {
	case strings.TrimSpace(text) == "":
		m.notice = "there is no text in it to copy"
		return m, Intent{}
	case sent > mostCopied:
		m.notice = fmt.Sprintf("%s is too large for a clipboard (%s)%s/export writes the chat to a file", what, compose.Size(len(text)), dot)
		return m, Intent{}
	case sent > takenByAll:
		m.notice = fmt.Sprintf("sent %s (%s) to the terminal%smany take no more than %s%s/export writes the chat to a file",
			what, compose.Size(len(text)), dot, compose.Size(takenByAll), dot)
	default:
		m.notice = fmt.Sprintf("copied %s (%s): sent to the terminal's clipboard", what, size)
	}
	return m, Intent{Kind: WantCopy, Text: text}
}

// copyCode copies code block n of a message.
func (m Model) copyCode(blocks []render.Code, n int, of string) (Model, Intent) {
	if n < 1 || n > len(blocks) {
		m.notice = of + " has " + harness.Count(len(blocks), "code block")
		return m, Intent{}
	}
	return m.copyText(fmt.Sprintf("code block %d", n), blocks[n-1].Text)
}

// copyChosen copies the message chosen, as it was written.
func (m Model) copyChosen() (Model, Intent) {
	what := "the answer"
	if at := m.sel.at; at < len(m.pages.items) {
		if msg := m.pages.items[at].rec.Message; msg != nil && msg.Role == harness.RoleUser {
			what = "your message"
		}
	}
	return m.copyText(what, m.chosenText())
}

// copyChat copies what was said in the whole branch.
func (m Model) copyChat() (Model, tea.Cmd) {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		out := chatTextMsg{to: to}
		records, err := d.Transcript.Tail(ctx, id, 0, 0)
		if err != nil {
			out.err = fmt.Errorf("read session %s to copy it: %w", id, err)
			return out
		}
		out.text = spokenText(records)
		return out
	}
}

// spokenText is what was said in records, as it was written, with who said it.
func spokenText(records []harness.Record) string {
	var b strings.Builder
	last := harness.Role("")
	for _, r := range records {
		if r.Message == nil || r.Message.Mark == harness.MarkNotice || r.Message.Role == harness.RoleTool {
			continue
		}
		text := strings.TrimRight(r.Message.Text(), "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if role := r.Message.Role; role != last || role == harness.RoleUser {
			last = role
			who := "cairn"
			if role == harness.RoleUser {
				if who = "you"; r.Message.Name != "" {
					who = r.Message.Name
				}
			}
			b.WriteString(who + ":\n\n")
		}
		b.WriteString(text)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// chatTextMsg brings what was said in the whole branch.
type chatTextMsg struct {
	to
	text string
	err  error
}

func (msg chatTextMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m, m.wanted = m.copyText("the whole chat", msg.text)
	return m, nil
}
