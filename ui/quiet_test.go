package ui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// reading is a reader of conversations under the control of a test.
type reading struct {
	leases []harness.Lease
	ended  int           // readings that their context ended
	takes  time.Duration // how long a reading takes
	what   chat.Distilled
	err    error
}

func (r *reading) distill(ctx context.Context, l harness.Lease) (chat.Distilled, error) {
	r.leases = append(r.leases, l)
	select {
	case <-time.After(r.takes):
		return r.what, r.err
	case <-ctx.Done():
		r.ended++
		return chat.Distilled{}, ctx.Err()
	}
}

// distilling starts a window that reads what was said with r.
func distilling(w *uitest.World, r *reading, id harness.SessionID) *uitest.Driver {
	d := w.Deps(id, true)
	d.Inbox, d.Distill = w.Store.Inbox(), r.distill
	return w.Start(d, 120, 40)
}

func TestReadingWaitsForTheQuietBehindATurn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		r := &reading{what: chat.Distilled{Suggested: []harness.Suggestion{
			{Kind: harness.SuggestAdd}, {Kind: harness.SuggestAdd}, {Kind: harness.SuggestRetire},
		}}}
		d := distilling(w, r, "talk")
		d.Type("hello").Press("enter").Wait(time.Second).Shows("echo hello").Wait(6 * time.Second)
		if len(r.leases) != 0 {
			t.Fatal("read before it was quiet for long enough")
		}
		d.Wait(3 * time.Second).Shows("2 facts and 1 change suggested: /inbox")
		if len(r.leases) != 1 || r.leases[0].Session != "talk" || r.leases[0].Generation == 0 {
			t.Fatalf("read with %+v", r.leases)
		}
		before := d.Updates()
		d.Wait(time.Hour)
		if len(r.leases) != 1 || d.Updates() != before {
			t.Errorf("read %d times, %d updates while nothing happened", len(r.leases), d.Updates()-before)
		}
	})
}

func TestANewTurnEndsTheReading(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		r := &reading{takes: time.Minute}
		d := distilling(w, r, "talk")
		d.Type("one").Press("enter").Wait(5 * time.Second).Type("two").Press("enter").Wait(6 * time.Second)
		if len(r.leases) != 0 {
			t.Fatal("the quiet behind the first turn went on")
		}
		d.Wait(5 * time.Second)
		if len(r.leases) != 1 || r.ended != 0 {
			t.Fatalf("read %d times, %d ended", len(r.leases), r.ended)
		}
		d.Type("three").Press("enter").Wait(time.Second).Shows("echo three")
		if r.ended != 1 {
			t.Error("the reading went on beside the turn")
		}
		d.Wait(9 * time.Second).Press("ctrl+n").Wait(time.Second).Shows("New chat")
		if r.ended != 2 {
			t.Errorf("%d readings ended when the chat was left", r.ended)
		}
	})
}

func TestWhatWasAcceptedIsSaidAndUndone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		f, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "Lives in \x1b[2JPorto", By: harness.ByDistilled}, "")
		if err != nil {
			t.Fatal(err)
		}
		d := distilling(w, &reading{what: chat.Distilled{Accepted: []harness.Fact{f}}}, "talk")
		d.Type("I live in Porto").Press("enter").Wait(10 * time.Second)
		d.Shows("remembered f1: Lives in ␛[2JPorto · ctrl+_ undoes it").Press("ctrl+_").Shows("forgot f1 again")
		if got := fact(t, w, "f1"); got.State != harness.StateTrashed {
			t.Errorf("the fact is %s", got.State)
		}
	})
}

func TestWhyReadingFailedIsSaidOnce(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		r := &reading{err: errors.New("the model is away")}
		d := distilling(w, r, "talk")
		d.Type("one").Press("enter").Wait(10 * time.Second).Shows("was not read for facts to remember: The model is away.")
		d.Type("/redraw").Press("enter").Type("two").Press("enter").Wait(10 * time.Second)
		if n := count(d.Screen(), "The model is away"); len(r.leases) != 2 || n != 1 {
			t.Errorf("read %d times, said %d times", len(r.leases), n)
		}
	})
}

func TestNothingIsReadWhereMemoryIsOff(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *uitest.Driver)
		with   func(d *uiDeps)
	}{
		"turned off before the first message": {change: func(d *uitest.Driver) { d.Type("/memory off").Press("enter").Type("hello").Press("enter") }},
		"turned off meanwhile": {change: func(d *uitest.Driver) {
			d.Type("hello").Press("enter").Wait(3 * time.Second).Type("/memory off").Press("enter")
		}},
		"ephemeral": {change: func(d *uitest.Driver) { d.Type("hello").Press("enter") }, with: func(d *uiDeps) { d.Ephemeral = true }},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				r := new(reading)
				deps := w.Deps("talk", true)
				deps.Distill = r.distill
				if c.with != nil {
					c.with(&deps)
				}
				d := w.Start(deps, 80, 24)
				c.change(d)
				d.Wait(time.Minute).Shows("hello")
				if len(r.leases) != 0 {
					t.Error("it was read")
				}
			})
		})
	}
}

func TestTheInboxIsToldAtTheStartAndOpened(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		if _, filed, err := w.Store.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "Lives in Porto", By: harness.ByDistilled}, ""); err != nil || !filed {
			t.Fatal(filed, err)
		}
		d := distilling(w, new(reading), "talk")
		d.Shows("1 in the inbox: /inbox").Press("ctrl+n").Wait(time.Second).Hides("in the inbox")
		d.Type("/inbox").Press("enter").Shows("[3 Inbox 1", "Lives in Porto").Press("a").Shows("f1")
		if got := fact(t, w, "f1"); got.Text != "Lives in Porto" || !got.Accepted {
			t.Errorf("kept %+v", got)
		}
	})
}
