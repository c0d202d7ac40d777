package tool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
)

type echoIn struct {
	Text  string   `json:"text" jsonschema:"what to say"`
	Times int      `json:"times,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

func echo(tb testing.TB, name string) Tool {
	tb.Helper()
	made, err := New(name, "Say it.", func(_ context.Context, _ Call, in echoIn) (string, error) {
		return in.Text, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func running(run func(context.Context, Call) (string, error)) Tool {
	return Tool{Name: "t", Run: run}
}

func setOf(tb testing.TB, tools ...Tool) *Set {
	tb.Helper()
	var s Set
	for _, made := range tools {
		if err := s.Add(made); err != nil {
			tb.Fatal(err)
		}
	}
	return &s
}

func callOf(name, input string) harness.ToolCall {
	return harness.ToolCall{ID: "id1", Name: name, Input: json.RawMessage(input)}
}

func TestAddRefusesUnusableTools(t *testing.T) {
	t.Parallel()
	fine := echo(t, "echo")
	for name, tc := range map[string]struct {
		change func(*Tool)
		want   error
	}{
		"a name that is taken":   {func(*Tool) {}, ErrDuplicate},
		"no name":                {func(t *Tool) { t.Name = "" }, ErrInvalid},
		"a blank in the name":    {func(t *Tool) { t.Name = "a b" }, ErrInvalid},
		"a digit first":          {func(t *Tool) { t.Name = "1a" }, ErrInvalid},
		"a long name":            {func(t *Tool) { t.Name = strings.Repeat("a", 65) }, ErrInvalid},
		"no function":            {func(t *Tool) { t.Name, t.Run = "b", nil }, ErrInvalid},
		"an unknown permission":  {func(t *Tool) { t.Name, t.Permission = "b", "maybe" }, ErrInvalid},
		"an unknown replay":      {func(t *Tool) { t.Name, t.Replay = "b", "maybe" }, ErrInvalid},
		"a negative timeout":     {func(t *Tool) { t.Name, t.Timeout = "b", -1 }, ErrInvalid},
		"a schema of no object":  {func(t *Tool) { t.Name, t.Schema = "b", json.RawMessage(`{"type":"string"}`) }, ErrInvalid},
		"a broken schema":        {func(t *Tool) { t.Name, t.Schema = "b", json.RawMessage(`{`) }, ErrInvalid},
		"a negative retry":       {func(t *Tool) { t.Name, t.Retry.Attempts = "b", -1 }, ErrInvalid},
		"a question without any": {func(t *Tool) { t.Name, t.Question = "b", true }, ErrInvalid},
		"a reference to nowhere": {func(t *Tool) { t.Name, t.Schema = "b", json.RawMessage(`{"type":"object","$ref":"#/x"}`) }, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setOf(t, fine)
			bad := fine
			tc.change(&bad)
			if err := s.Add(bad); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if len(s.Specs()) != 1 {
				t.Error("the set changed")
			}
		})
	}
}

func TestAddFailsClosed(t *testing.T) {
	t.Parallel()
	s := setOf(t, running(func(context.Context, Call) (string, error) { return "", nil }))
	got, _ := s.Lookup("t")
	if got.Permission != Ask || got.Replay != Manual || len(got.Schema) == 0 {
		t.Errorf("got %+v, want a tool that asks, is manual and has a schema", got)
	}
	if r := s.Run(t.Context(), callOf("t", `{"x":1}`), Call{}); !r.Failed {
		t.Error("arguments for a tool without any were accepted")
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := setOf(t, echo(t, "a"), echo(t, "b"), echo(t, "c"))
	if !s.Remove("a") || s.Remove("a") {
		t.Error("a tool is removed once")
	}
	if got, ok := s.Lookup("c"); !ok || got.Name != "c" {
		t.Errorf("lookup of c finds %q", got.Name)
	}
	if got := s.Names(); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("names %v", got)
	}
}

func TestReplaceKeepsThePlace(t *testing.T) {
	t.Parallel()
	s := setOf(t, echo(t, "a"), echo(t, "b"))
	was, _ := s.Lookup("a")
	other := echo(t, "a")
	other.Description = "Say it otherwise."
	for _, tl := range []Tool{other, echo(t, "c")} {
		if err := s.Replace(tl); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := s.Lookup("a")
	if !slices.Equal(s.Names(), []string{"a", "b", "c"}) || now.Fingerprint() == was.Fingerprint() {
		t.Errorf("names %v, the tool is %+v", s.Names(), now)
	}
	if err := s.Replace(Tool{Name: "a"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("replaced by nothing usable: %v", err)
	}
}

func TestToolsShareNoMemoryWithTheirMakers(t *testing.T) {
	t.Parallel()
	made := echo(t, "a")
	s := setOf(t, made)
	was, _ := s.Lookup("a")
	mark := was.Fingerprint()
	for i := range made.Schema {
		made.Schema[i] = 'x'
	}
	now, _ := s.Lookup("a")
	if r := s.Run(t.Context(), callOf("a", `{"text":"b"}`), Call{}); r.Text != "b" || now.Fingerprint() != mark {
		t.Errorf("the tool changed under the set: %+v", r)
	}
}

func TestNumbersSurviveRepair(t *testing.T) {
	t.Parallel()
	var got string
	s := setOf(t, Tool{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}`), Run: func(_ context.Context, c Call) (string, error) {
		got = string(c.Input)
		return "", nil
	}})
	if r := s.Run(t.Context(), callOf("t", `{"n": 9007199254740993, "s": null}`), Call{}); r.Failed || got != `{"n":9007199254740993}` {
		t.Errorf("got %s, %+v", got, r)
	}
}

func TestLookupRepairsFormOnly(t *testing.T) {
	t.Parallel()
	s := setOf(t, echo(t, "read_file"), echo(t, "list"), echo(t, "LIST"), echo(t, "web_fetch"))
	for name, want := range map[string]string{
		"read_file": "read_file", "Read-File": "read_file", "functions.readFile": "read_file", "default_api:read.file": "read_file",
		"tools.web fetch": "web_fetch", "list": "list", "LIST": "LIST", "List": "", "raed_file": "", "": "", "._-": "",
	} {
		if got, ok := s.Lookup(name); got.Name != want || ok != (want != "") {
			t.Errorf("%q finds %q, want %q", name, got.Name, want)
		}
	}
}

func TestUnknownToolsGetSuggestions(t *testing.T) {
	t.Parallel()
	s := setOf(t, echo(t, "read_file"), echo(t, "write_file"), echo(t, "grep"))
	r := s.Run(t.Context(), callOf("raed_file", "{}"), Call{})
	if !r.Failed || !strings.Contains(r.Text, "Did you mean read_file?") || !strings.Contains(r.Text, "read_file, write_file, grep") {
		t.Errorf("got %q", r.Text)
	}
	if r.CallID != "id1" || r.Name != "raed_file" {
		t.Errorf("the result is of %q %q", r.CallID, r.Name)
	}
	if r := s.Run(t.Context(), callOf("\xffzzz\n"+strings.Repeat("x", 5_000), "{}"), Call{}); strings.Contains(r.Text, "Did you mean") || len(r.Text) > 300 {
		t.Errorf("got %d bytes: %.100q", len(r.Text), r.Text)
	}
	s = setOf(t, echo(t, "list"), echo(t, "LIST"))
	if r := s.Run(t.Context(), callOf("List", "{}"), Call{}); !r.Failed || r.Text != `"List" may be any of several tools: list, LIST. Call one by its exact name.` {
		t.Errorf("got %q", r.Text)
	}
	if r := new(Set).Run(t.Context(), callOf("x", ""), Call{}); !strings.Contains(r.Text, "no tools") {
		t.Errorf("got %q", r.Text)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"text":"a"}`:                          "a",
		"{\"text\":\"a\nb\tc\"}":                "a\nb\tc",
		`{"text":"\ud83d!"}`:                    "\uFFFD!",
		`{"text":"a","times":null,"tags":null}`: "a",
		``:                                      `missing properties: ["text"]`,
		`null`:                                  `missing properties: ["text"]`,
		`[1]`:                                   `must be a JSON object, not an array`,
		`"x"`:                                   `must be a JSON object, not a string`,
		`{"text":"a"`:                           `end too early`,
		`{text:"a"}`:                            `invalid character 't'`,
		`{"text":"a"} {}`:                       `after top-level value`,
		`{"text":1}`:                            `/text: type: 1 has type "integer", want "string"`,
		`{"text":null}`:                         `/text: type: null has type "null"`,
		`{"text":"a","x":1}`:                    `unexpected additional properties ["x"]`,
		`{"text":"a","tags":["b",1]}`:           `/tags/*: type: 1 has type "integer"`,
	} {
		r := setOf(t, echo(t, "echo")).Run(t.Context(), callOf("echo", input), Call{})
		ok := r.Text == want && !r.Failed || r.Failed && strings.Contains(r.Text, want)
		if !ok || strings.Contains(r.Text, "\n") && r.Failed {
			t.Errorf("%s gives %q (failed %v), want %q", input, r.Text, r.Failed, want)
		}
	}
}

func TestMalformedCallsAreNeverRun(t *testing.T) {
	t.Parallel()
	s := setOf(t, running(func(context.Context, Call) (string, error) { return "ran", nil }))
	r := s.Run(t.Context(), harness.ToolCall{ID: "1", Name: "t", Malformed: `{"a":`}, Call{})
	if !r.Failed || !strings.Contains(r.Text, "end too early") {
		t.Errorf("got %+v", r)
	}
}

func TestRunHandsOverTheCall(t *testing.T) {
	t.Parallel()
	var got Call
	s := setOf(t, Tool{Name: "t", Schema: json.RawMessage(`{"type":"object"}`), Run: func(_ context.Context, c Call) (string, error) {
		got = c
		return "", nil
	}})
	s.Run(t.Context(), callOf("t", `{"a":1}`), Call{Session: "s", Dir: "/d"})
	if got.Key != "id1" || got.Session != "s" || got.Dir != "/d" || string(got.Input) != `{"a":1}` {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsAndPanicsAreResults(t *testing.T) {
	t.Parallel()
	for want, run := range map[string]func(context.Context, Call) (string, error){
		"no such place": func(context.Context, Call) (string, error) { return "x", errors.New("no such\n place \xff") },
		"without saying": func(context.Context, Call) (string, error) {
			return "", errors.New(" ")
		},
		"the tool broke: runtime error: invalid memory address": func(context.Context, Call) (string, error) {
			var c *Call
			return c.Key, nil
		},
	} {
		r := setOf(t, running(run)).Run(t.Context(), callOf("t", ""), Call{})
		if !r.Failed || r.Unknown || !strings.Contains(r.Text, want) || strings.Contains(r.Text, "\n") {
			t.Errorf("got %+v, want %q", r, want)
		}
	}
}

func TestExecuteRunsTheToolItIsGiven(t *testing.T) {
	t.Parallel()
	s := setOf(t, running(func(context.Context, Call) (string, error) { return "of the set", nil }))
	s.Redact = strings.NewReplacer("sesame", "[redacted]").Replace
	judged, input, refusal := s.Prepare(callOf("t", "null"))
	if refusal != nil {
		t.Fatal(refusal)
	}
	judged.Run = func(_ context.Context, c Call) (string, error) { return "sesame " + c.Key + string(c.Input), nil }
	call := callOf("t", "null")
	r := s.Execute(t.Context(), judged, call, Call{Input: input})
	if want := "[redacted] " + call.ID + "{}"; r.Text != want || r.Failed || r.CallID != call.ID || r.Name != "t" {
		t.Errorf("got %+v, want %q", r, want)
	}
}

func TestToolsThatBreakOverAJudgement(t *testing.T) {
	t.Parallel()
	broken := Tool{
		Touches: func(Call) ([]Access, error) { panic("odd") },
		Propose: func(context.Context, Call) (harness.Proposal, error) { panic("odd") },
	}
	if all, err := broken.Accesses(Call{}); err == nil || all != nil || !strings.Contains(err.Error(), "would touch: odd") {
		t.Errorf("it touches %v, %v", all, err)
	}
	if p, err := broken.Proposal(t.Context(), Call{}); err == nil || !strings.Contains(err.Error(), "would do: odd") {
		t.Errorf("it proposes %+v, %v", p, err)
	}
	plain := Tool{Name: "t"}
	if all, err := plain.Accesses(Call{}); err != nil || all != nil {
		t.Errorf("it touches %v, %v", all, err)
	}
	p, err := plain.Proposal(t.Context(), Call{Input: json.RawMessage(`{"a":[1]}`)})
	if err != nil || p.Kind != harness.ProposalCall || p.Subject != "t" || p.Body != "{\n  \"a\": [\n    1\n  ]\n}" {
		t.Errorf("it proposes %+v, %v", p, err)
	}
	if _, err := plain.Proposal(t.Context(), Call{Input: json.RawMessage(`{`)}); err == nil {
		t.Error("what is no JSON is shown")
	}
}

func TestTimeoutsAreUnknownOutcomes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run     func(ctx context.Context, release <-chan struct{}) (string, error)
		want    string
		unknown bool
	}{
		"the tool heeds its context": {func(ctx context.Context, _ <-chan struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, "timed out after 1m0s", true},
		"the tool finishes in time of grace": {func(ctx context.Context, _ <-chan struct{}) (string, error) {
			<-ctx.Done()
			return "done", nil
		}, "done", false},
		"the tool is deaf": {func(_ context.Context, release <-chan struct{}) (string, error) {
			<-release
			return "late", nil
		}, "and may still run", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				made := running(func(ctx context.Context, _ Call) (string, error) { return tc.run(ctx, release) })
				made.Timeout = time.Minute
				began := time.Now()
				r := setOf(t, made).Run(t.Context(), callOf("t", ""), Call{})
				close(release)
				if !strings.Contains(r.Text, tc.want) || tc.unknown && !strings.Contains(r.Text, "timed out after 1m0s") || r.Unknown != tc.unknown || r.Failed != tc.unknown {
					t.Errorf("got %+v", r)
				}
				if took := time.Since(began); took > time.Minute+DefaultGrace {
					t.Errorf("returned after %s", took)
				}
			})
		})
	}
}

func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	ran := false
	s := setOf(t, running(func(ctx context.Context, _ Call) (string, error) {
		ran = true
		<-ctx.Done()
		return "", ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := s.Run(ctx, callOf("t", ""), Call{}); ran || !r.Failed || r.Unknown {
		t.Errorf("a call after the stop ran or is uncertain: %+v", r)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := s.Run(ctx, callOf("t", ""), Call{})
		if !r.Failed || !r.Unknown || !strings.Contains(r.Text, "interrupted, outcome unknown") {
			t.Errorf("got %+v", r)
		}
	})
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `null`, `{"text":"a"}`, "{\"text\":\"\n\"}", `{"text":"\ud83d"}`, `{"text":"a","tags":null}`, `[`, "{\"\\\"\x01\":1}"} {
		f.Add([]byte(seed))
	}
	e, err := prepare(echo(f, "echo"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		input, err := arguments(raw, e.schema)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 4*maxFault {
				t.Errorf("the refusal is not one short line: %q", err)
			}
			return
		}
		var in echoIn
		if err := json.Unmarshal(input, &in); err != nil {
			t.Errorf("accepted arguments %q cannot be read: %v", input, err)
		}
	})
}
