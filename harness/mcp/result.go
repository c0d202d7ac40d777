package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/attach"
	"cairn/harness/tool"
)

// result is what a model is told of a call that the server answered. Images are
// given to show; of other bytes and of what is no image there is a line.
func (l *link) result(r *sdk.CallToolResult, show func(harness.File) bool) (string, error) {
	if r == nil {
		return "", fmt.Errorf("the MCP server %s answered nothing", l.c.Name)
	}
	var parts []string
	images := 0
	for _, c := range r.Content {
		text := ""
		if data := imageOf(c); data != nil {
			images++
			text = imageText(images, data, show)
		}
		if text == "" {
			text = contentText(c)
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	if text := structured(r); text != "" {
		parts = append(parts, text)
	}
	text := strings.Join(parts, "\n")
	if l.signed != nil { // nobody else knows the token that it may repeat
		text = l.secrets.Redact(text)
	}
	switch {
	case r.IsError && strings.TrimSpace(text) == "":
		return "", fmt.Errorf("the MCP server %s says that the call failed, and not why", l.c.Name)
	case r.IsError:
		return "", tool.Failure(text)
	case text == "":
		return "(the tool gave nothing back)", nil
	}
	return text, nil
}

// structured is the structured part of a result, unless its text says the same.
func structured(r *sdk.CallToolResult) string {
	if r.StructuredContent == nil {
		return ""
	}
	for _, c := range r.Content {
		text, ok := c.(*sdk.TextContent)
		if !ok || text == nil {
			continue
		}
		var same any
		if json.Unmarshal([]byte(text.Text), &same) == nil && reflect.DeepEqual(same, r.StructuredContent) {
			return ""
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.StructuredContent); err != nil {
		return "(structured content that cannot be written)"
	}
	return strings.TrimSpace(out.String())
}

// imageOf is what a part of a result has that may be an image.
func imageOf(c sdk.Content) []byte {
	switch c := c.(type) {
	case *sdk.ImageContent:
		if c != nil {
			return c.Data
		}
	case *sdk.EmbeddedResource:
		if c != nil && c.Resource != nil {
			return c.Resource.Blob
		}
	}
	return nil
}

// imageText shows the image that the bytes are and names it; empty if they are none,
// whatever the server says of them.
func imageText(n int, data []byte, show func(harness.File) bool) string {
	part, err := attach.Bytes(fmt.Sprintf("image %d", n), data)
	var wrong *attach.Error
	switch {
	case errors.As(err, &wrong) && strings.HasPrefix(http.DetectContentType(data), "image/"):
		return "(" + line(wrong.Error()) + ")"
	case err != nil || part.Kind != harness.PartFile || !strings.HasPrefix(part.File.MediaType, "image/"):
		return ""
	}
	f := *part.File
	text := fmt.Sprintf("%s: %s, %d × %d pixels, %s", f.Name, f.MediaType, f.Width, f.Height, harness.Count(int(f.Size), "byte"))
	if !show(f) {
		text += fmt.Sprintf(", left out: a result has %d images at most", tool.MaxImages)
	}
	return "(" + text + ")"
}

// contentText is one part of a result in text.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		if c != nil {
			return c.Text
		}
	case *sdk.ImageContent:
		if c != nil {
			return bytesText("image", c.MIMEType, len(c.Data))
		}
	case *sdk.AudioContent:
		if c != nil {
			return bytesText("audio", c.MIMEType, len(c.Data))
		}
	case *sdk.ResourceLink:
		if c != nil {
			return linkText(c)
		}
	case *sdk.EmbeddedResource:
		if c != nil && c.Resource != nil {
			return resourceText(c.Resource)
		}
	}
	return "(content of a kind that is not known)"
}

// bytesText names what is not text.
func bytesText(what, kind string, size int) string {
	if kind = line(kind); kind != "" {
		what += " of type " + kind
	}
	return fmt.Sprintf("(%s, %s, not shown here)", what, harness.Count(size, "byte"))
}

func linkText(c *sdk.ResourceLink) string {
	text := "(resource " + line(c.URI)
	if name := line(c.Title); name != "" {
		text += ", " + name
	} else if name := line(c.Name); name != "" {
		text += ", " + name
	}
	if kind := line(c.MIMEType); kind != "" {
		text += ", " + kind
	}
	if help := line(c.Description); help != "" {
		text += ": " + help
	}
	return text + ")"
}

func resourceText(r *sdk.ResourceContents) string {
	at := "resource " + line(r.URI)
	if len(r.Blob) > 0 {
		return bytesText(at, r.MIMEType, len(r.Blob))
	}
	return "(" + at + ")\n" + r.Text
}

// message makes a message of a prompt's. ok is false for one that says nothing.
func message(m *sdk.PromptMessage) (out harness.Message, ok bool) {
	if m == nil {
		return out, false
	}
	out.Role = harness.RoleUser
	if m.Role == "assistant" {
		out.Role = harness.RoleAssistant
	}
	switch c := m.Content.(type) {
	case *sdk.ImageContent:
		out.Parts = []harness.Part{file("image", c.MIMEType, c.Data)}
	case *sdk.AudioContent:
		out.Parts = []harness.Part{file("audio", c.MIMEType, c.Data)}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return out, false
		}
		name := line(c.Resource.URI)
		if len(c.Resource.Blob) > 0 {
			out.Parts = []harness.Part{file(name, c.Resource.MIMEType, c.Resource.Blob)}
			break
		}
		out.Parts = []harness.Part{{
			Kind: harness.PartText, Text: strings.ToValidUTF8(c.Resource.Text, "\uFFFD"),
			File: &harness.File{Name: name, MediaType: mediaType(c.Resource.MIMEType, "text/plain"), Size: int64(len(c.Resource.Text))},
		}}
	default:
		text := strings.ToValidUTF8(contentText(m.Content), "\uFFFD")
		if text == "" {
			return out, false
		}
		out.Parts = []harness.Part{{Kind: harness.PartText, Text: text}}
	}
	return out, true
}

func file(name, kind string, data []byte) harness.Part {
	return harness.Part{Kind: harness.PartFile, File: &harness.File{
		Name: name, MediaType: mediaType(kind, "application/octet-stream"), Size: int64(len(data)), Data: data,
	}}
}

func mediaType(given, otherwise string) string {
	if given = line(given); given != "" {
		return given
	}
	return otherwise
}
