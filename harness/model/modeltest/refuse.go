package modeltest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cairn/harness/model"
)

const page = `<!DOCTYPE html><html><head><style>body { color: red }</style><title>Bad &lt;gateway&gt; &amp; more</title></head><body>` +
	`<script>alert(1)</script><h1>Sorry</h1></body></html>`

func pages(t *testing.T, s Subject) {
	t.Parallel()
	padded := page + strings.Repeat("<p>filler</p>", 500)
	svc := Serve(t, func(_ int, a *Answer) { a.Refuse(http.StatusBadGateway, "text/html; charset=utf-8", padded) })
	_, _, err := ask(t, s.New(t, svc.URL, key), hello())
	e := wantError(t, model.KindServer, err)
	if !e.Retry || e.Status != http.StatusBadGateway || !strings.Contains(e.Message, "Bad gateway & more") || strings.ContainsAny(e.Message, "<>") {
		t.Errorf("502: %v", e)
	}
	for _, contentType := range []string{"text/html", "text/event-stream", ""} {
		svc = Serve(t, func(_ int, a *Answer) { a.Refuse(http.StatusOK, contentType, padded) })
		_, _, err = ask(t, s.New(t, svc.URL, key), hello())
		e = wantError(t, model.KindProtocol, err)
		if e.Retry || strings.ContainsAny(e.Message, "<>") || !strings.Contains(e.Message, "sign-in page") || len(e.Message) > 400 {
			t.Errorf("200 as %q: %v", contentType, e)
		}
	}
}

// attempts proves that the SDKs do not retry by themselves.
func attempts(t *testing.T, s Subject) {
	t.Parallel()
	for _, status := range []int{429, 500, 503, 408} {
		svc := Serve(t, func(_ int, a *Answer) {
			a.Refuse(status, "application/json", s.Dialect.Refusal(status, "come back"), "Retry-After", "0.01", "X-Should-Retry", "true")
		})
		_, _, err := ask(t, s.New(t, svc.URL, key), hello())
		e, ok := model.AsError(err)
		if !ok || !e.Retry || e.RetryAfter != 10*time.Millisecond {
			t.Errorf("%d: %#v", status, err)
		}
		if svc.Count() != 1 {
			t.Errorf("%d: %d requests for one attempt", status, svc.Count())
		}
	}
}

func refusals(t *testing.T, s Subject) {
	t.Parallel()
	for _, c := range []struct {
		status  int
		message string
		kind    model.ErrorKind
		limit   int
		retry   bool
	}{
		{400, "the colour is not allowed", model.KindBadRequest, 0, false},
		{401, "Incorrect API key provided: " + key, model.KindAuth, 0, false},
		{403, "not for you", model.KindAuth, 0, false},
		{404, "there is no such model", model.KindNotFound, 0, false},
		{402, "Insufficient credits", model.KindQuota, 0, false},
		{429, "Too fast", model.KindRateLimit, 0, true},
		{429, "You exceeded your current quota, please check your plan and billing details.", model.KindQuota, 0, false},
		{500, "oops", model.KindServer, 0, true},
		{529, "Overloaded", model.KindServer, 0, true},
		{400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", model.KindOverflow, 8192, false},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", model.KindOverflow, 200000, false},
		{400, "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", model.KindOverflow, 1048576, false},
		{400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", model.KindReplyLimit, 64000, false},
		{413, "Request too large", model.KindOverflow, 0, false},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.message), func(t *testing.T) {
			t.Parallel()
			svc := Serve(t, func(_ int, a *Answer) { a.Refuse(c.status, "application/json", s.Dialect.Refusal(c.status, c.message)) })
			_, _, err := ask(t, s.New(t, svc.URL, key), hello())
			e := wantError(t, c.kind, err)
			if e.Limit != c.limit || e.Retry != c.retry || e.Status != c.status || e.Provider == "" {
				t.Errorf("%+v", e)
			}
			want := strings.ReplaceAll(c.message, key, "[key]")
			if !strings.Contains(e.Message, want) {
				t.Errorf("the message %q lacks %q", e.Message, want)
			}
		})
	}
}

func secrecy(t *testing.T, s Subject) {
	t.Parallel()
	svc := story(t, Plain, greeting(s.Dialect)...)
	if _, _, err := ask(t, s.New(t, svc.URL, key), hello()); err != nil {
		t.Fatal(err)
	}
	body, header, url := svc.Last()
	if strings.Contains(string(body), key) || strings.Contains(url, key) {
		t.Errorf("the key is in the body or in the URL %q", url)
	}
	holders := 0
	for _, values := range header {
		if strings.Contains(strings.Join(values, " "), key) {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("the key is in %d headers", holders)
	}

	elsewhere := story(t, Plain, greeting(s.Dialect)...)
	redirect := Serve(t, func(_ int, a *Answer) {
		a.Refuse(http.StatusFound, "text/plain", "", "Location", elsewhere.URL+"/?key="+key)
	})
	_, _, err := ask(t, s.New(t, redirect.URL, key), hello())
	e := wantError(t, model.KindProtocol, err)
	if elsewhere.Count() != 0 || e.Retry {
		t.Errorf("the redirect was followed: %v", e)
	}

	noKeyIn(t, s, closedPort(t))
	noKeyIn(t, s, "http://nowhere.invalid")
}

// noKeyIn asks a service that cannot be reached and looks for the key in the
// whole chain of the error.
func noKeyIn(t *testing.T, s Subject, url string) {
	t.Helper()
	_, _, err := ask(t, s.New(t, url, key), hello())
	_ = wantError(t, model.KindNetwork, err)
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) {
			t.Errorf("the error tells the key: %#v", err)
		}
	}
}

// closedPort returns the address of a port of this machine on which nothing
// listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it only served to find a port
	return "http://" + l.Addr().String()
}

// environment checks that keys and headers that the SDKs find by themselves
// are not sent to a service they are not meant for.
func environment(t *testing.T, s Subject) {
	const foreign = "sk-foreign-0123456789"
	for _, v := range []string{
		"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		"GEMINI_API_KEY", "GOOGLE_API_KEY",
	} {
		t.Setenv(v, foreign)
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: "+foreign)
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: "+foreign)
	for _, v := range []string{"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(v, "http://nowhere.invalid")
	}
	svc := story(t, Plain, greeting(s.Dialect)...)
	for _, own := range []string{key, ""} {
		if _, _, err := ask(t, s.New(t, svc.URL, own), hello()); err != nil {
			t.Fatal(err)
		}
		body, header, url := svc.Last()
		if strings.Contains(fmt.Sprint(string(body), header, url), foreign) {
			t.Fatalf("a key of the environment was sent: %v", header)
		}
	}
}
