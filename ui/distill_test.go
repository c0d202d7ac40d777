package ui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// reader stands for the reading of a conversation, and counts.
type reader struct {
	calls int
	what  chat.Distilled
	err   error
}

func (r *reader) distill(context.Context, harness.Lease) (chat.Distilled, error) {
	r.calls++
	return r.what, r.err
}

// with are the parts of a window with an inbox and a reader.
func with(w *uitest.World, id harness.SessionID, r *reader) ui.Deps {
	d := w.Deps(id, true)
	d.Inbox, d.Distill = w.Store.Inbox(), r.distill
	return d
}

func TestWhatWasSaidIsReadOnceItIsQuiet(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		s, _, err := w.Store.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "Likes \x1b[2Jtea"}, "")
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{what: chat.Distilled{Suggested: []harness.Suggestion{s}}}
		d := w.Start(with(w, "talk", r), 80, 24)
		d.Shows("1 in the inbox: /inbox")
		d.Type("hello").Press("enter").Wait(5 * time.Second)
		d.Type("again").Press("enter").Wait(7 * time.Second)
		if r.calls != 0 {
			t.Fatalf("it was read %d times while it was not quiet", r.calls)
		}
		d.Wait(5 * time.Second).Shows("1 fact suggested: /inbox")
		d.Wait(time.Hour)
		if r.calls != 1 {
			t.Errorf("it was read %d times behind one turn", r.calls)
		}
		d.Type("/inbox").Press("enter").Shows("[3 Inbox 1]", "Likes ␛[2Jtea").Press("a").Wait(time.Second)
		if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || !f.Accepted {
			t.Errorf("accepted %+v, %v", f, err)
		}
		d.Press("u").Wait(time.Second)
		if list, err := w.Store.Inbox().List(t.Context(), harness.InboxFilter{}); err != nil {
			t.Error(err)
		} else if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || f.State != harness.StateTrashed && len(list) == 0 {
			t.Errorf("undone to %+v with %+v waiting, %v", f, list, err)
		}
	})
}

func TestWhatWasKeptAtOnceIsUndoneWithOneKey(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		f, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "Has a dog"}, "")
		if err != nil {
			t.Fatal(err)
		}
		d := w.Start(with(w, "talk", &reader{what: chat.Distilled{Accepted: []harness.Fact{f}}}), 80, 24)
		d.Type("hello").Press("enter").Wait(20*time.Second).Shows("f1: Has a dog", "undoes it")
		d.Press("ctrl+_").Wait(time.Second)
		if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || f.State != harness.StateTrashed {
			t.Errorf("it is %+v, %v", f, err)
		}
	})
}

func TestTroubleOfReadingIsToldOnce(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		r := &reader{err: errors.New("no network")}
		d := w.Start(with(w, "talk", r), 80, 24)
		d.Type("one").Press("enter").Wait(20 * time.Second).Shows("was not read for facts")
		d.Type("two").Press("enter").Wait(20 * time.Second)
		if r.calls != 2 {
			t.Errorf("it was tried %d times", r.calls)
		}
	})
}

func TestAChatWithoutMemoryIsNotReadAndSaysSo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		r := &reader{}
		d := w.Start(with(w, "talk", r), 80, 24)
		d.Type("/memory off").Press("enter").Shows("memory is off in this chat: nothing is recalled", "memory off")
		d.Type("hello").Press("enter").Wait(20 * time.Second)
		if r.calls != 0 {
			t.Error("it was read")
		}
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err != nil || !s.NoMemory {
			t.Errorf("the session is %+v, %v", s, err)
		}
		d.Type("/memory off").Press("enter").Shows("off in this chat already")
		d.Type("/memory loud").Press("enter").Shows(chat.MemoryUsage[:30])
		d.Type("/remember I like tea").Press("enter").Shows("remembered f1", "memory is off in this chat")
		d.Type("/memory on").Press("enter").Shows("memory is on in this chat").Wait(time.Second)
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err != nil || s.NoMemory {
			t.Errorf("the session is %+v, %v", s, err)
		}
		d.Press("ctrl+_").Wait(time.Second)
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err != nil || !s.NoMemory {
			t.Errorf("undone, the session is %+v, %v", s, err)
		}
		d = w.Start(with(w, "other", r), 80, 24)
		d.Type("hello").Press("enter").Wait(20 * time.Second)
		if r.calls != 1 {
			t.Errorf("a chat with memory is read %d times", r.calls)
		}
	})
}
