package harnesstest

import (
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
	t.Parallel()
	run(t, "a change is told", open, func(t *testing.T, s Stores) {
		changed := value[<-chan struct{}](t)(s.Watcher.Watch(ctx(t)))
		say(t, s, acquire(t, s, "a"), "hello")
		<-changed
	})
}
