package harnesstest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// TestFacts tests a [harness.Facts].
func TestFacts(t *testing.T, open Open) {
	t.Parallel()
	run(t, "a fact is kept with what it is", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		in := harness.Fact{
			Session: "a", Text: "Likes tea", Category: "taste", Tags: []string{"drink", " drink ", ""}, By: harness.ByModel, Pinned: true,
			Source: harness.Source{Session: "a", Message: 1, Quote: "I like tea"},
		}
		stored, created, err := s.Facts.Save(ctx(t), in, "key")
		must(t, err)
		if !created || stored.ID != "f1" || stored.Revision != 1 || stored.State != harness.StateActive || len(stored.Tags) != 1 || !stored.Created.Equal(s.Clock.Now()) {
			t.Fatalf("stored %+v", stored)
		}
		equal(t, "read", value[harness.Fact](t)(s.Reopen().Facts.Get(ctx(t), "f1")), stored)
	})
	run(t, "defaults", open, func(t *testing.T, s Stores) {
		if f := saveFact(t, s, "x"); f.Category != harness.DefaultCategory || f.By != harness.ByYou {
			t.Fatalf("stored %+v", f)
		}
	})
	run(t, "the same text is the same fact", open, testSameFact)
	run(t, "a save with a key happens once", open, testSaveOnce)
	run(t, "ids are never used again", open, func(t *testing.T, s Stores) {
		saveFact(t, s, "one")
		must(t, s.Facts.Forget(ctx(t), "f1"))
		if f := saveFact(t, s.Reopen(), "two"); f.ID != "f2" {
			t.Fatalf("id %s", f.ID)
		}
	})
	run(t, "every edit is a revision", open, testRevisions)
	run(t, "forget hides at once and restore brings back exactly", open, testForget)
	run(t, "no two active facts are the same", open, testNoDoubles)
	run(t, "a fact that holds a key is refused", open, testSecretFact)
	run(t, "filters", open, testFactFilters)
	run(t, "a use is no revision", open, func(t *testing.T, s Stores) {
		before := saveFact(t, s, "one")
		s.Clock.Add(time.Hour)
		must(t, s.Facts.Used(ctx(t), "f1", "f1", "n7", "f99"))
		got := value[harness.Fact](t)(s.Facts.Get(ctx(t), "f1"))
		if got.Uses != 2 || !got.LastUsed.Equal(s.Clock.Now()) || got.Revision != 1 || !got.Updated.Equal(before.Updated) {
			t.Fatalf("used %+v", got)
		}
	})
	run(t, "what is not there", open, testNoFact)
	run(t, "facts outlive their session's deletion", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		_, _, err := s.Facts.Save(ctx(t), harness.Fact{Session: "a", Text: "x"}, "")
		must(t, err)
		must(t, s.Sessions.Delete(ctx(t), "a"))
		if got := factIDs(t, s, harness.MemoryFilter{}); got != "f1" {
			t.Fatalf("facts %q", got)
		}
	})
}

func testRevisions(t *testing.T, s Stores) {
	one := saveFact(t, s, "one")
	s.Clock.Add(time.Minute)
	two := value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Text: ptr("two"), Pinned: ptr(true)}))
	three := value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{State: ptr(harness.StateOff)}))
	if two.Revision != 2 || two.Text != "two" || !two.Updated.Equal(s.Clock.Now()) || !two.Created.Equal(one.Created) || three.State != harness.StateOff || !three.Pinned {
		t.Fatalf("edited %+v, %+v", two, three)
	}
	equal(t, "history", value[[]harness.Fact](t)(s.Reopen().Facts.History(ctx(t), "f1")), []harness.Fact{one, two, three})
}

func testForget(t *testing.T, s Stores) {
	before := saveFact(t, s, "tea")
	saveFact(t, s, "coffee")
	must(t, s.Facts.Forget(ctx(t), "f1"))
	must(t, s.Facts.Forget(ctx(t), "f1"))
	for _, f := range []harness.MemoryFilter{{}, {Query: "tea"}, {State: harness.StateAny}} {
		if got := factIDs(t, s, f); strings.Contains(got, "f1") {
			t.Fatalf("%+v still lists %q", f, got)
		}
	}
	if got := factIDs(t, s, harness.MemoryFilter{State: harness.StateTrashed}); got != "f1" {
		t.Fatalf("trash %q", got)
	}
	_, err := s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Text: ptr("x")})
	wantErr(t, err, harness.ErrNotFound)
	s = s.Reopen()
	equal(t, "restored", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), before)
	equal(t, "restored again", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), before)
}

func testNoFact(t *testing.T, s Stores) {
	saveFact(t, s, "one")
	for _, id := range []string{"", "f", "f0", "f2", "f01", "n1", "x", "f1/x"} {
		_, err := s.Facts.Get(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
		wantErr(t, s.Facts.Forget(ctx(t), id), harness.ErrNotFound)
		_, err = s.Facts.Restore(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
		_, err = s.Facts.History(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
	}
}

func testSaveOnce(t *testing.T, s Stores) {
	a, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "one"}, "k")
	if must(t, err); !created {
		t.Fatal("not created")
	}
	s = s.Reopen()
	b, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "something else"}, "k")
	must(t, err)
	equal(t, "second save", b, a)
	if created || factIDs(t, s, harness.MemoryFilter{}) != "f1" {
		t.Fatal("saved twice")
	}
}

func testSameFact(t *testing.T, s Stores) {
	first, _, err := s.Facts.Save(ctx(t), harness.Fact{Text: "Prefers café"}, "")
	must(t, err)
	for _, text := range []string{"Prefers café", "prefers café.", " Prefers  café\n", "Prefers cafe\u0301", "PREFERS CAFÉ!"} {
		again, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: text}, "")
		must(t, err)
		if created {
			t.Fatalf("%q is a new fact", text)
		}
		equal(t, text, again, first)
	}
	for _, text := range []string{"Prefers cafe", "Prefers café?no", "refers café", "..."} {
		if _, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: text}, ""); err != nil || !created {
			t.Fatalf("%q is no new fact (%v)", text, err)
		}
	}
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), first.ID, harness.FactEdit{Text: ptr("Prefers water")}))
	again, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "prefers water"}, "")
	if must(t, err); created || again.ID != first.ID {
		t.Fatalf("after an edit %+v %v", again, created)
	}
	if _, created, err = s.Facts.Save(ctx(t), harness.Fact{Text: "Prefers café"}, ""); err != nil || !created {
		t.Fatalf("the old text still counts (%v)", err)
	}
}

// testNoDoubles tries to make two of one by restoring and by editing.
func testNoDoubles(t *testing.T, s Stores) {
	list := func(state harness.FactState) string { return factIDs(t, s, harness.MemoryFilter{State: state}) }
	forgotten := saveFact(t, s, "Drinks tea")
	must(t, s.Facts.Forget(ctx(t), "f1"))
	newer := saveFact(t, s, "drinks tea.")
	if newer.ID != "f2" {
		t.Fatalf("a forgotten fact came back as %s", newer.ID)
	}
	s = s.Reopen()
	equal(t, "the one that is active", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), newer)
	if active, trashed := list(""), list(harness.StateTrashed); active != "f2" || trashed != "f1" {
		t.Fatalf("active %q, in the trash %q", active, trashed)
	}
	_, err := s.Facts.Edit(ctx(t), "f1", harness.FactEdit{State: ptr(harness.StateActive)})
	wantErr(t, err, harness.ErrExists)

	other := saveFact(t, s, "Drinks coffee")
	_, err = s.Facts.Edit(ctx(t), "f3", harness.FactEdit{Text: ptr("DRINKS TEA")})
	if wantErr(t, err, harness.ErrExists); !strings.Contains(err.Error(), "f2") {
		t.Fatalf("the error does not name the other: %v", err)
	}
	equal(t, "after a refused edit", value[harness.Fact](t)(s.Facts.Get(ctx(t), "f3")), other)
	if got := value[[]harness.Fact](t)(s.Facts.History(ctx(t), "f3")); len(got) != 1 {
		t.Fatalf("a refused edit left %d revisions", len(got))
	}
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f3", harness.FactEdit{State: ptr(harness.StateOff)}))
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f3", harness.FactEdit{Text: ptr("Drinks tea")}))
	_, err = s.Facts.Edit(ctx(t), "f3", harness.FactEdit{State: ptr(harness.StateActive)})
	wantErr(t, err, harness.ErrExists)
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f2", harness.FactEdit{Text: ptr("Drinks tea!"), Pinned: ptr(true)}))

	must(t, s.Facts.Forget(ctx(t), "f2"))
	equal(t, "restored when the other is gone", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), forgotten)
	if active, trashed := list(""), list(harness.StateTrashed); active != "f1" || trashed != "f2" {
		t.Fatalf("active %q, in the trash %q", active, trashed)
	}
}

// aKey looks like a key and is none.
const aKey = "ghp_0123456789abcdefABCDEF"

// refused fails unless a store says of a secret what it is and what to do, and
// does not repeat it.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, harness.ErrSecret) {
		t.Fatalf("%s: error %v", what, err)
	}
	text := err.Error()
	if !strings.Contains(text, "a GitHub token") || !strings.Contains(text, "goes out with every request") || strings.Contains(text, "0123456789") {
		t.Fatalf("%s: %q", what, text)
	}
}

func testSecretFact(t *testing.T, s Stores) {
	for what, f := range map[string]harness.Fact{
		"text":     {Text: "The token is " + aKey},
		"category": {Text: "x", Category: aKey},
		"tag":      {Text: "x", Tags: []string{"a", aKey}},
		"quote":    {Text: "x", Source: harness.Source{Quote: "my token: " + aKey}},
		"joiner":   {Text: "ghp\u200b" + aKey[3:]},
	} {
		for _, state := range []harness.FactState{"", harness.StateOff, harness.StateTrashed} {
			f.State = state
			_, _, err := s.Facts.Save(ctx(t), f, what)
			refused(t, what, err)
		}
	}
	first, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "The token is in the vault"}, "text")
	if must(t, err); !created || first.ID != "f1" {
		t.Fatalf("what was refused left something: %+v", first)
	}
	for what, e := range map[string]harness.FactEdit{
		"text":     {Text: ptr(aKey)},
		"category": {Category: ptr(aKey)},
		"tags":     {Tags: ptr([]string{aKey})},
	} {
		_, err := s.Facts.Edit(ctx(t), "f1", e)
		refused(t, "edit of "+what, err)
	}
	s = s.Reopen()
	equal(t, "after refused edits", value[[]harness.Fact](t)(s.Facts.History(ctx(t), "f1")), []harness.Fact{first})
}

func testFactFilters(t *testing.T, s Stores) {
	for _, f := range []harness.Fact{
		{Text: "Uses Neovim with a dark theme", Category: "tools", Tags: []string{"Editor"}},
		{Text: "Drinks green tea", Category: "taste"},
		{Text: "設備清單 NAS", Category: "tools"},
		{Text: "오늘 끝말잇기"},
		{Text: "Owns a teapot", State: harness.StateOff},
	} {
		_, _, err := s.Facts.Save(ctx(t), f, "")
		must(t, err)
	}
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f2", harness.FactEdit{Pinned: ptr(true)}))
	for _, c := range []struct {
		f    harness.MemoryFilter
		want string
	}{
		{harness.MemoryFilter{}, "f2 f4 f3 f1"},
		{harness.MemoryFilter{Limit: 2}, "f2 f4"},
		{harness.MemoryFilter{State: harness.StateAny}, "f2 f5 f4 f3 f1"},
		{harness.MemoryFilter{State: harness.StateOff}, "f5"},
		{harness.MemoryFilter{Category: "Tools"}, "f3 f1"},
		{harness.MemoryFilter{Tag: "editor"}, "f1"},
		{harness.MemoryFilter{Query: "tea"}, "f2"},
		{harness.MemoryFilter{Query: "THEME neovim"}, "f1"},
		{harness.MemoryFilter{Query: "neo"}, "f1"},
		{harness.MemoryFilter{Query: "備"}, "f3"},
		{harness.MemoryFilter{Query: "設備清單"}, "f3"},
		{harness.MemoryFilter{Query: "nas"}, "f3"},
		{harness.MemoryFilter{Query: "끝말"}, "f4"},
		{harness.MemoryFilter{Query: "quantum"}, ""},
		{harness.MemoryFilter{Query: "tea", State: harness.StateAny}, "f2 f5"},
	} {
		if got := factIDs(t, s, c.f); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.f, got, c.want)
		}
	}
}

// saveFact stores a fact of that text.
func saveFact(t *testing.T, s Stores, text string) harness.Fact {
	t.Helper()
	f, _, err := s.Facts.Save(ctx(t), harness.Fact{Text: text}, "")
	must(t, err)
	return f
}

// factIDs returns the ids of a list of facts, in its order.
func factIDs(t *testing.T, s Stores, f harness.MemoryFilter) string {
	t.Helper()
	var all []string
	for _, f := range value[[]harness.Fact](t)(s.Facts.List(ctx(t), f)) {
		all = append(all, f.ID)
	}
	return strings.Join(all, " ")
}
