//nolint:gocognit // these are the tests themselves: a failure must point into them, and they list their cases
package harnesstest

import (
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
)

// TestDrafts tests a [harness.Drafts].
func TestDrafts(t *testing.T, open Open) {
	t.Parallel()
	load := func(t *testing.T, s Stores, id harness.SessionID) string {
		t.Helper()
		d := value[harness.Draft](t)(s.Drafts.Load(ctx(t), id))
		return strings.Join(append([]string{d.Text}, d.Queue...), " | ")
	}
	save := func(t *testing.T, s Stores, id harness.SessionID, text string, queue ...string) {
		t.Helper()
		must(t, s.Drafts.Save(ctx(t), id, harness.Holder{}, harness.Draft{Text: text, Queue: queue}))
	}
	run(t, "a session's draft is kept until it is empty", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "hello")
		save(t, s, "a", "half a", "queued")
		save(t, s, "a", "half a sentence", "queued")
		s = s.Reopen()
		if got := load(t, s, "a"); got != "half a sentence | queued" {
			t.Fatalf("draft %q", got)
		}
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")); !got.HasDraft {
			t.Fatal("the list does not show the draft")
		}
		save(t, s, "a", "", "queued")
		if got := load(t, s, "a"); got != " | queued" {
			t.Fatalf("draft %q", got)
		}
		save(t, s, "a", "")
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")); got.HasDraft || load(t, s, "a") != "" {
			t.Fatal("an empty draft is kept")
		}
	})
	run(t, "a draft keeps which message it is to replace", open, keepsWhatIsEdited)
	run(t, "the draft of a new chat becomes its session's", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		save(t, s, "a", "draft", "queued")
		if got := load(t, s, "a"); got != "draft | queued" {
			t.Fatalf("draft %q", got)
		}
		if got := list(t, s, harness.SessionFilter{}); got != "" {
			t.Fatalf("a draft alone is listed as session %q", got)
		}
		say(t, s, l, "hello")
		s = s.Reopen()
		if got := load(t, s, "a"); got != "draft | queued" {
			t.Fatalf("draft %q after the first message", got)
		}
		if got := value[harness.Draft](t)(s.Drafts.Adopt(ctx(t), "b", harness.Holder{})); got.Text != "" {
			t.Fatalf("adopted a session's draft %+v", got)
		}
	})
	run(t, "a new chat adopts the newest draft of the dead alone", open, func(t *testing.T, s Stores) {
		save(t, s, "b", "begun first")
		save(t, s, "a", "older")
		save(t, s, "b", "newer", "queued")
		if got := value[harness.Draft](t)(s.Drafts.Adopt(ctx(t), "c", harness.Holder{})); got.Text != "" {
			t.Fatalf("adopted from the living: %+v", got)
		}
		s = s.Reopen()
		save(t, s, "mine", "living")
		if got := value[harness.Draft](t)(s.Drafts.Adopt(ctx(t), "c", harness.Holder{})); got.Text != "newer" || len(got.Queue) != 1 {
			t.Fatalf("adopted %+v", got)
		}
		if load(t, s, "c") != "newer | queued" || load(t, s, "b") != "" {
			t.Fatalf("c has %q, b has %q", load(t, s, "c"), load(t, s, "b"))
		}
		if got := value[harness.Draft](t)(s.Drafts.Adopt(ctx(t), "d", harness.Holder{})); got.Text != "older" {
			t.Fatalf("adopted %+v second", got)
		}
		if got := value[harness.Draft](t)(s.Drafts.Adopt(ctx(t), "e", harness.Holder{})); got.Text != "" {
			t.Fatalf("adopted %+v third", got)
		}
	})
}

// keepsWhatIsEdited stores drafts that replace a message, and one that does not.
func keepsWhatIsEdited(t *testing.T, s Stores) {
	t.Helper()
	say(t, s, acquire(t, s, "a"), "hello")
	for _, want := range []*harness.Origin{{Record: 1}, {Session: "parent", Record: 7}, nil} {
		must(t, s.Drafts.Save(ctx(t), "a", harness.Holder{}, harness.Draft{Text: "hello!", Edits: want}))
		s = s.Reopen()
		got := value[harness.Draft](t)(s.Drafts.Load(ctx(t), "a"))
		if got.Text != "hello!" || (got.Edits == nil) != (want == nil) || want != nil && *got.Edits != *want {
			t.Errorf("%q edits %+v, want %+v", got.Text, got.Edits, want)
		}
	}
}

// TestPrompts tests a [harness.Prompts].
func TestPrompts(t *testing.T, open Open) {
	t.Parallel()
	run(t, "own prompts come first and deleted sessions' are left out", open, func(t *testing.T, s Stores) {
		for _, id := range []harness.SessionID{"a", "b"} {
			say(t, s, acquire(t, s, id), "hello")
		}
		for i := range 3 {
			must(t, s.Prompts.Add(ctx(t), "a", fmt.Sprint("a", i)))
			must(t, s.Prompts.Add(ctx(t), "b", fmt.Sprint("b", i)))
		}
		must(t, s.Prompts.Add(ctx(t), "new", "not stored yet"))
		s = s.Reopen()
		recent := func(id harness.SessionID, limit int) string {
			return strings.Join(value[[]string](t)(s.Prompts.Recent(ctx(t), id, limit)), " ")
		}
		for _, c := range []struct {
			id    harness.SessionID
			limit int
			want  string
		}{
			{"a", 0, "a2 a1 a0 not stored yet b2 b1 b0"},
			{"a", 2, "a2 a1"},
			{"b", 5, "b2 b1 b0 not stored yet a2"},
			{"none", 3, "not stored yet b2 a2"},
		} {
			if got := recent(c.id, c.limit); got != c.want {
				t.Errorf("recent of %s to %d: %q, want %q", c.id, c.limit, got, c.want)
			}
		}
		must(t, s.Sessions.Delete(ctx(t), "b"))
		if got := recent("a", 0); got != "a2 a1 a0 not stored yet" {
			t.Errorf("recent after delete: %q", got)
		}
		must(t, s.Sessions.Restore(ctx(t), "b"))
		if got := recent("a", 4); got != "a2 a1 a0 not stored yet" {
			t.Errorf("recent after restore: %q", got)
		}
	})
}
