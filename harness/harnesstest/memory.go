package harnesstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
)

// TestNotes tests a [harness.Notes].
func TestNotes(t *testing.T, open Open) {
	t.Parallel()
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
	t.Parallel()
	run(t, "what was condensed is found, and the note is not", open, testSearchCondensed)
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
	testManySearched(t, open)
}

// testManySearched tests a searcher with more messages than one looks through.
func testManySearched(t *testing.T, open Open) {
	t.Helper()
	find := func(t *testing.T, s Stores, q string) []harness.Origin {
		t.Helper()
		var at []harness.Origin
		for _, h := range value[[]harness.Hit](t)(s.Searcher.Search(ctx(t), q, 0)) {
			at = append(at, harness.Origin{Session: h.Session, Record: h.Message})
		}
		return at
	}
	many := func(t *testing.T, s Stores, id harness.SessionID) {
		t.Helper()
		var records []harness.Record
		for i := range 700 {
			m := harness.UserText(fmt.Sprintf("pebble number p%dx", i))
			records = append(records, harness.Record{Message: &m})
		}
		_, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: id}, records)
		must(t, err)
	}
	run(t, "a message is found as soon as it is stored, however many there are", open, func(t *testing.T, s Stores) {
		many(t, s, "many")
		equal(t, "one of many", find(t, s, "p612x"), []harness.Origin{{Session: "many", Record: 613}})
		say(t, s, acquire(t, s, "many"), "the turnstile")
		equal(t, "the last", find(t, s, "turnstile"), []harness.Origin{{Session: "many", Record: 701}})
		s = s.Reopen()
		equal(t, "after the start", find(t, s, "p3x"), []harness.Origin{{Session: "many", Record: 4}})
		if n := len(find(t, s, "pebble")); n != 700 {
			t.Fatalf("%d messages of 700", n)
		}
	})
	run(t, "what is deleted is found again when it is back", open, func(t *testing.T, s Stores) {
		many(t, s, "many")
		many(t, s, "other")
		want := []harness.Origin{{Session: "many", Record: 8}, {Session: "other", Record: 8}}
		byID := func(at []harness.Origin) []harness.Origin {
			slices.SortFunc(at, func(a, b harness.Origin) int { return strings.Compare(string(a.Session), string(b.Session)) })
			return at
		}
		equal(t, "both", byID(find(t, s, "p7x")), want)
		must(t, s.Sessions.Delete(ctx(t), "many"))
		equal(t, "one is deleted", find(t, s, "p7x"), want[1:])
		must(t, s.Sessions.Restore(ctx(t), "many"))
		equal(t, "it is back", byID(find(t, s, "p7x")), want)
	})
	run(t, "all branches and the session of the words are found", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		say(t, s, l, "a question", "the first answer")
		must(t, s.Transcript.MoveHead(ctx(t), l, 1))
		say(t, s, l, "the second answer")
		fork := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), harness.Session{ID: "fork", Parent: &harness.Origin{Session: "a", Record: 2}}, harness.Holder{}))
		say(t, s, fork, "a word of the fork")
		equal(t, "left branch", find(t, s, `"first answer"`), []harness.Origin{{Session: "a", Record: 2}})
		equal(t, "present branch", find(t, s, `"second answer"`), []harness.Origin{{Session: "a", Record: 3}})
		equal(t, "in the fork", find(t, s, "fork"), []harness.Origin{{Session: "fork", Record: 1}})
	})
}

// TestWatcher tests a [harness.Watcher].
func TestWatcher(t *testing.T, open Open) {
	t.Parallel()
	run(t, "a change is told", open, func(t *testing.T, s Stores) {
		changed := value[<-chan struct{}](t)(s.Watcher.Watch(ctx(t)))
		say(t, s, acquire(t, s, "a"), "hello")
		<-changed
	})
}
