package markdown

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
)

// fence begins and ends front matter.
const fence = "---"

// WriteNote is the note as a file. Text that is not UTF-8 is an error, because it
// would not be the same when read.
func WriteNote(n harness.Note) ([]byte, error) {
	if err := encodable("note "+n.ID, slices.Concat(n.Tags, []string{n.Title, n.Body, n.Source.Quote, n.Source.Client})...); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(fence + "\n")
	for _, f := range noteFields(n) {
		b.WriteString(f.key + ": " + f.value + "\n")
	}
	b.WriteString(fence + "\n" + n.Body)
	return bounded("note "+n.ID, b.String())
}

// bounded refuses a file that could not be read.
func bounded(what, text string) ([]byte, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("write %s: its file would have more than %d MiB", what, MaxFile>>20)
	}
	return []byte(text), nil
}

// WriteFacts is a file of facts, which all have the category and an id. As with a
// note, text that is not UTF-8 is an error, and so is a file that is too large.
func WriteFacts(category string, facts []harness.Fact) ([]byte, error) {
	var head, list strings.Builder
	head.WriteString(fence + "\ncairn: " + string(KindFacts) + "\ncategory: " + scalar(category) + "\n")
	if len(facts) > 0 {
		head.WriteString("facts:\n")
	}
	for _, f := range facts {
		if err := encodable("fact "+f.ID, slices.Concat(f.Tags, []string{f.Text, f.Category, f.Source.Quote, f.Source.Client})...); err != nil {
			return nil, err
		}
		if !factID.MatchString(f.ID) || f.Category != category {
			return nil, fmt.Errorf("write fact %q of category %q into the file of category %q: no such fact can be there", f.ID, f.Category, category)
		}
		head.WriteString("  " + f.ID + ": " + flow(factFields(f)) + "\n")
		list.WriteString("- " + indented(f.Text) + " ^" + f.ID + "\n")
	}
	return bounded("category "+category, head.String()+fence+"\n\n"+list.String())
}

// factID is the id of a fact as it stands in a file.
var factID = regexp.MustCompile(`^f[0-9]{1,18}$`)

// indented is a text as the content of a list item. A blank line stays blank, so
// that editors that strip the ends of lines change nothing.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 && (line != "" || i == len(lines)-1) {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// encodable refuses text that is not UTF-8.
func encodable(what string, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("write %s: it is not UTF-8 text", what)
		}
	}
	return nil
}

// field is a key of front matter and its value in YAML.
type field struct{ key, value string }

// fields collects those that say something.
type fields []field

func (f *fields) text(key, value string) {
	if value != "" {
		*f = append(*f, field{key, scalar(value)})
	}
}

func (f *fields) number(key string, n int) {
	if n != 0 {
		*f = append(*f, field{key, strconv.Itoa(n)})
	}
}

func (f *fields) truth(key string, set bool) {
	if set {
		*f = append(*f, field{key, "true"})
	}
}

func (f *fields) time(key string, t time.Time) {
	if !t.IsZero() {
		*f = append(*f, field{key, t.UTC().Format(time.RFC3339Nano)})
	}
}

func (f *fields) list(key string, list []string) {
	if len(list) == 0 {
		return
	}
	items := make([]string, len(list))
	for i, v := range list {
		items[i] = scalar(v)
	}
	*f = append(*f, field{key, "[" + strings.Join(items, ", ") + "]"})
}

func (f *fields) source(s harness.Source) {
	var in fields
	in.text("session", string(s.Session))
	in.number("message", s.Message)
	in.text("quote", s.Quote)
	in.text("client", s.Client)
	in.truth("gone", s.Gone)
	if len(in) > 0 {
		*f = append(*f, field{"source", flow(in)})
	}
}

// flow is fields on one line.
func flow(f fields) string {
	parts := make([]string, len(f))
	for i, v := range f {
		parts[i] = v.key + ": " + v.value
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func noteFields(n harness.Note) fields {
	f := fields{{"cairn", string(KindNote)}}
	f.text("id", n.ID)
	f.text("title", n.Title)
	f.list("tags", n.Tags)
	f.text("state", string(n.State))
	f.truth("pinned", n.Pinned)
	f.text("by", string(n.By))
	f.text("session", string(n.Session))
	f.source(n.Source)
	f.time("created", n.Created)
	f.time("updated", n.Updated)
	f.number("revision", n.Revision)
	return f
}

func factFields(x harness.Fact) fields {
	var f fields
	f.list("tags", x.Tags)
	f.text("state", string(x.State))
	f.truth("pinned", x.Pinned)
	f.text("by", string(x.By))
	f.text("session", string(x.Session))
	f.source(x.Source)
	f.text("supersedes", x.Supersedes)
	f.number("uses", x.Uses)
	f.time("last_used", x.LastUsed)
	f.time("created", x.Created)
	f.time("updated", x.Updated)
	f.number("revision", x.Revision)
	return f
}

// simple is text that is the same without quotes in all of YAML.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$`)

// notText are words that YAML takes for something else than text.
var notText = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null|y|n)$`)

// scalar is text as a YAML scalar on one line.
func scalar(s string) string {
	if simple.MatchString(s) && !notText.MatchString(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unprinted(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unprinted reports whether a character may not stand in YAML as it is, would end
// a line there, or turns the reading direction.
func unprinted(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x061c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	}
	return false
}
