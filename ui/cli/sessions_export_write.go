package cli

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/render"
)

// exportedLine is one line of the format that `cairn sessions import` reads.
type exportedLine struct {
	Session *exportedHead    `json:"session,omitempty"`
	Message *exportedMessage `json:"message,omitempty"`
}

type exportedHead struct {
	ID      harness.SessionID `json:"id"`
	Title   string            `json:"title,omitempty"`
	Created time.Time         `json:"created_at,omitzero"`
}

type exportedMessage struct {
	Role    harness.Role `json:"role"`
	Content string       `json:"content"`
	Created time.Time    `json:"created_at,omitzero"`
	Name    string       `json:"name,omitempty"`
}

// lines writes the texts of both sides as JSON Lines.
func (d *exportedSession) lines(s harness.Session, branch []harness.Record) error {
	add := func(l exportedLine) error {
		p, err := encode(l, "")
		d.data = append(d.data, p...)
		return err
	}
	if err := add(exportedLine{Session: &exportedHead{s.ID, s.Title, s.Created}}); err != nil {
		return err
	}
	for _, r := range branch {
		m := r.Message
		left := 0
		for _, p := range m.Parts {
			if p.Call != nil || p.Result != nil || p.File != nil {
				left++
			}
		}
		d.left += left
		if m.Role != harness.RoleUser && m.Role != harness.RoleAssistant || m.Text() == "" && left > 0 {
			continue
		}
		d.messages++
		if err := add(exportedLine{Message: &exportedMessage{m.Role, m.Text(), r.At, m.Name}}); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes a conversation for people. Control characters in it are made
// visible, because such a file is often looked at in a terminal.
func (d *exportedSession) markdown(s harness.Session, branch []harness.Record) error {
	var b strings.Builder
	b.WriteString("---\n")
	for _, v := range []struct {
		key   string
		value any
		given bool
	}{
		{"session", s.ID, true},
		{"title", s.Title, s.Title != ""},
		{"tags", s.Tags, len(s.Tags) > 0},
		{"directory", s.Dir, s.Dir != ""},
		{"created", s.Created, !s.Created.IsZero()},
		{"updated", s.Updated, !s.Updated.IsZero()},
		{"messages", len(branch), true},
	} {
		if !v.given {
			continue
		}
		// JSON is YAML, with every text in quotes.
		p, err := encode(v.value, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s: %s", v.key, p)
	}
	b.WriteString("---\n")
	if s.Title != "" {
		fmt.Fprintf(&b, "\n# %s\n", render.SafeLine(s.Title))
	}
	for _, r := range branch {
		d.messages++
		fmt.Fprintf(&b, "\n## %s\n", render.SafeLine(headline(r)))
		for _, p := range r.Message.Parts {
			switch {
			case p.Kind == harness.PartText && p.Text != "":
				fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(render.Safe(p.Text), "\n"))
			case p.Call != nil:
				fmt.Fprintf(&b, "\nCalls `%s`:\n\n%s", render.SafeLine(p.Call.Name), codeBlock("json", inputOf(*p.Call)))
			case p.Result != nil:
				fmt.Fprintf(&b, "\nResult of `%s`:\n\n%s", render.SafeLine(p.Result.Name), codeBlock("", p.Result.Text))
				for _, f := range p.Files() {
					fmt.Fprintf(&b, "\n(file %s, %s)\n", render.SafeLine(f.Name), render.SafeLine(f.MediaType))
				}
			case p.File != nil:
				fmt.Fprintf(&b, "\n(file %s, %s)\n", render.SafeLine(p.File.Name), render.SafeLine(p.File.MediaType))
			}
		}
	}
	d.data = []byte(b.String())
	return nil
}

// headline says who wrote a message, and when.
func headline(r harness.Record) string {
	m := r.Message
	who := map[harness.Role]string{harness.RoleUser: "You", harness.RoleAssistant: "Assistant", harness.RoleTool: "Tool"}[m.Role]
	if m.Name != "" {
		who = m.Name
	}
	var about []string
	for _, part := range []string{string(m.Mark), m.Model} {
		if part != "" {
			about = append(about, part)
		}
	}
	if !r.At.IsZero() {
		about = append(about, r.At.UTC().Format("2006-01-02 15:04 MST"))
	}
	if len(about) == 0 {
		return who
	}
	return who + " (" + strings.Join(about, ", ") + ")"
}

// inputOf is the input of a call, as it is if it is no JSON.
func inputOf(c harness.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	p, err := encode(c.Input, "  ")
	if err != nil {
		return string(c.Input)
	}
	return string(p)
}

// codeBlock is text as a block of code that it cannot end.
func codeBlock(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(render.Safe(text), "\n"), fence)
}
