package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/hook"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// plain is an extension without state, for others to build on.
type plain struct{ name string }

func (p plain) Name() string                 { return p.name }
func (plain) Save() (json.RawMessage, error) { return nil, nil }
func (plain) Load(json.RawMessage) error     { return nil }

// life notes what happens to it, and fails where it is told to.
type life struct {
	plain

	fail map[string]error
	mu   *sync.Mutex
	told *[]string
}

func (l life) say(what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.told = append(*l.told, l.name+" "+what)
	if err := l.fail[what]; err != nil {
		if err.Error() == "panic" {
			panic("at the disco")
		}
		return err
	}
	return nil
}

func (l life) Load(json.RawMessage) error { return l.say("load") }
func (l life) Install(_ context.Context, h *agent.Host) error {
	if l.name == "first" {
		h.AddSystem("Speak in rhyme.")
		h.AddTool(tool.Tool{Name: "rhyme", Permission: tool.Allow, Run: func(context.Context, tool.Call) (string, error) { return "time", nil }})
	}
	return l.say("install")
}
func (l life) Teardown(context.Context) error                     { return l.say("teardown") }
func (l life) OnTurnStart(context.Context, hook.AgentStart) error { return l.say("start") }
func (l life) OnTurnEnd(_ context.Context, e hook.AgentEnd) error { return l.say("end") }
func (l life) OnTurnComplete(_ context.Context, e hook.AgentEnd) {
	_ = l.say("complete") // it has nobody to tell
}

func lives(fail map[string]error) (first, second life, told *[]string) {
	told = new([]string)
	mu := new(sync.Mutex)
	return life{plain{"first"}, nil, mu, told}, life{plain{"second"}, fail, mu, told}, told
}

func TestExtensionsSeeTurnsBeginAndEnd(t *testing.T) {
	t.Parallel()
	first, second, told := lives(nil)
	var system string
	set := new(tool.Set)
	a, err := agent.New(agent.Options{
		Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			system = r.System
			return echo(ctx, r, emit)
		}),
		System: "Be short.", Tools: set, Extensions: []agent.Extension{first, second},
	})
	if err != nil {
		t.Fatal(err)
	}
	if names := set.Names(); !slices.Equal(names, []string{"rhyme"}) {
		t.Errorf("the tools are %v", names)
	}
	if _, err := a.Run(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	want := []string{
		"first install", "second install", "first start", "second start", "first end", "second end",
		"first complete", "second complete", "second teardown", "first teardown",
	}
	if !slices.Equal(*told, want) {
		t.Errorf("they were told %v, want %v", *told, want)
	}
	if system != "Be short.\n\nSpeak in rhyme." || len(set.Names()) != 0 {
		t.Errorf("the prompt was %q, and %v are left of the tools", system, set.Names())
	}
}

func TestExtensionThatCannotBeInstalledLeavesNothing(t *testing.T) {
	t.Parallel()
	boom := errors.New("no room")
	for name, make := range map[string]func(o agent.Options) error{
		"new":  func(o agent.Options) error { _, err := agent.New(o); return err },
		"open": func(o agent.Options) error { _, err := agent.Open(t.Context(), agent.Session{}, o); return err },
		"open in a store": func(o agent.Options) error {
			s := &shelf{logs: map[harness.SessionID][]harness.Record{}}
			_, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: s}, o)
			if s.open != 0 {
				t.Errorf("%d conversations are still open", s.open)
			}
			return err
		},
	} {
		for how, fail := range map[string]error{"error": boom, "panic": errors.New("panic")} {
			first, second, told := lives(map[string]error{"install": fail})
			set := new(tool.Set)
			err := make(agent.Options{Model: answering(echo), Tools: set, Extensions: []agent.Extension{first, second}})
			if err == nil || !strings.Contains(err.Error(), `the extension "second" could not be installed`) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if want := []string{"first install", "second install", "first teardown"}; !slices.Equal(*told, want) || len(set.Names()) != 0 {
				t.Errorf("%s, %s: they were told %v, and %v are left of the tools", name, how, *told, set.Names())
			}
		}
	}
}

func TestFailingExtensionFailsTheTurnOrNothing(t *testing.T) {
	t.Parallel()
	boom := errors.New("out of ink")
	for _, c := range []struct {
		where  string
		err    error
		status harness.RunStatus
		text   string
	}{
		{"start", boom, harness.RunFailed, `the extension "second" failed at the start of the turn: out of ink`},
		{"start", errors.New("panic"), harness.RunFailed, `the extension "second" failed at the start of the turn: it panicked: at the disco`},
		{"end", boom, harness.RunFailed, `the extension "second" failed at the end of the turn: out of ink`},
		{"complete", errors.New("panic"), harness.RunCompleted, ""},
	} {
		first, second, _ := lives(map[string]error{c.where: c.err})
		a, err := agent.New(agent.Options{Model: answering(echo), Extensions: []agent.Extension{first, second}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(t.Context(), "hi")
		if err != nil || res.Status != c.status {
			t.Fatalf("%s: result %+v, %v", c.where, res, err)
		}
		if c.text != "" && (res.Error == nil || res.Error.Kind != agent.KindExtension || res.Error.Text != c.text) {
			t.Errorf("%s: the error is %+v, want %s", c.where, res.Error, c.text)
		}
		delete(second.fail, c.where)
		if res, err := a.Run(t.Context(), "again"); err != nil || res.Status != harness.RunCompleted {
			t.Errorf("%s: the next turn is %+v, %v", c.where, res, err)
		}
	}
}

func TestCloseTellsWhatCouldNotBeTakenDown(t *testing.T) {
	t.Parallel()
	first, second, told := lives(map[string]error{"teardown": errors.New("stuck")})
	first.fail = map[string]error{"teardown": errors.New("stuck, too")}
	a, err := agent.New(agent.Options{Model: answering(echo), Extensions: []agent.Extension{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	err = a.Close()
	if err == nil || !strings.Contains(err.Error(), `"second" could not be taken down: stuck`) || !strings.Contains(err.Error(), `"first" could not be taken down: stuck, too`) {
		t.Errorf("close says %v", err)
	}
	if again := a.Close(); !errors.Is(again, err) || len(*told) != 4 {
		t.Errorf("another close says %v; they were told %v", again, *told)
	}
}

func TestExtensionsOfALoadedSessionAreInstalledFirst(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	a, err := agent.New(agent.Options{Model: answering(echo), Extensions: []agent.Extension{&counter{name: "second", n: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	id, err := a.SaveSession(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	first, second, told := lives(map[string]error{"load": errors.New("not mine")})
	_, err = agent.LoadSession(t.Context(), string(id), s, agent.Options{Model: answering(echo), Extensions: []agent.Extension{first, second}})
	if err == nil || !strings.Contains(err.Error(), `"second": not mine`) {
		t.Errorf("load says %v", err)
	}
	want := []string{"first install", "second install", "second load", "second teardown", "first teardown"}
	if !slices.Equal(*told, want) {
		t.Errorf("they were told %v, want %v", *told, want)
	}
}

// between is middleware out of functions.
type between struct {
	plain

	request func(*model.Request) error
	call    func(harness.ToolCall) (harness.ToolCall, error)
	result  func(harness.ToolResult) (harness.ToolResult, error)
}

func (b between) BeforeModel(_ context.Context, _ hook.Place, r *model.Request) error {
	if b.request == nil {
		return nil
	}
	return b.request(r)
}

func (b between) BeforeTool(_ context.Context, _ hook.Place, c harness.ToolCall) (harness.ToolCall, error) {
	if b.call == nil {
		return c, nil
	}
	return b.call(c)
}

func (b between) AfterTool(_ context.Context, _ hook.Place, _ harness.ToolCall, r harness.ToolResult) (harness.ToolResult, error) {
	if b.result == nil {
		return r, nil
	}
	return b.result(r)
}

// censor is middleware for replies.
type censor struct {
	plain

	reply func([]harness.Part) ([]harness.Part, error)
}

func (c censor) AfterModel(_ context.Context, _ hook.Place, parts []harness.Part) ([]harness.Part, error) {
	return c.reply(parts)
}

// signedCall answers with a call behind signed reasoning, then with the last
// message that it got.
func signedCall(asked *[]model.Request) answering {
	return func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if asked != nil {
			*asked = append(*asked, r)
		}
		last := r.Messages[len(r.Messages)-1]
		if last.Role == harness.RoleTool {
			s := "it said " + last.Parts[0].Result.Text
			emit(model.Delta{Kind: model.DeltaText, Text: s})
			return text(s), nil
		}
		return model.Reply{Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "mock", Data: json.RawMessage(`"sig"`)}},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "echo", Input: json.RawMessage(`{"text":"secret"}`)}},
		}, Stop: harness.StopTools}, nil
	}
}

func TestMiddlewareChangesWhatIsSentShownAndRun(t *testing.T) {
	t.Parallel()
	var asked []model.Request
	hide := func(s string) string { return strings.ReplaceAll(s, "secret", "****") }
	a, err := agent.New(agent.Options{
		Model: signedCall(&asked), Info: model.Info{ID: "mock/m"}, Tools: standardTools(t),
		Extensions: []agent.Extension{
			between{
				plain: plain{"notes"},
				request: func(r *model.Request) error {
					r.Context += "\nIt rains."
					r.Tools = r.Tools[:1]
					for i := range r.Messages {
						for j := range r.Messages[i].Parts {
							p := &r.Messages[i].Parts[j]
							p.Text = hide(p.Text)
						}
					}
					return nil
				},
				call: func(c harness.ToolCall) (harness.ToolCall, error) {
					c.Input = json.RawMessage(`{"text":"a secret, twice"}`)
					return c, nil
				},
				result: func(r harness.ToolResult) (harness.ToolResult, error) {
					r.Text = hide(r.Text)
					return r, nil
				},
			},
			censor{plain{"polite"}, func(parts []harness.Part) ([]harness.Part, error) {
				for i := range parts {
					if parts[i].Kind == harness.PartText {
						parts[i].Text = strings.ToUpper(parts[i].Text)
					}
				}
				return parts, nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var streamed strings.Builder
	res, err := a.Stream(t.Context(), "say the secret", func(e harness.Event) {
		if e.Type == harness.EventText {
			streamed.WriteString(e.Text)
		}
	})
	if err != nil || res.Text != "IT SAID A ****, TWICE" || streamed.String() != res.Text {
		t.Fatalf("result %+v, %v, shown %q", res, err, streamed.String())
	}
	r := asked[len(asked)-1]
	if r.Messages[0].Text() != "say the ****" || !strings.Contains(r.Context, "It rains.") || len(r.Tools) != 1 {
		t.Errorf("the request was %+v", r)
	}
	msgs := a.Messages()
	if msgs[0].Text() != "say the secret" || string(msgs[1].Calls()[0].Input) != `{"text":"secret"}` {
		t.Errorf("what is stored was changed: %+v", msgs[:2])
	}
	if msgs[2].Parts[0].Result.Text != "a ****, twice" {
		t.Errorf("the stored result is %+v", msgs[2].Parts[0].Result)
	}
}

func TestIllegalMiddlewareFailsTheTurnByName(t *testing.T) {
	t.Parallel()
	request := func(f func(r *model.Request)) agent.Extension {
		return between{plain: plain{"odd"}, request: func(r *model.Request) error {
			if len(r.Messages) > 1 { // the request with the call and its result
				f(r)
			}
			return nil
		}}
	}
	reply := func(f func([]harness.Part) []harness.Part) agent.Extension {
		return censor{plain{"odd"}, func(p []harness.Part) ([]harness.Part, error) { return f(p), nil }}
	}
	for name, x := range map[string]agent.Extension{
		"a call's id": request(func(r *model.Request) { r.Messages[1].Parts[1].Call.ID = "other" }),
		"both ids": request(func(r *model.Request) {
			r.Messages[1].Parts[1].Call.ID, r.Messages[2].Parts[0].Result.CallID = "other", "other"
		}),
		"a signature":         request(func(r *model.Request) { r.Messages[1].Parts[0].Opaque.Data = json.RawMessage(`"forged"`) }),
		"signed words":        request(func(r *model.Request) { r.Messages[1].Parts[0].Text = "other" }),
		"no signature":        request(func(r *model.Request) { r.Messages[1].Parts = r.Messages[1].Parts[1:] }),
		"an orphan":           request(func(r *model.Request) { r.Messages = r.Messages[2:] }),
		"nothing":             request(func(r *model.Request) { r.Messages = nil }),
		"the last word":       request(func(r *model.Request) { r.Messages = append(r.Messages, harness.AssistantText("Sure,")) }),
		"the system prompt":   request(func(r *model.Request) { r.System = "Obey." }),
		"the budget":          request(func(r *model.Request) { r.MaxOutput = 1 << 30 }),
		"an error":            between{plain: plain{"odd"}, request: func(*model.Request) error { return errors.New("no") }},
		"a panic":             between{plain: plain{"odd"}, request: func(*model.Request) error { panic("no") }},
		"a reply's call id":   reply(func(p []harness.Part) []harness.Part { p[len(p)-1].Call.ID = "other"; return p }),
		"a reply's call":      reply(func([]harness.Part) []harness.Part { return nil }),
		"a reply's signature": reply(func(p []harness.Part) []harness.Part { p[0].Opaque.Data = json.RawMessage(`"forged"`); return p }),
		"a call's id before it runs": between{plain: plain{"odd"}, call: func(c harness.ToolCall) (harness.ToolCall, error) {
			c.ID = "other"
			return c, nil
		}},
		"a result's id": between{plain: plain{"odd"}, result: func(r harness.ToolResult) (harness.ToolResult, error) {
			r.CallID = "other"
			return r, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := agent.New(agent.Options{Model: signedCall(nil), Info: model.Info{ID: "mock/m"}, Tools: standardTools(t), Extensions: []agent.Extension{x}})
			if err != nil {
				t.Fatal(err)
			}
			res, err := a.Run(t.Context(), "go")
			if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != agent.KindExtension || !strings.HasPrefix(res.Error.Text, `the extension "odd" `) {
				t.Fatalf("result %+v (%+v), %v", res, res.Error, err)
			}
		})
	}
}

func TestExtensionCanRefuseACallAndWithholdAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		x    agent.Extension
		want string
	}{
		"refused": {between{plain: plain{"guard"}, call: func(harness.ToolCall) (harness.ToolCall, error) {
			return harness.ToolCall{}, errors.New("not on a Sunday")
		}}, `not run: the extension "guard" refused the call: not on a Sunday`},
		"withheld": {between{plain: plain{"guard"}, result: func(harness.ToolResult) (harness.ToolResult, error) {
			panic("no idea what that is")
		}}, `the extension "guard" withholds the result of the tool, which ran: it panicked: no idea what that is`},
		"marked as failed": {between{plain: plain{"guard"}, result: func(r harness.ToolResult) (harness.ToolResult, error) {
			r.Text, r.Failed = "better not", true
			return r, nil
		}}, "better not"},
	} {
		a, err := agent.New(agent.Options{Model: signedCall(nil), Info: model.Info{ID: "mock/m"}, Tools: standardTools(t), Extensions: []agent.Extension{c.x}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(t.Context(), "go")
		if err != nil || res.Status != harness.RunCompleted || res.Text != "it said "+c.want {
			t.Errorf("%s: result %+v, %v", name, res, err)
		}
		if r := a.Messages()[2].Parts[0].Result; !r.Failed || strings.Contains(r.Text, "secret") {
			t.Errorf("%s: the stored result is %+v", name, r)
		}
	}
}

// An answer that is cut off must not pass by the middleware that would have
// changed it.
func TestNothingOfACutAnswerPassesByMiddleware(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	a, err := agent.New(agent.Options{
		Model: answering(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "the secret is"})
			close(begun)
			<-ctx.Done()
			return model.Reply{}, ctx.Err()
		}),
		Extensions: []agent.Extension{censor{plain{"polite"}, func(p []harness.Part) ([]harness.Part, error) { return p, nil }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-begun; stop() }()
	res, err := a.Stream(ctx, "go", func(e harness.Event) {
		if strings.Contains(fmt.Sprint(e.Text, e.Message), "secret") {
			t.Errorf("shown: %+v", e)
		}
	})
	if err != nil || res.Status != harness.RunCancelled || len(a.Messages()) != 1 {
		t.Errorf("result %+v, %v, messages %+v", res, err, a.Messages())
	}
}
