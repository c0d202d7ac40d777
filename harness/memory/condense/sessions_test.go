package condense_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/storage/mem"
)

// world is a store with sessions that are condensed.
type world struct {
	st     *mem.Store
	c      *condense.Sessions
	model  *writer
	info   model.Info
	lease  harness.Lease
	booked harness.Usage
}

func open(t *testing.T, window int) *world {
	t.Helper()
	st := mem.New(harnesstest.NewClock().Now)
	w := &world{st: st, model: &writer{}, info: info(window)}
	w.c = &condense.Sessions{
		Sessions: st.Sessions(), Transcript: st.Transcript(), Limits: st.Limits(), Now: harnesstest.NewClock().Now,
		Model: func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
			return w.model, w.info, "fake/m", nil
		},
		Book: func(_ context.Context, id harness.SessionID, name string, u harness.Usage) error {
			if id != w.lease.Session || name != "fake/m" {
				t.Errorf("booked to %s, %s", id, name)
			}
			w.booked = w.booked.Add(u)
			return nil
		},
	}
	w.acquire(t, "s")
	return w
}

func (w *world) acquire(t *testing.T, id harness.SessionID) {
	t.Helper()
	var err error
	if w.lease, err = w.st.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) put(t *testing.T, rs ...harness.Record) []harness.Record {
	t.Helper()
	got, err := w.st.Transcript().Append(t.Context(), w.lease, rs...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (w *world) say(t *testing.T, msgs ...harness.Message) {
	t.Helper()
	for i := range msgs {
		w.put(t, harness.Record{Kind: harness.RecordMessage, Message: &msgs[i]})
	}
}

func (w *world) pin(t *testing.T, p harness.Pin) {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	w.put(t, harness.Record{Kind: harness.RecordPin, Data: data})
}

// next composes the request for a message, read afresh as after a restart.
func (w *world) next(t *testing.T, text string) memory.Out {
	t.Helper()
	s, err := w.st.Sessions().Get(t.Context(), w.lease.Session)
	if err != nil {
		t.Fatal(err)
	}
	in := memory.In{Session: s.ID, System: "the system prompt", Info: w.info, Turn: []harness.Message{harness.UserText(text)}}
	if in.History, err = memory.Load(t.Context(), w.st.Transcript(), s.ID, 0, w.info); err != nil {
		t.Fatal(err)
	}
	if in.Pinned, err = memory.Pinned(t.Context(), w.st.Transcript(), s, harness.Origin{}); err != nil {
		t.Fatal(err)
	}
	return compose(t, in)
}

// verbatim checks that texts are in the request, each once, word for word and in
// this order.
func verbatim(t *testing.T, out memory.Out, texts ...string) {
	t.Helper()
	var all strings.Builder
	for _, m := range out.Request.Messages {
		all.WriteString(m.Text())
		all.WriteString("\n")
	}
	rest := all.String()
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok || strings.Count(all.String(), text) != 1 {
			t.Fatalf("%q is in the request %d times, or out of order", text, strings.Count(all.String(), text))
		}
		rest = after
	}
}

func TestPinnedMessagesSurviveEachCondensing(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.say(t, harness.UserText("First pin: always use tabs."))
	w.say(t, talk(3, 100)...)
	w.say(t, harness.AssistantText("Second pin: the port is 8443."), harness.UserText("Unpinned again."))
	w.pin(t, harness.Pin{Message: 8})
	w.pin(t, harness.Pin{Message: 9})
	w.pin(t, harness.Pin{Message: 1})
	w.pin(t, harness.Pin{Message: 9, Off: true})
	for round := range 3 {
		w.say(t, talk(30, 100)...)
		out := w.next(t, "now")
		verbatim(t, out, "First pin: always use tabs.", "Second pin: the port is 8443.", "now")
		r, err := w.c.Condense(t.Context(), w.lease, "", false, nil)
		if err != nil || r.Calls == 0 {
			t.Fatalf("round %d: %+v, %v", round, r, err)
		}
		out = w.next(t, "now")
		verbatim(t, out, "First pin: always use tabs.", "Second pin: the port is 8443.", "now")
		if out.Request.System != "the system prompt" || out.Sent.Pinned == 0 || strings.Contains(out.Request.Messages[0].Text(), "Unpinned again.") {
			t.Errorf("round %d: system %q, %+v", round, out.Request.System, out.Sent)
		}
		if out.Estimate > 8_000-out.Sent.Reply {
			t.Errorf("round %d: %d tokens", round, out.Estimate)
		}
	}
	// One that is not pinned any more goes.
	w.pin(t, harness.Pin{Message: 1, Off: true})
	out := w.next(t, "now")
	verbatim(t, out, "Second pin: the port is 8443.")
	if strings.Contains(out.Request.Messages[0].Text(), "always use tabs") {
		t.Error("what is pinned no longer is in the request")
	}
}

func TestPinsAndNotesGoOnInForks(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.say(t, harness.UserText("Pinned in the parent."))
	w.pin(t, harness.Pin{Message: 1})
	w.say(t, talk(30, 100)...)
	if _, err := w.c.Condense(t.Context(), w.lease, "", false, nil); err != nil {
		t.Fatal(err)
	}
	for _, id := range []harness.SessionID{"f1", "f2"} {
		parent := w.lease.Session
		if _, err := w.st.Sessions().Fork(t.Context(), parent, harness.Origin{}, harness.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
		w.acquire(t, id)
		before := w.next(t, "now")
		verbatim(t, before, "The note.", "Pinned in the parent.", "now")
		w.say(t, harness.UserText("Pinned in "+string(id)+"."))
		s, err := w.st.Sessions().Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		w.pin(t, harness.Pin{Message: s.Records})
		verbatim(t, w.next(t, "now"), "The note.", "Pinned in the parent.", "Pinned in "+string(id)+".", "now")
		w.say(t, talk(30, 100)...)
		r, err := w.c.Condense(t.Context(), w.lease, "", false, nil)
		if err != nil || r.Calls == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		verbatim(t, w.next(t, "now"), "The note.", "Pinned in the parent.", "Pinned in "+string(id)+".", "now")
	}
	verbatim(t, w.next(t, "now"), "Pinned in the parent.", "Pinned in f1.", "Pinned in f2.")
	// The logs of the parents may be there for the fork alone.
	s, err := w.st.Sessions().Get(t.Context(), w.lease.Session)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := memory.Pinned(t.Context(), hidden{w.st.Transcript(), s.ID}, s, harness.Origin{})
	if err != nil || len(pinned) != 3 || pinned[0].In != "s" || pinned[1].In != "f1" || pinned[2].In != "" {
		t.Errorf("got %+v, %v", pinned, err)
	}
}

// Each of many parts saves little of the whole, and all are condensed none the less.
func TestAConversationOfManyWindowsIsCondensedInOneGo(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.say(t, talk(300, 300)...)
	r, err := w.c.Condense(t.Context(), w.lease, "", false, nil)
	if err != nil || r.Calls < 15 || r.Fruitless || r.Messages < 550 {
		t.Errorf("condensed %+v, %v", r, err)
	}
	if out := w.next(t, "On."); out.Full >= out.Trigger {
		t.Errorf("the request has %d of %d tokens", out.Full, out.Trigger)
	}
}

// hidden gives single records of one session only.
type hidden struct {
	harness.Transcript
	id harness.SessionID
}

func (h hidden) Record(ctx context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	if id != h.id {
		return harness.Record{}, harness.ErrNotFound
	}
	return h.Transcript.Record(ctx, id, seq)
}

// Each part is stored at once: who goes on after a crash repeats one at most.
func TestCondensingGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.say(t, talk(200, 100)...)
	plan, err := w.c.Plan(t.Context(), "s", "ports")
	if err != nil || plan.Calls < 4 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	crash := errors.New("the power is off")
	calls := 0
	w.model.answer = func(model.Request) (model.Reply, error) {
		if calls++; calls == 3 {
			return model.Reply{}, crash
		}
		return says(fmt.Sprint("Note ", calls)), nil
	}
	r, err := w.c.Condense(t.Context(), w.lease, "ports", false, nil)
	if !errors.Is(err, crash) || !errors.Is(err, condense.ErrSummary) || r.Calls != 2 || r.Messages == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	var told []string
	r, err = w.c.Condense(t.Context(), w.lease, "ports", false, func(done, of int) { told = append(told, fmt.Sprint(done, "/", of)) })
	if err != nil || calls != plan.Calls+1 {
		t.Errorf("%d calls for %d parts: %v", calls, plan.Calls, err)
	}
	if want := []string{fmt.Sprint("0/", plan.Calls-2), fmt.Sprint("1/", plan.Calls-2)}; !slices.Equal(told[:2], want) || r.Calls != plan.Calls-2 {
		t.Errorf("told %v, want %v", told, want)
	}
	if w.booked.Input != int64(900*plan.Calls) || !w.booked.Incomplete {
		t.Errorf("booked %+v", w.booked)
	}
	if !strings.Contains(w.model.asked[len(w.model.asked)-1].Messages[0].Text(), "<focus>\nports\n</focus>") {
		t.Error("what is to be kept above all is not said")
	}
	records, err := w.st.Transcript().Log(t.Context(), "s", 400, 0)
	if err != nil || len(records) != plan.Calls {
		t.Fatalf("%d records, %v", len(records), err)
	}
	kept, messages := 0, 0
	for _, r := range records {
		var c harness.Condensed
		if err := json.Unmarshal(r.Data, &c); err != nil {
			t.Fatal(err)
		}
		if c.Kept <= kept || c.Messages != messages+c.Dropped || c.Dropped != c.Kept-max(kept, 1) || !c.Asked || c.Focus != "ports" {
			t.Errorf("record %d: %+v after %d", r.Seq, c, kept)
		}
		kept, messages = c.Kept, c.Messages
	}
	if _, err := w.c.Condense(t.Context(), w.lease, "", false, nil); !errors.Is(err, condense.ErrNothing) {
		t.Errorf("again: %v", err)
	}
}

func TestARunUnderWayIsNotCondensed(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.c.Sessions = busy{w.st.Sessions()}
	if _, err := w.c.Condense(t.Context(), w.lease, "", false, nil); !errors.Is(err, harness.ErrBusy) || len(w.model.asked) != 0 {
		t.Errorf("got %v", err)
	}
	w.c.Sessions = w.st.Sessions()
	if _, err := w.c.Plan(t.Context(), "none", ""); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

type busy struct{ harness.Sessions }

func (busy) Get(context.Context, harness.SessionID) (harness.Session, error) {
	return harness.Session{ID: "s", OpenRun: "r", OpenStatus: harness.RunRunning}, nil
}

func TestThePictureAddsUp(t *testing.T) {
	t.Parallel()
	w := open(t, 16_000)
	w.c.Request = func(context.Context, harness.Session) (memory.In, error) {
		return memory.In{System: words(500), Tools: []model.ToolSpec{{Name: "look", Description: words(200)}}}, nil
	}
	w.say(t, harness.UserText("Pinned one. "+words(50)))
	w.pin(t, harness.Pin{Message: 1})
	w.say(t, talk(50, 100)...)
	if _, err := w.c.Condense(t.Context(), w.lease, "", false, nil); err != nil {
		t.Fatal(err)
	}
	a := harness.AssistantText("looking")
	a.Parts = append(a.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "look", Input: json.RawMessage(`{}`)}})
	w.say(t, harness.Message{Role: harness.RoleUser, Parts: []harness.Part{
		{Kind: harness.PartText, Text: "see"}, {Kind: harness.PartText, Text: words(300), File: &harness.File{Name: "a.txt", MediaType: "text/plain"}},
	}}, a, harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Name: "look", Text: words(400)}}}})
	p, err := w.c.Picture(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if p.System < 500 || p.Tools < 200 || p.Note == 0 || p.Pinned < 50 || p.User == 0 || p.Assistant == 0 || p.Results < 400 || p.Files < 300 {
		t.Errorf("got %+v", p)
	}
	sum := p.System + p.Tools + p.Recalled + p.Note + p.Pinned + p.User + p.Assistant + p.Results + p.Files
	if d := p.Used - sum; d < -20 || d > 20 {
		t.Errorf("the parts are %d and the whole is %d", sum, p.Used)
	}
	if p.Used+p.Free+p.Reply != p.Window || p.Window != 16_000 || p.Reply != 4_000 || p.Trigger != 9_600 {
		t.Errorf("got %+v", p)
	}
	if p.WindowFrom != condense.SourceKnown || p.Model != "fake/m" || p.Pins != 1 || p.Condensed == 0 || p.LeftOut != 0 || p.InContext < 5 {
		t.Errorf("got %+v", p)
	}
	if p.InContext+p.Condensed != 104 {
		t.Errorf("%d and %d of 104 messages", p.InContext, p.Condensed)
	}
	if err := w.st.Limits().Learn(t.Context(), "fake/m", harness.LearnedLimits{Window: 2_000}); err != nil {
		t.Fatal(err)
	}
	p, err = w.c.Picture(t.Context(), "s")
	if err != nil || p.Window != 2_000 || p.WindowFrom != condense.SourceLearned || p.LeftOut == 0 || p.ReplyFrom != condense.SourceKnown {
		t.Errorf("after a lesson: %+v, %v", p, err)
	}
	w.info.OwnWindow, w.info.Window = true, 5_000
	if p, err = w.c.Picture(t.Context(), "s"); err != nil || p.WindowFrom != condense.SourceConfigured || p.Window != 5_000 {
		t.Errorf("as configured: %+v, %v", p, err)
	}
}

// However little the last part has, what was written before it is told of.
func TestTheLastPartMayBeTooSmallForACall(t *testing.T) {
	t.Parallel()
	w := open(t, 6_000)
	w.say(t, slices.Concat(talk(31, 120), talk(1, 15), talk(1, 2))...)
	w.say(t, harness.UserText(words(600)), harness.AssistantText("a"), harness.UserText("b"), harness.AssistantText("c"))
	if r, err := w.c.Condense(t.Context(), w.lease, "", false, nil); err != nil || r.Calls != 2 || r.Usage.Input != 2*900 {
		t.Errorf("%+v, %v", r, err)
	}
}
