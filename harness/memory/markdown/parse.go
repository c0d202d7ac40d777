package markdown

import (
	"path"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// Parse reads a Markdown file; name is that of the file. Front matter that cannot
// be read is an [Error], and so is everything else that would be lost.
func Parse(name string, data []byte) (File, error) {
	text, err := textOf(data)
	if err != nil {
		return File{}, err
	}
	head, body, bodyLine, found, err := split(text)
	if err != nil {
		return File{}, err
	}
	f := &front{}
	if found {
		if f, err = parseFront(head); err != nil {
			return File{}, err
		}
	}
	kind, err := f.text("cairn")
	if err != nil {
		return File{}, err
	}
	switch Kind(kind) {
	case KindNote:
		return parseNote(f, body)
	case KindFacts:
		return parseFacts(f, body, bodyLine)
	case "":
		return parsePlain(f, name, body, bodyLine)
	default:
		return File{}, fault(f.line("cairn"), "cairn wants note or facts, not %q", kind)
	}
}

// textOf is a file as text, without a byte order mark.
func textOf(data []byte) (string, error) {
	if len(data) > MaxFile {
		return "", fault(1, "the file has more than %d MiB", MaxFile>>20)
	}
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return "", fault(line, "this is not UTF-8 text")
		case r == '\n':
			line++
		}
		i += n
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// split parts front matter from the body, which begins on bodyLine. A file whose
// first line ends in CR LF was converted as a whole, and its lines are read as if
// it had not been.
func split(text string) (head, body string, bodyLine int, found bool, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t\r") != fence {
		return "", text, 1, false, nil
	}
	if strings.HasSuffix(first, "\r") {
		rest = strings.ReplaceAll(rest, "\r\n", "\n")
	}
	line := frontLine
	for at := 0; at < len(rest); line++ {
		this, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(this)
		if more {
			next++
		}
		if strings.TrimRight(this, " \t\r") == fence {
			return rest[:at], rest[next:], line + 1, true, nil
		}
		at = next
	}
	return "", "", 0, false, fault(1, "the front matter that begins here has no end: a line of ---")
}

// parseNote reads an exported note.
func parseNote(f *front, body string) (File, error) {
	r := &reader{front: f}
	n := &harness.Note{
		ID: read(r, f.text, "id"), Title: read(r, f.text, "title"), Tags: read(r, f.list, "tags"), Body: body,
		State: harness.FactState(read(r, f.text, "state")), Pinned: read(r, f.truth, "pinned"),
		By: harness.By(read(r, f.text, "by")), Session: harness.SessionID(read(r, f.text, "session")),
		Source: source(r), Created: read(r, f.time, "created"), Updated: read(r, f.time, "updated"),
		Revision: read(r, f.number, "revision"),
	}
	if r.err == nil {
		r.err = checkState(f, n.State)
	}
	if r.err != nil {
		return File{}, r.err
	}
	return File{Kind: KindNote, Entries: []Entry{{Line: 1, Note: n}}, Ignored: f.unused()}, nil
}

// source reads where something came from.
func source(r *reader) harness.Source {
	in := &reader{front: read(r, r.mapping, "source")}
	if r.err != nil {
		return harness.Source{}
	}
	s := harness.Source{
		Session: harness.SessionID(read(in, in.text, "session")), Message: read(in, in.number, "message"),
		Quote: read(in, in.text, "quote"), Client: read(in, in.text, "client"), Gone: read(in, in.truth, "gone"),
	}
	r.err = in.err
	return s
}

// checkState refuses a state that no file has: what is forgotten is in none.
func checkState(f *front, s harness.FactState) error {
	switch s {
	case "", harness.StateActive, harness.StateOff:
		return nil
	default:
		return fault(f.line("state"), "state wants active or off, not %q", s)
	}
}

// base is the name of a file without folder and ending.
func base(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}
