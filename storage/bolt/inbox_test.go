package bolt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
	"cairn/storage/mem"
)

// memoryOf are the contracts that the inbox is about.
type memoryOf struct {
	facts harness.Facts
	inbox harness.Inbox
}

// Whatever is done to facts and suggestions, the file and the memory agree on
// the outcome and on what is left.
func TestInboxOnDiskIsTheOneInMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		clock := harnesstest.NewClock()
		path := filepath.Join(dir, fmt.Sprint(n), bolt.FileName)
		db := openAt(t, path, clock)
		m := mem.New(clock.Now)
		both := []memoryOf{{db.Facts(), db.Inbox()}, {m.Facts(), m.Inbox()}}
		texts := rapid.SampledFrom([]string{"Likes tea", "likes TEA.", "Has a dog", "Works in Berlin", "Works in Bonn"})
		facts := rapid.SampledFrom([]string{"f1", "f2", "f3"})
		ideas := rapid.SampledFrom([]string{"i1", "i2", "i3", "i4", "i5"})
		agree := func(what string, do func(memoryOf) (any, error)) {
			var got [2]string
			for i, one := range both {
				v, err := do(one)
				raw, jsonErr := json.Marshal(v)
				if jsonErr != nil {
					rt.Fatal(jsonErr)
				}
				got[i] = string(raw)
				for _, known := range []error{harness.ErrNotFound, harness.ErrExists, harness.ErrStale, harness.ErrDamaged} {
					if errors.Is(err, known) {
						got[i] = known.Error()
					}
				}
				if err != nil && got[i] == string(raw) {
					got[i] = "another error"
				}
			}
			if got[0] != got[1] {
				rt.Fatalf("%s: the file says %s, the memory %s", what, got[0], got[1])
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"save": func(rt *rapid.T) {
				text := texts.Draw(rt, "text")
				agree("save", func(s memoryOf) (any, error) {
					f, _, err := s.facts.Save(rt.Context(), harness.Fact{Text: text}, "")
					return f, err
				})
			},
			"edit": func(rt *rapid.T) {
				id, text := facts.Draw(rt, "id"), texts.Draw(rt, "text")
				agree("edit", func(s memoryOf) (any, error) { return s.facts.Edit(rt.Context(), id, harness.FactEdit{Text: &text}) })
			},
			"forget": func(rt *rapid.T) {
				id := facts.Draw(rt, "id")
				agree("forget", func(s memoryOf) (any, error) { return nil, s.facts.Forget(rt.Context(), id) })
			},
			"restore": func(rt *rapid.T) {
				id := facts.Draw(rt, "id")
				agree("restore", func(s memoryOf) (any, error) { return s.facts.Restore(rt.Context(), id) })
			},
			"suggest": func(rt *rapid.T) {
				s := harness.Suggestion{Kind: rapid.SampledFrom([]harness.SuggestionKind{harness.SuggestAdd, harness.SuggestChange, harness.SuggestRetire}).Draw(rt, "kind")}
				key := rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(rt, "key")
				if s.Text = texts.Draw(rt, "text"); s.Kind != harness.SuggestAdd {
					s.Fact = facts.Draw(rt, "fact")
				}
				agree("suggest", func(m memoryOf) (any, error) {
					stored, filed, err := m.inbox.Put(rt.Context(), s, key)
					return []any{stored, filed}, err
				})
			},
			"accept": func(rt *rapid.T) {
				id := ideas.Draw(rt, "id")
				agree("accept", func(s memoryOf) (any, error) { return s.inbox.Accept(rt.Context(), id, harness.FactEdit{}) })
			},
			"refuse": func(rt *rapid.T) {
				id := ideas.Draw(rt, "id")
				agree("refuse", func(s memoryOf) (any, error) { return nil, s.inbox.Refuse(rt.Context(), id) })
			},
			"reopen": func(rt *rapid.T) {
				id := ideas.Draw(rt, "id")
				agree("reopen", func(s memoryOf) (any, error) { return s.inbox.Reopen(rt.Context(), id) })
			},
			"wait": func(rt *rapid.T) {
				clock.Add(time.Duration(rapid.IntRange(0, 20).Draw(rt, "days")) * 24 * time.Hour)
			},
			"": func(rt *rapid.T) {
				agree("list", func(s memoryOf) (any, error) { return s.inbox.List(rt.Context(), harness.InboxFilter{}) })
				agree("facts", func(s memoryOf) (any, error) {
					return s.facts.List(rt.Context(), harness.MemoryFilter{State: harness.StateAny})
				})
			},
		})
		if r, err := db.Check(rt.Context()); err != nil || len(r.Problems) > 0 {
			rt.Fatalf("the check finds %v, %v", r.Problems, err)
		}
	})
}

// Of two windows that accept the same suggestion one does.
func TestASuggestionIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	one, two := openAt(t, path, harnesstest.NewClock()), openAt(t, path, harnesstest.NewClock())
	for i := range 10 {
		s, _, err := one.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: fmt.Sprint("Fact ", i)}, "")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for j, db := range []*bolt.DB{one, two} {
			wg.Go(func() { _, errs[j] = db.Inbox().Accept(t.Context(), s.ID, harness.FactEdit{}) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, harness.ErrNotFound):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d accepted %s", won, s.ID)
		}
	}
	if list, err := two.Facts().List(t.Context(), harness.MemoryFilter{}); err != nil || len(list) != 10 {
		t.Errorf("%d facts, %v", len(list), err)
	}
}

// What was decided is forgotten with the trash; what waits stays.
func TestDecidedSuggestionsArePurged(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	for _, text := range []string{"One", "Two", "Three"} {
		if _, _, err := db.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: text}, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Inbox().Refuse(t.Context(), "i1"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Inbox().Accept(t.Context(), "i2", harness.FactEdit{}); err != nil {
		t.Fatal(err)
	}
	clock.Add(31 * 24 * time.Hour)
	if _, err := db.Purge(t.Context(), clock.Now().Add(-30*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := db.Inbox().List(t.Context(), harness.InboxFilter{}); err != nil || len(list) != 1 || list[0].ID != "i3" {
		t.Errorf("%+v waits, %v", list, err)
	}
	if _, filed, err := db.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "Four"}, "Three"); err != nil || filed {
		t.Errorf("the key of one that waits files again: %v, %v", filed, err)
	}
	if s, filed, err := db.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "One"}, ""); err != nil || !filed || s.ID != "i4" {
		t.Errorf("filed as %s: %v, %v", s.ID, filed, err)
	}
	if r, err := db.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("the check finds %v, %v", r.Problems, err)
	}
}
