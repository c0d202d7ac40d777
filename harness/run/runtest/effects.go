package runtest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
)

// did is an entry of a run that changed the memory elsewhere.
func did(effects ...harness.Effect) run.Entry {
	m := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "call_0", Name: "save", Text: "done"}}}}
	return run.Entry{Kind: "ended", Message: &m, Effects: effects}
}

func saveFact(key, text string) harness.Effect {
	return harness.Effect{Key: key, Kind: harness.EffectSaveFact, Fact: &harness.Fact{
		Session: "s", Text: text, By: harness.ByModel, Source: harness.Source{Session: "s", Message: 1, Quote: "hello"},
	}}
}

func editFact(key, id, text string) harness.Effect {
	return harness.Effect{Key: key, Kind: harness.EffectEditFact, IDs: []string{id}, FactEdit: &harness.FactEdit{Text: &text}}
}

// facts returns what is kept as "id text".
func (f *fixture) facts() string {
	f.t.Helper()
	list, err := f.Facts.List(f.ctx(), harness.MemoryFilter{})
	f.must(err)
	var all []string
	for _, fact := range list {
		all = append(all, fact.ID+" "+fact.Text)
	}
	return strings.Join(all, " | ")
}

func testEffects(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	old, _, err := f.Facts.Save(f.ctx(), harness.Fact{Text: "Ada likes tea"}, "")
	f.must(err)
	gone, _, err := f.Facts.Save(f.ctx(), harness.Fact{Text: "Ada is in Rome"}, "")
	f.must(err)
	title := "Plan B"
	added := f.append(l, "r", 1,
		did(
			saveFact("r/1", "Ada has a cat"),
			saveFact("r/1#2", "ADA LIKES TEA."),
			editFact("r/1#3", old.ID, "Ada likes coffee"),
			harness.Effect{Key: "r/1#4", Kind: harness.EffectForgetFact, IDs: []string{gone.ID}},
			harness.Effect{Key: "r/1#5", Kind: harness.EffectSaveNote, Note: &harness.Note{Title: "Plan", Body: "First <this>", By: harness.ByModel}},
			harness.Effect{Key: "r/1#6", Kind: harness.EffectEditNote, IDs: []string{"n1"}, NoteEdit: &harness.NoteEdit{Title: &title}},
			harness.Effect{Key: "r/1#7", Kind: harness.EffectSuggest, Suggestion: &harness.Suggestion{
				Kind: harness.SuggestAdd, Text: "Ada sings", By: harness.ByModel, Source: harness.Source{Session: "s", Message: run.AwayRecord + 2},
			}},
		),
		run.Entry{Kind: "answered", Effects: []harness.Effect{{Kind: harness.EffectUsed, IDs: []string{old.ID, "f99", old.ID}}}},
	)
	for _, e := range added {
		if len(e.Effects) != 0 {
			t.Errorf("left out: %+v", e.Effects)
		}
	}
	f.reopen()
	if got := f.facts(); got != "f1 Ada likes coffee | f3 Ada has a cat" {
		t.Errorf("facts %q", got)
	}
	cat, err := f.Facts.Get(f.ctx(), "f3")
	f.must(err)
	if cat.Session != "s" || cat.Source != (harness.Source{Session: "s", Message: 1, Quote: "hello"}) || cat.By != harness.ByModel || cat.Category != harness.DefaultCategory {
		t.Errorf("fact %+v", cat)
	}
	if tea, err := f.Facts.Get(f.ctx(), old.ID); err != nil || tea.Uses != 1 || tea.LastUsed.IsZero() || tea.Revision != 2 {
		t.Errorf("fact %+v, %v", tea, err)
	}
	if trashed, err := f.Facts.Get(f.ctx(), gone.ID); err != nil || trashed.State != harness.StateTrashed {
		t.Errorf("fact %+v, %v", trashed, err)
	}
	if note, err := f.Notes.Get(f.ctx(), "n1"); err != nil || note.Title != "Plan B" || note.Body != "First <this>" {
		t.Errorf("note %+v, %v", note, err)
	}
	inbox, err := f.Inbox.List(f.ctx(), harness.InboxFilter{})
	f.must(err)
	if len(inbox) != 1 || inbox[0].Text != "Ada sings" || inbox[0].Source.Message != added[0].Record {
		t.Errorf("inbox %+v, the call's result is record %d", inbox, added[0].Record)
	}
	for _, e := range f.read(0) {
		if raw, err := json.Marshal(e); err != nil || e.Effects != nil {
			t.Errorf("the journal keeps %s, %v", raw, err)
		}
	}
}

func testLeftOut(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	for _, text := range []string{"One", "Two", "Three"} {
		_, _, err := f.Facts.Save(f.ctx(), harness.Fact{Text: text}, "")
		f.must(err)
	}
	f.must(f.Facts.Forget(f.ctx(), "f3"))
	const secret = "sk-ant-0123456789abcdefghij"
	effects := []harness.Effect{
		editFact("k1", "f3", "Tres"),
		editFact("k2", "f99", "Nobody"),
		editFact("k3", "f1", "two!"),
		saveFact("k4", "The key is "+secret),
		editFact("k5", "f1", secret),
		editFact("k6", harness.NewIDPrefix+"k4", "More"),
		{Key: "k7", Kind: harness.EffectForgetNote, IDs: []string{"n7"}},
		{Key: "k8", Kind: harness.EffectSuggest, Suggestion: &harness.Suggestion{Kind: harness.SuggestRetire, Fact: "f3"}},
		{Key: "k9", Kind: "paint_fact", IDs: []string{"f1"}},
		{Key: "k10", Kind: harness.EffectSaveNote},
		{Key: "k11", Kind: harness.EffectForgetFact, IDs: []string{"f2", "f99"}},
	}
	added := f.append(l, "r", 1, did(append(effects, saveFact("k12", "Four"))...))
	failed := added[0].Effects
	if len(failed) != len(effects) {
		t.Fatalf("left out: %+v", failed)
	}
	for i, want := range []string{
		"fact f3 was not changed: it was deleted meanwhile",
		"fact f99 was not changed: it was deleted meanwhile",
		"fact f1 was not changed: fact f2",
		"a fact was not saved: memory keeps no keys",
		"fact f1 was not changed: memory keeps no keys",
		"a fact was not changed: it was deleted meanwhile",
		"note n7 was not forgotten: it was deleted meanwhile",
		"a suggestion was not filed: it was deleted meanwhile",
		"a change of the memory was not made: this cairn does not know how",
		"a note was not saved: this cairn does not know how",
		"fact f2, f99 was not forgotten: it was deleted meanwhile",
	} {
		e := failed[i]
		if e.Key != effects[i].Key || !strings.HasPrefix(e.Failed, want) {
			t.Errorf("effect %s is told as %q, want %q", e.Key, e.Failed, want)
		}
		if raw, err := json.Marshal(e); err != nil || strings.Contains(string(raw), secret) {
			t.Errorf("effect %s repeats what it was refused for: %s, %v", e.Key, raw, err)
		}
	}
	f.reopen()
	if got := f.facts(); got != "f4 Four | f2 Two | f1 One" {
		t.Errorf("facts %q", got)
	}
	if n := len(f.read(0)); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// testNamed changes later, and as another process, what a run saved elsewhere.
func testNamed(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	name := harness.NewIDPrefix + "r/1"
	f.append(l, "r", 1, did(saveFact("r/1", "Ada has a cat"), editFact("r/2", name, "Ada has two cats")))
	f.must(f.Owners.Release(f.ctx(), l))
	f.reopen()
	l = f.acquire("s")
	old := saveFact("r/5", "Ada has a dog")
	old.Fact.Supersedes = name
	note := harness.Effect{Key: "r/1", Kind: harness.EffectSaveNote, Note: &harness.Note{Title: "Cats"}}
	body := "Miau"
	added := f.append(l, "r", 2,
		// The same call again, which a broken driver had carried out.
		did(saveFact("r/1", "Ada has a cat"), editFact("r/2", name, "Ada has two cats")),
		did(note, harness.Effect{Key: "r/3", Kind: harness.EffectEditNote, IDs: []string{name}, NoteEdit: &harness.NoteEdit{Body: &body}}),
		did(old, harness.Effect{Key: "r/4", Kind: harness.EffectUsed, IDs: []string{name, name}}),
		did(harness.Effect{Key: "r/6", Kind: harness.EffectSuggest, Suggestion: &harness.Suggestion{
			Kind: harness.SuggestChange, Fact: name, Text: "Ada has three cats", Against: []string{name, harness.NewIDPrefix + "none"},
		}}),
	)
	for _, e := range added {
		if len(e.Effects) != 0 {
			t.Errorf("left out: %+v", e.Effects)
		}
	}
	used := answer("miau")
	used.Message.Used = []string{"f7", name, harness.NewIDPrefix + "none"}
	if e := f.append(l, "r", 6, used)[0]; strings.Join(e.Message.Used, " ") != "f7 f1" {
		t.Errorf("the answer used %v", e.Message.Used)
	}
	if used.Message.Used[1] != name {
		t.Error("the caller's message was changed")
	}
	cats, err := f.Facts.Get(f.ctx(), name)
	f.must(err)
	_, err = f.Facts.Get(f.ctx(), harness.NewIDPrefix+"none")
	f.want(err, harness.ErrNotFound)
	if cats.ID != "f1" || cats.Text != "Ada has two cats" || cats.Revision != 2 || cats.Uses != 1 {
		t.Errorf("fact %+v", cats)
	}
	dog, err := f.Facts.Get(f.ctx(), "f2")
	f.must(err)
	if dog.Supersedes != "f1" {
		t.Errorf("fact %+v", dog)
	}
	if n, err := f.Notes.Get(f.ctx(), "n1"); err != nil || n.Body != "Miau" {
		t.Errorf("note %+v, %v", n, err)
	}
	s, err := f.Inbox.Get(f.ctx(), "i1")
	f.must(err)
	if s.Fact != "f1" || len(s.Against) != 1 || s.Against[0] != "f1" {
		t.Errorf("suggestion %+v", s)
	}
}

// testEffectsAtOnce refuses an append, of which nothing must be left.
func testEffectsAtOnce(t *testing.T, f *fixture) {
	l := f.acquire("s")
	f.start(l, "r", "hello")
	_, err := f.Journal.Append(f.ctx(), l, "r", 7, did(saveFact("r/1", "Too early")))
	f.want(err, harness.ErrStale)
	f.append(l, "r", 1, did(saveFact("r/1", "In time")))
	for range 2 {
		_, err = f.Journal.Append(f.ctx(), l, "r", 1, did(saveFact("r/9", "Once more")))
		f.want(err, harness.ErrStale)
	}
	done := status(harness.RunCancelled)
	done.Effects = []harness.Effect{saveFact("r/2", "At the end")}
	_, _, err = f.Journal.Create(f.ctx(), l, f.run("r2"), begun("next"), run.Closing{Run: "r", After: 1, Entries: []run.Entry{done}})
	f.want(err, harness.ErrStale)
	next := begun("next")
	next.Effects = []harness.Effect{saveFact("r2/1", "At the start"), editFact("r2/2", "f7", "Nothing")}
	_, entries, err := f.Journal.Create(f.ctx(), l, f.run("r2"), next, run.Closing{Run: "r", After: 2, Entries: []run.Entry{done}})
	f.must(err)
	if len(entries) != 1 || len(entries[0].Effects) != 1 || entries[0].Effects[0].Failed == "" {
		t.Errorf("entries %+v", entries)
	}
	f.reopen()
	if got := f.facts(); got != "f3 At the start | f2 At the end | f1 In time" {
		t.Errorf("facts %q", got)
	}
	if _, err := f.Facts.Get(f.ctx(), "f4"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("a fact too many: %v", err)
	}
}
