package modeltest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
)

// greeting is "Hello" in two pieces, whole.
func greeting(d Dialect) [][]Event {
	return [][]Event{d.Start(), d.Text("Hel"), d.Text("lo"), d.Finish("stop"), d.End()}
}

func comments(t *testing.T, s Subject) {
	t.Parallel()
	const noise = ": WAIT\n\n:\n\n: ping\n\n"
	for name, f := range map[string]func(text string) string{
		"before":  func(text string) string { return noise + text },
		"after":   func(text string) string { return text + noise },
		"between": func(text string) string { return strings.ReplaceAll(text, "\n\n", "\n\n"+noise) },
		"inside":  func(text string) string { return strings.ReplaceAll(text, "data:", ": in the middle\ndata:") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for _, list := range greeting(s.Dialect) {
				for _, e := range list {
					text.WriteString(Plain(e))
				}
			}
			svc := Serve(t, func(_ int, a *Answer) { a.Raw(f(text.String())) })
			reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
			wantText(t, "Hello", reply, seen, err)
		})
	}
}

func framings(t *testing.T, s Subject) {
	t.Parallel()
	for name, f := range map[string]Framing{"plain": Plain, "CRLF": CRLF, "no space": Tight, "two data lines": Split} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := s.Dialect
			svc := story(t, f, d.Start(), d.Text("Hel"), d.Text("lo"), d.Finish("stop"), d.Usage(30, 10, 7, 0), d.End())
			reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
			wantText(t, "Hello", reply, seen, err)
			if reply.Usage.Input != 30 || reply.Usage.Output != 7 {
				t.Errorf("usage %+v", reply.Usage)
			}
			if reply.Model != s.ID {
				t.Errorf("model %q, want %q", reply.Model, s.ID)
			}
		})
	}
}

func promptness(t *testing.T, s Subject) {
	t.Parallel()
	for name, f := range map[string]Framing{"plain": Plain, "CRLF": CRLF, "two data lines": Split} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := s.Dialect
			seenFirst := make(chan struct{})
			svc := Serve(t, func(_ int, a *Answer) {
				a.Send(f, d.Start(), d.Text("Hel"))
				select {
				case <-seenFirst:
				case <-a.Gone():
				}
				a.Send(f, d.Text("lo"), d.Finish("stop"), d.End())
			})
			first := true
			reply, seen, err := askWith(t.Context(), s.New(t, svc.URL, key), hello(), func(delta model.Delta) {
				if delta.Kind == model.DeltaText && first {
					first = false
					close(seenFirst)
				}
			})
			wantText(t, "Hello", reply, seen, err)
		})
	}
}

func bytewise(t *testing.T, s Subject) {
	t.Parallel()
	const text = "작성 완료 🙂 台 é"
	d := s.Dialect
	svc := Serve(t, func(_ int, a *Answer) {
		a.Bytes(Plain, d.Start(), d.Text(text), d.Call(0, "c1", "now", `{"t":"작성 완료`, ` 🙂 台 é"}`), d.Finish("tools"), d.End())
	})
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, text, reply, seen, err)
	calls := callsOf(reply)
	if len(calls) != 1 || !sameJSON(calls[0].Input, `{"t":"작성 완료 🙂 台 é"}`) {
		t.Fatalf("calls %+v", calls)
	}
}

func longEvents(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	first, second, args := strings.Repeat("a", 70<<10), strings.Repeat("é", 768<<10), strings.Repeat("z", 5<<20)
	svc := story(t, Plain, d.Start(), d.Text(first), d.Text(second), d.Call(0, "c1", "now", `{"t":"`+args+`"}`), d.Finish("tools"), d.End())
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, first+second, reply, seen, err)
	if calls := callsOf(reply); len(calls) != 1 || !sameJSON(calls[0].Input, `{"t":"`+args+`"}`) {
		t.Fatalf("%d calls", len(calls))
	}
}

func tooLong(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Par"), d.Text(strings.Repeat("a", 17<<20)), d.Finish("stop"), d.End())
	_, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	e := wantError(t, model.KindProtocol, err)
	if !strings.Contains(e.Message, "16 MiB") || seen.text != "Par" || e.Retry {
		t.Fatalf("%v after %q", e, short(seen.text))
	}
}

func failures(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Par"), d.Failure("the kettle is overloaded"))
	_, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	e, ok := model.AsError(err)
	if !ok || !strings.Contains(e.Message, "the kettle is overloaded") || seen.text != "Par" {
		t.Fatalf("%v after %q", err, seen.text)
	}
	svc = story(t, Plain, d.Start(), d.Text("Par"), d.Failure("your quota is used up"))
	_, _, err = ask(t, s.New(t, svc.URL, key), hello())
	if e, ok = model.AsError(err); !ok || !strings.Contains(e.Message, "your quota is used up") {
		t.Fatalf("%v", err)
	}
}

// half is a call whose arguments have only begun, nothing where the interface
// has none in pieces.
func half(s Subject, args string) []Event {
	if s.WholeArguments {
		return nil
	}
	list := s.Dialect.Call(0, "c1", "now", args)
	switch s.Dialect.(type) {
	case Anthropic, Responses:
		list = list[:len(list)-1]
	}
	return list
}

func earlyEnds(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	open := half(s, `{`)
	for name, svc := range map[string]*Service{
		"text":        story(t, Plain, d.Start(), d.Text("The key is")),
		"call":        story(t, Plain, d.Start(), d.Text("The key is"), open),
		"marker only": story(t, Plain, d.Start(), d.Text("The key is"), []Event{{Data: "[DONE]"}}),
		"reset":       Serve(t, func(_ int, a *Answer) { a.Send(Plain, d.Start(), d.Text("The key is")); a.Reset() }),
	} {
		reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
		e := wantError(t, model.KindIncomplete, err)
		if !e.Retry || seen.text != "The key is" && name != "reset" || len(reply.Parts) != 0 {
			t.Errorf("%s: %v after %q, parts %+v", name, e, seen.text, reply.Parts)
		}
	}
}

func missingEnd(t *testing.T, s Subject) {
	if s.ReasonAtEnd {
		t.Skip("the reason comes with the end")
	}
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Hello"), d.Finish("stop"))
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, "Hello", reply, seen, err)
}

func resetAfterEnd(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	told := make(chan struct{})
	svc := Serve(t, func(_ int, a *Answer) {
		a.Send(Plain, d.Start(), d.Text("Hello"), d.Finish("stop"), d.End())
		select {
		case <-told:
		case <-a.Gone():
		}
		a.Reset()
	})
	reply, seen, err := askWith(t.Context(), s.New(t, svc.URL, key), hello(), func(delta model.Delta) {
		if delta.Kind == model.DeltaText {
			close(told)
		}
	})
	if err == nil {
		wantText(t, "Hello", reply, seen, err)
		return
	}
	// The reset may overtake the end on its way, which is an early end.
	_ = wantError(t, model.KindIncomplete, err)
}

func halfEvent(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := Serve(t, func(_ int, a *Answer) {
		a.Send(Plain, d.Start(), d.Text("Hel"))
		whole := Plain(d.Text("lo")[0])
		a.Raw(whole[:len(whole)-8])
	})
	_, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	_ = wantError(t, model.KindIncomplete, err)
	if seen.text != "Hel" {
		t.Fatalf("streamed %q", seen.text)
	}
}

func empty(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Finish("stop"), d.End())
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, "", reply, seen, err)
	if !(harness.Message{Parts: reply.Parts}).Empty() {
		t.Fatalf("parts %+v", reply.Parts)
	}
}

func usage(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Hello"), d.Finish("stop"), d.Usage(30, 12, 9, 4), d.End())
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, "Hello", reply, seen, err)
	u := reply.Usage
	if u.Input != 30 || u.CacheRead != 12 || u.Output != 9 || u.Incomplete {
		t.Fatalf("usage %+v", u)
	}
	if _, tells := d.(Anthropic); !tells && u.Reasoning != 4 {
		t.Fatalf("usage %+v", u)
	}
}

func truncated(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Hel"), d.Call(0, "c1", "now", `{"a":1}`), d.Finish("length"), d.End())
	reply, _, err := ask(t, s.New(t, svc.URL, key), hello())
	if err != nil || reply.Stop != harness.StopLength {
		t.Fatalf("stop %q, %v", reply.Stop, err)
	}
}

func silence(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	gone := make(chan struct{})
	svc := Serve(t, func(_ int, a *Answer) {
		a.Send(Plain, d.Start(), d.Text("Hel"))
		<-a.Gone()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	_, seen, err := askWith(ctx, s.New(t, svc.URL, key), hello(), func(delta model.Delta) {
		if delta.Kind == model.DeltaText {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || seen.text != "Hel" {
		t.Fatalf("%v after %q", err, seen.text)
	}
	<-gone
}

func idle(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := Serve(t, func(n int, a *Answer) {
		a.Send(Plain, d.Start(), d.Text("Hello"))
		if n == 0 {
			<-a.Gone()
			return
		}
		a.Send(Plain, d.Finish("stop"), d.End())
	})
	m := model.Idle{Next: s.New(t, svc.URL, key), Limit: 200 * time.Millisecond}
	_, _, err := ask(t, m, hello())
	e := wantError(t, model.KindIdle, err)
	if !strings.Contains(e.Message, "0.2 seconds") {
		t.Fatalf("%v", e)
	}
	m.Limit = time.Minute
	reply, seen, err := ask(t, m, hello())
	wantText(t, "Hello", reply, seen, err)
}

func cancelled(t *testing.T, s Subject) {
	t.Parallel()
	svc := story(t, Plain, greeting(s.Dialect)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, seen, err := askWith(ctx, s.New(t, svc.URL, key), hello(), func(model.Delta) {})
	if !errors.Is(err, context.Canceled) || seen.text != "" {
		t.Fatalf("%v after %q", err, seen.text)
	}
}

// retry breaks the first attempt after text and half a call.
func retry(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	full := d.Call(0, "c1", "now", `{"cmd":"touch `, `PQ"}`)
	begun := half(s, `{"cmd":"touch P`)
	svc := Serve(t, func(n int, a *Answer) {
		if n == 0 {
			a.Send(Plain, d.Start(), d.Text("Hello wor"), begun)
			return
		}
		a.Send(Plain, d.Start(), d.Text("Hello world"), full, d.Finish("tools"), d.End())
	})
	reply, seen, err := ask(t, model.Retry{Next: s.New(t, svc.URL, key), Random: func() float64 { return 0.99 }}, hello())
	wantText(t, "Hello world", reply, seen, err)
	calls := callsOf(reply)
	if len(calls) != 1 || !sameJSON(calls[0].Input, `{"cmd":"touch PQ"}`) {
		t.Fatalf("calls %+v", calls)
	}
	retried, reset := -1, -1
	for i, k := range seen.kinds {
		switch k {
		case model.DeltaRetry:
			retried = i
		case model.DeltaReset:
			reset = i
		default:
		}
	}
	if retried < 0 || reset != retried+1 || !reply.Usage.Incomplete {
		t.Fatalf("deltas %v, usage %+v", seen.kinds, reply.Usage)
	}
}
