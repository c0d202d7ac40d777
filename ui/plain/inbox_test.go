package plain_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestTheInboxIsDecidedByNumberInPlain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		facts, inbox := w.Store.Facts(), w.Store.Inbox()
		old, _, err := facts.Save(t.Context(), harness.Fact{Text: "Lives in Porto"}, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []harness.Suggestion{
			{Kind: harness.SuggestAdd, Text: "Has a \x1b[2Jdog", Source: harness.Source{Session: "old", Message: 3, Quote: "my dog"}},
			{Kind: harness.SuggestChange, Fact: old.ID, Revision: old.Revision, Text: "Lives in Lisbon", Why: "moved"},
			{Kind: harness.SuggestAdd, Text: "Likes tea"},
		} {
			if _, filed, err := inbox.Put(t.Context(), s, ""); err != nil || !filed {
				t.Fatal(filed, err)
			}
		}
		d := deps(w.Deps("talk", true))
		d.Chat.Inbox = inbox
		k := start(t, d)
		k.shows("3 in the inbox: /inbox").say("/accept 1").shows("no suggestion has that number; /inbox lists them")
		k.say("/inbox").shows("  1  add: Has a ␛[2Jdog", `from: session old, message 3: "my dog"`,
			"  2  change f1: Lives in Porto", "to: Lives in Lisbon", "because: moved", "  3  add: Likes tea")
		k.say("/accept 2").shows("changed f1: Lives in Lisbon").say("/refuse 3").shows("refused i3").say("/accept 1").shows("remembered f2: Has a ␛[2Jdog")
		k.say("/accept 1", "/accept").shows("write the number after it").say("/inbox").shows("nothing is in the inbox")
		if all, err := facts.List(t.Context(), harness.MemoryFilter{}); err != nil || len(all) != 2 {
			t.Errorf("kept %+v, %v", all, err)
		}
	})
}

func TestMemoryIsTurnedOffInPlain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		k := start(t, deps(w.Deps("talk", true)))
		k.say("/memory off").shows("memory is off in this chat: nothing is recalled", "/memory on turns it on again")
		k.say("hello").wait(time.Second).say("/remember the sky is green").shows("remembered f1; memory is off in this chat")
		s, err := w.Store.Sessions().Get(t.Context(), "talk")
		if err != nil || !s.NoMemory {
			t.Errorf("the session is %+v, %v", s, err)
		}
		f, err := w.Store.Facts().Get(t.Context(), "f1")
		if err != nil || f.Source.Session != "talk" || f.Source.Message != 2 {
			t.Errorf("the fact is %+v, %v", f, err)
		}
		k.say("/memory off").shows("memory is off in this chat already").say("/memory on").shows("- memory is on in this chat")
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err != nil || s.NoMemory {
			t.Errorf("the session is %+v, %v", s, err)
		}
	})
}
