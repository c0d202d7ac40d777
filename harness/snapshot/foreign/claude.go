package foreign

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
)

// claudeTalk is a conversation in an export of Claude.
type claudeTalk struct {
	UUID     string          `json:"uuid"`
	Name     *string         `json:"name"`
	Made     string          `json:"created_at"`
	Changed  string          `json:"updated_at"`
	Model    *string         `json:"model"`
	Leaf     *string         `json:"current_leaf_message_uuid"`
	Project  json.RawMessage `json:"project"`
	Messages []claudeMessage `json:"chat_messages"`
}

type claudeMessage struct {
	UUID        string            `json:"uuid"`
	Text        *string           `json:"text"`
	Content     []json.RawMessage `json:"content"`
	Sender      string            `json:"sender"`
	Made        string            `json:"created_at"`
	Parent      *string           `json:"parent_message_uuid"`
	Attachments []claudeFile      `json:"attachments"`
	Files       []claudeFile      `json:"files"`
	Files2      []claudeFile      `json:"files_v2"`
}

// claudeFile is a file that was given: its text, or its name alone.
type claudeFile struct {
	Name string  `json:"file_name"`
	Text *string `json:"extracted_content"`
}

// claudeBlock is one block of content.
type claudeBlock struct {
	Type     string          `json:"type"`
	Text     *string         `json:"text"`
	Thinking *string         `json:"thinking"`
	ID       *string         `json:"id"`
	Name     *string         `json:"name"`
	Input    json.RawMessage `json:"input"`
	Answers  *string         `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	Failed   bool            `json:"is_error"`
	Source   *struct {
		Data string `json:"data"`
	} `json:"source"`
	Citations json.RawMessage `json:"citations"`
}

// claudeSaid reads a conversation with all its branches, which may be pinned.
func claudeSaid(in *claudeTalk, pinned bool) (*Talk, error) {
	t := &Talk{
		Name: in.UUID, Title: str(in.Name), Source: "a Claude export", Created: moment(in.Made), Updated: moment(in.Changed),
		Head: str(in.Leaf), Pinned: pinned,
	}
	if t.Name == "" {
		return nil, fmt.Errorf("%w: it has no uuid", harness.ErrDamaged)
	}
	if !isEmpty(in.Project) {
		t.Omit("which project it belongs to")
	}
	before := ""
	for i := range in.Messages {
		m := &in.Messages[i]
		turn := Turn{Key: m.UUID, Parent: before, At: moment(m.Made)}
		if m.UUID == "" {
			turn.Key = fmt.Sprintf("message %d", i+1)
		}
		// Older exports do not say what a message follows: there are no branches.
		if m.Parent != nil && *m.Parent != "" {
			turn.Parent = *m.Parent
		}
		before = turn.Key
		switch m.Sender {
		case "human":
			turn.Role = harness.RoleUser
		case "assistant":
			turn.Role = harness.RoleAssistant
			if str(in.Model) != "" {
				turn.Model = "anthropic/" + *in.Model
			}
		default:
			return nil, fmt.Errorf("message %d: %w: the sender is %q", i+1, harness.ErrDamaged, valid(m.Sender))
		}
		if err := claudeParts(t, m, &turn); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		t.Turns = append(t.Turns, turn)
	}
	return t, nil
}

// claudeParts reads what a message holds: its files before its words, as they are
// sent.
func claudeParts(t *Talk, m *claudeMessage, turn *Turn) error {
	for _, f := range m.Attachments {
		if strings.TrimSpace(str(f.Text)) == "" {
			turn.Parts = append(turn.Parts, Absent(f.Name))
			t.Omit("files that the export does not have")
			continue
		}
		p, cut := Given(f.Name, *f.Text)
		if cut {
			t.Omit("the ends of very long files")
		}
		turn.Parts = append(turn.Parts, p)
	}
	seen := map[string]bool{}
	for _, f := range append(m.Files[:len(m.Files):len(m.Files)], m.Files2...) {
		if seen[f.Name] {
			continue // both lists have it
		}
		seen[f.Name] = true
		turn.Parts = append(turn.Parts, Absent(f.Name))
		t.Omit("files that the export does not have")
	}
	words := 0
	for i, raw := range m.Content {
		var b claudeBlock
		if err := decode(raw, &b); err != nil {
			return fmt.Errorf("block %d: %w", i+1, err)
		}
		more := b.parts(t)
		words += len(more)
		turn.Parts = append(turn.Parts, more...)
	}
	if words == 0 {
		turn.Parts = append(turn.Parts, text(str(m.Text)).Part)
	}
	return nil
}

// parts is one block as parts of a message.
func (b *claudeBlock) parts(t *Talk) []harness.Part {
	switch b.Type {
	case "text", "voice_note":
		if !isEmpty(b.Citations) {
			t.Omit("places of citations")
		}
		return []harness.Part{text(str(b.Text)).Part}
	case "thinking":
		return []harness.Part{thinking(str(b.Thinking)).Part}
	case "tool_use":
		return []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: str(b.ID), Name: str(b.Name), Input: b.Input}}}
	case "tool_result":
		return b.result(t)
	case "token_budget":
		return nil
	}
	t.Omit(fmt.Sprintf("blocks of kind %q", valid(b.Type)))
	return nil
}

// result is what a tool returned, with its pictures behind it.
func (b *claudeBlock) result(t *Talk) []harness.Part {
	r := &harness.ToolResult{CallID: str(b.Answers), Name: str(b.Name), Failed: b.Failed}
	out := []harness.Part{{Kind: harness.PartResult, Result: r}}
	var blocks []claudeBlock
	switch {
	case isText(b.Content):
		_ = json.Unmarshal(b.Content, &r.Text) // it is a text
		return out
	case json.Unmarshal(b.Content, &blocks) != nil:
		if !isNull(b.Content) {
			r.Text = string(b.Content)
		}
		return out
	}
	var texts []string
	for _, inner := range blocks {
		switch {
		case inner.Text != nil:
			texts = append(texts, *inner.Text)
		case inner.Source != nil && inner.Source.Data != "":
			data, err := base64.StdEncoding.DecodeString(inner.Source.Data)
			if err == nil {
				var p harness.Part
				if p, err = Attached(inner.Type, data); err == nil {
					out = append(out, p)
				}
			}
			if err != nil {
				t.Omit("pictures of tools that cannot be read")
			}
		default:
			t.Omit(fmt.Sprintf("results of tools of kind %q", valid(inner.Type)))
		}
	}
	r.Text = strings.Join(texts, "\n")
	return out
}
