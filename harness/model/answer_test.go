package model_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cairn/harness/model"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRefusalsAreSortedByWhatCanBeDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.ErrorKind
		retry  bool
		says   string
	}{
		{"plain text", 503, "upstream connect error", model.KindServer, true, "upstream connect error"},
		{"no body", 504, "", model.KindServer, true, "gateway timeout"},
		{"an unusual status", 529, "", model.KindServer, true, "overloaded"},
		{"error as text", 500, `{"error":"out of memory"}`, model.KindServer, true, "out of memory"},
		{"a list of errors", 400, `[{"error":{"code":400,"message":"bad field","status":"INVALID_ARGUMENT"}}]`, model.KindBadRequest, false, "bad field"},
		{"validation", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.KindBadRequest, false, "field required"},
		{"a router's upstream", 502, `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"kaputt\"}}"}}}`, model.KindServer, true, "Provider returned error: kaputt"},
		{"suspended", 429, `{"error":{"message":"account suspended"}}`, model.KindQuota, false, "suspended"},
		{"code insufficient_quota", 429, `{"error":{"message":"no","code":"insufficient_quota"}}`, model.KindQuota, false, "no"},
		{"credit balance", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, model.KindQuota, false, "credit balance"},
		{"a quota that fills up", 429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]},{"retryDelay":"7s"}]}}`, model.KindRateLimit, true, "quota"},
		{"a quota of the day", 429, `{"error":{"code":429,"message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDay"}]}]}}`, model.KindQuota, false, "quota"},
		{"tokens a minute", 429, `{"error":{"message":"Rate limit reached: tokens per min, Limit 30000, Requested 40000"}}`, model.KindRateLimit, true, "Rate limit"},
		{"in a stream, overloaded", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.KindServer, true, "Overloaded"},
		{"in a stream, too fast", 0, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, model.KindRateLimit, true, "slow down"},
		{"in a stream, by number", 0, `{"error":{"code":401,"message":"who?"}}`, model.KindAuth, false, "who?"},
		{"in a stream, quota", 0, `{"error":{"message":"quota"}}`, model.KindQuota, false, "quota"},
		{"in a stream, key", 0, `{"error":{"type":"authentication_error","message":"no"}}`, model.KindAuth, false, "no"},
		{"in a stream, model", 0, `{"error":{"code":"model_not_found","message":"no"}}`, model.KindNotFound, false, "no"},
		{"in a stream, request", 0, `{"error":{"type":"invalid_request_error","message":"no"}}`, model.KindBadRequest, false, "no"},
		{"in a stream, unknown", 0, `{"error":{"message":"?"}}`, model.KindServer, true, "?"},
		{"without words", 400, `{"error":{}}`, model.KindBadRequest, false, `{"error":{}}`},
		{"teapot", 418, ``, model.KindBadRequest, false, "teapot"},
		{"gone", 410, ``, model.KindNotFound, false, "gone"},
		{"a page", 503, "<html><title>Down &amp; out</title>", model.KindServer, true, "Down & out (a web page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := model.Answer{Provider: "p", Status: c.status, Body: []byte(c.body), Now: noon}.Err()
			if e.Kind != c.kind || e.Retry != c.retry || !strings.Contains(e.Message, c.says) || e.Message == "" {
				t.Fatalf("got %s, retry %v, %q", e.Kind, e.Retry, e.Message)
			}
		})
	}
}

// What is left for one reply is told with the window that it is left of.
func TestASumNamesTheWindow(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct{ limit, window int }{
		"{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}":                                                                                       {8_976, 200_000},
		`{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (2000 in the messages, 3000 in the completion)."}`:                                            {1_072, 4_096},
		`{"error":{"message":"This model's maximum context length is 4097 tokens, however you requested 5000 tokens (2000 in your prompt; 3000 for the completion). Please reduce your prompt."}}`:        {1_073, 4_097},
		`{"message":"'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 100 input tokens (5000 > 4096 - 100)."}`:                                    {2_972, 4_096},
		`{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000."}}`:                                                      {16_384, 0},
		`{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 6000 tokens (5000 in the messages, 1000 in the completion).","code":"context_length_exceeded"}}`: {4_096, 0},
	} {
		e := model.Answer{Status: 400, Body: []byte(body)}.Err()
		if e.Limit != want.limit || e.Window != want.window || e.Once != (want.window > 0) {
			t.Errorf("%s:\ngot %d of %d, once %v", body, e.Limit, e.Window, e.Once)
		}
	}
}

func TestLimitsAreReadFromRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body  string
		kind  model.ErrorKind
		limit int
		once  bool
	}{
		{`{"error":{"message":"This model's maximum context length is 128,000 tokens. However, your messages resulted in 130000 tokens.","code":"context_length_exceeded"}}`, model.KindOverflow, 128000, false},
		{`{"error":{"message":"Your input exceeds the context window of this model."}}`, model.KindOverflow, 0, false},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, model.KindOverflow, 200000, false},
		{"{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`\"}}", model.KindReplyLimit, 8976, true},
		{"{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 199500 + 20000 > 200000\"}}", model.KindOverflow, 200000, false},
		{`{"error":{"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, model.KindOverflow, 1048576, false},
		{`{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}`, model.KindOverflow, 8192, false},
		{`{"error":{"message":"request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it"}}`, model.KindOverflow, 8192, false},
		{`{"error":"Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}`, model.KindOverflow, 4096, false},
		{`{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output)."}}`, model.KindOverflow, 32768, false},
		{`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (2000 in the messages, 3000 in the completion). Please reduce the length of the messages or completion."}`, model.KindReplyLimit, 1072, true},
		{`{"message":"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 100 input tokens (5000 > 4096 - 100)."}`, model.KindReplyLimit, 2972, true},
		{`{"error":{"message":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}}`, model.KindOverflow, 131072, false},
		{`{"message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}`, model.KindOverflow, 32768, false},
		{`{"error":{"message":"Range of input length should be [1, 30720]"}}`, model.KindOverflow, 30720, false},
		{`{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000."}}`, model.KindReplyLimit, 16384, false},
		{`{"error":{"message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}`, model.KindReplyLimit, 64000, false},
		{`{"error":{"message":"Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)."}}`, model.KindReplyLimit, 65536, false},
		{`{"error":{"message":"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"}}`, model.KindReplyLimit, 8192, false},
		{"{\"error\":{\"message\":\"`max_tokens` must be less than or equal to `8192`\"}}", model.KindReplyLimit, 8192, false},
		{`{"error":{"message":"max_tokens is required"}}`, model.KindBadRequest, 0, false},
	} {
		e := model.Answer{Status: 400, Body: []byte(c.body)}.Err()
		if e.Kind != c.kind || e.Limit != c.limit || e.Once != c.once || e.Retry {
			t.Errorf("%s:\ngot %s %d once %v retry %v, want %s %d once %v", c.body, e.Kind, e.Limit, e.Once, e.Retry, c.kind, c.limit, c.once)
		}
	}
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		{http.Header{"Retry-After": {"7"}}, "", 7 * time.Second},
		{http.Header{"retry-after": {"7"}}, "", 7 * time.Second},
		{http.Header{"RETRY-AFTER": {"0.5"}}, "", 500 * time.Millisecond},
		{http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"1"}}, "", 250 * time.Millisecond},
		{http.Header{"Retry-After": {noon.Add(90 * time.Second).Format(http.TimeFormat)}}, "", 90 * time.Second},
		{http.Header{"Retry-After": {noon.Add(-time.Hour).Format(http.TimeFormat)}}, "", 0},
		{http.Header{"Retry-After": {"soon"}}, "", 0},
		{http.Header{"Retry-After": {"-3"}}, "", 0},
		{http.Header{"Retry-After": {"NaN"}}, "", 0},
		{http.Header{"Retry-After": {"1e300"}}, "", 24 * time.Hour},
		{nil, `{"error":{"code":429,"message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}]}}`, 37500 * time.Millisecond},
		{http.Header{"Retry-After": {"60"}}, `{"error":{"message":"x","details":[{"retryDelay":"37s"}]}}`, time.Minute},
	} {
		if e := (model.Answer{Status: 429, Header: c.header, Body: []byte(c.body), Now: noon}).Err(); e.RetryAfter != c.want {
			t.Errorf("%v %s: %s, want %s", c.header, c.body, e.RetryAfter, c.want)
		}
	}
}

func TestSentenceIsOnePlainBoundedLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"  two\n\twords ", "two words"},
		{"\x1b[31mred\x1b[0m\u202e\u200b", "[31mred[0m"},
		{"bad \xf0\x9f end", "bad end"},
		{"the key sk-secret-1 is wrong, sk-secret-1!", "the key [key] is wrong, [key]!"},
		{strings.Repeat("é", 500), strings.Repeat("é", 199) + "…"},
	} {
		if got := model.Sentence(c.in, "sk-secret-1", "e"); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(400, "text/html", []byte("<title>&lt;x&gt;</title>"))
	f.Add(429, "application/json", []byte(`[{"error":{"message":"quota","details":[{"retryDelay":"9e9s"},{"violations":[1]}]}}]`))
	f.Add(0, "", []byte(`{"error":{"message":"maximum context length is 99999999999999999999","code":4e9,"n_ctx":-1,"metadata":{"raw":"{}"}}}`))
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		e := model.Answer{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: body, Secrets: []string{"sk-0123456789"}}.Err()
		if e.Kind == "" || e.Message == "" || utf8.RuneCountInString(e.Message) > 400 || strings.ContainsAny(e.Message, "\n\r\x1b") ||
			strings.Contains(e.Message, "sk-0123456789") || e.RetryAfter < 0 || !utf8.ValidString(e.Message) {
			t.Fatalf("%+v", e)
		}
	})
}
