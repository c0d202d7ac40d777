package modeltest

import (
	"encoding/json"
	"fmt"
)

// maxResponsesID is the longest id of a call that responses take.
const maxResponsesID = 64

// item is an item of the input of responses.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Output  string          `json:"output"`
}

// responsesCheck checks one request.
type responsesCheck struct {
	faults
	list  []message
	bytes int
	files int
}

// CheckResponses checks a request to OpenAI's responses. It is a [Checker].
func CheckResponses(body []byte, window int) error {
	var in struct {
		Input []item `json:"input"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"tools"`
		MaxReply int `json:"max_output_tokens"`
	}
	var c responsesCheck
	if !c.checked(body, &in) {
		return c.err()
	}
	for i, m := range in.Input {
		c.item(i, m)
	}
	var names []string
	var schemas []json.RawMessage
	for _, t := range in.Tools {
		names, schemas = append(names, t.Name), append(schemas, t.Parameters)
		c.bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	c.tools(names, schemas)
	c.order(c.list, maxResponsesID)
	c.size(c.bytes, c.files, in.MaxReply, window)
	return c.err()
}

// item checks item i and adds it to the list: what the model said and called in a
// row is one message, and so are results.
func (c *responsesCheck) item(i int, m item) {
	where := fmt.Sprintf("item %d of the body", i)
	switch {
	case m.Type == "function_call":
		c.object(where, []byte(m.Args))
		c.bytes += len(m.Name) + len(m.Args)
		last := c.last("assistant")
		last.calls, last.called = append(last.calls, m.CallID), append(last.called, m.Name)
	case m.Type == "function_call_output":
		c.text(where, m.Output)
		c.bytes += len(m.Output)
		last := c.last("tool")
		last.results, last.named = append(last.results, m.CallID), append(last.named, "")
	case m.Type == "reasoning":
	case m.Role == "system", m.Role == "developer":
		if i > 0 {
			c.add("%s: the system prompt is not in front", where)
		}
		c.content(where, m)
	case m.Role == "user":
		c.list = append(c.list, message{role: m.Role})
		c.content(where, m)
	case m.Role == "assistant":
		c.last("assistant")
		c.content(where, m)
	default:
		c.add("%s: there is no item %q of %q", where, m.Type, m.Role)
	}
}

// last returns the last message if it is of a role, else a new one.
func (c *responsesCheck) last(role string) *message {
	if n := len(c.list); n == 0 || c.list[n-1].role != role {
		c.list = append(c.list, message{role: role})
	}
	return &c.list[len(c.list)-1]
}

func (c *responsesCheck) content(where string, m item) {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		c.bytes += len(s)
		c.text(where, s)
		return
	}
	var blocks []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
		Name  string `json:"filename"`
		Data  string `json:"file_data"`
	}
	if err := json.Unmarshal(m.Content, &blocks); err != nil || len(blocks) == 0 {
		c.add("%s: it says nothing that can be read", where)
		return
	}
	for _, b := range blocks {
		switch {
		case b.Type == "input_text" && m.Role != "assistant", b.Type == "output_text" && m.Role == "assistant":
			c.bytes += len(b.Text)
			c.text(where, b.Text)
		case b.Type == "input_image" && m.Role == "user":
			c.files++
			c.dataURL(where, b.Image, images...)
		case b.Type == "input_file" && m.Role == "user":
			c.files++
			c.text(where+", the name of a file", b.Name)
			c.dataURL(where, b.Data, "application/pdf")
		default:
			c.add("%s: there is no block %q of %q", where, b.Type, m.Role)
		}
	}
}
