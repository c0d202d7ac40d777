package recall_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
	"cairn/storage/bolt"
	"cairn/storage/mem"
)

// stores are what the tools work on.
type stores struct {
	facts      harness.Facts
	notes      harness.Notes
	search     harness.Searcher
	sessions   harness.Sessions
	transcript harness.Transcript
}

// everywhere runs a test on each kind of store.
func everywhere(t *testing.T, test func(t *testing.T, s stores)) {
	t.Helper()
	t.Run("mem", func(t *testing.T) {
		t.Parallel()
		m := mem.New(nil)
		test(t, stores{m.Facts(), m.Notes(), m.Searcher(), m.Sessions(), m.Transcript()})
	})
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		db, err := bolt.Open(filepath.Join(t.TempDir(), bolt.FileName), bolt.Options{Purpose: "test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, stores{db.Facts(), db.Notes(), db.Searcher(), db.Sessions(), db.Transcript()})
	})
}

// memory are the tools on stores with one fact and one note.
func memory(t *testing.T, s stores) *tool.Set {
	t.Helper()
	set := new(tool.Set)
	if err := recall.RegisterMemoryTools(set, s.facts, s.notes); err != nil {
		t.Fatal(err)
	}
	if s.facts != nil {
		if _, _, err := s.facts.Save(t.Context(), harness.Fact{Text: "Prefers tea", Category: "taste", Tags: []string{"drink"}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if s.notes != nil {
		if _, err := s.notes.Save(t.Context(), harness.Note{Title: "Kettle", Body: "Boils.\nAt noon."}, ""); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// say runs a call and returns its result.
func say(t *testing.T, set *tool.Set, name, input string) harness.ToolResult {
	t.Helper()
	return set.Run(t.Context(), harness.ToolCall{ID: "c", Name: name, Input: json.RawMessage(input)}, tool.Call{Session: "s1", Message: 7})
}

func TestUpdateMakesANewVersionOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s stores) {
		set := memory(t, s)
		for _, c := range []struct{ input, want string }{
			{`{"id":"f1","text":" Prefers coffee "}`, "Updated: [fact/f1] (taste) Prefers coffee\n(version 2; before it was: [fact/f1] (taste) Prefers tea)"},
			{`{"id":"f1","text":"Prefers coffee"}`, "It is so already: [fact/f1] (taste) Prefers coffee"},
			{`{"id":"[fact/F1]","category":"drinks","tags":["hot","hot"],"title":""}`, "Updated: [fact/f1] (drinks) Prefers coffee\n(version 3; "},
			{`{"id":"note/n1","body":"Leaks."}`, "Updated: [note/n1] Kettle — Leaks.\n(version 2; before it was: [note/n1] Kettle — Boils. At noon.)"},
			{`{"id":"n1","body":"Leaks.","title":"Kettle"}`, "It is so already: "},
			{`{"id":"n1","title":"Old kettle","tags":["kitchen"]}`, "Updated: [note/n1] Old kettle — Leaks.\n(version 3; "},
		} {
			if r := say(t, set, recall.UpdateTool, c.input); r.Failed || !strings.HasPrefix(r.Text, c.want) {
				t.Errorf("%s gives %q, want %q", c.input, r.Text, c.want)
			}
		}
		facts, err := s.facts.History(t.Context(), "f1")
		if err != nil || len(facts) != 3 || facts[0].Text != "Prefers tea" || facts[2].Tags[0] != "hot" || len(facts[2].Tags) != 1 {
			t.Errorf("the fact's versions are %+v, %v", facts, err)
		}
		notes, err := s.notes.History(t.Context(), "n1")
		if err != nil || len(notes) != 3 || notes[2].Title != "Old kettle" || notes[2].Body != "Leaks." || notes[2].Tags[0] != "kitchen" {
			t.Errorf("the note's versions are %+v, %v", notes, err)
		}
	})
}

func TestUpdateRefusesInWords(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s stores) {
		set := memory(t, s)
		if _, _, err := s.facts.Save(t.Context(), harness.Fact{Text: "Drives a car"}, ""); err != nil {
			t.Fatal(err)
		}
		for input, want := range map[string]string{
			`{"id":"f2","text":"prefers TEA."}`:                           "f1",
			`{"id":"f1","text":"the key is sk-0123456789abcdef0123"}`:     "an API key",
			`{"id":"n1","tags":["ghp_0123456789abcdefABCDEF"]}`:           "a GitHub token",
			`{"id":"f9","text":"x"}`:                                      "there is no f9",
			`{"id":"f0","text":"x"}`:                                      "is no id",
			`{"id":"../f1","text":"x"}`:                                   "is no id",
			`{"id":"f1"}`:                                                 "nothing to change",
			`{"id":"f1","text":" ","tags":[" "]}`:                         "nothing to change",
			`{"id":"f1","title":"x"}`:                                     "f1 is a fact",
			`{"id":"n1","text":"x"}`:                                      "n1 is a note",
			`{"id":"f1","text":"` + strings.Repeat("é", 2_001) + `"}`:     "too long",
			`{"id":"n1","title":"` + strings.Repeat("é", 201) + `"}`:      "title of",
			`{"text":"x"}`:                                                "missing properties",
			`{"id":"f1","text":"x","pinned":true}`:                        "pinned",
			`{"id":"n1","body":"x","category":"` + "\u202e" + `"}`:        "n1 is a note",
			`{"id":"f\u0000` + strings.Repeat("1", 100) + `","text":"x"}`: "is no id",
		} {
			r := say(t, set, recall.UpdateTool, input)
			if !r.Failed || !strings.Contains(r.Text, want) || strings.Contains(r.Text, "0123456789") {
				t.Errorf("%.60s gives %.300q, want %q", input, r.Text, want)
			}
		}
		for _, id := range []string{"f1", "f2"} {
			if f, err := s.facts.Get(t.Context(), id); err != nil || f.Revision != 1 {
				t.Errorf("a refused update left %+v, %v", f, err)
			}
		}
		say(t, set, recall.ForgetTool, `{"id":"f1"}`)
		if r := say(t, set, recall.UpdateTool, `{"id":"f1","text":"Prefers coffee"}`); !r.Failed || !strings.Contains(r.Text, "is forgotten") {
			t.Errorf("a forgotten fact is changed: %q", r.Text)
		}
	})
}

func TestForgetMovesToTheTrashOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s stores) {
		set := memory(t, s)
		for id, line := range map[string]string{"f1": "[fact/f1] (taste) Prefers tea", "n1": "[note/n1] Kettle — Boils. At noon."} {
			r := say(t, set, recall.ForgetTool, `{"id":"`+id+`","why":"asked"}`)
			if r.Failed || !strings.HasPrefix(r.Text, "Forgotten: "+line+"\n") || !strings.Contains(r.Text, "bring it back") {
				t.Errorf("%s: %q", id, r.Text)
			}
			if r := say(t, set, recall.ForgetTool, `{"id":"`+id+`"}`); r.Failed || r.Text != "It is forgotten already: "+line {
				t.Errorf("%s again: %q", id, r.Text)
			}
		}
		if r := say(t, set, recall.RecallTool, `{}`); !strings.Contains(r.Text, "Nothing") {
			t.Errorf("recalled %q", r.Text)
		}
		if f, err := s.facts.Restore(t.Context(), "f1"); err != nil || f.Text != "Prefers tea" {
			t.Errorf("brought back %+v, %v", f, err)
		}
		if r := say(t, set, recall.ForgetTool, `{"id":"f7"}`); !r.Failed || !strings.Contains(r.Text, "there is no f7") {
			t.Errorf("an unknown id: %q", r.Text)
		}
	})
}

func TestChangesAskOnlyAfterForeignText(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	set := memory(t, stores{facts: m.Facts(), notes: m.Notes()})
	for _, name := range []string{recall.UpdateTool, recall.ForgetTool} {
		tl, _ := set.Lookup(name)
		if tl.Permission != tool.Allow || tl.Replay != tool.Idempotent || !tl.Sequential {
			t.Errorf("%s is %s, %s, sequential %v", name, tl.Permission, tl.Replay, tl.Sequential)
		}
		if p, _ := tl.Judge(tool.Call{}); p != tool.Allow {
			t.Errorf("%s on the user's own words: %s", name, p)
		}
		if p, why := tl.Judge(tool.Call{Foreign: true}); p != tool.Ask || why == "" {
			t.Errorf("%s after foreign text: %s, %q", name, p, why)
		}
	}
}

func TestOnlyStoresGivenCanBeChanged(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	for id, s := range map[string]stores{"n1": {facts: m.Facts()}, "f1": {notes: m.Notes()}} {
		set := memory(t, s)
		for name, input := range map[string]string{recall.UpdateTool: `{"id":"` + id + `","tags":["x"]}`, recall.ForgetTool: `{"id":"` + id + `"}`} {
			if r := say(t, set, name, input); !r.Failed || !strings.Contains(r.Text, "there is no "+id) {
				t.Errorf("%s of %s gives %q", name, id, r.Text)
			}
		}
	}
}

// A person who agrees has seen what is there and what would be, and agrees to
// nothing else.
func TestChangesAreShownAndBoundToWhatWasShown(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s stores) {
		set := memory(t, s)
		propose := func(name, input string) harness.Proposal {
			tl, _ := set.Lookup(name)
			p, err := tl.Proposal(t.Context(), tool.Call{Input: json.RawMessage(input)})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		const edit, drop, note = `{"id":"f1","text":"Prefers coffee","why":"You said so."}`, `{"id":"f1"}`, `{"id":"n1","body":"Boils.\nAt five."}`
		p := propose(recall.UpdateTool, edit)
		if p.Kind != harness.ProposalEdit || p.Subject != "fact f1" || p.Added != 1 || p.Removed != 1 || p.Why == "" ||
			!strings.Contains(p.Diff, "-Prefers tea\n+Prefers coffee\n category: taste\n") {
			t.Errorf("an update is shown as %+v", p)
		}
		if n := propose(recall.UpdateTool, note); n.Subject != "note n1" || !strings.Contains(n.Diff, " Boils.\n-At noon.\n+At five.\n") {
			t.Errorf("an update of a note is shown as %+v", n)
		}
		f := propose(recall.ForgetTool, drop)
		if f.Subject != "fact f1" || !strings.Contains(f.Body, "Prefers tea\ncategory: taste\ntags: drink") {
			t.Errorf("forgetting is shown as %+v", f)
		}
		tl, _ := set.Lookup(recall.UpdateTool)
		if _, err := tl.Proposal(t.Context(), tool.Call{Input: json.RawMessage(`{"id":"f9","text":"x"}`)}); err == nil {
			t.Error("what is not there can be agreed to")
		}

		say(t, set, recall.UpdateTool, `{"id":"f1","text":"Prefers water"}`)
		for name, c := range map[string]struct {
			input, state string
		}{recall.UpdateTool: {edit, p.State}, recall.ForgetTool: {drop, f.State}} {
			r := set.Run(t.Context(), harness.ToolCall{ID: "c", Name: name, Input: json.RawMessage(c.input)}, tool.Call{State: c.state})
			if !r.Failed || !strings.Contains(r.Text, "since the user agreed") {
				t.Errorf("%s of another version gives %q", name, r.Text)
			}
		}
		if got, err := s.facts.Get(t.Context(), "f1"); err != nil || got.Text != "Prefers water" || got.State != harness.StateActive {
			t.Errorf("it is %+v, %v", got, err)
		}
		p = propose(recall.UpdateTool, edit)
		r := set.Run(t.Context(), harness.ToolCall{ID: "c", Name: recall.UpdateTool, Input: json.RawMessage(edit)}, tool.Call{State: p.State})
		if r.Failed || !strings.HasPrefix(r.Text, recall.Updated) {
			t.Errorf("what was agreed to gives %q", r.Text)
		}
	})
}

func TestVersionIsReadFromAResult(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"(version 12; before it was: (version 3)": 12, "version 1": 0, "": 0, "(version x": 0} {
		if n, ok := recall.Version(line); n != want || ok != (want > 0) {
			t.Errorf("%q gives %d, %v", line, n, ok)
		}
	}
}
