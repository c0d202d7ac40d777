package modeltest

import (
	"encoding/json"
	"fmt"
)

// geminiPart is a part of a content.
type geminiPart struct {
	Text   *string `json:"text"`
	Inline *struct {
		Media string `json:"mimeType"`
		Data  string `json:"data"`
	} `json:"inlineData"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

// geminiFiles are the types that Gemini takes.
var geminiFiles = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"} //nolint:gochecknoglobals // a table that nobody changes

// geminiCheck checks one request.
type geminiCheck struct {
	faults
	list  []message
	bytes int
	files int
}

// CheckGemini checks a request to Google's Gemini interface. It is a [Checker].
func CheckGemini(body []byte, window int) error {
	var in struct {
		System   *geminiContent  `json:"systemInstruction"`
		Contents []geminiContent `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Schema      json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			MaxReply int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	var c geminiCheck
	if !c.checked(body, &in) {
		return c.err()
	}
	if in.System != nil {
		for _, p := range in.System.Parts {
			c.part("the system prompt", "system", p, &message{})
		}
	}
	for i, m := range in.Contents {
		c.content(i, m)
	}
	var names []string
	var schemas []json.RawMessage
	for _, t := range in.Tools {
		for _, d := range t.Functions {
			names, schemas = append(names, d.Name), append(schemas, d.Schema)
			c.bytes += len(d.Name) + len(d.Description) + len(d.Schema)
		}
	}
	c.tools(names, schemas)
	c.order(c.list, maxAnthropicID)
	c.size(c.bytes, c.files, in.Config.MaxReply, window)
	return c.err()
}

// content checks content i and adds it to the list.
func (c *geminiCheck) content(i int, m geminiContent) {
	where := fmt.Sprintf("content %d of the body", i)
	one := message{role: m.Role}
	switch m.Role {
	case "model":
		one.role = "assistant"
	case "user":
	default:
		c.add("%s: there is no role %q", where, m.Role)
	}
	if len(m.Parts) == 0 {
		c.add("%s: it says nothing", where)
	}
	other := 0
	for _, p := range m.Parts {
		c.part(where, m.Role, p, &one)
		if p.Response == nil {
			other++
		}
	}
	if len(one.results) > 0 {
		one.role = "tool"
		if other > 0 {
			c.add("%s: results beside something else", where)
		}
	}
	c.list = append(c.list, one)
}

// part checks one part, which holds one thing.
func (c *geminiCheck) part(where, role string, p geminiPart, m *message) {
	switch {
	case p.Call != nil && role == "model":
		m.calls, m.called = append(m.calls, p.Call.ID), append(m.called, p.Call.Name)
		if len(p.Call.Args) > 0 {
			c.object(where, p.Call.Args)
		}
		c.bytes += len(p.Call.Name) + len(p.Call.Args)
	case p.Response != nil && role == "user":
		m.results, m.named = append(m.results, p.Response.ID), append(m.named, p.Response.Name)
		if p.Response.Name == "" {
			c.add("%s: the result %q names no tool", where, p.Response.ID)
		}
		c.object(where, p.Response.Response)
		c.bytes += len(p.Response.Response)
	case p.Inline != nil && role == "user":
		c.files++
		c.media(where, p.Inline.Media, p.Inline.Data, geminiFiles...)
	case p.Text != nil && p.Call == nil && p.Response == nil && p.Inline == nil:
		c.bytes += len(*p.Text)
		c.text(where, *p.Text)
	default:
		c.add("%s: a part of %q that has no meaning there", where, role)
	}
}
