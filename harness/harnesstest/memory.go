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
	save := func(t *testing.T, s Stores, text string) harness.Fact {
		t.Helper()
		f, _, err := s.Facts.Save(ctx(t), harness.Fact{Text: text}, "")
		must(t, err)
		return f
	}
	found := func(t *testing.T, s Stores, f harness.MemoryFilter) string {
		t.Helper()
		var all []string
		for _, f := range value[[]harness.Fact](t)(s.Facts.List(ctx(t), f)) {
			all = append(all, f.ID)
		}
		return strings.Join(all, " ")
	}
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
		if f := save(t, s, "x"); f.Category != harness.DefaultCategory || f.By != harness.ByYou {
			t.Fatalf("stored %+v", f)
		}
	})
	run(t, "the same text is the same fact", open, testSameFact)
	run(t, "a save with a key happens once", open, func(t *testing.T, s Stores) {
		a, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "one"}, "k")
		if must(t, err); !created {
			t.Fatal("not created")
		}
		s = s.Reopen()
		b, created, err := s.Facts.Save(ctx(t), harness.Fact{Text: "something else"}, "k")
		must(t, err)
		equal(t, "second save", b, a)
		if created || found(t, s, harness.MemoryFilter{}) != "f1" {
			t.Fatal("saved twice")
		}
	})
	run(t, "ids are never used again", open, func(t *testing.T, s Stores) {
		save(t, s, "one")
		must(t, s.Facts.Forget(ctx(t), "f1"))
		if f := save(t, s.Reopen(), "two"); f.ID != "f2" {
			t.Fatalf("id %s", f.ID)
		}
	})
	run(t, "every edit is a revision", open, func(t *testing.T, s Stores) {
		one := save(t, s, "one")
		s.Clock.Add(time.Minute)
		two := value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Text: ptr("two"), Pinned: ptr(true)}))
		three := value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{State: ptr(harness.StateOff)}))
		if two.Revision != 2 || two.Text != "two" || !two.Updated.Equal(s.Clock.Now()) || !two.Created.Equal(one.Created) || three.State != harness.StateOff || !three.Pinned {
			t.Fatalf("edited %+v, %+v", two, three)
		}
		equal(t, "history", value[[]harness.Fact](t)(s.Reopen().Facts.History(ctx(t), "f1")), []harness.Fact{one, two, three})
	})
	run(t, "forget hides at once and restore brings back exactly", open, func(t *testing.T, s Stores) {
		before := save(t, s, "tea")
		save(t, s, "coffee")
		must(t, s.Facts.Forget(ctx(t), "f1"))
		must(t, s.Facts.Forget(ctx(t), "f1"))
		for _, f := range []harness.MemoryFilter{{}, {Query: "tea"}, {State: harness.StateAny}} {
			if got := found(t, s, f); strings.Contains(got, "f1") {
				t.Fatalf("%+v still lists %q", f, got)
			}
		}
		if got := found(t, s, harness.MemoryFilter{State: harness.StateTrashed}); got != "f1" {
			t.Fatalf("trash %q", got)
		}
		_, err := s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Text: ptr("x")})
		wantErr(t, err, harness.ErrNotFound)
		s = s.Reopen()
		equal(t, "restored", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), before)
		equal(t, "restored again", value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1")), before)
	})
	run(t, "no two active facts are the same", open, testNoDoubles)
	run(t, "a fact that holds a key is refused", open, testSecretFact)
	run(t, "filters", open, testFactFilters)
	run(t, "a use is no revision", open, func(t *testing.T, s Stores) {
		before := save(t, s, "one")
		s.Clock.Add(time.Hour)
		must(t, s.Facts.Used(ctx(t), "f1", "f1", "n7", "f99"))
		got := value[harness.Fact](t)(s.Facts.Get(ctx(t), "f1"))
		if got.Uses != 2 || !got.LastUsed.Equal(s.Clock.Now()) || got.Revision != 1 || !got.Updated.Equal(before.Updated) {
			t.Fatalf("used %+v", got)
		}
	})
	run(t, "what is not there", open, func(t *testing.T, s Stores) {
		save(t, s, "one")
		for _, id := range []string{"", "f", "f0", "f2", "f01", "n1", "x", "f1/x"} {
			_, err := s.Facts.Get(ctx(t), id)
			wantErr(t, err, harness.ErrNotFound)
			wantErr(t, s.Facts.Forget(ctx(t), id), harness.ErrNotFound)
			_, err = s.Facts.Restore(ctx(t), id)
			wantErr(t, err, harness.ErrNotFound)
			_, err = s.Facts.History(ctx(t), id)
			wantErr(t, err, harness.ErrNotFound)
		}
	})
	run(t, "facts outlive their session's deletion", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		_, _, err := s.Facts.Save(ctx(t), harness.Fact{Session: "a", Text: "x"}, "")
		must(t, err)
		must(t, s.Sessions.Delete(ctx(t), "a"))
		if got := found(t, s, harness.MemoryFilter{}); got != "f1" {
			t.Fatalf("facts %q", got)
		}
	})
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
	save := func(text string) harness.Fact {
		f, _, err := s.Facts.Save(ctx(t), harness.Fact{Text: text}, "")
		must(t, err)
		return f
	}
	list := func(state harness.FactState) string {
		var all []string
		for _, f := range value[[]harness.Fact](t)(s.Facts.List(ctx(t), harness.MemoryFilter{State: state})) {
			all = append(all, f.ID)
		}
		return strings.Join(all, " ")
	}
	forgotten := save("Drinks tea")
	must(t, s.Facts.Forget(ctx(t), "f1"))
	newer := save("drinks tea.")
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

	other := save("Drinks coffee")
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
		var all []string
		for _, f := range value[[]harness.Fact](t)(s.Facts.List(ctx(t), c.f)) {
			all = append(all, f.ID)
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.f, got, c.want)
		}
	}
}

// TestNotes tests a [harness.Notes].
func TestNotes(t *testing.T, open Open) {
	run(t, "notes are kept, revised, forgotten and restored", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		in := harness.Note{Session: "a", Title: "Plan", Body: "# One\n\n<two> & three", Tags: []string{"x"}, By: harness.ByImport}
		one := value[harness.Note](t)(s.Notes.Save(ctx(t), in, "k"))
		if one.ID != "n1" || one.Body != in.Body || one.Revision != 1 {
			t.Fatalf("stored %+v", one)
		}
		equal(t, "same key", value[harness.Note](t)(s.Notes.Save(ctx(t), harness.Note{Title: "Other"}, "k")), one)
		if same := value[harness.Note](t)(s.Notes.Save(ctx(t), in, "")); same.ID != "n2" {
			t.Fatalf("two notes of one title are %s", same.ID)
		}
		s = s.Reopen()
		two := value[harness.Note](t)(s.Notes.Edit(ctx(t), "n1", harness.NoteEdit{Body: ptr("new"), Title: ptr("Plan B")}))
		equal(t, "history", value[[]harness.Note](t)(s.Notes.History(ctx(t), "n1")), []harness.Note{one, two})
		must(t, s.Notes.Forget(ctx(t), "n1"))
		if got := value[[]harness.Note](t)(s.Notes.List(ctx(t), harness.MemoryFilter{Query: "plan"})); len(got) != 1 || got[0].ID != "n2" {
			t.Fatalf("list %+v", got)
		}
		equal(t, "restored", value[harness.Note](t)(s.Notes.Restore(ctx(t), "n1")), two)
		_, err := s.Notes.Get(ctx(t), "n3")
		wantErr(t, err, harness.ErrNotFound)
	})
	run(t, "a note that holds a key is refused", open, func(t *testing.T, s Stores) {
		for what, n := range map[string]harness.Note{
			"title": {Title: aKey},
			"body":  {Title: "x", Body: "# Keys\n\n" + aKey + "\n"},
			"tag":   {Title: "x", Tags: []string{aKey}},
			"quote": {Title: "x", Source: harness.Source{Quote: aKey}},
		} {
			_, err := s.Notes.Save(ctx(t), n, what)
			refused(t, what, err)
		}
		first := value[harness.Note](t)(s.Notes.Save(ctx(t), harness.Note{Title: "Keys", Body: "In the vault."}, "title"))
		for what, e := range map[string]harness.NoteEdit{
			"title": {Title: ptr(aKey)},
			"body":  {Body: ptr(aKey)},
			"tags":  {Tags: ptr([]string{aKey})},
		} {
			_, err := s.Notes.Edit(ctx(t), first.ID, e)
			refused(t, "edit of "+what, err)
		}
		equal(t, "after refused edits", value[[]harness.Note](t)(s.Reopen().Notes.History(ctx(t), first.ID)), []harness.Note{first})
	})
	run(t, "a search puts the session's own notes first", open, func(t *testing.T, s Stores) {
		for _, id := range []harness.SessionID{"a", "b"} {
			say(t, s, acquire(t, s, id), "hello")
			value[harness.Note](t)(s.Notes.Save(ctx(t), harness.Note{Session: id, Title: "deploy"}, ""))
		}
		for want, id := range map[string]harness.SessionID{"n1": "a", "n2": "b"} {
			if got := value[[]harness.Note](t)(s.Notes.List(ctx(t), harness.MemoryFilter{Query: "deploy", Session: id})); len(got) != 2 || got[0].ID != want {
				t.Errorf("for %s: %+v", id, got)
			}
		}
	})
}

// TestSearcher tests a [harness.Searcher].
func TestSearcher(t *testing.T, open Open) {
	run(t, "messages of all sessions are found unless deleted", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "How do I rotate the Café logs?", "Use logrotate, weekly.")
		say(t, s, acquire(t, s, "b"), strings.Repeat("lorem ipsum ", 100)+" the turnstile "+strings.Repeat("dolor sit ", 100), "今日はしりとりをした")
		find := func(q string) []harness.Hit {
			return value[[]harness.Hit](t)(s.Searcher.Search(ctx(t), q, 5))
		}
		for q, want := range map[string]harness.Hit{
			"cafe":      {Session: "a", Message: 1},
			"LOGROTATE": {Session: "a", Message: 2},
			"turnstile": {Session: "b", Message: 1},
			"しりとり":      {Session: "b", Message: 2},
		} {
			hits := find(q)
			if len(hits) != 1 || hits[0].Session != want.Session || hits[0].Message != want.Message || hits[0].Score <= 0 {
				t.Fatalf("%q finds %+v", q, hits)
			}
			if e := []rune(hits[0].Excerpt); len(e) == 0 || len(e) > 200 {
				t.Fatalf("excerpt of %q has %d characters", q, len(e))
			}
		}
		if e := find("turnstile")[0].Excerpt; !strings.Contains(e, "turnstile") {
			t.Fatalf("excerpt without the match: %q", e)
		}
		for _, q := range []string{"", "  ", "?!", "absent"} {
			if hits := find(q); len(hits) != 0 {
				t.Fatalf("%q finds %+v", q, hits)
			}
		}
		must(t, s.Sessions.Delete(ctx(t), "b"))
		if hits := find("turnstile"); len(hits) != 0 {
			t.Fatalf("deleted messages are found: %+v", hits)
		}
	})
	run(t, "the limit keeps the best", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		for range 100 {
			say(t, s, l, "apple and some other words in a longer sentence")
		}
		say(t, s, l, "apple pie")
		hits := value[[]harness.Hit](t)(s.Searcher.Search(ctx(t), "apple pie", 3))
		if len(hits) != 3 || hits[0].Message != 101 {
			t.Fatalf("hits %+v", hits)
		}
	})
}

// TestWatcher tests a [harness.Watcher].
func TestWatcher(t *testing.T, open Open) {
	run(t, "a change is told", open, func(t *testing.T, s Stores) {
		changed := value[<-chan struct{}](t)(s.Watcher.Watch(ctx(t)))
		say(t, s, acquire(t, s, "a"), "hello")
		<-changed
	})
}
