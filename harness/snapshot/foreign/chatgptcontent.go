package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// chatGPTContent is what a message holds; its type says which fields count.
type chatGPTContent struct {
	Type     string            `json:"content_type"`
	Parts    []json.RawMessage `json:"parts"`
	Text     *string           `json:"text"`
	Result   *string           `json:"result"`
	Summary  *string           `json:"summary"`
	Language *string           `json:"language"`
	Title    *string           `json:"title"`
	URL      *string           `json:"url"`
	Content  json.RawMessage   `json:"content"`
	Thoughts []struct {
		Summary string `json:"summary"`
		Content string `json:"content"`
	} `json:"thoughts"`
}

// chatGPTPart is a part of a message that is no text.
type chatGPTPart struct {
	Type    string       `json:"content_type"`
	Text    string       `json:"text"`
	Pointer string       `json:"asset_pointer"`
	Audio   *chatGPTPart `json:"audio_asset_pointer"`
}

// UnmarshalJSON implements [json.Unmarshaler]: content of another kind than is known
// is content of a type that is not known.
func (c *chatGPTContent) UnmarshalJSON(raw []byte) error {
	type plain chatGPTContent
	var in plain
	if json.Unmarshal(raw, &in) == nil {
		*c = chatGPTContent(in)
		return nil
	}
	var kind struct {
		Type string `json:"content_type"`
	}
	_ = json.Unmarshal(raw, &kind) // then it has none
	*c = chatGPTContent{Type: kind.Type + " (another form)"}
	return nil
}

// bare reports whether there is nothing in it.
func (c *chatGPTContent) bare() bool {
	for _, raw := range c.Parts {
		if s := strings.TrimSpace(string(raw)); s != `""` && s != "null" {
			return false
		}
	}
	return len(c.Thoughts) == 0 && str(c.Text)+str(c.Result) == "" && c.Type != "user_editable_context"
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// content reads what a message holds.
func (r *chatGPTReader) content(c *chatGPTContent, meta chatGPTMeta) ([]harness.Part, error) {
	plain := func(s string) []harness.Part { return []harness.Part{text(r.unmarked(s, meta)).Part} }
	switch c.Type {
	case "text", "multimodal_text", "":
		return r.parts(c.Parts, meta)
	case "code":
		if str(c.Text) == "" {
			return nil, nil
		}
		return []harness.Part{text(str(c.Text)).Part}, nil
	case "execution_output", "system_error":
		return plain(str(c.Text)), nil
	case "thoughts":
		var out []harness.Part
		for _, thought := range c.Thoughts {
			out = append(out, thinking(strings.TrimSpace(thought.Summary+"\n\n"+thought.Content)).Part)
		}
		return out, nil
	case "reasoning_recap", "model_editable_context":
		return nil, nil // how long it thought, and a context that is empty
	case "tether_quote", "sonic_webpage":
		head := strings.TrimSpace(str(c.Title) + " " + str(c.URL))
		return plain(strings.TrimSpace(head + "\n\n" + str(c.Text))), nil
	case "tether_browsing_display":
		return plain(strings.TrimSpace(str(c.Summary) + "\n\n" + str(c.Result))), nil
	case "tether_browsing_code":
		return plain(str(c.Text)), nil
	case "user_editable_context":
		r.talk.Omit("custom instructions")
		return nil, nil
	}
	r.talk.Omit(fmt.Sprintf("messages of kind %q", valid(c.Type)))
	if str(c.Text) != "" {
		return plain(str(c.Text)), nil
	}
	return r.parts(c.Parts, meta)
}

// parts reads texts and files, and after them the files that the metadata has alone.
func (r *chatGPTReader) parts(list []json.RawMessage, meta chatGPTMeta) ([]harness.Part, error) {
	var out []harness.Part
	seen := map[string]bool{}
	for _, raw := range list {
		if isText(raw) {
			var s string
			if err := decode(raw, &s); err != nil {
				return nil, err
			}
			out = append(out, text(r.unmarked(s, meta)).Part)
			continue
		}
		var p chatGPTPart
		if isNull(raw) {
			continue
		}
		if json.Unmarshal(raw, &p) != nil {
			r.talk.Omit("parts of messages that are of an unknown form")
			continue
		}
		switch {
		case p.Type == "image_asset_pointer":
			id := fileID(p.Pointer)
			seen[id] = true
			file, err := r.file(id, meta.name(id))
			if err != nil {
				return nil, err
			}
			out = append(out, file)
		case p.Pointer != "" || p.Audio != nil:
			r.talk.Omit("recordings")
			seen[fileID(p.Pointer)] = true
		case p.Text != "":
			out = append(out, text(r.unmarked(p.Text, meta)).Part)
		default:
			r.talk.Omit(fmt.Sprintf("parts of kind %q", valid(p.Type)))
		}
	}
	for _, f := range meta.Attachments {
		id := fileID(f.ID)
		if seen[id] && id != "" {
			continue
		}
		seen[id] = true
		file, err := r.file(id, f.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

// name is what an attached file was called, empty if that is not known.
func (m chatGPTMeta) name(id string) string {
	for _, f := range m.Attachments {
		if fileID(f.ID) == id {
			return f.Name
		}
	}
	return ""
}

// file is a file of the export. One that is not there, or that no model takes, is
// named in its place.
func (r *chatGPTReader) file(id, name string) (harness.Part, error) {
	data, called, err := r.archive.file(id, name, r.meter)
	if err != nil {
		return harness.Part{}, err
	}
	if called == "" || called == "." {
		called = id
	}
	if data == nil {
		r.talk.Omit("files that the export does not have")
		return Absent(called), nil
	}
	p, err := Attached(called, data)
	if err != nil {
		r.talk.Omit("files that cannot be attached")
	}
	return p, nil
}

// The marks that ChatGPT leaves in texts: what stands between begin and end is for
// its screen alone, in fields with a separator between them.
const (
	markBegin = '\ue200'
	markEnd   = '\ue201'
	markField = '\ue202'
	// marks and markLast are the first and the last of all of them.
	marks, markLast = '\ue200', '\ue2ff'
)

// unmarked takes the marks of citations out of a text, or puts in their place what
// they stand for, where the message says that.
func (r *chatGPTReader) unmarked(s string, meta chatGPTMeta) string {
	if !strings.ContainsFunc(s, isMark) {
		return s
	}
	const most = 2_000
	for i, ref := range meta.References {
		if i < most && strings.ContainsFunc(ref.Marked, isMark) {
			s = strings.ReplaceAll(s, ref.Marked, withoutMarks(ref.Text))
		}
	}
	if !strings.ContainsFunc(s, isMark) {
		return s
	}
	var b strings.Builder
	for s != "" {
		at := strings.IndexRune(s, markBegin)
		if at < 0 {
			break
		}
		b.WriteString(s[:at])
		s = s[at+utf8.RuneLen(markBegin):]
		end := strings.IndexRune(s, markEnd)
		if end < 0 {
			break // it begins and does not end: the rest is text
		}
		b.WriteString(marked(s[:end]))
		if !strings.HasPrefix(s, "url") && !strings.HasPrefix(s, "entity") {
			r.talk.Omit("marks of citations")
		}
		s = s[end+utf8.RuneLen(markEnd):]
	}
	b.WriteString(s)
	return withoutMarks(b.String())
}

// marked is what remains of a mark: of a link its words and address, of a thing its
// name, of all else nothing.
func marked(inside string) string {
	fields := strings.Split(inside, string(markField))
	switch {
	case fields[0] == "url" && len(fields) > 2:
		return fmt.Sprintf("[%s](%s)", strings.TrimSpace(fields[1]), strings.TrimSpace(fields[2]))
	case fields[0] == "entity" && len(fields) > 1:
		var words []any
		if json.Unmarshal([]byte(fields[1]), &words) == nil && len(words) > 1 {
			if name, ok := words[1].(string); ok {
				return name
			}
		}
	}
	return ""
}

func isMark(c rune) bool { return c >= marks && c <= markLast }

func withoutMarks(s string) string {
	return strings.Map(func(c rune) rune {
		if isMark(c) {
			return -1
		}
		return c
	}, s)
}
