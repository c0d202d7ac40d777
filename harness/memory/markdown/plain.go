package markdown

import (
	"slices"
	"strings"
	"unicode"

	"cairn/harness"
)

// parsePlain reads Markdown that was not exported as one note. Its title is that
// of the front matter, else the first heading, else the name of the file; its tags
// are those of the front matter and the #tags of the text. Nothing is taken out of
// the body. A file without text has no entry.
func parsePlain(f *front, name, body string, bodyLine int) (File, error) {
	file := File{Kind: KindPlain}
	r := &reader{front: f}
	n := &harness.Note{Title: strings.TrimSpace(read(r, f.text, "title")), Body: body}
	for _, t := range read(r, f.list, "tags") {
		words := strings.FieldsFunc(t, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		n.Tags = append(n.Tags, trimHashes(words)...)
	}
	if r.err != nil {
		return File{}, r.err
	}
	file.Ignored = f.unused()
	for _, key := range []string{"created", "date"} {
		v := f.values[key]
		if v == nil || !n.Created.IsZero() {
			continue
		}
		if t, ok := parseTime(v.Value); ok {
			n.Created = t
			file.Ignored = slices.DeleteFunc(file.Ignored, func(k string) bool { return k == key })
		}
	}
	heading, tags := scan(body)
	for _, t := range tags {
		if !slices.Contains(n.Tags, t) {
			n.Tags = append(n.Tags, t)
		}
	}
	if n.Title == "" {
		n.Title = heading
	}
	if n.Title == "" {
		n.Title = base(name)
	}
	n.Title = short(n.Title)
	if strings.TrimSpace(body) != "" {
		file.Entries = []Entry{{Line: bodyLine, Note: n}}
	}
	return file, nil
}

// maxTitle bounds the title of a note that was not exported, in characters: a text
// without line ends may be all heading. The body keeps it whole.
const maxTitle = 200

// short is a title that is not too long.
func short(title string) string {
	if n := 0; len(title) > maxTitle {
		for i := range title {
			if n++; n > maxTitle {
				return strings.TrimSpace(title[:i]) + "…"
			}
		}
	}
	return title
}

func trimHashes(tags []string) []string {
	var clean []string
	for _, t := range tags {
		if t = strings.TrimLeft(t, "#"); t != "" && !slices.Contains(clean, t) {
			clean = append(clean, t)
		}
	}
	return clean
}

// scan finds the first heading and the #tags of a text, outside of code.
func scan(body string) (heading string, tags []string) {
	fenced := ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch mark := codeFence(line); {
		case fenced != "":
			if mark == fenced {
				fenced = ""
			}
			continue
		case mark != "":
			fenced = mark
			continue
		}
		if heading == "" {
			heading = headingOf(line)
		}
		tags = append(tags, tagsOf(line)...)
	}
	return heading, trimHashes(tags)
}

// codeFence is the mark with which a line begins or ends a block of code.
func codeFence(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// headingOf is the text of a heading, empty if the line is none.
func headingOf(line string) string {
	text := strings.TrimLeft(line, "#")
	if level := len(line) - len(text); level == 0 || level > 6 || !strings.HasPrefix(text, " ") {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), "#"))
}

// tagsOf are the #tags of a line outside of code: letters, digits, - _ and /, and
// not digits alone.
func tagsOf(line string) []string {
	var tags []string
	code, before := false, ' '
	for i, r := range line {
		switch {
		case r == '`':
			code = !code
		case r == '#' && !code && unicode.IsSpace(before):
			tag := line[i+1:]
			if end := strings.IndexFunc(tag, func(r rune) bool { return !inTag(r) }); end >= 0 {
				tag = tag[:end]
			}
			if strings.IndexFunc(tag, func(r rune) bool { return !unicode.IsDigit(r) }) >= 0 {
				tags = append(tags, tag)
			}
		}
		before = r
	}
	return tags
}

func inTag(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("-_/", r)
}
