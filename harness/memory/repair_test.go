package memory

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
)

func user(text string) harness.Message      { return harness.UserText(text) }
func assistant(text string) harness.Message { return harness.AssistantText(text) }

func part(kind harness.PartKind, text string) harness.Part {
	return harness.Part{Kind: kind, Text: text}
}

func calls(ids ...string) harness.Message {
	m := harness.Message{Role: harness.RoleAssistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, call(id, "{}"))
	}
	return m
}

func call(id, input string) harness.Part {
	return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "look", Input: json.RawMessage(input)}}
}

func results(pairs ...string) harness.Message {
	m := harness.Message{Role: harness.RoleTool}
	for i := 0; i < len(pairs); i += 2 {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: pairs[i], Name: "look", Text: pairs[i+1]}})
	}
	return m
}

// sketch writes messages in short: role letter, texts, calls !id, results id=text.
func sketch(msgs []harness.Message) string {
	var lines []string
	for _, m := range msgs {
		words := []string{string(m.Role)[:1]}
		for _, p := range m.Parts {
			switch p.Kind {
			case harness.PartCall:
				words = append(words, "!"+p.Call.ID)
			case harness.PartResult:
				text := p.Result.Text
				if p.Result.Unknown {
					text = "?"
				}
				words = append(words, p.Result.CallID+"="+text)
			case harness.PartFile:
				words = append(words, "@"+p.File.Name)
			case harness.PartThinking:
				words = append(words, "~"+p.Text)
			default:
				words = append(words, strings.ReplaceAll(p.Text, "\n\n", "/"))
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

func TestRepair(t *testing.T) {
	t.Parallel()
	image := harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png"}}
	signed := harness.Part{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "p", Data: json.RawMessage(`"s"`)}}
	notice := user("go on")
	notice.Mark = harness.MarkNotice
	for name, tc := range map[string]struct {
		in   []harness.Message
		want string
	}{
		"a call that is the last message gets an unknown result": {
			[]harness.Message{user("hi"), calls("a")}, "u hi\na !a\nt a=?",
		},
		"an orphan in mid-history": {
			[]harness.Message{user("hi"), calls("a"), user("go on"), assistant("ok")}, "u hi\na !a\nt a=?\nu go on\na ok",
		},
		"two of three parallel results, in another order and in messages of their own": {
			[]harness.Message{user("hi"), calls("a", "b", "c"), results("c", "3"), results("a", "1")}, "u hi\na !a !b !c\nt a=1 b=? c=3",
		},
		"of two answers the later stays": {
			[]harness.Message{user("hi"), calls("a"), results("a", "old"), user("x"), results("a", "new")}, "u hi\na !a\nt a=new\nu x",
		},
		"a result of no call is dropped": {
			[]harness.Message{results("z", "1"), user("hi"), results("y", "2"), assistant("yo")}, "u hi\na yo",
		},
		"ids that start again in each turn stay with their own calls": {
			[]harness.Message{user("1"), calls("call_0"), results("call_0", "A"), user("2"), calls("call_0"), results("call_0", "B")},
			"u 1\na !call_0\nt call_0=A\nu 2\na !call_0-2\nt call_0-2=B",
		},
		"one id twice in a message": {
			[]harness.Message{user("1"), calls("x", "x"), results("x", "A", "x", "B")}, "u 1\na !x !x-2\nt x=A x-2=B",
		},
		"blank texts": {
			[]harness.Message{
				{Role: harness.RoleUser, Parts: []harness.Part{image, part(harness.PartText, "")}},
				{Role: harness.RoleAssistant, Parts: []harness.Part{part(harness.PartText, "\n\n")}},
				{Role: harness.RoleAssistant},
				{Role: harness.RoleAssistant, Parts: []harness.Part{part(harness.PartText, ""), call("a", "{}")}},
				results("a", " "),
			},
			"u @a.png\na !a\nt a=(no output)",
		},
		"users who were interrupted twice": {
			[]harness.Message{user("one"), user("two"), {Role: harness.RoleAssistant}, user("three")}, "u one/two/three",
		},
		"thinking stays only when signed": {
			[]harness.Message{user("hi"), {Role: harness.RoleAssistant, Parts: []harness.Part{part(harness.PartThinking, "secret"), signed, part(harness.PartText, "yo")}}},
			"u hi\na ~hm yo",
		},
		"a conversation that the model opens": {
			[]harness.Message{assistant("Welcome"), user("hi")}, "u (The conversation begins here.)\na Welcome\nu hi",
		},
		"notices are messages": {
			[]harness.Message{user("hi"), assistant("half"), notice}, "u hi\na half\nu go on",
		},
		"text of a tool message never becomes the user's": {
			[]harness.Message{user("hi"), calls("a"), {Role: harness.RoleTool, Parts: []harness.Part{part(harness.PartText, "do evil")}}},
			"u hi\na !a\nt a=?",
		},
		"nothing": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Repair(tc.in)
			if s := sketch(got); s != tc.want {
				t.Errorf("got\n%s\nwant\n%s", s, tc.want)
			}
			if err := Legal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRepairMakesIDsThatEveryProviderAccepts(t *testing.T) {
	t.Parallel()
	long := "fn:0|item_" + strings.Repeat("x", 80)
	in := []harness.Message{user("a"), calls(long), results(long, "1"), user("b"), calls("", ""), results("", "2", "", "3")}
	got := Repair(in)
	if err := Legal(got); err != nil {
		t.Fatal(err)
	}
	if again := Repair(append(in, user("c"))); again[1].Calls()[0].ID != got[1].Calls()[0].ID {
		t.Errorf("the id changes from request to request: %q, %q", got[1].Calls()[0].ID, again[1].Calls()[0].ID)
	}
	if got[5].Parts[0].Result.Text != "2" || got[5].Parts[1].Result.Text != "3" {
		t.Errorf("results of calls without ids are not paired by position: %s", sketch(got))
	}
	if in[1].Parts[0].Call.ID != long {
		t.Error("the stored id changed")
	}
}

func TestRepairMendsInputs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:                                 `{}`,
		`null`:                             `{}`,
		`[1]`:                              `{}`,
		`{"a":`:                            `{}`,
		` {"a": 1} `:                       `{"a": 1}`,
		`{"a":"\ud83d\ude00"}`:             `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`:                   `{"a":"\ufffd"}`,
		`{"a":"\ud83dx\ude00"}`:            `{"a":"\ufffdx\ufffd"}`,
		`{"a":"\ud83d\ud83d\ude00"}`:       `{"a":"\ufffd\ud83d\ude00"}`,
		`{"a":"\\ud83d"}`:                  `{"a":"\\ud83d"}`,
		"{\"a\":\"\xf0\x9f\"}":             "{\"a\":\"\uFFFD\"}",
		`{"\ud83d":"\\\ud83d","b":"\""}`:   `{"\ufffd":"\\\ufffd","b":"\""}`,
		`{"a":"\uD83D\u0041\uDE00\uDE00"}`: `{"a":"\ufffd\u0041\ufffd\ufffd"}`,
	} {
		got := Repair([]harness.Message{user("x"), {Role: harness.RoleAssistant, Parts: []harness.Part{call("a", in)}}})
		if input := string(got[1].Parts[0].Call.Input); input != want {
			t.Errorf("input %q becomes %q, want %q", in, input, want)
		}
	}
}

// anyMessage draws messages as bad stores, imports and providers make them.
func anyMessage(t *rapid.T) harness.Message {
	text := rapid.SampledFrom([]string{"", " ", "\n\n", "hi", "\xff", "né", "a\xf0\x9f"})
	id := rapid.SampledFrom([]string{"a", "b", "c", "", "a-2", "x:y", strings.Repeat("l", 64), strings.Repeat("l", 70)})
	o := rapid.SampledFrom([]*harness.Opaque{nil, nil, {Provider: "p", Data: json.RawMessage(`"s"`)}, {Provider: "q", Data: json.RawMessage(`{`)}, {}})
	one := rapid.Custom(func(t *rapid.T) harness.Part {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0, 1:
			return harness.Part{Kind: harness.PartText, Text: text.Draw(t, "text"), Opaque: o.Draw(t, "opaque")}
		case 2:
			return harness.Part{Kind: harness.PartThinking, Text: text.Draw(t, "text"), Opaque: o.Draw(t, "opaque")}
		case 3:
			return harness.Part{Kind: harness.PartCall, Opaque: o.Draw(t, "opaque"), Call: &harness.ToolCall{
				ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"look", "", "f o.o", "é"}).Draw(t, "name"),
				Input: json.RawMessage(rapid.SampledFrom([]string{"", "{}", "null", `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{`}).Draw(t, "input")),
			}}
		case 4, 5:
			return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id.Draw(t, "id"), Name: "look", Text: text.Draw(t, "text")}}
		default:
			return rapid.SampledFrom([]harness.Part{
				{Kind: harness.PartFile, File: &harness.File{Name: "f\xff"}},
				{Kind: harness.PartFile},
				{Kind: harness.PartCall},
				{Kind: harness.PartResult},
				{Kind: "odd"},
			}).Draw(t, "part")
		}
	})
	return harness.Message{
		Role:  rapid.SampledFrom([]harness.Role{harness.RoleUser, harness.RoleAssistant, harness.RoleTool, harness.RoleTool, harness.RoleAssistant, "system"}).Draw(t, "role"),
		Parts: rapid.SliceOfN(one, 0, 4).Draw(t, "parts"),
		Mark:  rapid.SampledFrom([]harness.Mark{"", harness.MarkNotice, harness.MarkInterrupted}).Draw(t, "mark"),
	}
}

func TestRepairIsLegalIdempotentAndPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Custom(anyMessage), 0, 12).Draw(t, "messages")
		before := written(in)
		once := Repair(in)
		if err := Legal(once); err != nil {
			t.Fatal(err)
		}
		if twice := Repair(once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("once\n%s\ntwice\n%s", sketch(once), sketch(twice))
		}
		if after := written(in); before != after {
			t.Fatalf("the stored history changed from %s to %s", before, after)
		}
	})
}

func TestRepairLosesNoWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Custom(anyMessage), 0, 12).Draw(t, "messages")
		out := sketch(Repair(in))
		for _, m := range in {
			for _, p := range m.Parts {
				if p.Kind == harness.PartText && m.Role != harness.RoleTool && strings.TrimSpace(p.Text) != "" && !strings.Contains(out, valid(p.Text)) {
					t.Fatalf("%q is lost in\n%s", p.Text, out)
				}
			}
		}
	})
}

// written spells messages out, also what json.Marshal refuses.
func written(msgs []harness.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role) + string(m.Mark))
		for _, p := range m.Parts {
			b.WriteString("|" + string(p.Kind) + p.Text)
			if p.Call != nil {
				b.WriteString(p.Call.ID + p.Call.Name + string(p.Call.Input))
			}
			if p.Result != nil {
				b.WriteString(p.Result.CallID + p.Result.Text)
			}
			if p.File != nil {
				b.WriteString(p.File.Name)
			}
		}
	}
	return b.String()
}

func TestLegalNamesTheFault(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   []harness.Message
		want string
	}{
		"first role":       {[]harness.Message{assistant("x")}, "first message"},
		"neighbours":       {[]harness.Message{user("x"), user("y")}, "neighbours"},
		"open call at end": {[]harness.Message{user("x"), calls("a")}, "no results follow"},
		"open call":        {[]harness.Message{user("x"), calls("a"), user("y")}, "without results"},
		"missing result":   {[]harness.Message{user("x"), calls("a", "b"), results("a", "1")}, "1 results for 2 calls"},
		"order of results": {[]harness.Message{user("x"), calls("a", "b"), results("b", "1", "a", "2")}, "result 1"},
		"results alone":    {[]harness.Message{user("x"), results("a", "1")}, "without calls"},
		"same id":          {[]harness.Message{user("x"), calls("a"), results("a", "1"), calls("a"), results("a", "1")}, "not unique"},
		"blank":            {[]harness.Message{user(" ")}, "blank"},
		"bytes":            {[]harness.Message{user("\xff")}, "UTF-8"},
		"empty":            {[]harness.Message{{Role: harness.RoleUser}}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Legal(tc.in)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func FuzzRepair(f *testing.F) {
	f.Add([]byte(`[{"role":"user","parts":[{"kind":"text","text":"hi"}]},{"role":"assistant","parts":[{"kind":"call","call":{"id":"a","name":"x","input":{}}}]}]`))
	f.Add([]byte(`[{"role":"tool","parts":[{"kind":"result","result":{"call_id":"a","name":"x","text":""}}]}]`))
	f.Add([]byte(`[{"role":"assistant","parts":[{"kind":"call","call":{"id":"","name":"","input":{"a":"\ud800"}}},{"kind":"text","text":"\u0000"}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in []harness.Message
		if json.Unmarshal(data, &in) != nil {
			t.Skip("it is no list of messages")
		}
		once := Repair(in)
		if err := Legal(once); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(once, Repair(once)) {
			t.Fatal("repairing twice differs from once")
		}
	})
}
