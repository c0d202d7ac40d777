package markdown_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// hard are texts that a careless format loses.
var hard = []string{
	"", " ", "\n", "\n\n", "-", "- ", "- dash", "  - nested", "---", "---\ntitle: x\n---\nbody", "a\n---\nb", "cairn: note",
	"a\r\nb\r\n", "\r", "a\r", "trailing  ", "trailing\t\nline  \n  ", "  leading", "\tleading", "no newline", "newline\n",
	"^f1", "x ^f2", "x ^f2\ny", "# heading", "a\n\n\nb", "a\n \nb", "a\n  \nb", "%% c %%", "emoji 👩‍👩‍👧 🇩🇪", "שלום עולם", "مرحبا",
	"\u202eevil\u202c", "\u2028\u2029\u0085\ufeff\ufffe\uffff", "\x00\x01\x1b[31m\x7f", "quote \" and \\ back", "null", "true", "off", "~",
	"2026-01-01", "1e3", "a: b", "a #b", "[x]", "{x}", "&a *a", "!!str x", "| >", "combining e\u0301", "語語語", "<!-- x -->",
	strings.Repeat("long ", 30_000), strings.Repeat("x\n", 5_000),
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(hard), rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("-# \n\r\t^f1:\"\\é語"))))
}

func sources() *rapid.Generator[harness.Source] {
	return rapid.Custom(func(t *rapid.T) harness.Source {
		return harness.Source{
			Session: harness.SessionID(rapid.StringMatching(`[a-z0-9_-]{0,10}`).Draw(t, "session")),
			Message: rapid.IntRange(0, 1_000_000).Draw(t, "message"), Quote: texts().Draw(t, "quote"), Client: texts().Draw(t, "client"), Gone: rapid.Bool().Draw(t, "gone"),
		}
	})
}

func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	})
}

func tagLists() *rapid.Generator[[]string] {
	return rapid.Map(rapid.SliceOfN(texts(), 0, 3), func(list []string) []string {
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

func states() *rapid.Generator[harness.FactState] {
	return rapid.SampledFrom([]harness.FactState{harness.StateActive, harness.StateOff})
}

func writers() *rapid.Generator[harness.By] {
	return rapid.SampledFrom([]harness.By{harness.ByYou, harness.ByModel, harness.ByDistilled, harness.ByImport})
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	t.Run("note", rapid.MakeCheck(func(t *rapid.T) {
		want := harness.Note{
			ID: rapid.StringMatching(`n[1-9][0-9]{0,5}`).Draw(t, "id"), Title: texts().Draw(t, "title"), Tags: tagLists().Draw(t, "tags"),
			Body: texts().Draw(t, "body"), Source: sources().Draw(t, "source"), By: writers().Draw(t, "by"), State: states().Draw(t, "state"),
			Session: "*", Pinned: rapid.Bool().Draw(t, "pinned"), Created: times().Draw(t, "created"), Updated: times().Draw(t, "updated"),
			Revision: rapid.IntRange(1, 100).Draw(t, "revision"),
		}
		data, err := markdown.WriteNote(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := markdown.Parse("x.md", data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(markdown.File{Kind: markdown.KindNote, Entries: []markdown.Entry{{Line: 1, Note: &want}}}, got); diff != "" {
			t.Fatalf("%s in\n%q", diff, data)
		}
	}))
	t.Run("facts", rapid.MakeCheck(func(t *rapid.T) {
		category := texts().Filter(func(s string) bool { return s != "" }).Draw(t, "category")
		want := markdown.File{Kind: markdown.KindFacts, Category: category}
		var facts []harness.Fact
		for i := range rapid.IntRange(0, 5).Draw(t, "count") {
			f := harness.Fact{
				ID: "f" + string(rune('1'+i)), Text: texts().Draw(t, "text"), Category: category, Tags: tagLists().Draw(t, "tags"),
				Source: sources().Draw(t, "source"), By: writers().Draw(t, "by"), State: states().Draw(t, "state"), Session: "abc",
				Pinned: rapid.Bool().Draw(t, "pinned"), Supersedes: rapid.SampledFrom([]string{"", "f7"}).Draw(t, "supersedes"),
				Uses: rapid.IntRange(0, 9).Draw(t, "uses"), LastUsed: times().Draw(t, "used"), Created: times().Draw(t, "created"),
				Updated: times().Draw(t, "updated"), Revision: rapid.IntRange(1, 100).Draw(t, "revision"),
			}
			facts = append(facts, f)
			want.Entries = append(want.Entries, markdown.Entry{Fact: &f})
		}
		data, err := markdown.WriteFacts(category, facts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := markdown.Parse("x.md", data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		for i := range got.Entries {
			got.Entries[i].Line = 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s in\n%q", diff, data)
		}
	}))
}

// Front matter is lines: no text of an entry begins one.
func TestNoTextEscapesTheFrontMatter(t *testing.T) {
	t.Parallel()
	for _, text := range hard {
		data, err := markdown.WriteNote(harness.Note{ID: "n1", Title: text, Tags: []string{text}, Source: harness.Source{Quote: text}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "\n"); got != 7 && text != "" {
			t.Errorf("%q makes %d lines:\n%s", text, got, data)
		}
	}
}

func TestTextThatIsNoTextIsNotWritten(t *testing.T) {
	t.Parallel()
	if _, err := markdown.WriteNote(harness.Note{ID: "n1", Body: "a\xff"}); err == nil {
		t.Error("a note was written")
	}
	if _, err := markdown.WriteFacts("x", []harness.Fact{{ID: "f1", Category: "x", Text: "a\xff"}}); err == nil {
		t.Error("a fact was written")
	}
	if _, err := markdown.WriteFacts("x", []harness.Fact{{ID: "1", Category: "x"}}); err == nil {
		t.Error("a fact without an id was written")
	}
	if _, err := markdown.WriteNote(harness.Note{ID: "n1", Body: strings.Repeat("x", markdown.MaxFile)}); err == nil {
		t.Error("a file was written that is too large to be read")
	}
}

func TestNamesAreSafe(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Build steps": "Build steps", "../../etc/passwd": "etc passwd", "a/b\\c": "a b c", "": "n1", "...": "n1", "---": "n1", " \t\n": "n1",
		"CON": "CON n1", "nul.txt": "nul.txt n1", "Größe 語 👩‍👧": "Größe 語 👩‍👧", "a\x1b[31mb\u202e": "a 31mb", "What? #1 [x]|y": "What 1 x y",
		"ends with dot.": "ends with dot", "-rf": "rf", ".hidden": "hidden", "\u200d": "n1", "e\u0301": "é",
	} {
		if got := markdown.Name(title, "n1"); got != want {
			t.Errorf("name of %q is %q, want %q", title, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := markdown.Name(texts().Draw(t, "title"), "n1")
		if name == "" || len(name) > 170 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\n\r\x00:") || strings.HasPrefix(name, ".") {
			t.Fatalf("name %q", name)
		}
	})
}

func FuzzMemoryFile(f *testing.F) {
	for _, text := range hard {
		if len(text) < 1000 {
			f.Add([]byte("---\ncairn: facts\ncategory: x\nfacts:\n  f1: {tags: [a]}\n---\n- " + text + "\n"))
			f.Add([]byte("---\ncairn: note\ntitle: " + text + "\n---\n"))
			f.Add([]byte(text))
		}
	}
	f.Add([]byte("---\na: &a [x, x]\nb: *a\n---\n"))
	f.Add([]byte("---\n? [a]\n: b\n--- \n"))
	f.Add([]byte("---\ntitle: a: b\ntags: [x, y]\ncreated: 2026-01-01\nupdated: 2026-01-02\n---\n\nbody"))
	f.Add([]byte(`{"id":"0a1b2c3d","content":"x","category":"y","metadata":{"k":1},"created_at":"2026-01-01T00:00:00+00:00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func() (markdown.File, error){
			func() (markdown.File, error) { return markdown.Parse("x.md", data) },
			func() (markdown.File, error) { return markdown.ParseHarnessXNote("x.md", data) },
			func() (markdown.File, error) { return markdown.ParseHarnessXFact(data) },
			func() (markdown.File, error) { return markdown.ParseStrands("x.md", data) },
		} {
			file, err := parse()
			if err != nil {
				continue
			}
			again(t, file)
		}
	})
}

// again writes what was read, and reads it to the same.
func again(t *testing.T, file markdown.File) {
	t.Helper()
	for _, e := range file.Entries {
		if (e.Note == nil) == (e.Fact == nil) || e.Line < 1 {
			t.Fatalf("entry %+v", e)
		}
		if e.Note == nil {
			continue
		}
		data, err := markdown.WriteNote(*e.Note)
		if err != nil {
			t.Fatal(err)
		}
		got, err := markdown.Parse("x.md", data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(e.Note, got.Entries[0].Note); diff != "" {
			t.Fatal(diff)
		}
	}
}
