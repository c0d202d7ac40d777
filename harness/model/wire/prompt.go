package wire

import (
	"encoding/json"
	"strings"

	"charm.land/fantasy"

	"cairn/harness"
	"cairn/harness/model"
)

// nothing stands for the result of a tool that returned no text, since
// providers refuse empty ones.
const nothing = "(no output)"

// call translates a request.
func (w *Wire) call(req model.Request) fantasy.Call {
	p := prompter{w: w, ids: newIDs()}
	c := fantasy.Call{Prompt: p.prompt(req)}
	for _, t := range req.Tools {
		c.Tools = append(c.Tools, fantasy.FunctionTool{Name: t.Name, Description: t.Description, InputSchema: schema(t.Schema)})
	}
	if n := req.MaxOutput; n > 0 || w.MaxOutput > 0 {
		limit := int64(n)
		if n <= 0 {
			limit = int64(w.MaxOutput)
		}
		c.MaxOutputTokens = &limit
	}
	if w.Options != nil {
		c.ProviderOptions = w.Options(req)
	}
	return c
}

// schema decodes a tool's JSON schema. Its list of required fields gets the
// type that fantasy looks for.
func schema(raw json.RawMessage) map[string]any {
	m := map[string]any{}
	// A schema that is no object describes a tool without parameters.
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		m = map[string]any{}
	}
	// Which draft it follows is of no use to a model, and refused by some.
	delete(m, "$schema")
	if _, ok := m["type"]; !ok {
		m["type"] = "object"
	}
	if _, ok := m["properties"].(map[string]any); !ok {
		m["properties"] = map[string]any{}
	}
	if list, ok := m["required"].([]any); ok {
		names := make([]string, 0, len(list))
		for _, v := range list {
			if s, ok := v.(string); ok {
				names = append(names, s)
			}
		}
		m["required"] = names
	}
	return m
}

// prompter translates the messages of one request.
type prompter struct {
	w   *Wire
	ids *ids
	// turn is the index of the message of the user that began the turn, before
	// that of the one which began the turn before; -1 if there is none.
	turn, before int
}

// prompt translates system prompt, context and messages. The context goes to the
// end of the message that began the turn: it is in front of nothing that stays the
// same from turn to turn, and within a turn it stays where it is.
func (p *prompter) prompt(req model.Request) fantasy.Prompt {
	var out fantasy.Prompt
	if s := clean(req.System); s != "" {
		out = append(out, fantasy.Message{Role: fantasy.MessageRoleSystem, Content: []fantasy.MessagePart{fantasy.TextPart{Text: s}}})
		p.mark(out, len(out)-1)
	}
	p.turn, p.before = turns(req.Messages)
	for i, m := range req.Messages {
		content := p.content(i, m)
		if len(content) == 0 && i != p.turn {
			continue
		}
		out = p.appended(out, role(m.Role), content)
		if images := p.images(m); len(images) > 0 {
			out = p.appended(out, fantasy.MessageRoleUser, images)
		}
		if i == p.turn || i == p.before {
			p.mark(out, len(out)-1)
		}
		if i == p.turn {
			out = p.situated(out, req.Context)
		}
	}
	if p.turn < 0 {
		return p.situated(append(out, fantasy.Message{Role: fantasy.MessageRoleUser}), req.Context)
	}
	results := req.Messages[len(req.Messages)-1].Role == harness.RoleTool // images may follow them
	if n := len(out) - 1; n >= 0 && (out[n].Role != fantasy.MessageRoleUser || results) {
		p.mark(out, n)
	}
	for i, m := range out {
		if len(m.Content) == 1 && m.Content[0].Options() != nil && m.Role != fantasy.MessageRoleAssistant {
			// Some SDKs look for the mark of a plain text here.
			out[i].ProviderOptions = p.w.CacheMark
		}
	}
	return out
}

func role(r harness.Role) fantasy.MessageRole {
	switch r {
	case harness.RoleAssistant:
		return fantasy.MessageRoleAssistant
	case harness.RoleTool:
		return fantasy.MessageRoleTool
	default:
		return fantasy.MessageRoleUser
	}
}

// content translates the parts of message i.
func (p *prompter) content(i int, m harness.Message) []fantasy.MessagePart {
	var parts []fantasy.MessagePart
	for j, part := range m.Parts {
		switch part.Kind {
		case harness.PartText:
			if t := clean(part.Text); t != "" {
				parts = append(parts, fantasy.TextPart{Text: t})
			}
		case harness.PartThinking:
			if t, ok := p.thinking(i, m, j); ok {
				parts = append(parts, t)
			}
		case harness.PartCall:
			if part.Call != nil {
				parts = append(parts, p.toolCall(*part.Call))
			}
		case harness.PartResult:
			if part.Result != nil {
				parts = append(parts, p.toolResult(*part.Result))
			}
		case harness.PartFile:
			// No interface takes files from anybody else.
			if part.File != nil && m.Role == harness.RoleUser {
				parts = append(parts, p.file(*part.File))
			}
		}
	}
	for n := len(parts); n > 0 && parts[n-1].GetType() == fantasy.ContentTypeReasoning; n = len(parts) {
		parts = parts[:n-1] // reasoning that led to nothing is refused or dropped
	}
	if p.w.CallsLast {
		callsLast(parts)
	}
	if !p.w.Blocks {
		parts = joined(parts)
	}
	return parts
}

// thinking translates the reasoning in part j of message i, if this provider
// may see it.
func (p *prompter) thinking(i int, m harness.Message, j int) (fantasy.MessagePart, bool) {
	part := m.Parts[j]
	text := strings.ToValidUTF8(part.Text, "")
	if o := part.Opaque; o != nil && o.Provider == p.w.Issuer && p.w.Unseal != nil {
		next := ""
		if j+1 < len(m.Parts) && m.Parts[j+1].Call != nil {
			next = p.ids.peek(m.Parts[j+1].Call.ID)
		}
		if options := p.w.Unseal(o.Data, next); options != nil {
			return fantasy.ReasoningPart{Text: text, ProviderOptions: options}, true
		}
	}
	if p.w.EchoThinking && i > p.turn && strings.TrimSpace(text) != "" && strings.HasPrefix(m.Model, p.w.Provider+"/") {
		return fantasy.ReasoningPart{Text: text}, true
	}
	return nil, false
}

func (p *prompter) toolCall(c harness.ToolCall) fantasy.MessagePart {
	return fantasy.ToolCallPart{ToolCallID: p.ids.call(c.ID), ToolName: c.Name, Input: string(object(c.Input))}
}

// clean makes text fit to be sent: valid UTF-8, and empty if there is nothing
// to see.
func clean(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return strings.ToValidUTF8(text, "")
}

// joined joins the texts of a message in the place of the first one.
func joined(parts []fantasy.MessagePart) []fantasy.MessagePart {
	first := -1
	var out []fantasy.MessagePart
	for _, p := range parts {
		t, ok := p.(fantasy.TextPart)
		if !ok {
			out = append(out, p)
			continue
		}
		if first < 0 {
			first = len(out)
			out = append(out, t)
			continue
		}
		t.Text = out[first].(fantasy.TextPart).Text + "\n\n" + t.Text
		out[first] = t
	}
	return out
}
