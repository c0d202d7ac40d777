package model_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// troupe are the members of a fallback and what they do.
type troupe struct {
	asked []string
	// fail is what a member fails with, by its id; shown what it streams before.
	fail  map[string]error
	shown map[string]model.DeltaKind
	now   time.Time
}

func newTroupe() *troupe {
	return &troupe{fail: map[string]error{}, shown: map[string]model.DeltaKind{}, now: noon}
}

func (p *troupe) member(id string) model.Member {
	info := model.Info{ID: id, Images: id != "p/blind"}
	return model.Member{Info: info, Model: model.Known{Info: info, Next: fake(func(_ context.Context, emit func(model.Delta)) (model.Reply, error) {
		p.asked = append(p.asked, id)
		if kind, ok := p.shown[id]; ok {
			emit(model.Delta{Kind: kind, Text: "half"})
		}
		if p.fail[id] != nil {
			return model.Reply{}, p.fail[id]
		}
		return model.Reply{Stop: harness.StopEnd}, nil
	})}}
}

func (p *troupe) fallback(ids ...string) *model.Fallback {
	f := &model.Fallback{Now: func() time.Time { return p.now }}
	for _, id := range ids {
		f.Members = append(f.Members, p.member(id))
	}
	return f
}

// ask asks and returns who answered or failed, and the news on the way.
func (p *troupe) ask(t *testing.T, m model.Model, r model.Request) (who string, news []string, err error) {
	t.Helper()
	p.asked = nil
	reply, err := m.Stream(t.Context(), r, func(d model.Delta) {
		switch d.Kind {
		case model.DeltaRetry:
			news = append(news, fmt.Sprintf("%s failed, next %s, wait %v", d.Err.Model, d.Model, d.Wait))
		case model.DeltaReset:
			news = append(news, "void")
		default:
			news = append(news, d.Text)
		}
	})
	if e, ok := model.AsError(err); ok {
		return e.Model, news, err
	}
	return reply.Model, news, err
}

func TestFallbackMovesOnAndRemembers(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	f := p.fallback("p/a", "p/b")
	step := func(want string, fails bool, wantAsked ...string) {
		t.Helper()
		who, _, err := p.ask(t, f, model.Request{})
		if who != want || (err != nil) != fails || !reflect.DeepEqual(p.asked, wantAsked) {
			t.Fatalf("got %q, %v, asked %v; want %q, asked %v", who, err, p.asked, want, wantAsked)
		}
	}
	step("p/a", false, "p/a")
	p.fail["p/a"] = passing(0)
	step("p/b", false, "p/a", "p/b")
	step("p/b", false, "p/b")
	p.fail["p/b"] = &model.Error{Kind: model.KindQuota}
	step("p/b", true, "p/b")
	step("p/a", true, "p/a", "p/b") // all are cooling, so all are asked; the one that passes is told of
	p.now = p.now.Add(model.Cooldown)
	delete(p.fail, "p/a")
	step("p/a", false, "p/a")
	for _, kind := range []model.ErrorKind{model.KindBadRequest, model.KindOverflow, model.KindReplyLimit, model.KindAuth, model.KindNotFound, model.KindConfig, model.KindRefused} {
		p.fail["p/a"] = &model.Error{Kind: kind}
		step("p/a", true, "p/a")
	}
	p.fail["p/a"] = errors.New("bug")
	step("", true, "p/a")
}

func TestFallbackSaysWhoFailedAndWhoIsNext(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	p.fail["p/a"], p.shown["p/a"] = passing(0), model.DeltaProgress
	who, news, err := p.ask(t, p.fallback("p/a", "p/b", "p/c"), model.Request{})
	if err != nil || who != "p/b" || !reflect.DeepEqual(news, []string{"half", "p/a failed, next p/b, wait 0s", "void"}) {
		t.Fatalf("%s, %v, %q", who, err, news)
	}
	reply, err := p.fallback("p/a", "p/b").Stream(t.Context(), model.Request{}, func(model.Delta) {})
	if err != nil || !reply.Usage.Incomplete {
		t.Fatalf("what the first one cost is not missed: %v, %+v", err, reply.Usage)
	}
}

func TestStrikesCountUntilASuccess(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	f := p.fallback("p/a", "p/b")
	f.SwitchAfter, f.Health = 2, &model.Health{}
	p.fail["p/a"] = passing(0)
	for i, want := range []string{"p/a", "p/b", "p/b"} {
		if who, _, _ := p.ask(t, f, model.Request{}); who != want {
			t.Fatalf("call %d: %s", i, who)
		}
	}
	// The strikes are still there after the pause: one more failure is enough.
	p.now = p.now.Add(model.Cooldown)
	if who, _, _ := p.ask(t, f, model.Request{}); who != "p/b" || len(p.asked) != 2 {
		t.Fatalf("after the pause: %s, asked %v", who, p.asked)
	}
	p.now = p.now.Add(model.Cooldown)
	delete(p.fail, "p/a")
	if who, _, _ := p.ask(t, f, model.Request{}); who != "p/a" {
		t.Fatal(who)
	}
	p.fail["p/a"] = passing(0)
	if who, _, err := p.ask(t, f, model.Request{}); who != "p/a" || err == nil {
		t.Fatalf("one strike after a success: %s, %v", who, err)
	}
	// Another fallback with the same memory passes it over, too.
	if who, _, _ := p.ask(t, f, model.Request{}); who != "p/b" {
		t.Fatal(who)
	}
	g := p.fallback("p/a", "p/b")
	g.Health = f.Health
	if who, _, _ := p.ask(t, g, model.Request{}); who != "p/b" || len(p.asked) != 1 {
		t.Fatalf("%s, asked %v", who, p.asked)
	}
}

func TestTheServersOwnPauseIsKept(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	f := p.fallback("p/a", "p/b")
	f.Cooldown = time.Second
	p.fail["p/a"] = passing(time.Hour)
	if who, _, _ := p.ask(t, f, model.Request{}); who != "p/b" {
		t.Fatal(who)
	}
	p.now = p.now.Add(59 * time.Minute)
	if who, _, _ := p.ask(t, f, model.Request{}); who != "p/b" || len(p.asked) != 1 {
		t.Fatalf("asked %v", p.asked)
	}
	p.fail["p/b"] = passing(0)
	if _, _, err := p.ask(t, f, model.Request{}); err == nil {
		t.Fatal("no error")
	}
	// With all in a pause, the shortest wait is asked for.
	_, _, err := p.ask(t, f, model.Request{})
	if e, ok := model.AsError(err); !ok || e.RetryAfter != 0 || len(p.asked) != 2 {
		t.Fatalf("%v, asked %v", err, p.asked)
	}
}

func TestTextThatWasSeenIsVoidedByARetryOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newTroupe()
		p.now = time.Now()
		f := p.fallback("p/a", "p/b")
		for _, e := range []*model.Error{passing(time.Hour), {Kind: model.KindQuota}} {
			p.now = p.now.Add(2 * time.Hour)
			p.fail["p/a"], p.shown["p/a"] = e, model.DeltaText
			who, news, err := p.ask(t, f, model.Request{})
			if err == nil || who != "p/a" || !reflect.DeepEqual(news, []string{"half"}) {
				t.Fatalf("%s, %v, %q", who, err, news)
			}
			p.now = p.now.Add(2 * time.Hour)
			who, news, err = p.ask(t, model.Retry{Next: f, Random: func() float64 { return 0 }}, model.Request{})
			if err != nil || who != "p/b" || !reflect.DeepEqual(news, []string{"half", "p/a failed, next p/b, wait 500ms", "void"}) {
				t.Fatalf("%s, %v, %q", who, err, news)
			}
		}
		// The last one has nobody behind it.
		p.now = p.now.Add(2 * time.Hour)
		p.fail["p/b"], p.shown["p/b"] = &model.Error{Kind: model.KindQuota, Message: "no credit"}, model.DeltaText
		p.fail["p/a"] = nil
		delete(p.shown, "p/a")
		g := p.fallback("p/b")
		if _, _, err := p.ask(t, model.Retry{Next: g}, model.Request{}); err == nil || len(p.asked) != 1 {
			t.Fatalf("%v, asked %v", err, p.asked)
		}
	})
}

func TestARetryAroundAFallbackAsksAllAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newTroupe()
		p.fail["p/a"], p.fail["p/b"] = passing(0), &model.Error{Kind: model.KindQuota}
		_, _, err := p.ask(t, model.Retry{Next: p.fallback("p/a", "p/b")}, model.Request{})
		if err == nil || strings.Join(p.asked, " ") != strings.TrimSpace(strings.Repeat("p/a p/b ", model.Attempts)) {
			t.Fatalf("%v, asked %v", err, p.asked)
		}
	})
}

func TestMembersThatDoNotReadTheNewestFileArePassedOver(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	picture := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{MediaType: "image/png"}}}}
	p.fail["p/a"] = passing(0)
	f := p.fallback("p/a", "p/blind", "p/b")
	if who, _, _ := p.ask(t, f, model.Request{Messages: []harness.Message{picture, harness.AssistantText("a cat")}}); who != "p/b" {
		t.Errorf("a picture was shown to %s, asked %v", who, p.asked)
	}
	if who, _, _ := p.ask(t, f, model.Request{Messages: []harness.Message{picture, harness.AssistantText("a cat"), harness.UserText("thanks")}}); who != "p/blind" {
		t.Errorf("an older picture keeps %s from answering", "p/blind")
	}
	if who, _, _ := p.ask(t, p.fallback("p/blind"), model.Request{Messages: []harness.Message{picture}}); who != "p/blind" {
		t.Errorf("nobody was asked")
	}
}

func TestMembersWithTooSmallAWindowArePassedOver(t *testing.T) {
	t.Parallel()
	p := newTroupe()
	p.fail["p/a"] = passing(0)
	f := p.fallback("p/a", "p/b", "p/c")
	f.Members[1].Info.Window = 1000
	ask := func(n int, want ...string) {
		t.Helper()
		r := model.Request{System: strings.Repeat("s", n/2), Messages: []harness.Message{harness.UserText(strings.Repeat("x", n/2))}}
		if who, _, _ := p.ask(t, f, r); who != want[len(want)-1] || !reflect.DeepEqual(p.asked, want) {
			t.Errorf("%d bytes: %s, asked %v, want %v", n, who, p.asked, want)
		}
	}
	ask(8000, "p/a", "p/c")
	ask(4000, "p/b")
	f.Members = f.Members[:2]
	ask(8000, "p/a") // it is in a pause, and still the only one that can
}

func TestFallbackWithoutMembersIsAnError(t *testing.T) {
	t.Parallel()
	f := &model.Fallback{}
	if _, err := f.Stream(t.Context(), model.Request{}, nil); err == nil || f.Next(model.Request{}) != "" {
		t.Fatal("no error")
	}
}
