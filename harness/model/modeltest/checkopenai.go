package modeltest

import (
	"encoding/json"
	"fmt"
)

// maxChatID is the longest id of a call that chat completions take.
const maxChatID = 40

// images are the types of images that all providers of images take.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"} //nolint:gochecknoglobals // a table that nobody changes

// chatMessage is a message of chat completions.
type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"tool_call_id"`
	Cache     any             `json:"cache_control"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// chatBlock is a block of a message's content.
type chatBlock struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Cache any    `json:"cache_control"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

// chatCheck checks one request.
type chatCheck struct {
	faults
	list  []message
	marks int
	bytes int
	files int
}

// CheckOpenAI checks a request to chat completions, those of OpenRouter and of
// local servers too. It is a [Checker].
func CheckOpenAI(body []byte, window int) error {
	var in struct {
		Messages []chatMessage `json:"messages"`
		Tools    []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		MaxTokens int `json:"max_tokens"`
		MaxReply  int `json:"max_completion_tokens"`
	}
	var c chatCheck
	if !c.checked(body, &in) {
		return c.err()
	}
	for i, m := range in.Messages {
		c.message(i, m)
	}
	var names []string
	var schemas []json.RawMessage
	for _, t := range in.Tools {
		names, schemas = append(names, t.Function.Name), append(schemas, t.Function.Parameters)
		c.bytes += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	c.tools(names, schemas)
	c.order(c.list, maxChatID)
	if c.marks > MaxMarks {
		c.add("%d marks of cached prefixes are more than %d", c.marks, MaxMarks)
	}
	c.size(c.bytes, c.files, max(in.MaxTokens, in.MaxReply), window)
	return c.err()
}

// message checks message i and adds it to the list, results in a row as one.
func (c *chatCheck) message(i int, m chatMessage) {
	where := fmt.Sprintf("message %d of the body", i)
	if m.Cache != nil {
		c.add("%s: the mark of a cached prefix is not in a block", where)
	}
	one := message{role: m.Role}
	for _, call := range m.ToolCalls {
		one.calls, one.called = append(one.calls, call.ID), append(one.called, call.Function.Name)
		c.object(where, []byte(call.Function.Arguments))
		c.bytes += len(call.Function.Name) + len(call.Function.Arguments)
		if call.Type != "function" || call.Function.Name == "" {
			c.add("%s: a call of nothing", where)
		}
	}
	c.content(where, m)
	switch m.Role {
	case "system", "developer":
		if i > 0 {
			c.add("%s: the system prompt is not in front", where)
		}
		return
	case "tool":
		if n := len(c.list) - 1; n >= 0 && c.list[n].role == "tool" {
			c.list[n].results, c.list[n].named = append(c.list[n].results, m.CallID), append(c.list[n].named, "")
			return
		}
		one.results, one.named = []string{m.CallID}, []string{""}
	case "user", "assistant":
	default:
		c.add("%s: there is no role %q", where, m.Role)
	}
	c.list = append(c.list, one)
}

// content checks what a message says: a string or a list of blocks, nothing only
// beside calls.
func (c *chatCheck) content(where string, m chatMessage) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		if len(m.ToolCalls) == 0 {
			c.add("%s: it says nothing", where)
		}
		return
	}
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		c.bytes += len(s)
		c.text(where, s)
		return
	}
	var blocks []chatBlock
	if err := json.Unmarshal(m.Content, &blocks); err != nil || len(blocks) == 0 {
		c.add("%s: it says nothing that can be read", where)
		return
	}
	for _, b := range blocks {
		c.block(where, m.Role, b)
	}
}

func (c *chatCheck) block(where, role string, b chatBlock) {
	if b.Cache != nil {
		c.marks++
	}
	if b.Type != "text" && role != "user" {
		c.add("%s: a file that the person did not send", where)
	}
	switch b.Type {
	case "text":
		c.bytes += len(b.Text)
		c.text(where, b.Text)
	case "image_url":
		c.files++
		c.dataURL(where, b.Image.URL, images...)
	case "file":
		c.files++
		c.text(where+", the name of a file", b.File.Name)
		c.dataURL(where, b.File.Data, "application/pdf")
	default:
		c.add("%s: there is no block %q", where, b.Type)
	}
}
