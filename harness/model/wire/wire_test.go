package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"cairn/harness/model"
	"cairn/harness/model/wire/chat"
)

// bodies answers every request with a body.
type bodies struct {
	body   []byte
	header http.Header
	// slow hands the body out one byte at a time.
	slow bool
}

func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	var body io.Reader = bytes.NewReader(b.body)
	if b.slow {
		body = iotest.OneByteReader(body)
	}
	h := b.header
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(body), Request: r}, nil
}

// cleaned sends body through a transport and returns what the SDK sees and the
// exchange.
func cleaned(t *testing.T, b bodies) (string, *exchange) {
	t.Helper()
	x := &exchange{decoder: chat.New(), alive: func() {}}
	req, err := http.NewRequestWithContext(context.WithValue(t.Context(), exchangeKey{}, x), http.MethodPost, "http://service/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&Transport{Provider: "p", Base: b}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(out), x
}

func FuzzEvents(f *testing.F) {
	chunk := `{"choices":[{"delta":{"content":"x"}}]}`
	stop := `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for _, s := range []string{
		"data: " + chunk + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n",
		"\xef\xbb\xbf: ping\r\n\r\nevent: x\r\ndata:" + chunk + "\r\n\r\n",
		"data: {\ndata: \"choices\":[]}\n\ndata: {\"err",
		"<html><title>x</title>", `{"error":{"message":"x"}}`, `[{"error":{}}]`, "data: {\"error\":\"x\"}\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\",\"arguments\":{\"x\":1}}},{\"id\":\"b\",\"function\":{\"arguments\":\"{\"}}]}}]}\n\n",
		"id: 3\nretry: 4\ndata\n\ndata: null\n\ndata: 7\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, x := cleaned(t, bodies{body: body})
		slow, y := cleaned(t, bodies{body: body, slow: true})
		if out != slow || (x.err == nil) != (y.err == nil) {
			t.Fatalf("the reads decide: %q and %q", out, slow)
		}
		if x.err == nil && !x.decoder.Whole() {
			t.Fatal("an early end is no failure")
		}
		for _, event := range strings.SplitAfter(out, "\n\n") {
			data, ok := strings.CutPrefix(strings.TrimSuffix(event, "\n\n"), "data: ")
			if event != "" && (!ok || data != "[DONE]" && !json.Valid([]byte(data)) || strings.ContainsAny(data, "\r\n")) {
				t.Fatalf("the SDK sees %q", event)
			}
		}
	})
}

func TestRequestsOutsideAnExchangeAreNotSent(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := (&Transport{Provider: "p", Base: bodies{}}).RoundTrip(req); err == nil {
		t.Fatalf("got %v", resp.Body.Close())
	}
}

func TestLoneSurrogatesAreDropped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"x\ud83dy"}`:           `{"a":"xy"}`,
		`{"a":"\ud83d\ude42"}`:       `{"a":"\ud83d\ude42"}`,
		`{"a":"\ude42\ud83d"}`:       `{"a":""}`,
		`{"a":"\ud83d\ud83d\ude42"}`: `{"a":"\ud83d\ude42"}`,
		`{"a":"\\ud83d"}`:            `{"a":"\\ud83d"}`,
		`{"a":"\\\ud83d"}`:           `{"a":"\\"}`,
		`{"a":"\u00e9\n"}`:           `{"a":"\u00e9\n"}`,
		`{"a":"\uD83D"}`:             `{"a":""}`,
		`[1]`:                        `{}`,
		`{"a"`:                       `{}`,
		``:                           `{}`,
	} {
		if got := string(object(json.RawMessage(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func FuzzPaired(f *testing.F) {
	f.Add(`{"a":"\ud83d\\\ude42\u0041\ud83d\ude42"}`)
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		once := paired([]byte(s))
		if !json.Valid(once) || string(paired(once)) != string(once) {
			t.Fatalf("%s became %s", s, once)
		}
	})
}

func TestInputsThatAreNoObjectsAreMalformed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"":            {"{}", ""},
		" null ":      {"{}", ""},
		` {"a": 1} `:  {`{"a": 1}`, ""},
		`{"q"`:        {"{}", `{"q"`},
		`[1]`:         {"{}", `[1]`},
		`"text"`:      {"{}", `"text"`},
		`{} {}`:       {"{}", `{} {}`},
		`{"a":"\ud8"`: {"{}", `{"a":"\ud8"`},
	} {
		got, malformed := input(in)
		if string(got) != want[0] || malformed != want[1] {
			t.Errorf("%q became %s and malformed %q", in, got, malformed)
		}
	}
}

func TestKeepAliveIsASignOfLife(t *testing.T) {
	t.Parallel()
	alive := 0
	x := &exchange{decoder: chat.New(), alive: func() { alive++ }}
	e := newEvents(&Transport{Provider: "p"}, x, &http.Response{
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(": a\n\n: b\n\ndata: {\"choices\":[]}\n\n")),
	})
	if _, err := io.ReadAll(e); err != nil || alive != 3 || x.err.Kind != model.KindIncomplete {
		t.Fatalf("%v, %d signs, %v", err, alive, x.err)
	}
}
