package distill_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/distill"
	"cairn/harness/model"
)

// A turn that waits for a decision is read once it is over.
func TestARunThatHasNotEndedIsNotRead(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t))
	w.say(t, "I have a dog and a car", "Nice.")
	m := harness.UserText("I have a cat and a boat")
	if _, err := w.st.Transcript().Append(t.Context(), w.lease, harness.Record{Message: &m, Run: "r"}); err != nil {
		t.Fatal(err)
	}
	w.d.Sessions = running{w.st.Sessions(), "r"}
	w.read(t)
	if n := len(w.model.requests); n != 1 || strings.Contains(w.model.requests[0].Messages[0].Text(), "boat") || w.session(t).Distilled != 2 {
		t.Errorf("%d calls, read to %d", n, w.session(t).Distilled)
	}
}

// running are sessions with a run that has not ended.
type running struct {
	harness.Sessions

	id harness.RunID
}

func (r running) Get(ctx context.Context, id harness.SessionID) (harness.Session, error) {
	s, err := r.Sessions.Get(ctx, id)
	s.OpenRun = r.id
	return s, err
}

// What a small model reads fits it, whatever is known and said.
func TestASmallWindowIsNotOverrun(t *testing.T) {
	t.Parallel()
	const window = 4_096
	w := open(t, facts(t), facts(t), facts(t))
	w.d.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return w.model, model.Info{Local: true, Window: window}, "test/model", nil
	}
	for i := range 30 {
		if _, _, err := w.st.Facts().Save(t.Context(), harness.Fact{Text: fmt.Sprint(i, strings.Repeat(" word of a fact", 100))}, ""); err != nil {
			t.Fatal(err)
		}
	}
	w.say(t, strings.Repeat("狗 word ", 5_000), "Nice.", strings.Repeat("12 dogs 🐕 ", 500), "Yes.")
	w.read(t)
	if len(w.model.requests) == 0 {
		t.Fatal("nothing was read")
	}
	for _, r := range w.model.requests {
		n := memory.Estimate(r.Messages[0]) + memory.Estimate(harness.UserText(r.System)) + r.MaxOutput
		if n > window {
			t.Errorf("a request and its reply of %d tokens", n)
		}
	}
}

// A person who goes on at once ends the reading, but not the keeping of what was
// found.
func TestWhatWasPaidForIsKept(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t, map[string]any{"action": "add", "text": "Has a dog", "source": 1}))
	w.say(t, "I have a dog and a car", "Nice.")
	ctx, stop := context.WithCancel(t.Context())
	w.model.then = stop
	if found, err := w.d.Session(ctx, w.lease); len(found.Suggested) != 1 || len(w.waiting(t)) != 1 {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestWhatIsLeftIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, facts(t, map[string]any{"action": "add", "text": "Has a dog", "source": 1}))
		w.say(t, "I have a dog and a car", "Nice.")
		if found, err := w.d.CatchUp(t.Context()); err != nil || len(found.Suggested) != 0 || len(w.model.requests) != 0 {
			t.Errorf("a session that is open is read: %+v, %v", found, err)
		}
		if err := w.st.Owners().Release(t.Context(), w.lease); err != nil {
			t.Fatal(err)
		}
		if found, err := w.d.CatchUp(t.Context()); err != nil || len(found.Suggested) != 1 {
			t.Errorf("found %+v, %v", found, err)
		}
		if s := w.session(t); s.Owner != nil {
			t.Error("it is still held")
		}
	})
}

// A start makes a few calls and no more, and pinned sessions do not push out the
// others.
func TestAStartMakesAFewCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make([]string, 30)
		for i := range answers {
			answers[i] = facts(t)
		}
		w := open(t, answers...)
		pinned := true
		for i := range 30 {
			l, err := w.st.Owners().Acquire(t.Context(), harness.Session{ID: harness.SessionID(fmt.Sprint("c", i))}, harness.Holder{})
			if err != nil {
				t.Fatal(err)
			}
			w.lease = l
			w.say(t, "I have a dog and a car", "Nice.")
			if _, err := w.st.Sessions().Edit(t.Context(), l.Session, harness.SessionEdit{Pinned: &pinned}); err != nil {
				t.Fatal(err)
			}
			if err := w.st.Owners().Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.d.CatchUp(t.Context()); err != nil || len(w.model.requests) != 5 {
			t.Errorf("%d calls, %v", len(w.model.requests), err)
		}
	})
}

// What a model will never read does not stand in the way of what follows.
func TestAPartThatIsRefusedIsPassedOver(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.model.err = &model.Error{Kind: model.KindOverflow, Message: "too long"}
	w.say(t, "I have a dog and a car", "Nice.")
	w.read(t)
	if w.session(t).Distilled != 2 || len(w.model.requests) != 1 {
		t.Errorf("read to %d with %d calls", w.session(t).Distilled, len(w.model.requests))
	}
}

// What is read at a start waits also in auto, because nobody is told of it, and a
// session that cannot be read keeps no other from being read.
func TestCatchingUpKeepsNothingAtOnceAndGoesOnPastTrouble(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t, map[string]any{"action": "add", "text": "Has a dog", "source": 1, "quote": "I have a dog"}))
	w.d.Mode = distill.Auto
	w.say(t, "I have a dog and a car", "Nice.")
	if err := w.st.Owners().Release(t.Context(), w.lease); err != nil {
		t.Fatal(err)
	}
	l, err := w.st.Owners().Acquire(t.Context(), harness.Session{ID: "broken"}, harness.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	m := harness.UserText("I have a cat and a bus")
	if _, err := w.st.Transcript().Append(t.Context(), l, harness.Record{Message: &m}); err != nil {
		t.Fatal(err)
	}
	if err := w.st.Owners().Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	good := w.d.Model
	w.d.Model = func(ctx context.Context, s harness.Session) (model.Model, model.Info, string, error) {
		if s.ID == "broken" {
			return nil, model.Info{}, "", errors.New("no key")
		}
		return good(ctx, s)
	}
	found, err := w.d.CatchUp(t.Context())
	if err == nil || len(found.Accepted) != 0 || len(found.Suggested) != 1 || len(w.waiting(t)) != 1 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// What was said in a run without memory is never read, also not later.
func TestARunWithoutMemoryIsNeverRead(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t))
	w.d.Run = func(_ context.Context, id harness.RunID) (harness.Run, error) {
		if id == "lost" {
			return harness.Run{}, harness.ErrNotFound
		}
		return harness.Run{Config: harness.RunConfig{NoMemory: id == "private"}}, nil
	}
	for _, said := range [][2]string{{"private", "My secret garden is in Rome"}, {"open", "I have a dog and a car"}, {"lost", "I have a cat and a bus"}} {
		m := harness.UserText(said[1])
		if _, err := w.st.Transcript().Append(t.Context(), w.lease, harness.Record{Run: harness.RunID(said[0]), Message: &m}); err != nil {
			t.Fatal(err)
		}
	}
	w.read(t)
	text := w.model.requests[0].Messages[0].Text()
	if strings.Contains(text, "garden") || !strings.Contains(text, "dog") || !strings.Contains(text, "cat") || w.session(t).Distilled != 3 {
		t.Errorf("it reads %s, up to %d", text, w.session(t).Distilled)
	}
}

// Of a long conversation that nobody ever read only the recent part is read, and
// the rest is not come back to.
func TestALongPastIsPassedOver(t *testing.T) {
	t.Parallel()
	w := open(t, facts(t), facts(t), facts(t))
	for i := range 600 {
		w.say(t, fmt.Sprintf("I have told you story number %d", i), "Yes.")
	}
	w.read(t)
	first := w.model.requests[0].Messages[0].Text()
	if strings.Contains(first, "number 470\"") || !strings.Contains(first, "number 472\"") {
		t.Errorf("it begins with %.300s", first)
	}
	for w.session(t).Distilled < 1_200 {
		before := w.session(t).Distilled
		if w.read(t); w.session(t).Distilled == before {
			t.Fatalf("it stays at %d", before)
		}
	}
	if n := len(w.model.requests); n > 3 {
		t.Errorf("%d calls", n)
	}
}
