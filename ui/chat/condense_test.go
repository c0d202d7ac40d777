package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// golden compares a screen with the one that is stored.
func golden(t *testing.T, name string, size [2]int, d *uitest.Driver) {
	t.Helper()
	stored.Compare(t, *update, name, size[0], size[1], d.Screen())
}

// condenser stands for what condenses a session.
type condenser struct {
	w    *uitest.World
	plan chat.CompactPlan
	// parts are stored one after the other, each after a time.
	parts []harness.Condensed
	each  time.Duration
	err   error
	asked []chat.Compaction
}

func (c *condenser) wire(d ui.Deps) ui.Deps {
	d.Plan = func(context.Context, harness.SessionID, chat.Compaction) (chat.CompactPlan, error) {
		return c.plan, nil
	}
	d.Compact = c.compact
	return d
}

func (c *condenser) compact(ctx context.Context, l harness.Lease, what chat.Compaction, tell func(done, of int)) (chat.Compacted, error) {
	c.asked = append(c.asked, what)
	var out chat.Compacted
	for i, p := range c.parts {
		tell(i, len(c.parts))
		select {
		case <-time.After(c.each):
		case <-ctx.Done():
			return out, ctx.Err()
		}
		if err := c.store(ctx, l, p); err != nil {
			return out, err
		}
		out.Messages += p.Dropped
	}
	return out, c.err
}

func (c *condenser) store(ctx context.Context, l harness.Lease, p harness.Condensed) error {
	data, err := json.Marshal(p)
	if err == nil {
		_, err = c.w.Store.Transcript().Append(ctx, l, harness.Record{Kind: harness.RecordCondensed, Data: data, At: time.Now()})
	}
	return err
}

// long stores a chat of so many turns.
func long(w *uitest.World, turns int) {
	var texts []string
	for i := range turns {
		texts = append(texts, fmt.Sprintf("question %d", i+1), fmt.Sprintf("answer %d", i+1))
	}
	w.Tell("talk", "Stones", time.Now(), texts...)
}

// note is a condensing of the first messages of long.
func note(messages int) harness.Condensed {
	return harness.Condensed{
		Note: "They asked about stones,\nand were \x1b[31mtold\u202e.", Kept: messages + 1, Messages: messages, Dropped: messages, Before: 11_200, After: 3_900, Asked: true,
	}
}

func TestCompactSaysWhatItDidAndMarksWhatIsAbove(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 4)
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 1, Messages: 4}, parts: []harness.Condensed{note(4)}, each: time.Second}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 40)
		d.Type("/compact the stones").Press("enter").Wait(500 * time.Millisecond).Shows("● condensing… · esc stops").Hides("not in context")
		d.Wait(time.Second).Hides("condensing").Shows(
			"condensed 4 messages into 45 characters; 11,200 -> 3,900 tokens", "── not in context above ──",
			"4 messages above stand as a note of 45 characters · ctrl+x c shows it", "you · 00:00 · not in context", "cairn · 00:01 · not in context", "you · 00:04\n",
		)
		if len(c.asked) != 1 || c.asked[0].Focus != "the stones" || c.asked[0].Prune {
			t.Errorf("asked for %+v", c.asked)
		}
		d.Press("ctrl+x", "c").Shows("ctrl+x c folds it", "They asked about stones,", "and were ␛[31mtold⟨U+202E⟩.")
		d.Press("ctrl+x", "c").Hides("They asked about")
		said(t, w, "talk", "question 1 | answer 1 | question 2 | answer 2 | question 3 | answer 3 | question 4 | answer 4")
		d = w.Open("talk", 80, 40) // it is read-only, and shows the same
		d.Shows("condensed 4 messages into", "4 messages above stand as", "you · 00:00 · not in context").Type("/note").Press("enter").Shows("They asked about stones")
		d.Type("/compact").Press("enter").Shows("read-only: /takeover")
	})
}

func TestPartsOfOneCondensingAreToldTogether(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 6)
		first, second := note(4), note(8)
		first.After, second.Before, second.Dropped, second.Cleared = 9_000, 9_000, 4, 2
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 2}, parts: []harness.Condensed{first, second}, each: time.Second}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 40)
		d.Type("/compact").Press("enter").Wait(500 * time.Millisecond).Shows("condensing, part 1 of 2…").Wait(time.Second).Shows("part 2 of 2…")
		d.Wait(time.Second).Shows("condensed 8 messages into 45 characters and left out 2 old tool results; 11,200\n-> 3,900 tokens", "8 messages above stand as")
		if n := strings.Count(d.Screen(), "condensed 4 messages"); n != 0 {
			t.Errorf("a part is told by itself:\n%s", d.Screen())
		}
	})
}

func TestCondensingIsStoppedAndNothingIsLost(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+c"} {
		in(t, func(t *testing.T, w *uitest.World) {
			long(w, 6)
			c := &condenser{w: w, plan: chat.CompactPlan{Calls: 2}, parts: []harness.Condensed{note(4), note(8)}, each: time.Second}
			d := w.Start(c.wire(w.Deps("talk", false)), 80, 40)
			d.Type("/compact").Press("enter").Wait(1500*time.Millisecond).Press(key).Wait(2*time.Second).
				Shows("stopped condensing; nothing is lost", "condensed 4 messages", "4 messages above stand as a note").Hides("8 messages")
			d.Type("go on").Press("enter").Wait(time.Second).Shows("echo go on")
		})
	}
}

func TestAMessageWaitsForTheCondensing(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 4)
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 1}, parts: []harness.Condensed{note(4)}, each: time.Second}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 30)
		d.Type("/compact").Press("enter").Type("and then?").Press("enter").Shows("queued 1: ", "and then?").Hides("enter send").Wait(500*time.Millisecond).Shows("queued 1", "condensing")
		d.Type("/undo").Press("enter").Shows("old messages are being condensed; stop that first")
		d.Type("/pin").Press("enter").Shows("old messages are being condensed; stop that first")
		d.Wait(2*time.Second).Shows("condensed 4 messages", "echo and then?").Hides("queued")
	})
}

func TestCondensingIsAskedAboutWhenItTakesManyCalls(t *testing.T) {
	ask := func(t *testing.T, w *uitest.World, plan chat.CompactPlan) (*condenser, *uitest.Driver) {
		t.Helper()
		long(w, 4)
		c := &condenser{w: w, plan: plan, parts: []harness.Condensed{note(4)}}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 30)
		return c, d.Type("/compact").Press("enter").Wait(time.Second)
	}
	plan := chat.CompactPlan{Calls: 5, Tokens: 81_000, Messages: 4_212, Cost: 0.244, CostKnown: true}
	in(t, func(t *testing.T, w *uitest.World) {
		c, d := ask(t, w, plan)
		d.Shows("condensing 4,212 messages takes 5 calls of about 81,000 tokens in all, about", "$0.24 · y condenses · n leaves it")
		d.Type("yes, tell me first").Wait(time.Second).Hides("y condenses")
		if len(c.asked) != 0 {
			t.Fatal("a message that begins with y condensed")
		}
		d.Press("ctrl+u").Type("n").Wait(time.Second).Shows("nothing is condensed").Hides("4,212")
		d.Type("y").Wait(time.Second).Shows("> y")
		if len(c.asked) != 0 {
			t.Fatal("it condensed without being asked to")
		}
	})
	in(t, func(t *testing.T, w *uitest.World) {
		c, d := ask(t, w, chat.CompactPlan{Calls: 3, Tokens: 9, Messages: 1})
		d.Shows("condensing 1 message takes 3 calls of about 9 tokens in all, cost unknown").Type("y").Wait(time.Second).Shows("condensed 4 messages")
		if len(c.asked) != 1 {
			t.Errorf("condensed %d times", len(c.asked))
		}
	})
	in(t, func(t *testing.T, w *uitest.World) {
		c, d := ask(t, w, plan)
		d.Type("hello").Press("enter").Wait(time.Second).Hides("4,212").Shows("echo hello").Type("y").Wait(time.Second)
		if len(c.asked) != 0 {
			t.Error("a message did not end the question")
		}
	})
}

func TestWhyNothingIsCondensed(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 1)
		d := w.Open("talk", 80, 24)
		d.Type("/compact").Press("enter").Shows("nothing is condensed in this chat")
	})
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 1)
		c := &condenser{w: w}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 24)
		d.Type("/compact").Press("enter").Wait(0).Shows("there is nothing to condense").Type("/prune").Press("enter").Wait(0).Shows("no result of a tool is old")
		if len(c.asked) != 1 || !c.asked[0].Prune {
			t.Errorf("asked for %+v", c.asked)
		}
		w.Model.Then(uitest.Says("a ", "long ", "answer"))
		d.Type("go on").Press("enter").Type("/compact").Press("enter").Shows("an answer is under way; stop it first").Wait(time.Second)
		w.Model.Then(uitest.Fails("half", "the line is dead"))
		d.Type("again").Press("enter").Wait(time.Second).Type("/compact").Press("enter").Shows("an answer is unfinished; continue, retry or drop it")
	})
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 4)
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 1}, parts: []harness.Condensed{note(4)}, err: errors.New("the model said nothing")}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 24)
		d.Type("/compact").Press("enter").Wait(time.Second).Shows("The model said nothing", "condensed 4 messages")
	})
}

func TestWhatTheWindowHasNoRoomForIsMarked(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		at := time.Now()
		var records []harness.Record
		for i := range 10 {
			q, a := harness.UserText(fmt.Sprintf("question %d", i+1)), harness.AssistantText(fmt.Sprintf("answer %d", i+1))
			a.Usage = &harness.Usage{Input: 1}
			a.Sent = &harness.Sent{Count: 2*i + 1}
			if i == 9 {
				a.Sent = &harness.Sent{Count: 5, Dropped: 14}
			}
			records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &q, At: at}, harness.Record{Kind: harness.RecordMessage, Message: &a, At: at})
		}
		w.Import(harness.Session{ID: "talk", Title: "Stones", TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
		d := w.Open("talk", 80, 40)
		d.Shows("── not in context above ─", "the window is full: what is above was not in the last request")
		screen := d.Screen()
		if cut, kept := strings.Index(screen, "not in context above"), strings.Index(screen, "question 8"); cut < 0 || kept < cut || strings.Contains(screen[kept:], "not in context") {
			t.Errorf("the cut is not before question 8:\n%s", screen)
		}
		d.Press("home").Shows("you · 00:00 · not in context\nquestion 1", " not in context · ↓ End")
	})
}

// A condensing takes messages out of the request, too: its cut is the one that
// is shown, whatever the provider made one message of.
func TestACondensedConversationIsNotSaidToFillTheWindow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long(w, 6)
		c := &condenser{w: w, plan: chat.CompactPlan{Calls: 1}, parts: []harness.Condensed{note(6)}}
		d := w.Start(c.wire(w.Deps("talk", false)), 80, 40)
		d.Type("/pin 9").Press("enter").Wait(0).Type("/compact").Press("enter").Wait(time.Second)
		d.Type("go on").Press("enter").Wait(time.Second)
		for _, count := range []int{7, 8} { // with the note in a message of its own, and without
			answer := harness.AssistantText("said")
			answer.Usage, answer.Sent = &harness.Usage{Input: 1}, &harness.Sent{Count: count + 2, Dropped: 6, Note: 20}
			s, err := w.Store.Sessions().Get(t.Context(), "talk")
			if err != nil {
				t.Fatal(err)
			}
			lease := harness.Lease{Session: "talk", Generation: s.Generation}
			if _, err := w.Store.Transcript().Append(t.Context(), lease, harness.Record{Kind: harness.RecordMessage, Message: &answer, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			w.Open("talk", 80, 40).Shows("6 messages above stand as a note").Hides("the window is full")
		}
	})
}

func TestGoldenCondensed(t *testing.T) {
	for _, size := range stored.Sizes() {
		in(t, func(t *testing.T, w *uitest.World) {
			long(w, 4)
			c := &condenser{w: w, plan: chat.CompactPlan{Calls: 6, Tokens: 210_000, Messages: 4_212, Cost: 1.1, CostKnown: true}, parts: []harness.Condensed{note(4)}, each: time.Second}
			deps := c.wire(w.Deps("talk", false))
			deps.Picture = func(context.Context, harness.SessionID) (overlay.Picture, error) {
				return overlay.Picture{Model: "test/parrot", Window: 1000, From: "configured", Trigger: 600, System: 90, Yours: 120, Note: 45, Answers: 200, Reply: 250, In: 4, Condensed: 4}, nil
			}
			d := w.Start(deps, size[0], size[1])
			d.Type("/compact").Press("enter").Wait(time.Second)
			golden(t, "sure", size, d)
			d.Type("y").Wait(time.Second)
			golden(t, "condensing", size, d)
			d.Wait(time.Second)
			golden(t, "condensed", size, d)
			d.Press("ctrl+x", "c")
			golden(t, "note", size, d)
			d.Type("/pin 3").Press("enter").Wait(0).Press("ctrl+o", "home")
			golden(t, "pinned", size, d)
			d.Type("/context").Press("enter").Wait(0)
			golden(t, "context", size, d)
		})
	}
}
