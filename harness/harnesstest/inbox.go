package harnesstest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// TestInbox tests a [harness.Inbox].
func TestInbox(t *testing.T, open Open) {
	t.Parallel()
	run(t, "a suggestion waits as it was made", open, testSuggestionKept)
	run(t, "what says the same is filed once", open, testSuggestedOnce)
	run(t, "an addition is accepted", open, testAcceptAdd)
	run(t, "a change is accepted, unless the fact has changed", open, testAcceptChange)
	run(t, "a retirement goes to the trash", open, testAcceptRetire)
	run(t, "what was refused is not suggested again, and can be put back", open, testRefuse)
	run(t, "what is forgotten is in no list", open, testInboxForgets)
	run(t, "what is forgotten stands against nothing", open, testInboxForgetsWhatStandsAgainst)
	run(t, "keys are refused", open, testInboxSecrets)
	run(t, "a harvest is delivered once", open, testDeliver)
	run(t, "an imported conversation is not distilled", open, func(t *testing.T, s Stores) {
		m := harness.UserText("hello")
		stored, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: "i"}, []harness.Record{{Message: &m}, {Message: &m}})
		must(t, err)
		if stored.Distilled != 2 {
			t.Errorf("it is read up to %d", stored.Distilled)
		}
	})
	run(t, "what was said without memory is not distilled once it is on again", open, testSaidWithoutMemory)
	run(t, "a session is without memory once somebody says so", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		if got := value[harness.Session](t)(s.Sessions.Edit(ctx(t), "a", harness.SessionEdit{NoMemory: ptr(true)})); !got.NoMemory {
			t.Error("it was not stored")
		}
		s = s.Reopen()
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")); !got.NoMemory {
			t.Error("it is gone after a crash")
		}
		l := acquire(t, s, "b")
		l.Meta.NoMemory = true
		say(t, s, l, "hello")
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "b")); !got.NoMemory {
			t.Error("the first write does not store it")
		}
	})
}

func testSaidWithoutMemory(t *testing.T, s Stores) {
	off := func(v bool) harness.Session {
		return value[harness.Session](t)(s.Sessions.Edit(ctx(t), "a", harness.SessionEdit{NoMemory: &v}))
	}
	l := acquire(t, s, "a")
	say(t, s, l, "hello")
	if got := off(false); got.Distilled != 0 {
		t.Errorf("memory was on all the time, and it is read up to %d", got.Distilled)
	}
	if got := off(true); got.Distilled != 0 {
		t.Errorf("turned off, it is read up to %d", got.Distilled)
	}
	say(t, s, l, "between us")
	if got := off(false); got.Distilled != got.Records || got.Records != 2 {
		t.Errorf("turned on, it is read up to %d of %d", got.Distilled, got.Records)
	}
}

// add is an addition.
func add(text string) harness.Suggestion {
	return harness.Suggestion{Kind: harness.SuggestAdd, Text: text, By: harness.ByDistilled}
}

func suggest(t *testing.T, s Stores, what harness.Suggestion) harness.Suggestion {
	t.Helper()
	stored, filed, err := s.Inbox.Put(ctx(t), what, "")
	must(t, err)
	if !filed {
		t.Fatalf("%s %q is not filed", what.Kind, what.Text)
	}
	return stored
}

func waiting(t *testing.T, s Stores) string {
	t.Helper()
	var ids []string
	for _, one := range value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), harness.InboxFilter{})) {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

func wantWaiting(t *testing.T, s Stores, want string) {
	t.Helper()
	if got := waiting(t, s); got != want {
		t.Errorf("%q waits, want %q", got, want)
	}
}

func testSuggestionKept(t *testing.T, s Stores) {
	saveFact(t, s, "Never drinks tea")
	in := harness.Suggestion{
		Kind: harness.SuggestAdd, Text: " Likes tea ", Category: "taste", Tags: []string{"drink", " drink "}, Against: []string{"f1"},
		Why: "It was said.", Source: harness.Source{Session: "a", Message: 3, Quote: "I like tea"}, Own: true, By: harness.ByDistilled,
	}
	stored := suggest(t, s, in)
	want := in
	want.ID, want.Text, want.Tags, want.Created = "i1", "Likes tea", []string{"drink"}, s.Clock.Now()
	equal(t, "stored", stored, want)
	s = s.Reopen()
	equal(t, "read", value[harness.Suggestion](t)(s.Inbox.Get(ctx(t), "i1")), want)
	if got := factIDs(t, s, harness.MemoryFilter{State: harness.StateAny}); got != "f1" {
		t.Errorf("it is a fact already: %s", got)
	}
	suggest(t, s, add("Likes cake"))
	wantWaiting(t, s, "i1 i2")
	for id, f := range map[string]harness.InboxFilter{"i1": {Limit: 1}, "": {Fact: "f8"}} {
		got := ""
		for _, one := range value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), f)) {
			got += one.ID
		}
		if got != id {
			t.Errorf("%+v lists %q, want %q", f, got, id)
		}
	}
	if got := value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), harness.InboxFilter{Fact: "f1"})); len(got) != 1 || got[0].ID != "i1" {
		t.Errorf("against f9 stands %+v", got)
	}
	for _, id := range []string{"i3", "i0", "i01", "f1", "", "i", "book"} {
		_, err := s.Inbox.Get(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
		_, err = s.Inbox.Accept(ctx(t), id, harness.FactEdit{})
		wantErr(t, err, harness.ErrNotFound)
		wantErr(t, s.Inbox.Refuse(ctx(t), id), harness.ErrNotFound)
		_, err = s.Inbox.Reopen(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
	}
}

func testSuggestedOnce(t *testing.T, s Stores) {
	saveFact(t, s, "Likes coffee")
	one, filed, err := s.Inbox.Put(ctx(t), add("Likes tea"), "k")
	must(t, err)
	if !filed {
		t.Fatal("not filed")
	}
	again, filed, err := s.Inbox.Put(ctx(t), add("Something else"), "k")
	must(t, err)
	if equal(t, "the same key", again, one); filed {
		t.Error("the same key files again")
	}
	for _, text := range []string{"likes  TEA.", "Likes coffee", "likes coffee!"} {
		if _, filed, err = s.Inbox.Put(ctx(t), add(text), ""); err != nil || filed {
			t.Errorf("%q is filed: %v, %v", text, filed, err)
		}
	}
	same := harness.Suggestion{Kind: harness.SuggestChange, Fact: "f1", Text: "Likes coffee", Category: harness.DefaultCategory}
	if _, filed, err = s.Inbox.Put(ctx(t), same, ""); err != nil || filed {
		t.Errorf("a change to what it is already is filed: %v, %v", filed, err)
	}
	wantWaiting(t, s, "i1")
	for _, bad := range []harness.Suggestion{
		{}, add(" "), {Kind: "burn", Text: "x"}, {Kind: harness.SuggestChange, Fact: "f1"}, {Kind: harness.SuggestAdd, Text: "x", Fact: "f1"},
	} {
		if _, filed, err := s.Inbox.Put(ctx(t), bad, ""); err == nil || filed {
			t.Errorf("%+v is filed", bad)
		}
	}
	for _, id := range []string{"f7", "", "../x"} {
		_, _, err := s.Inbox.Put(ctx(t), harness.Suggestion{Kind: harness.SuggestRetire, Fact: id}, "")
		wantErr(t, err, harness.ErrNotFound)
	}
}

func testAcceptAdd(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "I like tea")
	in := add("Likes tea")
	in.Category, in.Source = "taste", harness.Source{Session: "a", Message: 1, Quote: "I like tea"}
	suggest(t, s, in)
	f := value[harness.Fact](t)(s.Inbox.Accept(ctx(t), "i1", harness.FactEdit{Tags: &[]string{"drink"}}))
	if f.ID != "f1" || f.Text != "Likes tea" || f.Category != "taste" || len(f.Tags) != 1 || f.By != harness.ByDistilled || !f.Accepted ||
		f.Source != in.Source || f.Session != "a" || f.State != harness.StateActive || f.Revision != 1 {
		t.Errorf("accepted as %+v", f)
	}
	s = s.Reopen()
	equal(t, "the fact", value[harness.Fact](t)(s.Facts.Get(ctx(t), "f1")), f)
	_, err := s.Inbox.Accept(ctx(t), "i1", harness.FactEdit{})
	wantErr(t, err, harness.ErrNotFound)
	wantErr(t, s.Inbox.Refuse(ctx(t), "i1"), harness.ErrNotFound)
	wantWaiting(t, s, "")

	must(t, s.Facts.Forget(ctx(t), "f1"))
	value[harness.Suggestion](t)(s.Inbox.Reopen(ctx(t), "i1"))
	wantWaiting(t, s, "i1") // also though what it became is in the trash
	must(t, s.Inbox.Refuse(ctx(t), "i1"))
	suggest(t, s, add("Plays chess"))
	if f := value[harness.Fact](t)(s.Inbox.Accept(ctx(t), "i2", harness.FactEdit{Text: ptr("Plays go")})); f.Text != "Plays go" || f.Category != harness.DefaultCategory {
		t.Errorf("accepted as %+v", f)
	}
	suggest(t, s, add("Plays cards"))
	if f := value[harness.Fact](t)(s.Inbox.Accept(ctx(t), "i3", harness.FactEdit{Text: ptr("plays GO")})); f.ID != "f2" || f.Text != "Plays go" {
		t.Errorf("a second fact of the same text: %+v", f)
	}
}

func testAcceptChange(t *testing.T, s Stores) {
	saveFact(t, s, "Works in Berlin")
	saveFact(t, s, "Works in Rome")
	change := harness.Suggestion{Kind: harness.SuggestChange, Fact: "f1", Text: "Works in Hamburg", By: harness.ByDistilled, Source: harness.Source{Session: "a", Message: 4}}
	if got := suggest(t, s, change); got.Revision != 1 {
		t.Errorf("it is about version %d", got.Revision)
	}
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Pinned: ptr(true)})) // says the same still
	f := value[harness.Fact](t)(s.Inbox.Accept(ctx(t), "i1", harness.FactEdit{Category: ptr("work")}))
	if f.ID != "f1" || f.Text != "Works in Hamburg" || f.Category != "work" || f.Revision != 3 || !f.Pinned || !f.Accepted || f.Source != change.Source {
		t.Errorf("changed to %+v", f)
	}
	if h := value[[]harness.Fact](t)(s.Facts.History(ctx(t), "f1")); len(h) != 3 || h[0].Text != "Works in Berlin" || h[0].Accepted {
		t.Errorf("its history is %+v", h)
	}
	change.Text = "Works in Kiel"
	suggest(t, s, change)
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Pinned: ptr(false)}))
	if got := value[harness.Suggestion](t)(s.Inbox.Get(ctx(t), "i2")); got.Stale {
		t.Error("a pin makes it stale")
	}
	value[harness.Fact](t)(s.Facts.Edit(ctx(t), "f1", harness.FactEdit{Text: ptr("Works in Bonn")}))
	if got := value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), harness.InboxFilter{})); len(got) != 1 || !got[0].Stale {
		t.Errorf("a stale one is listed as %+v", got)
	}
	_, err := s.Inbox.Accept(ctx(t), "i2", harness.FactEdit{})
	wantErr(t, err, harness.ErrStale)
	wantWaiting(t, s, "i2")
	change.Text = "works in rome"
	suggest(t, s, change)
	_, err = s.Inbox.Accept(ctx(t), "i3", harness.FactEdit{})
	wantErr(t, err, harness.ErrExists)
	s = s.Reopen()
	wantWaiting(t, s, "i2 i3")
	if f := value[harness.Fact](t)(s.Facts.Get(ctx(t), "f1")); f.Text != "Works in Bonn" || f.Revision != 5 {
		t.Errorf("what was not accepted changed the fact: %+v", f)
	}
}

func testAcceptRetire(t *testing.T, s Stores) {
	saveFact(t, s, "Has a car")
	retire := harness.Suggestion{Kind: harness.SuggestRetire, Fact: "f1", Text: "x", Why: "It was sold."}
	if got := suggest(t, s, retire); got.Text != "" || got.Why == "" {
		t.Errorf("filed as %+v", got)
	}
	if f := value[harness.Fact](t)(s.Inbox.Accept(ctx(t), "i1", harness.FactEdit{})); f.ID != "f1" || f.State != harness.StateTrashed {
		t.Errorf("retired as %+v", f)
	}
	value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1"))
	wantWaiting(t, s, "")
	value[harness.Suggestion](t)(s.Inbox.Reopen(ctx(t), "i1"))
	wantWaiting(t, s.Reopen(), "i1")
}

func testRefuse(t *testing.T, s Stores) {
	suggest(t, s, add("Likes tea"))
	must(t, s.Inbox.Refuse(ctx(t), "i1"))
	wantErr(t, s.Inbox.Refuse(ctx(t), "i1"), harness.ErrNotFound)
	s = s.Reopen()
	s.Clock.Add(29 * 24 * time.Hour)
	if _, filed, err := s.Inbox.Put(ctx(t), add("likes tea."), ""); err != nil || filed {
		t.Errorf("what was refused is filed again: %v, %v", filed, err)
	}
	if got := value[harness.Suggestion](t)(s.Inbox.Reopen(ctx(t), "i1")); got.Text != "Likes tea" {
		t.Errorf("put back %+v", got)
	}
	wantWaiting(t, s, "i1")
	must(t, s.Inbox.Refuse(ctx(t), "i1"))
	s.Clock.Add(31 * 24 * time.Hour)
	_, err := s.Inbox.Reopen(ctx(t), "i1")
	wantErr(t, err, harness.ErrNotFound)
	if got := suggest(t, s, add("Likes tea")); got.ID != "i2" {
		t.Errorf("filed as %s", got.ID)
	}
}

func testInboxForgets(t *testing.T, s Stores) {
	saveFact(t, s, "Works in Berlin")
	suggest(t, s, harness.Suggestion{Kind: harness.SuggestChange, Fact: "f1", Text: "Works in Hamburg"})
	suggest(t, s, harness.Suggestion{Kind: harness.SuggestRetire, Fact: "f1"})
	suggest(t, s, add("Has a dog"))
	saveFact(t, s, "has a dog.")
	wantWaiting(t, s, "i1 i2") // a fact says it by now
	must(t, s.Facts.Forget(ctx(t), "f1"))
	must(t, s.Facts.Forget(ctx(t), "f2"))
	s = s.Reopen()
	wantWaiting(t, s, "")
	for _, id := range []string{"i1", "i2", "i3"} {
		_, err := s.Inbox.Get(ctx(t), id)
		wantErr(t, err, harness.ErrNotFound)
		_, err = s.Inbox.Accept(ctx(t), id, harness.FactEdit{})
		wantErr(t, err, harness.ErrNotFound)
	}
	if _, filed, err := s.Inbox.Put(ctx(t), add("HAS A DOG"), ""); err != nil || filed {
		t.Errorf("what was forgotten is suggested: %v, %v", filed, err)
	}
	_, _, err := s.Inbox.Put(ctx(t), harness.Suggestion{Kind: harness.SuggestRetire, Fact: "f1"}, "")
	wantErr(t, err, harness.ErrNotFound)
	value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1"))
	wantWaiting(t, s, "i1 i2")
}

func testInboxForgetsWhatStandsAgainst(t *testing.T, s Stores) {
	saveFact(t, s, "Prefers tabs")
	saveFact(t, s, "Prefers wide tabs")
	against := add("Hates tabs")
	against.Against = []string{"f1", "f2"}
	suggest(t, s, against)
	want := func(ids ...string) {
		t.Helper()
		got := value[harness.Suggestion](t)(s.Inbox.Get(ctx(t), "i1"))
		list := value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), harness.InboxFilter{}))
		if !slices.Equal(got.Against, ids) || len(list) != 1 || !slices.Equal(list[0].Against, ids) {
			t.Errorf("it stands against %v, and %+v in the list, want %v", got.Against, list, ids)
		}
	}
	about := func(want int) {
		t.Helper()
		if got := value[[]harness.Suggestion](t)(s.Inbox.List(ctx(t), harness.InboxFilter{Fact: "f1"})); len(got) != want {
			t.Errorf("about f1 there are %+v", got)
		}
	}
	want("f1", "f2")
	about(1)
	must(t, s.Facts.Forget(ctx(t), "f1"))
	want("f2")
	about(0)
	must(t, s.Inbox.Refuse(ctx(t), "i1"))
	value[harness.Suggestion](t)(s.Inbox.Reopen(ctx(t), "i1"))
	value[harness.Fact](t)(s.Facts.Restore(ctx(t), "f1"))
	want("f1", "f2")
	about(1)
}

func testInboxSecrets(t *testing.T, s Stores) {
	const key = aKey
	saveFact(t, s, "Works in Berlin")
	for _, bad := range []harness.Suggestion{
		add("the key is " + key),
		{Kind: harness.SuggestAdd, Text: "x", Category: key},
		{Kind: harness.SuggestAdd, Text: "x", Tags: []string{key}},
		{Kind: harness.SuggestAdd, Text: "x", Why: "because of " + key},
		{Kind: harness.SuggestAdd, Text: "x", Source: harness.Source{Quote: key}},
		{Kind: harness.SuggestRetire, Fact: "f1", Why: key},
	} {
		_, _, err := s.Inbox.Put(ctx(t), bad, "")
		refused(t, "a suggestion", err)
	}
	suggest(t, s, add("Has a dog"))
	_, err := s.Inbox.Accept(ctx(t), "i1", harness.FactEdit{Text: ptr("the key is " + key)})
	refused(t, "an edit", err)
	wantWaiting(t, s, "i1")
}

func testDeliver(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "one", "two", "three")
	saveFact(t, s, "Likes tea")
	h := harness.Harvest{
		To: 2, Model: "x/y", Usage: harness.Usage{Input: 7, Output: 1},
		Suggestions: []harness.Suggestion{add("Has a dog"), add("likes TEA"), add("key sk-0123456789abcdef0123"), add("The password of the wifi is hunter2hunter2"), add(""), {Kind: harness.SuggestRetire, Fact: "f9"}, add("Has a cat")},
	}
	lost := l
	lost.Generation++
	_, err := s.Inbox.Deliver(ctx(t), lost, h)
	wantErr(t, err, harness.ErrLost)
	filed := value[[]harness.Suggestion](t)(s.Inbox.Deliver(ctx(t), l, h))
	if len(filed) != 2 || filed[0].Text != "Has a dog" || filed[1].Text != "Has a cat" {
		t.Errorf("filed %+v", filed)
	}
	got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a"))
	if got.Distilled != 2 || got.Usage.Input != 7 {
		t.Errorf("the session is %+v", got)
	}
	_, err = s.Inbox.Deliver(ctx(t), l, h)
	wantErr(t, err, harness.ErrStale)
	for _, to := range []int{1, 4} {
		if _, err := s.Inbox.Deliver(ctx(t), l, harness.Harvest{From: 2, To: to}); err == nil {
			t.Errorf("delivered up to %d of 3", to)
		}
	}
	value[[]harness.Suggestion](t)(s.Inbox.Deliver(ctx(t), l, harness.Harvest{From: 2, To: 3}))
	s = s.Reopen()
	wantWaiting(t, s, "i1 i2")
	gone := acquire(t, s, "none")
	_, err = s.Inbox.Deliver(ctx(t), gone, harness.Harvest{})
	wantErr(t, err, harness.ErrNotFound)
}
