package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/storage/mem"
)

// withFile is a message with an image.
func withFile(t *testing.T, words string) harness.Message {
	t.Helper()
	m := harness.UserText(words)
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Width: 1, Height: 1, Data: picture(t)}})
	return m
}

// hasFile reports whether a request has the bytes of a file.
func hasFile(r model.Request) bool {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == harness.PartFile && len(p.File.Data) > 0 {
				return true
			}
		}
	}
	return false
}

// A file that the provider refuses ends the turn that it came with, and no other.
func TestARefusedFileEndsNoConversation(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]*model.Error{
		"a bad request":  {Kind: model.KindBadRequest, Provider: "p", Message: "image exceeds the maximum"},
		"too many bytes": {Kind: model.KindOverflow, Provider: "p", Message: "request entity too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := mem.New(nil).Limits()
			var refuse bool
			var requests []model.Request
			a := learning(t, agent.Options{
				Info: model.Info{ID: "p/m", Images: true, Window: 100_000}, Limits: limits,
				Model: answering(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
					if requests = append(requests, r); refuse && hasFile(r) {
						return model.Reply{}, refusal
					}
					return text("well"), nil
				}),
			})
			send := func(m harness.Message, want harness.RunStatus, calls int) (res harness.Result, lines []string) {
				t.Helper()
				requests = nil
				res, err := a.Send(t.Context(), m, func(e harness.Event) {
					if e.Type == harness.EventRecovery {
						lines = append(lines, e.Text)
					}
				})
				if err != nil || res.Status != want || calls > 0 && len(requests) != calls {
					t.Fatalf("%d requests, %+v, %v, %v", len(requests), res, res.Error, err)
				}
				return res, lines
			}
			send(withFile(t, "look"), harness.RunCompleted, 1)
			refuse = true
			for i := range 2 {
				_, lines := send(harness.UserText(fmt.Sprint("go on ", i)), harness.RunCompleted, 2)
				if want := "the request was refused; asking again without the files of earlier messages"; len(lines) != 1 || lines[0] != want {
					t.Errorf("told %q", lines)
				}
				if last := requests[1]; hasFile(last) || !strings.Contains(fmt.Sprint(last.Messages), `"a.png", image/png, 70 bytes, was attached here and is not shown: a request that had it was refused`) {
					t.Errorf("asked again with %+v", last.Messages)
				}
			}
			res, _ := send(withFile(t, "and this"), harness.RunFailed, 0)
			if !strings.Contains(res.Error.Text, refusal.Message) {
				t.Errorf("it failed with %q", res.Error.Text)
			}
			send(harness.UserText("then without"), harness.RunCompleted, 2)
			if l, err := limits.Get(t.Context(), "p/m"); err != nil || l != (harness.LearnedLimits{}) {
				t.Errorf("it is remembered that %+v, %v", l, err)
			}
			refuse = false
			if send(harness.UserText("and with it"), harness.RunCompleted, 1); !hasFile(requests[0]) {
				t.Error("the file is lost for good")
			}
		})
	}
}

// What no window of the model's size holds is not sent.
func TestAMessageFarLargerThanTheWindowIsNotSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window, words, requests int
		status                  harness.RunStatus
	}{
		{8_000, 24_000, 0, harness.RunFailed},
		{8_000, 10_000, 1, harness.RunCompleted}, // the estimate may be wrong
		{0, 200_000, 1, harness.RunCompleted},
	} {
		a := teach(t, model.Info{ID: "p/m", Window: c.window, MaxOutput: 500}, passes(1_000_000_000, nil))
		for range 2 {
			before := len(a.requests)
			res := run(t, a.Agent, strings.Repeat("word ", c.words))
			if res.Status != c.status || len(a.requests)-before != c.requests {
				t.Fatalf("%+v: %d requests, %+v", c, len(a.requests)-before, res.Error)
			}
			if c.requests == 0 && (res.Error.Kind != string(model.KindOverflow) || !strings.Contains(res.Error.Text, "the model's window has 8000; send less at once")) {
				t.Errorf("it failed with %+v", res.Error)
			}
		}
		if c.requests == 0 {
			if res := run(t, a.Agent, "short"); res.Status != harness.RunCompleted {
				t.Errorf("a short message after it: %+v", res.Error)
			}
		}
	}
}
