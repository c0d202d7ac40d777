// Package page writes a conversation as one HTML file that needs nothing else: no
// script, no network, no other file. The one thing to know: all text in it is
// hostile. It is made visible as it was written, and nothing of it becomes an
// element, an address or a style that is not on a short list; beside that the page
// forbids itself to load or run anything.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/render"
)

// parts are the frame of a page and its style.
//
//go:embed page.html page.css
var parts embed.FS

// Conversation is what becomes a page.
type Conversation struct {
	Session harness.Session
	// Records are messages, in order.
	Records []harness.Record
	// Bytes returns those of a file by the name of its artifact; nil has none.
	Bytes func(name string) ([]byte, error)
}

// Written is a page.
type Written struct {
	Data []byte
	// Messages counts those in it.
	Messages int
	// Left are the files that are only named in it, one sentence each, and Images
	// the bytes of those that are in it.
	Left   []string
	Images int
}

// Write makes a page. The same conversation always makes the same bytes.
func Write(c Conversation) (Written, error) {
	style, err := parts.ReadFile("page.css")
	if err != nil {
		return Written{}, fmt.Errorf("read the style of a page: %w", err)
	}
	frame, err := template.ParseFS(parts, "page.html")
	if err != nil {
		return Written{}, fmt.Errorf("read the frame of a page: %w", err)
	}
	w := writer{Conversation: c, md: newMarkdown(), room: maxImages}
	title := render.SafeLine(c.Session.Title)
	if strings.TrimSpace(title) == "" {
		title = "Conversation " + render.SafeLine(string(c.Session.ID))
	}
	sum := sha256.Sum256(style)
	view := head{
		Title: title, Session: render.SafeLine(string(c.Session.ID)), Style: template.CSS(style), //nolint:gosec // the style is ours
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; form-action 'none'; base-uri 'none'",
		Begun:  moment(c.Session.Created), Changed: moment(c.Session.Updated), Tags: safeAll(c.Session.Tags),
	}
	for _, r := range c.Records {
		if r.Message == nil {
			continue
		}
		m, err := w.message(len(view.Messages)+1, r)
		if err != nil {
			return Written{}, fmt.Errorf("write message %d: %w", r.Seq, err)
		}
		view.Messages = append(view.Messages, m)
	}
	var b bytes.Buffer
	if err := frame.Execute(&b, view); err != nil {
		return Written{}, fmt.Errorf("write a page: %w", err)
	}
	return Written{Data: b.Bytes(), Messages: len(view.Messages), Left: w.left, Images: w.images}, nil
}

// head is what the frame is filled in with.
type head struct {
	Title, Session, Policy string
	Style                  template.CSS
	Begun, Changed         stamp
	Tags                   []string
	Messages               []message
}

// stamp is a time for machines and for people; empty if it is not known.
type stamp struct{ Machine, Words string }

func moment(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	t = t.UTC()
	return stamp{t.Format(time.RFC3339), t.Format("2 Jan 2006 15:04 MST")}
}

// message is one message of the page.
type message struct {
	// ID is that of its element, and Class says which side it is of.
	ID, Class, Who, Model, Mark string
	At                          stamp
	Parts                       []part
}

// part is one piece of a message. Summary, if set, folds it.
type part struct {
	Summary, Class string
	Body           template.HTML
	// Plain is text as it is, instead of Body, and Image an address of data.
	Plain         string
	Image         template.URL
	Width, Height int
}

// writer writes the messages of a page.
type writer struct {
	Conversation

	md     *markdown
	left   []string
	images int
	// room is what is left for images, in bytes.
	room int
}

// message is a record as the page has it, the n-th.
func (w *writer) message(n int, r harness.Record) (message, error) {
	m := r.Message
	out := message{
		ID: "m" + strconv.Itoa(n), Class: "tool", Who: "Tool",
		Model: render.SafeLine(m.Model), Mark: render.SafeLine(string(m.Mark)), At: moment(r.At),
	}
	switch m.Role {
	case harness.RoleUser:
		out.Class, out.Who = "user", "You"
	case harness.RoleAssistant:
		out.Class, out.Who = "assistant", "Assistant"
	case harness.RoleTool:
	}
	if m.Name != "" {
		out.Who = render.SafeLine(m.Name)
	}
	for _, p := range m.Parts {
		one, ok, err := w.part(m.Role, p)
		if err != nil {
			return out, err
		}
		if ok {
			out.Parts = append(out.Parts, one)
		}
		if p.Result != nil {
			for _, f := range p.Files() {
				out.Parts = append(out.Parts, w.file(*f))
			}
		}
	}
	return out, nil
}

// part is a piece of a message as the page has it; ok is false for none.
func (w *writer) part(by harness.Role, p harness.Part) (out part, ok bool, err error) {
	switch {
	case p.Call != nil:
		return part{Summary: "Called " + render.SafeLine(p.Call.Name), Class: "call", Plain: render.Safe(inputOf(*p.Call))}, true, nil
	case p.Result != nil:
		return resultPart(*p.Result), true, nil
	case p.Kind == harness.PartText && p.File != nil:
		return part{Summary: "File " + render.SafeLine(p.File.Name), Class: "file", Plain: render.Safe(p.Text)}, true, nil
	case p.File != nil:
		return w.file(*p.File), true, nil
	case strings.TrimSpace(p.Text) == "":
		return part{}, false, nil
	case p.Kind == harness.PartThinking:
		out.Summary, out.Class = "Thinking", "thinking"
		out.Body, err = w.md.html(p.Text)
		return out, true, err
	case p.Kind != harness.PartText:
		return part{}, false, nil
	case by != harness.RoleAssistant:
		// What people type is shown as they typed it.
		return part{Class: "said", Plain: render.Safe(strings.TrimRight(p.Text, "\n"))}, true, nil
	}
	out.Body, err = w.md.html(p.Text)
	return out, true, err
}

func resultPart(r harness.ToolResult) part {
	out := part{Summary: "Result of " + render.SafeLine(r.Name), Class: "result", Plain: render.Safe(strings.TrimRight(r.Text, "\n"))}
	switch {
	case r.Unknown:
		out.Summary += ", outcome unknown"
	case r.Failed:
		out.Summary += ", failed"
	}
	if r.Artifact != "" {
		out.Summary += ", its beginning and end"
	}
	return out
}

// inputOf is the input of a call, as it is if it is no JSON.
func inputOf(c harness.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	var b bytes.Buffer
	if err := json.Indent(&b, c.Input, "", "  "); err != nil {
		return string(c.Input)
	}
	return b.String()
}

// bytesOf are those of a file.
func (w *writer) bytesOf(f harness.File) ([]byte, error) {
	if len(f.Data) > 0 || f.Artifact == "" {
		return f.Data, nil
	}
	if w.Bytes == nil {
		return nil, errors.New("it is not at hand")
	}
	return w.Bytes(f.Artifact)
}

func safeAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = render.SafeLine(s)
	}
	return out
}
