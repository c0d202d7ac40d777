package markdown_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

func TestFaultsNameTheirLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\ntitle: x\n":                                          "line 1: the front matter that begins here has no end",
		"---\ncairn: note\ntitle: a: b\n---\n":                     "line 3: the front matter is not YAML",
		"---\ncairn: note\ntags: [a\nid: n1\n---\n":                "line 3: the front matter is not YAML",
		"---\ncairn: note\n  a: b\n c: d\n---\n":                   "line 3: the front matter is not YAML",
		"---\n}\n---\n":                                            "line 2: the front matter is not YAML",
		"---\ncairn: note\npinned: maybe\n---\n":                   `line 3: pinned wants true or false, not "maybe"`,
		"---\ncairn: note\n\ncreated: soon\n---\n":                 "line 4: created wants a time",
		"---\ncairn: note\nid: n1\nid: n2\n---\n":                  `line 4: the front matter has the key "id" twice`,
		"---\ncairn: note\nstate: trashed\n---\n":                  `line 3: state wants active or off, not "trashed"`,
		"---\ncairn: letter\n---\n":                                "line 2: cairn wants note or facts",
		"---\na: &a [1]\nb: *a\n---\n":                             "line 2: anchors and aliases are not read",
		"---\n- a\n---\n":                                          "line 2: the front matter is no list of keys and values",
		"---\ncairn: facts\n---\n\n- a ^f1\n- b ^f1\n":             "line 6: fact f1 is here and on line 5",
		"---\ncairn: facts\n---\n\n- a ^f1\nlost\n":                "line 6: this text is in no item",
		"---\ncairn: facts\nfacts:\n  f1: [x]\n---\n- a ^f1\n":     `line 4: "f1" is no list of keys and values`,
		"---\ncairn: facts\nfacts: {f1: {uses: -1}}\n---\n- ^f1\n": "line 3: uses wants a whole number",
		"one\ntwo\xff\n":                                           "line 2: this is not UTF-8 text",
		strings.Repeat("x", markdown.MaxFile+1):                    "line 1: the file has more than 16 MiB",
	} {
		_, err := markdown.Parse("x.md", []byte(text))
		var at *markdown.Error
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// Aliases that would grow are refused before they do.
func TestAliasesDoNotGrow(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x]\n")
	for i := 1; i < 60; i++ {
		b.WriteString("a" + strings.Repeat("i", i) + ": &b" + strings.Repeat("i", i) + " [*a0, *a0]\n")
	}
	b.WriteString("---\n")
	if _, err := markdown.Parse("x.md", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Error(err)
	}
}

func TestFactsSurviveEditing(t *testing.T) {
	t.Parallel()
	text := `---
cairn: facts
category: taste
facts:
  f1: {tags: [tea], by: you, created: 2026-01-01T00:00:00Z, revision: 2}
  f2: {state: off}
  f9: {state: active}
aliases: [x]
---

# What I like

* Prefers green tea ^f1
- Two lines
  of text ^f2   
	and one more

- A new one

  with a paragraph
- From elsewhere ^f77
- A block of Obsidian ^a1b2
%% a comment %%
`
	for name, text := range map[string]string{"as it is": text, "with CR LF": strings.ReplaceAll(text, "\n", "\r\n")} {
		got, err := markdown.Parse("taste.md", []byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		fact := func(id, text string) *harness.Fact { return &harness.Fact{ID: id, Text: text, Category: "taste"} }
		f1, f2 := fact("f1", "Prefers green tea"), fact("f2", "Two lines\nof text\nand one more")
		f1.Tags, f1.By, f1.Created, f1.Revision = []string{"tea"}, harness.ByYou, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 2
		f2.State = harness.StateOff
		want := markdown.File{Kind: markdown.KindFacts, Category: "taste", Ignored: []string{"aliases"}, Missing: []string{"f9"}, Entries: []markdown.Entry{
			{Line: 13, Fact: f1},
			{Line: 14, Fact: f2},
			{Line: 18, Fact: fact("", "A new one\n\nwith a paragraph"), Bare: true},
			{Line: 21, Fact: fact("f77", "From elsewhere"), Bare: true},
			{Line: 22, Fact: fact("", "A block of Obsidian ^a1b2"), Bare: true},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPlainMarkdownIsANote(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text    string
		want    harness.Note
		ignored []string
	}{
		"heading":       {"intro #one\n## The title ##\n`#code` a#b #two/three #12 #größe, #one\n```\n#no\n```\n", harness.Note{Title: "The title", Tags: []string{"one", "two/three", "größe"}}, nil},
		"name":          {"text\r\nmore", harness.Note{Title: "My file"}, nil},
		"front matter":  {"---\ntitle: 2024\ntags: \"a, #b c\"\ndate: 2026-02-03\nauthor: me\n---\n# H\n#d\n", harness.Note{Title: "2024", Tags: []string{"a", "b", "c", "d"}, Created: created}, []string{"author"}},
		"list of tags":  {"---\ntags:\n  - x y\n  - z\n---\nbody", harness.Note{Title: "My file", Tags: []string{"x", "y", "z"}}, nil},
		"empty front":   {"---\n---\nbody", harness.Note{Title: "My file"}, nil},
		"no date":       {"---\ndate: soon\n---\nbody", harness.Note{Title: "My file"}, []string{"date"}},
		"a mark":        {"\ufeff# Title\n", harness.Note{Title: "Title"}, nil},
		"long heading":  {"# " + strings.Repeat("語", 201), harness.Note{Title: strings.Repeat("語", 200) + "…"}, nil},
		"heading fence": {"~~~\n# no\n~~~\n# yes", harness.Note{Title: "yes"}, nil},
	} {
		got, err := markdown.Parse(`folder/My file.md`, []byte(c.text))
		if err != nil || len(got.Entries) != 1 {
			t.Errorf("%s: %v, %d entries", name, err, len(got.Entries))
			continue
		}
		c.want.Body = got.Entries[0].Note.Body
		if !strings.HasSuffix(c.text, c.want.Body) || c.want.Body == "" {
			t.Errorf("%s: body %q", name, c.want.Body)
		}
		if diff := cmp.Diff(&c.want, got.Entries[0].Note); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(c.ignored, got.Ignored); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got, err := markdown.Parse("x.md", []byte(" \n\n")); err != nil || len(got.Entries) != 0 {
		t.Errorf("an empty file: %v %+v", err, got)
	}
}

func TestHarnessX(t *testing.T) {
	t.Parallel()
	note := []byte("---\ntitle: Deploy: the steps\ntags: [ops, how to]\ncreated: 2026-02-03\nupdated: 2026-02-04\n---\n\n# One\n---\ntwo")
	if !markdown.IsHarnessXNote(note) || markdown.IsHarnessXNote([]byte("---\ntitle: x\n---\n")) {
		t.Error("the shape is not known")
	}
	got, err := markdown.ParseHarnessXNote("deploy-the-steps.md", note)
	want := harness.Note{Title: "Deploy: the steps", Tags: []string{"ops", "how to"}, Body: "# One\n---\ntwo", Created: time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)}
	if err != nil || cmp.Diff(&want, got.Entries[0].Note) != "" {
		t.Error(err, cmp.Diff(&want, got.Entries[0].Note))
	}
	if got, err = markdown.ParseHarnessXNote("a/plain.md", []byte("no header")); err != nil || got.Entries[0].Note.Title != "plain" || got.Entries[0].Note.Body != "no header" {
		t.Errorf("%v %+v", err, got)
	}
	got, err = markdown.ParseHarnessXFact([]byte(`{"id": "0a1b2c3d", "content": "likes tea", "category": "taste", "metadata": {"k": 1}, "created_at": "2026-02-03T00:00:00+00:00", "updated_at": "2026-02-04T00:00:00+00:00"}`))
	fact := harness.Fact{Text: "likes tea", Category: "taste", Created: want.Created}
	if err != nil || cmp.Diff(&fact, got.Entries[0].Fact) != "" || len(got.Ignored) != 1 {
		t.Error(err, got)
	}
	for _, text := range []string{`{}`, `[]`, `{"id":1}`, `"x"`, `{"id":"x","content":"y","created_at":"z"} more`} {
		if _, err := markdown.ParseHarnessXFact([]byte(text)); !errors.Is(err, markdown.ErrOther) {
			t.Errorf("%s: %v", text, err)
		}
	}
	var at *markdown.Error
	if _, err := markdown.ParseHarnessXFact([]byte("{\n\"id\": x")); !errors.As(err, &at) || at.Line != 2 {
		t.Error(err)
	}
}

func TestStrands(t *testing.T) {
	t.Parallel()
	got, err := markdown.ParseStrands("prefers-tea.md", []byte("\nPrefers tea\n- Lives in Ulm\nPrefers tea\n"))
	if err != nil || len(got.Entries) != 3 || got.Entries[1].Fact.Text != "Lives in Ulm" || got.Entries[1].Line != 3 {
		t.Errorf("%v %+v", err, got)
	}
	for _, text := range []string{"# Build\nmake\ntest", "one\n\ntwo", "one\n```\ncode\n```"} {
		got, err := markdown.ParseStrands("build.md", []byte(text))
		if err != nil || len(got.Entries) != 1 || got.Entries[0].Note == nil || got.Entries[0].Note.Body != text {
			t.Errorf("%q: %v %+v", text, err, got)
		}
	}
}
