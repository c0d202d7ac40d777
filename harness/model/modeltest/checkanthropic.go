package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxAnthropicID is the longest id of a call that is sent.
const maxAnthropicID = 64

// leastThinking is the smallest budget for reasoning.
const leastThinking = 1024

// claudeBlock is a block of content of Anthropic's messages.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Cache     any             `json:"cache_control"`
	Source    struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	} `json:"source"`
}

// claudeCheck checks one request.
type claudeCheck struct {
	faults
	list  []message
	marks int
	bytes int
	files int
}

// CheckAnthropic checks a request to Anthropic's messages. It is a [Checker].
func CheckAnthropic(body []byte, window int) error {
	var in struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Cache       any             `json:"cache_control"`
		} `json:"tools"`
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
	}
	var c claudeCheck
	if !c.checked(body, &in) {
		return c.err()
	}
	for _, b := range c.blocks("the system prompt", in.System) {
		c.plain("the system prompt", b)
	}
	for i, m := range in.Messages {
		c.message(i, m.Role, m.Content)
	}
	var names []string
	var schemas []json.RawMessage
	for _, t := range in.Tools {
		names, schemas = append(names, t.Name), append(schemas, t.Schema)
		c.bytes += len(t.Name) + len(t.Description) + len(t.Schema)
		if t.Cache != nil {
			c.marks++
		}
	}
	c.tools(names, schemas)
	c.order(c.list, maxAnthropicID)
	if c.marks > MaxMarks {
		c.add("%d marks of cached prefixes are more than %d", c.marks, MaxMarks)
	}
	if in.MaxTokens <= 0 {
		c.add("the reply budget is missing")
	}
	if in.Thinking.Type == "enabled" && (in.Thinking.Budget < leastThinking || in.Thinking.Budget >= in.MaxTokens) {
		c.add("a budget of %d for reasoning does not fit into a reply of %d", in.Thinking.Budget, in.MaxTokens)
	}
	c.size(c.bytes, c.files, in.MaxTokens, window)
	return c.err()
}

// blocks reads content: a string or a list of blocks.
func (c *claudeCheck) blocks(where string, raw json.RawMessage) []claudeBlock {
	var s string
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &s) == nil {
		return []claudeBlock{{Type: "text", Text: s}}
	}
	var blocks []claudeBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		c.add("%s: it says nothing that can be read", where)
	}
	return blocks
}

// plain checks a block of text, or an image where those are allowed.
func (c *claudeCheck) plain(where string, b claudeBlock) {
	if b.Cache != nil {
		c.marks++
	}
	switch b.Type {
	case "text":
		c.bytes += len(b.Text)
		c.text(where, b.Text)
	case "image":
		c.files++
		c.media(where, b.Source.Media, b.Source.Data, images...)
	default:
		c.add("%s: there is no block %q", where, b.Type)
	}
}

// message checks message i and adds it to the list. A message of the person's
// that begins with results is one of results and then one of the person's.
func (c *claudeCheck) message(i int, role string, raw json.RawMessage) {
	where := fmt.Sprintf("message %d of the body", i)
	blocks := c.blocks(where, raw)
	if len(blocks) == 0 {
		c.add("%s: it says nothing", where)
	}
	one := message{role: role}
	switch role {
	case "user":
		if len(blocks) > 0 && blocks[0].Type == "tool_result" {
			one.role = "tool"
		}
		for n, b := range blocks {
			if b.Type == "tool_result" {
				c.result(where, b)
				one.results, one.named = append(one.results, b.ToolUseID), append(one.named, "")
				if one.role != "tool" || n > 0 && blocks[n-1].Type != "tool_result" {
					c.add("%s: a result behind something else", where)
				}
				continue
			}
			c.given(where, b)
		}
	case "assistant":
		for _, b := range blocks {
			if len(one.calls) > 0 && b.Type != "tool_use" {
				c.add("%s: %s behind a call", where, b.Type)
			}
			c.said(where, b, &one)
		}
		if n := len(blocks) - 1; n >= 0 && strings.HasSuffix(blocks[n].Type, "thinking") {
			c.add("%s: reasoning that leads to nothing", where)
		}
	default:
		c.add("%s: there is no role %q", where, role)
	}
	c.list = append(c.list, one)
}

// given checks a block of the person's.
func (c *claudeCheck) given(where string, b claudeBlock) {
	if b.Type != "document" {
		c.plain(where, b)
		return
	}
	if b.Cache != nil {
		c.marks++
	}
	c.files++
	c.media(where, b.Source.Media, b.Source.Data, "application/pdf")
}

// result checks a result.
func (c *claudeCheck) result(where string, b claudeBlock) {
	if b.Cache != nil {
		c.marks++
	}
	for _, inner := range c.blocks(where, b.Content) {
		c.plain(where+", a result", inner)
	}
}

// said checks a block of the model's.
func (c *claudeCheck) said(where string, b claudeBlock, m *message) {
	switch b.Type {
	case "tool_use":
		if b.Cache != nil {
			c.marks++
		}
		m.calls, m.called = append(m.calls, b.ID), append(m.called, b.Name)
		c.object(where, b.Input)
		c.bytes += len(b.Name) + len(b.Input)
	case "thinking", "redacted_thinking":
		c.bytes += len(b.Thinking)
		if b.Signature == "" && b.Data == "" {
			c.add("%s: reasoning that is not sealed", where)
		}
		if b.Cache != nil {
			c.add("%s: the mark of a cached prefix on reasoning", where)
		}
	case "image":
		c.add("%s: a file that the person did not send", where)
	default:
		c.plain(where, b)
	}
}
