package plain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

// compactor condenses as it is told, and writes down what it was asked.
type compactor struct {
	plan  chat.CompactPlan
	out   chat.Compacted
	err   error
	parts int
	// slow is how long a part takes.
	slow time.Duration
	did  []chat.Compaction
}

func (c *compactor) fit(d *chat.Deps) {
	d.Plan = func(context.Context, harness.SessionID, chat.Compaction) (chat.CompactPlan, error) {
		return c.plan, nil
	}
	d.Compact = func(ctx context.Context, _ harness.Lease, what chat.Compaction, tell func(done, of int)) (chat.Compacted, error) {
		c.did = append(c.did, what)
		for i := range c.parts {
			tell(i, c.parts)
			select {
			case <-time.After(c.slow):
			case <-ctx.Done():
				return chat.Compacted{}, ctx.Err()
			}
		}
		return c.out, c.err
	}
}

func TestCondensingIsAskedForAndTold(t *testing.T) {
	small := chat.CompactPlan{Calls: 1, Tokens: 5000, Messages: 30, Before: 9000, After: 2000}
	large := chat.CompactPlan{Calls: 7, Tokens: 90_000, Cost: 1.5, CostKnown: true, Messages: 800}
	done := chat.Compacted{Messages: 30, Characters: 1200, Before: 9000, After: 2000}
	for _, c := range []struct {
		name  string
		c     compactor
		typed []string
		shows []string
		did   int
	}{
		{"at once", compactor{plan: small, out: done}, []string{"/compact the names"}, []string{"condensed 30 messages into 1,200 characters"}, 1},
		{"after a question", compactor{plan: large, out: done, parts: 7}, []string{"/compact", "1"}, []string{"takes 7 calls", "$1.50", "condensing, part 1 of 7", "condensing, part 7 of 7", "condensed 30 messages"}, 1},
		{"left", compactor{plan: large}, []string{"/compact", "2"}, []string{"nothing is condensed"}, 0},
		{"nothing to do", compactor{}, []string{"/compact"}, []string{chat.NothingToCompact}, 0},
		{"a failure", compactor{plan: small, err: errors.New("the model is gone")}, []string{"/compact"}, []string{"the model is gone"}, 1},
		{"results only", compactor{out: chat.Compacted{Cleared: 3}}, []string{"/prune"}, []string{"left out 3 old tool results"}, 1},
		{"no results", compactor{}, []string{"/prune"}, []string{chat.NothingToPrune}, 1},
		{"stopped", compactor{plan: small, parts: 3, slow: time.Minute}, []string{"/compact", "later", "/stop"}, []string{"queued (1)", "stopped condensing", "cairn: echo later"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
				d := deps(w.Deps("talk", false))
				c.c.fit(&d.Chat)
				start(t, d).say(c.typed...).wait(2 * time.Second).shows(c.shows...)
				if len(c.c.did) != c.did {
					t.Errorf("condensed %d times: %+v", len(c.c.did), c.c.did)
				}
				if c.did > 0 && c.typed[0] == "/compact the names" && c.c.did[0].Focus != "the names" {
					t.Errorf("condensed with %+v", c.c.did)
				}
			})
		})
	}
}

func TestCondensingGivesWayToAnotherWindow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		d := deps(w.Deps("talk", false))
		c := compactor{plan: chat.CompactPlan{Calls: 1, Messages: 3}, parts: 3, slow: time.Minute}
		c.fit(&d.Chat)
		a := start(t, d).say("/compact")
		b := start(t, deps(w.Deps("talk", false)))
		b.say("/takeover").wait(time.Second).shows("owns the session now")
		a.shows("took this session over", "stopped condensing")
	})
}

func TestMessagesArePinned(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi", "again", "yes")
		k := start(t, deps(w.Deps("talk", false)))
		k.say("/pins").shows(chat.NoPins).say("/pin").shows("pinned message 4").say("/pin 1").shows("pinned message 1", "/unpin 1 frees it")
		k.say("/pin 1").shows("message 1 is pinned already").say("/pin 99").shows("message 99 is not on this branch").say("/pin x").shows("write the number")
		k.say("/pins").shows("message 1  you: hello", "message 4  cairn: yes").say("/unpin 4").shows("message 4 is pinned no longer").say("/unpin 4").shows("message 4 is not pinned")
		k.say("/quit")
		<-k.done
		start(t, deps(w.Deps("talk", false))).shows("You (pinned): hello", "You: again")
	})
}

// condense stores that what is before a record is condensed.
func condense(t *testing.T, w *uitest.World, c harness.Condensed) {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := w.Store.Owners().Acquire(t.Context(), harness.Session{ID: "talk"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Transcript().Append(t.Context(), lease, harness.Record{Kind: harness.RecordCondensed, Data: data}); err != nil {
		t.Fatal(err)
	}
	if err := w.Store.Owners().Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsCondensedIsMarked(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi", "again", "yes")
		k := start(t, deps(w.Deps("talk", false))).say("/pin 1", "/note").shows("nothing in this chat stands as a note").say("/quit")
		<-k.done
		condense(t, w, harness.Condensed{Note: "They said \x1b[2Jhello.", Kept: 3, Messages: 2, Dropped: 2, Before: 900, After: 300, Pins: []harness.Origin{{Record: 1}}})
		k = start(t, deps(w.Deps("talk", false)))
		k.shows("You (pinned): hello", "cairn (not in context): hi", "You: again", "cairn: yes", "- condensed 2 messages into 20 characters; 900 -> 300 tokens")
		k.say("/note").shows("note: They said ␛[2Jhello.")
	})
}

func TestTheContextIsToldInWords(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		d := deps(w.Deps("talk", false))
		d.Chat.Picture = func(context.Context, harness.SessionID) (overlay.Picture, error) {
			return overlay.Picture{Model: "test/parrot", Window: 1000, System: 100, Yours: 300, Reply: 200, Trigger: 640, In: 2}, nil
		}
		k := start(t, d).say("/context")
		k.shows("the next request, by kind, estimated:", "yours: 300 tokens, 30%", "kept for the reply: 200 tokens")
		if text := k.out.String(); strings.Contains(text, "no request was sent") || strings.ContainsAny(text, "█▏─") {
			t.Errorf("it draws or contradicts itself:\n%s", text)
		}
	})
}

func TestResultsArePagedByQuestion(t *testing.T) {
	long := strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(&long, "row %d\n", i+1)
	}
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tool("lookup", "short")
		w.Model.Then(uitest.Calls("lookup", `{}`), uitest.Says("done"))
		d := deps(w.Deps("talk", true))
		k := start(t, d)
		k.say("/result").shows("no tool returned anything in this chat yet").say("go").wait(time.Second)
		k.say("/result").shows("tool lookup returned 5 characters:\nshort\n").say("/result 2").shows("tool results in this chat: 1").say("/result x").shows("/result 2")
		k.say("/quit")
		<-k.done
		result := harness.ToolResult{CallID: "c1", Name: "lookup", Text: "row 1 ...", Artifact: strings.Repeat("ab", 32)}
		msg := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &result}}}
		lease, err := w.Store.Owners().Acquire(t.Context(), harness.Session{ID: "talk"}, harness.Holder{PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Store.Transcript().Append(t.Context(), lease, harness.Record{Kind: harness.RecordMessage, Message: &msg}); err != nil {
			t.Fatal(err)
		}
		if err := w.Store.Owners().Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		d.Chat.Artifact = func(_ context.Context, id harness.SessionID, sha string) ([]byte, error) {
			if id != "talk" || sha != result.Artifact {
				return nil, harness.ErrNotFound
			}
			return []byte(long.String()), nil
		}
		k = start(t, d).say("/result").shows("row 40\n", "% of it. More?")
		if strings.Contains(k.out.String(), "row 41") {
			t.Errorf("more than a page is written:\n%s", k.out)
		}
		k.say("").shows("row 80").say("q")
		if strings.Contains(k.out.String(), "row 81") {
			t.Errorf("it goes on after q:\n%s", k.out)
		}
		k.say("/result", "", "").shows("row 100\n").say("/result", "hello there").wait(time.Second).shows("cairn: echo hello there")
	})
}
