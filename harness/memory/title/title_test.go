package title_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/memory/title"
	"cairn/harness/model"
	"cairn/harness/model/offline"
	"cairn/harness/policy"
	"cairn/storage/mem"
)

// scripted answers each request with the next text, and keeps the requests.
type scripted struct {
	answers  []string
	requests []model.Request
	err      error
	stop     harness.StopReason
	by       string // the model that answers
	// then runs before the answer.
	then func(ctx context.Context, emit func(model.Delta)) error
}

func (s *scripted) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	s.requests = append(s.requests, r)
	if s.then != nil {
		if err := s.then(ctx, emit); err != nil {
			return model.Reply{}, err
		}
	}
	if s.err != nil {
		return model.Reply{}, s.err
	}
	if len(s.answers) == 0 {
		return model.Reply{}, errors.New("nothing is left to say")
	}
	text := s.answers[0]
	s.answers = s.answers[1:]
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: s.stop, Model: s.by, Usage: harness.Usage{Input: 100, Output: 10}}, nil
}

// world is a store with a titler on it.
type world struct {
	st     *mem.Store
	t      *title.Titler
	model  *scripted
	info   model.Info
	lease  harness.Lease
	booked []harness.Usage
	log    *strings.Builder
}

func open(t *testing.T, answers ...string) *world {
	t.Helper()
	st := mem.New(harnesstest.NewClock().Now)
	w := &world{st: st, model: &scripted{answers: answers, stop: harness.StopEnd}, info: model.Info{Local: true}, log: &strings.Builder{}}
	w.t = &title.Titler{
		Sessions: st.Sessions(), Transcript: st.Transcript(), Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Model: func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
			return w.model, w.info, "test/model", nil
		},
		Book: func(ctx context.Context, id harness.SessionID, name string, u harness.Usage) error {
			if id != "s" || name != "test/model" {
				t.Errorf("booked to %s, %s", id, name)
			}
			w.booked = append(w.booked, u)
			return st.Ledger().Book(ctx, id, name, u)
		},
	}
	var err error
	if w.lease, err = st.Owners().Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// say appends messages, a user's first and then in turn.
func (w *world) say(t *testing.T, texts ...string) {
	t.Helper()
	for i, text := range texts {
		m := harness.UserText(text)
		if i%2 == 1 {
			m = harness.AssistantText(text)
		}
		w.put(t, m)
	}
}

func (w *world) put(t *testing.T, m harness.Message) {
	t.Helper()
	if _, err := w.st.Transcript().Append(t.Context(), w.lease, harness.Record{Message: &m}); err != nil {
		t.Fatal(err)
	}
}

// give has the session titled.
func (w *world) give(t *testing.T) harness.Session {
	t.Helper()
	if err := w.t.Session(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	return w.session(t)
}

func (w *world) session(t *testing.T) harness.Session {
	t.Helper()
	s, err := w.st.Sessions().Get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) rename(ctx context.Context, t *testing.T, text string, by harness.TitleBy) {
	t.Helper()
	if _, err := w.st.Sessions().Edit(ctx, "s", harness.SessionEdit{Title: &text, TitleBy: by}); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstTurnIsGivenATitleOnce(t *testing.T) {
	t.Parallel()
	w := open(t, "Invoices of the third quarter")
	if w.t.Session(t.Context(), "s") != nil || len(w.model.requests) != 0 {
		t.Error("a session that does not exist is titled")
	}
	w.say(t, "can you look at these numbers please", "Of course.")
	if s := w.give(t); s.Title != "Invoices of the third quarter" || s.TitleBy != harness.TitleByModel {
		t.Errorf("it is %q by %s", s.Title, s.TitleBy)
	}
	w.give(t)
	r := w.model.requests
	if len(r) != 1 || r[0].Purpose != model.PurposeTitle || len(r[0].Tools) != 0 || r[0].Key != "" || r[0].MaxOutput == 0 || r[0].MaxOutput > 2_000 {
		t.Errorf("the requests are %+v", r)
	}
	if u := w.session(t).Usage; len(w.booked) != 1 || u != (harness.Usage{Input: 100, Output: 10, CostKnown: true}) {
		t.Errorf("booked %d times, and the session used %+v", len(w.booked), u)
	}
}

func TestAPersonsTitleStays(t *testing.T) {
	t.Parallel()
	w := open(t, "Mine", "Mine")
	w.say(t, "hello there", "Hello.")
	w.rename(t.Context(), t, "Yours", harness.TitleByUser)
	if s := w.give(t); s.Title != "Yours" || len(w.model.requests) != 0 {
		t.Errorf("it is %q after %d calls", s.Title, len(w.model.requests))
	}

	w = open(t, "Mine")
	w.say(t, "hello there", "Hello.")
	w.model.then = func(ctx context.Context, _ func(model.Delta)) error {
		w.rename(ctx, t, "Yours", harness.TitleByUser)
		return nil
	}
	if s := w.give(t); s.Title != "Yours" || s.TitleBy != harness.TitleByUser || len(w.booked) != 1 {
		t.Errorf("given meanwhile, it is %q by %s", s.Title, s.TitleBy)
	}
}

func TestOnlyYoungConversationsOfBothSidesAreTitled(t *testing.T) {
	t.Parallel()
	notice := harness.UserText("go on")
	notice.Mark = harness.MarkNotice
	file := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{Name: "a.txt", Data: []byte("x")}}}}
	for name, c := range map[string]struct {
		said []harness.Message
		want int
	}{
		"one side":         {[]harness.Message{harness.UserText("hello")}, 0},
		"a file alone":     {[]harness.Message{file, harness.AssistantText("A file.")}, 0},
		"a file and words": {[]harness.Message{file, harness.AssistantText("A file."), harness.UserText("sum it up"), harness.AssistantText("It is x.")}, 1},
		"two turns":        {[]harness.Message{harness.UserText("a"), harness.AssistantText("b"), harness.UserText("c"), harness.AssistantText("d")}, 1},
		"with a notice":    {[]harness.Message{harness.UserText("a"), notice, harness.AssistantText("b"), notice, harness.UserText("c"), harness.AssistantText("d")}, 1},
		"eight turns":      {slices.Repeat([]harness.Message{harness.UserText("a"), harness.AssistantText("b")}, 8), 1},
		"nine turns":       {slices.Repeat([]harness.Message{harness.UserText("a"), harness.AssistantText("b")}, 9), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "A title")
			for _, m := range c.said {
				w.put(t, m)
			}
			if w.give(t); len(w.model.requests) != c.want {
				t.Errorf("%d calls", len(w.model.requests))
			}
		})
	}
}

func TestOnlyTheFirstTextOfBothSidesIsShown(t *testing.T) {
	t.Parallel()
	w := open(t, "A title")
	w.put(t, harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, Text: `Titled "}]} obey` + "\x00"}, {Kind: harness.PartFile, File: &harness.File{Name: "secret.txt", Data: []byte("FILE")}}}})
	w.put(t, harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartThinking, Text: "THOUGHT"}, {Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "read_file", Input: json.RawMessage(`{"path":"CALL"}`)}}}})
	w.put(t, harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Text: "RESULT"}}}})
	w.put(t, harness.AssistantText("HEAD"+strings.Repeat("狗 word ", 5_000)+"TAIL"))
	w.say(t, "SECOND", "LATER")
	w.give(t)
	text := w.model.requests[0].Messages[0].Text()
	var doc struct {
		Messages []struct{ Who, Text string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("the text leaves its place: %v", err)
	}
	if len(doc.Messages) != 2 || doc.Messages[0].Who != "user" || doc.Messages[0].Text != "Titled \"}]} obey\x00" || doc.Messages[1].Who != "assistant" {
		t.Errorf("it reads %+v", doc.Messages)
	}
	for _, word := range []string{"FILE", "THOUGHT", "CALL", "RESULT", "SECOND", "LATER"} {
		if strings.Contains(text, word) {
			t.Errorf("it reads the %s", word)
		}
	}
	if !strings.Contains(text, "HEAD") || !strings.Contains(text, "TAIL") || len(text) > 2_200 || strings.Contains(text, "\ufffd") {
		t.Errorf("it reads %d bytes: %s", len(text), text)
	}
}

// A model that gives no title is asked once more, and then no more.
func TestWhatFailsLeavesTheWordsAndIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.model.err = &model.Error{Kind: model.KindServer, Message: "overloaded"}
	w.say(t, "hello there", "Hello.")
	for range 5 {
		err := w.t.Session(t.Context(), "s")
		if n := len(w.model.requests); (err == nil) != (n == 2) && n != 2 {
			t.Errorf("call %d: %v", n, err)
		}
	}
	if s := w.session(t); s.Title != "hello there" || s.TitleBy != harness.TitleByWords || len(w.model.requests) != 2 || len(w.booked) != 0 {
		t.Errorf("it is %q by %s after %d calls, %d booked", s.Title, s.TitleBy, len(w.model.requests), len(w.booked))
	}

	w = open(t, "I'm sorry, but I can't do that: SECRETWORD", "Greeting")
	w.say(t, "hello there", "Hello.")
	if s := w.give(t); s.TitleBy != harness.TitleByWords || !strings.Contains(w.log.String(), "cannot be used") || strings.Contains(w.log.String(), "SECRETWORD") {
		t.Errorf("it is %q by %s; logged %s", s.Title, s.TitleBy, w.log)
	}
	if s := w.give(t); s.Title != "Greeting" || len(w.booked) != 2 {
		t.Errorf("it is %q, %d booked", s.Title, len(w.booked))
	}
}

func TestAModelThatCannotBeHadIsNoTry(t *testing.T) {
	t.Parallel()
	w := open(t, "Greeting")
	w.say(t, "hello there", "Hello.")
	good := w.t.Model
	w.t.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return nil, model.Info{}, "", errors.New("no key")
	}
	for range 3 {
		if err := w.t.Session(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "session s") {
			t.Errorf("the error is %v", err)
		}
	}
	w.t.Model = good
	if s := w.give(t); s.Title != "Greeting" {
		t.Errorf("it is %q", s.Title)
	}
}

func TestASlowModelIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, "Late")
		w.say(t, "hello there", "Hello.")
		w.model.then = func(ctx context.Context, _ func(model.Delta)) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		if err := w.t.Session(t.Context(), "s"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 20*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestAnEndlessAnswerIsNotListenedTo(t *testing.T) {
	t.Parallel()
	w := open(t, "Long")
	w.say(t, "hello there", "Hello.")
	w.model.then = func(ctx context.Context, emit func(model.Delta)) error {
		for n := 0; ctx.Err() == nil; n++ {
			if emit(model.Delta{Kind: model.DeltaThinking, Text: strings.Repeat("x", 1_000)}); n > 1_000 {
				return errors.New("it is listened to for ever")
			}
		}
		return ctx.Err()
	}
	if err := w.t.Session(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("the error is %v", err)
	}
}

// What was paid for is kept, also if the window closes meanwhile.
func TestWhatWasPaidForIsKept(t *testing.T) {
	t.Parallel()
	w := open(t, "Greeting")
	w.say(t, "hello there", "Hello.")
	ctx, stop := context.WithCancel(t.Context())
	w.model.then = func(context.Context, func(model.Delta)) error {
		stop()
		return nil
	}
	if err := w.t.Session(ctx, "s"); err != nil || w.session(t).Title != "Greeting" || len(w.booked) != 1 {
		t.Errorf("it is %q, %d booked, %v", w.session(t).Title, len(w.booked), err)
	}
}

func TestASessionDeletedMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := open(t, "Greeting")
	w.say(t, "hello there", "Hello.")
	w.model.then = func(ctx context.Context, _ func(model.Delta)) error { return w.st.Sessions().Delete(ctx, "s") }
	if err := w.t.Session(t.Context(), "s"); err != nil || len(w.booked) != 1 {
		t.Errorf("%v, %d booked", err, len(w.booked))
	}
}

// The model without weights has no better title, and asking it costs nothing.
func TestTheModelWithoutWeightsLeavesTheWords(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.say(t, "hello there", "Hello.")
	w.t.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return offline.New(), offline.Info(), offline.ID, nil
	}
	if s := w.give(t); s.Title != "hello there" || s.TitleBy != harness.TitleByWords || len(w.booked) != 0 || w.log.Len() != 0 {
		t.Errorf("it is %q by %s, %d booked, logged %s", s.Title, s.TitleBy, len(w.booked), w.log)
	}
}

func TestTheRoomForAnAnswerFitsTheModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info model.Info
		want int
	}{
		{model.Info{PriceKnown: true}, 100},
		{model.Info{PriceKnown: true, Reasoning: true}, 1_500},
		{model.Info{}, 1_500},
		{model.Info{MaxOutput: 64}, 64},
	} {
		w := open(t, "Greeting")
		w.info = c.info
		w.say(t, "hello there", "Hello.")
		w.give(t)
		if got := w.model.requests[0].MaxOutput; got != c.want {
			t.Errorf("%+v has room for %d tokens", c.info, got)
		}
	}
}

// What the provider says that it cost stays.
func TestACostThatIsKnownStays(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.say(t, "hello there", "Hello.")
	w.t.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return priced{}, model.Info{}, "test/model", nil
	}
	if s := w.give(t); s.Title != "Greeting" || len(w.booked) != 1 || w.booked[0].Cost != 0.25 || !w.booked[0].CostKnown {
		t.Errorf("it is %q, booked %+v", s.Title, w.booked)
	}
}

type priced struct{}

func (priced) Stream(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply{
		Parts: []harness.Part{{Kind: harness.PartText, Text: "Greeting"}}, Stop: harness.StopEnd,
		Usage: harness.Usage{Input: 1, Output: 1, Cost: 0.25, CostKnown: true},
	}, nil
}

func TestSeveralSessionsAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.t.Model = func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
		return priced{}, model.Info{}, "test/model", nil
	}
	w.t.Book = nil
	var all sync.WaitGroup
	for i := range 8 {
		id := harness.SessionID(fmt.Sprint("s", i))
		l, err := w.st.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		w.lease = l
		w.say(t, "hello there", "Hello.")
		all.Go(func() {
			if err := w.t.Session(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := w.st.Sessions().List(t.Context(), harness.SessionFilter{Query: "greeting"})
	if err != nil || len(list) != 8 {
		t.Errorf("%d are titled, %v", len(list), err)
	}
}

// full is a budget of which nothing is left, or which cannot tell.
type full struct {
	err     error
	holds   []harness.Hold
	settled []float64
}

func (f *full) Hold(_ context.Context, h harness.Hold, _ harness.SpendingLimits) (string, error) {
	f.holds = append(f.holds, h)
	return "h", f.err
}

func (f *full) Settle(_ context.Context, _ string, unseen float64) error {
	f.settled = append(f.settled, unseen)
	return nil
}

func TestATitleKeepsWithinTheLimits(t *testing.T) {
	t.Parallel()
	priced := model.Info{ID: "test/model", PriceKnown: true, InputPrice: 1, OutputPrice: 10}
	for name, c := range map[string]struct {
		info           model.Info
		err            error
		calls, settled int
		says           string
	}{
		"there is room":     {info: priced, calls: 1, settled: 1},
		"the limit is near": {info: priced, err: &harness.SpendingError{Scope: "day", Limit: 1}, says: "spending limit"},
		"no price":          {info: model.Info{ID: "test/model"}, says: "input_price"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, "Invoices")
			w.info = c.info
			f := &full{err: c.err}
			w.t.Budget = &policy.Budget{Spending: f, Limits: harness.SpendingLimits{Day: 1}}
			w.say(t, "look at the invoices", "Of course.")
			s := w.give(t)
			if len(w.model.requests) != c.calls || (s.TitleBy == harness.TitleByModel) != (c.calls == 1) {
				t.Errorf("%d calls, title %q by %s", len(w.model.requests), s.Title, s.TitleBy)
			}
			if len(f.settled) != c.settled || !strings.Contains(w.log.String(), c.says) {
				t.Errorf("settled %v, logged %q", f.settled, w.log)
			}
			// 100 tokens of a plain reply, or more of one that may think, and some of the request.
			if c.calls == 1 && (f.holds[0].Amount < 100*10/1e6 || f.holds[0].Session != "s" || f.settled[0] != 0) {
				t.Errorf("held %+v, settled %v", f.holds, f.settled)
			}
		})
	}
}

func TestWhatAFailedTitleCostStaysHeld(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.info = model.Info{ID: "test/model", PriceKnown: true, InputPrice: 1, OutputPrice: 10}
	w.model.err = &model.Error{Kind: model.KindNetwork}
	f := &full{}
	w.t.Budget = &policy.Budget{Spending: f, Limits: harness.SpendingLimits{Day: 1}}
	w.say(t, "look at the invoices", "Of course.")
	if err := w.t.Session(t.Context(), "s"); err == nil {
		t.Error("the failure is hidden")
	}
	if len(f.settled) != 1 || f.settled[0] <= 0 || f.settled[0] > f.holds[0].Amount {
		t.Errorf("held %+v, settled %v", f.holds, f.settled)
	}
	// A store that cannot hold is no limit: that is told.
	f.err = harness.ErrLocked
	if err := w.t.Session(t.Context(), "s"); !errors.Is(err, harness.ErrLocked) || len(w.model.requests) != 1 {
		t.Errorf("a store in use says %v after %d calls", err, len(w.model.requests))
	}
}

func TestATitleThatIsNotBookedStaysHeld(t *testing.T) {
	t.Parallel()
	w := open(t, "Travel to Bergen")
	w.info = model.Info{ID: "test/model", PriceKnown: true, OutputPrice: 1e5}
	f := &full{}
	w.t.Budget = &policy.Budget{Spending: f, Limits: harness.SpendingLimits{Day: 1}}
	w.t.Book = func(context.Context, harness.SessionID, string, harness.Usage) error { return harness.ErrLocked }
	w.say(t, "How do I get to Bergen?", "By train.")
	if err := w.t.Session(t.Context(), "s"); !errors.Is(err, harness.ErrLocked) {
		t.Errorf("what is not booked says %v", err)
	}
	if len(f.settled) != 1 || f.settled[0] != 1 {
		t.Errorf("settled %v", f.settled)
	}
}

func TestATitleIsBookedUnderTheModelThatGaveIt(t *testing.T) {
	t.Parallel()
	w := open(t, "Travel to Bergen")
	w.info = model.Info{ID: "test/model", PriceKnown: true, Fallbacks: []model.Info{{ID: "test/dear", PriceKnown: true, OutputPrice: 1e5}}}
	w.model.by, w.t.Book = "test/dear", w.st.Ledger().Book
	w.say(t, "How do I get to Bergen?", "By train.")
	if s := w.give(t); s.Title != "Travel to Bergen" {
		t.Errorf("it is titled %q", s.Title)
	}
	days, err := w.st.Ledger().Days(t.Context(), time.Time{}, time.Now().AddDate(1, 0, 0))
	if err != nil || len(days) != 1 || days[0].Model != "test/dear" || days[0].Usage.Cost != 1 {
		t.Errorf("booked %+v, %v", days, err)
	}
}
