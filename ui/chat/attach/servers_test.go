package attach

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
)

// one is a server of which everything is said in the list.
type one struct {
	harness.Servers
	list []harness.ServerStatus
	read []harness.ServerContent
	says []harness.Message
	err  error
}

func (o one) List() []harness.ServerStatus { return o.list }

func (o one) Changed() <-chan struct{} { return make(chan struct{}) }

func (o one) Read(context.Context, string, string) ([]harness.ServerContent, error) {
	return o.read, o.err
}

func (o one) Prompt(context.Context, string, string, map[string]string) ([]harness.Message, error) {
	return o.says, o.err
}

func (o one) Complete(_ context.Context, _, of, argument, typed string) ([]string, error) {
	return []string{of + "|" + argument + "|" + typed}, nil
}

func ready() harness.ServerStatus {
	return harness.ServerStatus{
		Name: "s", State: harness.ServerReady,
		Prompts: []harness.ServerPrompt{
			{Name: "none"},
			{Name: "one", Arguments: []harness.PromptArgument{{Name: "text", Required: true}}},
			{Name: "two words\x1b", Arguments: []harness.PromptArgument{{Name: "a", Required: true}, {Name: "b"}}},
		},
		Resources: []harness.ServerResource{{URI: "x://a", MediaType: "text/plain"}, {URI: "x://t/{id}/of/{what}", Template: true}, {URI: "bad://\x1b[2J"}},
	}
}

func TestACallIsReadAsItIsTyped(t *testing.T) {
	t.Parallel()
	r := Remote{one{list: []harness.ServerStatus{ready()}}}
	for text, want := range map[string]struct {
		given map[string]string
		wrong string
		none  bool
	}{
		"/s:none":                             {given: map[string]string{}},
		"/s:none more":                        {given: map[string]string{}, wrong: "takes nothing"},
		"/s:one":                              {given: map[string]string{}},
		"/s:one all of it, as it is":          {given: map[string]string{"text": "all of it, as it is"}},
		"/s:one text=all of it":               {given: map[string]string{"text": "all of it"}},
		`/s:one "quoted \"it\" \\ there"`:     {given: map[string]string{"text": `quoted "it" \ there`}},
		`/s:one "open`:                        {given: map[string]string{}, wrong: "not closed"},
		"/s:two_words_ 1 2":                   {given: map[string]string{"a": "1", "b": "2"}},
		`/s:two_words_ b=2 "the first"`:       {given: map[string]string{"a": "the first", "b": "2"}},
		`/s:two_words_ B=2 A=1`:               {given: map[string]string{"a": "1", "b": "2"}},
		"/s:one TEXT=all of it":               {given: map[string]string{"text": "all of it"}},
		`/s:two_words_ x=1`:                   {given: map[string]string{"a": "x=1"}},
		`/s:two_words_ "b=1"`:                 {given: map[string]string{"a": "b=1"}},
		"/s:two_words_ 1 2 3":                 {given: map[string]string{"a": "1", "b": "2"}, wrong: "too much"},
		"/s:two_words_\n1\n2":                 {given: map[string]string{"a": "1", "b": "2"}},
		"/s:nobody":                           {none: true},
		"/t:one x":                            {none: true},
		"/s":                                  {none: true},
		" /s:one x":                           {none: true},
		"s:one x":                             {none: true},
		"/s:one " + strings.Repeat("x ", 1e4): {given: map[string]string{"text": strings.TrimSpace(strings.Repeat("x ", 1e4))}},
	} {
		c, ok, err := r.Parse(text)
		switch {
		case ok == want.none:
			t.Errorf("%.40q: a call is %v", text, ok)
		case want.none:
		case (err == nil) != (want.wrong == "") || err != nil && !strings.Contains(err.Error(), want.wrong):
			t.Errorf("%.40q: %v, not %q", text, err, want.wrong)
		case !reflect.DeepEqual(c.Given, want.given):
			t.Errorf("%.40q: given %q, not %q", text, c.Given, want.given)
		}
		if ok && err == nil { // what it is typed as means the same
			again, _, err := r.Parse(c.With(c.Given))
			if err != nil || !reflect.DeepEqual(again.Given, c.Given) {
				t.Errorf("%.40q: %q means %q, %v", text, c.With(c.Given), again.Given, err)
			}
		}
	}
}

func FuzzCall(f *testing.F) {
	f.Add(`/s:two_words_ "a \" b" b=c`, `x y"\`)
	r := Remote{one{list: []harness.ServerStatus{ready()}}}
	f.Fuzz(func(t *testing.T, text, value string) {
		c, ok, _ := r.Parse(text)
		if ok {
			c.Typing(text)
			c.Missing()
		}
		if value = strings.ToValidUTF8(value, ""); value == "" { // none is not given
			return
		}
		c = Call{Server: "s", Prompt: ready().Prompts[2]}
		again, ok, err := r.Parse(c.With(map[string]string{"a": value}))
		if !ok || err != nil || again.Given["a"] != value {
			t.Errorf("%q comes back as %q, %v", value, again.Given["a"], err)
		}
	})
}

func TestTheEndOfAnAddressIsAVariable(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]hole{
		"x://t/":         {"id", "x://t/", "", "/of/"},
		"x://t/12":       {"id", "x://t/", "12", "/of/"},
		"x://t/12/of/":   {"what", "x://t/12/of/", "", ""},
		"x://t/12/of/it": {"what", "x://t/12/of/", "it", ""},
		"x://t":          {},
		"y://t/1":        {},
	} {
		got, ok := holeIn("x://t/{id}/of/{what}", uri)
		if ok != (want.name != "") || ok && got != want {
			t.Errorf("%s ends in %+v (%v), not %+v", uri, got, ok, want)
		}
	}
	for _, odd := range []string{"", "{", "{}", "x{", "x{y", "{?q}", "}{"} {
		holeIn(odd, "x")
		holeIn(odd, "")
	}
}

func TestWhatAServerGivesIsMarkedAsForeign(t *testing.T) {
	t.Parallel()
	s := one{
		list: []harness.ServerStatus{ready()},
		says: []harness.Message{harness.UserText("do this"), harness.AssistantText("done"), {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{Name: "x://a", Data: []byte("attached")}}}}},
		read: []harness.ServerContent{{URI: "x://a", Text: "first"}, {URI: "x://b", Data: []byte("second")}},
	}
	files := Remote{s}.With(Files{
		Look: func(context.Context, string) (Seen, error) { return Seen{}, fs.ErrNotExist },
		Read: func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
		Bytes: func(name string, data []byte) (harness.Part, error) {
			return harness.Part{Kind: harness.PartText, Text: string(data), File: &harness.File{Name: name}}, nil
		},
	})
	msg, _, err := files.Message(t.Context(), "/s:one it and @s:x://a", "test/m", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if msg.Text() != "/s:one it and @s:x://a" || len(msg.Parts) != 5 {
		t.Fatalf("sent %+v", msg)
	}
	for _, p := range msg.Parts[1:] {
		if p.File == nil {
			t.Errorf("%q counts as the person's own words", p.Text)
		}
	}
	if p := msg.Parts[1]; p.File.MediaType != PromptType || !strings.Contains(p.Text, "[user]\ndo this\n\n[assistant]\ndone") {
		t.Errorf("the prompt is %+v", p)
	}
	again, _, err := files.Message(t.Context(), "now another text", "test/m", &msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range again.Parts {
		if p.File != nil && p.File.MediaType == PromptType {
			t.Errorf("what another text called is sent again: %+v", p)
		}
	}
}

func TestWhatAServerDoesNotGiveIsNotSent(t *testing.T) {
	t.Parallel()
	off, failed := ready(), ready()
	off.State = harness.ServerOff
	failed.State, failed.Err = harness.ServerFailed, "it is gone."
	for name, c := range map[string]struct {
		s    harness.ServerStatus
		text string
		err  error
		want string
	}{
		"off":            {s: off, text: "/s:none", want: "is off; /mcp turns it on"},
		"failed":         {s: failed, text: "@s:x://a", want: "cannot be had: it is gone"},
		"no prompt":      {s: ready(), text: "/s:nobody", want: "has no prompt nobody"},
		"no resource":    {s: ready(), text: "@s:y://a", err: harness.ErrNotFound, want: "has no resource y://a"},
		"no variable":    {s: ready(), text: "@s:x://t/{id}/of/{what}", want: "to be filled in"},
		"nothing":        {s: ready(), text: "/s:none", want: "gave nothing"},
		"empty":          {s: ready(), text: "@s:x://a", want: "is empty"},
		"hostile reason": {s: ready(), text: "/s:none", err: errors.New("no \x1b[2J"), want: "no ␛[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := Remote{one{list: []harness.ServerStatus{c.s}, err: c.err}}.With(Files{
				Look: func(context.Context, string) (Seen, error) { return Seen{}, fs.ErrNotExist },
				Read: func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
			})
			_, _, err := files.Message(t.Context(), c.text, "test/m", nil, nil)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}
