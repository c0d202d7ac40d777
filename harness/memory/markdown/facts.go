package markdown

import (
	"regexp"
	"strings"

	"cairn/harness"
)

// parseFacts reads an exported file of facts.
func parseFacts(f *front, body string, bodyLine int) (File, error) {
	r := &reader{front: f}
	category, known := read(r, f.text, "category"), read(r, f.mapping, "facts")
	if r.err != nil {
		return File{}, r.err
	}
	if category == "" {
		category = harness.DefaultCategory
	}
	items, err := listItems(body, bodyLine)
	if err != nil {
		return File{}, err
	}
	file, seen := File{Kind: KindFacts, Category: category, Ignored: f.unused()}, map[string]int{}
	for _, it := range items {
		id, text := it.parts(known)
		if at, again := seen[id]; again && id != "" {
			return File{}, fault(it.line, "fact %s is here and on line %d; take the id off one of them", id, at)
		}
		seen[id] = it.line
		e := Entry{Line: it.line, Bare: true, Fact: &harness.Fact{ID: id, Text: text, Category: category}}
		if known.values[id] != nil {
			if e.Bare, err = false, about(known, id, e.Fact); err != nil {
				return File{}, err
			}
		}
		file.Entries = append(file.Entries, e)
	}
	for _, id := range known.keys {
		if seen[id] == 0 {
			file.Missing = append(file.Missing, id)
		}
	}
	return file, nil
}

// about reads what the front matter keeps of one fact.
func about(known *front, id string, x *harness.Fact) error {
	f, err := known.mapping(id)
	if err != nil {
		return err
	}
	r := &reader{front: f}
	x.Tags = read(r, f.list, "tags")
	x.State = harness.FactState(read(r, f.text, "state"))
	x.Pinned = read(r, f.truth, "pinned")
	x.By = harness.By(read(r, f.text, "by"))
	x.Session = harness.SessionID(read(r, f.text, "session"))
	x.Source = source(r)
	x.Supersedes = read(r, f.text, "supersedes")
	x.Uses = read(r, f.number, "uses")
	x.LastUsed = read(r, f.time, "last_used")
	x.Created = read(r, f.time, "created")
	x.Updated = read(r, f.time, "updated")
	x.Revision = read(r, f.number, "revision")
	if r.err != nil {
		return r.err
	}
	return checkState(f, x.State)
}

// listItem is an item of the list with the lines of its text.
type listItem struct {
	line  int
	lines []string
}

// listItems reads a list. Text that belongs to no item is a fault, because it
// would be lost; headings and comments of Obsidian are not.
func listItems(body string, line int) ([]listItem, error) {
	var items []listItem
	blank, open := 0, false
	for i, text := range strings.Split(body, "\n") {
		bare := strings.TrimRight(text, " \t\r")
		content, inside := continued(text)
		switch {
		case begins(text):
			items, blank, open = append(items, listItem{line + i, []string{text[min(2, len(text)):]}}), 0, true
		case open && inside:
			last := &items[len(items)-1]
			last.lines = append(append(last.lines, make([]string, blank)...), content)
			blank = 0
		case bare == "":
			blank++
		case strings.HasPrefix(bare, "#"), strings.HasPrefix(bare, "%%"):
			open = false
		default:
			return nil, fault(line+i, "this text is in no item: begin it with \"- \", or indent it by two spaces to continue the fact above")
		}
	}
	for i := range items {
		items[i].trim()
	}
	return items, nil
}

// begins reports whether a line begins an item.
func begins(line string) bool {
	return len(line) > 1 && line[1] == ' ' && strings.ContainsRune("-*+", rune(line[0])) || strings.TrimRight(line, "\r") == "-"
}

// continued is a line without the indentation of an item's further lines.
func continued(line string) (string, bool) {
	if s, ok := strings.CutPrefix(line, "  "); ok {
		return s, true
	}
	return strings.CutPrefix(line, "\t")
}

// trim takes the blank lines off the end that an editor left behind the item.
func (it *listItem) trim() {
	for n := len(it.lines); n > 1 && strings.TrimSpace(it.lines[n-1]) == ""; n = len(it.lines) {
		it.lines = it.lines[:n-1]
	}
}

// blockID is the id at the end of an item.
var blockID = regexp.MustCompile(`(?:^| )\^(f[0-9]{1,18})[ \t\r]*$`)

// parts are the id, empty for a new fact, and the text of an item. The id ends the
// item. Where somebody wrote on behind it, it is the last one that is known.
func (it *listItem) parts(known *front) (id, text string) {
	for n := len(it.lines) - 1; n >= 0; n-- {
		m := blockID.FindStringSubmatchIndex(it.lines[n])
		if m == nil {
			continue
		}
		id := it.lines[n][m[2]:m[3]]
		if n < len(it.lines)-1 && known.values[id] == nil {
			continue
		}
		it.lines[n] = it.lines[n][:m[0]]
		return id, strings.Join(it.lines, "\n")
	}
	return "", strings.TrimSpace(strings.Join(it.lines, "\n"))
}
