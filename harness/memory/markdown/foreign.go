package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"cairn/harness"
)

// harnessXHeader is the header that HarnessX writes above a note: YAML to look at,
// but with titles as they were typed.
var harnessXHeader = regexp.MustCompile(`\A---\r?\ntitle: .*\ntags: \[.*\]\r?\ncreated: \d{4}-\d\d-\d\d\r?\nupdated: \d{4}-\d\d-\d\d\r?\n---(?:\r?\n|\z)`)

// IsHarnessXNote reports whether a file has the shape of a note that HarnessX keeps.
func IsHarnessXNote(data []byte) bool { return harnessXHeader.Match(data) }

// ParseHarnessXNote reads a note as HarnessX keeps it, a Markdown file below its
// folder "agent". Its header is read line by line, as it was written, and what is
// none is the text of a note that is titled by the name of its file.
func ParseHarnessXNote(name string, data []byte) (File, error) {
	text, err := textOf(data)
	if err != nil {
		return File{}, err
	}
	n := &harness.Note{Title: base(name), Body: text}
	file := File{Kind: KindPlain}
	if parts := strings.SplitN(text, fence, 3); len(parts) == 3 && strings.TrimSpace(parts[0]) == "" {
		n.Body = strings.TrimPrefix(afterLine(parts[2]), "\n")
		for line := range strings.Lines(parts[1]) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.TrimSpace(value)
			switch {
			case key == "title" && value != "":
				n.Title = value
			case key == "tags":
				n.Tags = bracketed(value)
			case key == "created":
				if t, ok := parseTime(value); ok {
					n.Created = t
				}
			case key != "" && key != "updated" && key != "title":
				file.Ignored = append(file.Ignored, key)
			}
		}
	}
	if strings.TrimSpace(n.Body) != "" {
		file.Entries = []Entry{{Line: 1, Note: n}}
	}
	return file, nil
}

// afterLine is text without the rest of its first line.
func afterLine(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// bracketed is a list in brackets whose items have no commas.
func bracketed(value string) []string {
	var tags []string
	for t := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
		if t = strings.Trim(strings.TrimSpace(t), `"'`); t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// ErrOther says that a JSON file is something else than a fact.
var ErrOther = errors.New("this is no fact of HarnessX")

// ParseHarnessXFact reads a fact as HarnessX keeps it, a JSON file below its folder
// "long_term". JSON of another shape is [ErrOther].
func ParseHarnessXFact(data []byte) (File, error) {
	if _, err := textOf(data); err != nil {
		return File{}, err
	}
	var x struct {
		ID       *string         `json:"id"`
		Content  *string         `json:"content"`
		Category string          `json:"category"`
		Metadata json.RawMessage `json:"metadata"`
		Created  string          `json:"created_at"`
		Updated  string          `json:"updated_at"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&x); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return File{}, ErrOther
		}
		at := len(data)
		if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
			at = min(int(bad.Offset), at)
		}
		return File{}, fault(1+bytes.Count(data[:at], []byte("\n")), "this is no JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || x.ID == nil || x.Content == nil || x.Created == "" {
		return File{}, ErrOther
	}
	f := &harness.Fact{Text: *x.Content, Category: x.Category}
	if f.Category == "" {
		f.Category = harness.DefaultCategory
	}
	if t, ok := parseTime(x.Created); ok {
		f.Created = t
	}
	file := File{Kind: KindPlain, Entries: []Entry{{Line: 1, Fact: f, Bare: true}}}
	if m := string(bytes.TrimSpace(x.Metadata)); m != "" && m != "{}" && m != "null" {
		file.Ignored = []string{"metadata"}
	}
	return file, nil
}

// ParseStrands reads a file of the memory that Strands keeps. One that has a
// heading or several paragraphs is a note; else each of its lines is a fact, as
// they were added one by one.
func ParseStrands(name string, data []byte) (File, error) {
	text, err := textOf(data)
	if err != nil {
		return File{}, err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	first := headingOf(strings.TrimSpace(lines[0]))
	paragraphs := slices.ContainsFunc(lines, func(l string) bool {
		return strings.TrimSpace(l) == "" || codeFence(strings.TrimSpace(l)) != ""
	})
	if first != "" || paragraphs {
		return parsePlain(&front{}, name, text, 1)
	}
	file, skipped := File{Kind: KindPlain}, strings.Count(text[:strings.Index(text, lines[0])], "\n")
	for i, line := range lines {
		if begins(line) {
			line = line[min(2, len(line)):]
		}
		if line = strings.TrimSpace(line); line != "" {
			f := &harness.Fact{Text: line, Category: harness.DefaultCategory}
			file.Entries = append(file.Entries, Entry{Line: 1 + skipped + i, Fact: f, Bare: true})
		}
	}
	return file, nil
}
