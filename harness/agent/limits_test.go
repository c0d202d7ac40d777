package agent_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
	"cairn/storage/bolt"
)

// window and reply are what the strict services of these tests have, in tokens.
const (
	window = 8_192
	reply  = 4_096
)

// provider is one service with its way to refuse.
type provider struct {
	id      string
	dialect modeltest.Dialect
	base    string
	// long and large are its sentences about a request and about a reply budget;
	// ASKED is what was asked for, LIMIT the limit. raw says that long is the whole
	// body.
	long, large string
	raw         bool
}

func providers() []provider {
	return []provider{
		{
			id: "openai", dialect: modeltest.OpenAI{}, base: "/v1",
			long:  "This model's maximum context length is LIMIT tokens. However, your messages resulted in ASKED tokens. Please reduce the length of the messages.",
			large: "max_tokens is too large: ASKED. This model supports at most LIMIT completion tokens, whereas you provided ASKED.",
		},
		{
			id: "anthropic", dialect: modeltest.Anthropic{},
			long:  "prompt is too long: ASKED tokens > LIMIT maximum",
			large: "max_tokens: ASKED > LIMIT, which is the maximum allowed number of output tokens for m",
		},
		{
			id: "gemini", dialect: modeltest.Gemini{},
			long:  "The input token count (ASKED) exceeds the maximum number of tokens allowed (LIMIT).",
			large: "Unable to submit request because it has a maxOutputTokens value of ASKED but the supported range is from 1 (inclusive) to 4097 (exclusive). Update the value.",
		},
		{
			id: "openrouter", dialect: modeltest.OpenAI{}, base: "/api/v1",
			long:  "This endpoint's maximum context length is LIMIT tokens. However, you requested about ASKED tokens (ASKED of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.",
			large: "`max_tokens` must be less than or equal to `LIMIT`, the maximum value for `max_tokens` is less than the `context_window` for this model",
		},
		{
			id: "llamacpp", dialect: modeltest.OpenAI{}, base: "/v1", raw: true,
			long: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":ASKED,"n_ctx":LIMIT}}`,
		},
		{
			id: "lmstudio", dialect: modeltest.OpenAI{}, base: "/v1", raw: true,
			long: `{"error":"Trying to keep the first ASKED tokens when context the overflows. However, the model is loaded with context length of only LIMIT tokens, which is not enough."}`,
		},
		{
			id: "vllm", dialect: modeltest.OpenAI{}, base: "/v1", raw: true,
			long:  `{"object":"error","message":"This model's maximum context length is LIMIT tokens. However, you requested ASKED tokens (ASKED in the messages, 0 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`,
			large: "max_tokens must be at most LIMIT, got ASKED",
		},
	}
}

var asked = regexp.MustCompile(`"(?:max_tokens|max_completion_tokens|maxOutputTokens)":(\d+)`)

// say fills numbers into a sentence.
func say(sentence string, tokens, limit int) string {
	return strings.NewReplacer("ASKED", strconv.Itoa(tokens), "LIMIT", strconv.Itoa(limit)).Replace(sentence)
}

// budget returns the reply budget in a request, 0 if there is none.
func budget(t *testing.T, svc *modeltest.Service) int {
	t.Helper()
	body, _, _ := svc.Last()
	m := asked.FindSubmatch(body)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// service is a provider's, which counts the requests for what stands for old
// messages apart.
type service struct {
	*modeltest.Service

	notes atomic.Int64
}

// turns is how many requests of turns were made.
func (s *service) turns() int { return s.Count() - int(s.notes.Load()) }

// strict serves a model that has a window and a reply limit, and counts four
// bytes as a token.
func (p provider) strict(t *testing.T) *service {
	t.Helper()
	svc := new(service)
	svc.Service = modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		body, _, _ := svc.Last()
		most := budget(t, svc.Service)
		if strings.Contains(string(body), "Write the note now") {
			svc.notes.Add(1)
		}
		switch tokens := len(body) / 4; {
		case tokens > window && p.raw:
			a.Refuse(http.StatusBadRequest, "application/json", say(p.long, tokens, window))
		case tokens > window:
			a.Refuse(http.StatusBadRequest, "application/json", p.dialect.Refusal(400, say(p.long, tokens, window)))
		case most > reply && p.large != "":
			a.Refuse(http.StatusBadRequest, "application/json", p.dialect.Refusal(400, say(p.large, most, reply)))
		default:
			d := p.dialect
			a.Send(modeltest.Plain, d.Start(), d.Text("well"), d.Finish("stop"), d.Usage(3, 0, 1, 0), d.End())
		}
	})
	return svc
}

// build returns a model of the service as the program makes it.
func (p provider) build(t *testing.T, svc *service, name string) (model.Model, model.Info) {
	t.Helper()
	m, info, err := choose.Build(t.Context(), p.id+"/"+name, choose.Env{
		BaseURLs: map[string]string{p.id: svc.URL + p.base}, Key: func(string) string { return "sk-test" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, info
}

func learning(t *testing.T, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, a) })
	return a
}

// long is a text of some 5,000 tokens, so that two of them pass the window.
func long(n int) string { return fmt.Sprint(n, ": ") + strings.Repeat("lorem ", 3_400) }

// turns has the agent take turns, each of which has to be answered, and returns
// how many requests each made.
func turns(t *testing.T, a *agent.Agent, svc *service, n int) (counts []int, lines []string) {
	t.Helper()
	for i := range n {
		before := svc.turns()
		res, err := a.Stream(t.Context(), long(i), func(e harness.Event) {
			if e.Type == harness.EventRecovery {
				lines = append(lines, e.Text)
			}
		})
		if err != nil || res.Text != "well" {
			t.Fatalf("turn %d ended as %+v, %v", i, res, err)
		}
		counts = append(counts, svc.turns()-before)
	}
	return counts, lines
}

func openLimits(t *testing.T, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// wantLearned fails unless just this is remembered of a model.
func wantLearned(t *testing.T, l harness.Limits, id string, want harness.LearnedLimits) {
	t.Helper()
	if got, err := l.Get(t.Context(), id); err != nil || got != want {
		t.Errorf("learned of %s is %+v, %v; want %+v", id, got, err, want)
	}
}

func TestARefusedWindowIsMetOnce(t *testing.T) {
	t.Parallel()
	for _, p := range providers() {
		t.Run(p.id, func(t *testing.T) {
			t.Parallel()
			p.large = "" // it takes any reply budget
			svc, path := p.strict(t), filepath.Join(t.TempDir(), bolt.FileName)
			m, info := p.build(t, svc, "m")
			db := openLimits(t, path)
			counts, lines := turns(t, learning(t, agent.Options{Model: m, Info: info, Limits: db.Limits()}), svc, 4)
			if fmt.Sprint(counts) != "[1 2 1 1]" || len(lines) != 1 || !strings.Contains(lines[0], "8192") {
				t.Errorf("the turns made %v requests and told %q", counts, lines)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			limits := openLimits(t, path).Limits()
			wantLearned(t, limits, p.id+"/m", harness.LearnedLimits{Window: window})
			wantLearned(t, limits, p.id+"/m2", harness.LearnedLimits{})
			wantLearned(t, limits, "house/m", harness.LearnedLimits{})
			for name, want := range map[string]string{"m": "[1 1]", "m2": "[1 2]"} {
				m, info := p.build(t, svc, name)
				counts, _ := turns(t, learning(t, agent.Options{Model: m, Info: info, Limits: limits}), svc, 2)
				if fmt.Sprint(counts) != want {
					t.Errorf("after a restart %s makes %v requests, want %s", name, counts, want)
				}
			}
		})
	}
}

func TestARefusedReplyBudgetIsMetOnce(t *testing.T) {
	t.Parallel()
	for _, p := range providers() {
		if p.large == "" {
			continue // it takes any
		}
		t.Run(p.id, func(t *testing.T) {
			t.Parallel()
			svc, path := p.strict(t), filepath.Join(t.TempDir(), bolt.FileName)
			m, info := p.build(t, svc, "m")
			info.MaxOutput = 64_000
			db := openLimits(t, path)
			counts, lines := turns(t, learning(t, agent.Options{Model: m, Info: info, Limits: db.Limits()}), svc, 1)
			if fmt.Sprint(counts) != "[2]" || len(lines) != 1 || !strings.Contains(lines[0], "4096") || budget(t, svc.Service) != reply {
				t.Errorf("the turn made %v requests, told %q and asked for %d", counts, lines, budget(t, svc.Service))
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			limits := openLimits(t, path).Limits()
			wantLearned(t, limits, p.id+"/m", harness.LearnedLimits{Reply: reply})
			counts, _ = turns(t, learning(t, agent.Options{Model: m, Info: info, Limits: limits}), svc, 1)
			if fmt.Sprint(counts) != "[1]" || budget(t, svc.Service) != reply {
				t.Errorf("after a restart it makes %v requests and asks for %d", counts, budget(t, svc.Service))
			}
		})
	}
}
