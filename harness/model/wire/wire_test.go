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

// through reads a body as an SDK does, event by event. taken says whether it gives
// each piece of text back before it reads on. It returns what the SDK saw and what
// went around it.
func through(t *testing.T, taken bool, events ...string) (sdk, around string) {
	t.Helper()
	var text strings.Builder
	x := &exchange{decoder: chat.New(), alive: func() {}, text: func(s string) { text.WriteString(s + "|") }}
	req, err := http.NewRequestWithContext(context.WithValue(t.Context(), exchangeKey{}, x), http.MethodPost, "http://service/", nil)
	if err != nil {
		t.Fatal(err)
	}
	body := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	resp, err := (&Transport{Provider: "p", Base: bodies{body: []byte(body)}}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is in memory
	var seen strings.Builder
	for piece := make([]byte, 4096); ; {
		n, err := resp.Body.Read(piece)
		seen.Write(piece[:n])
		if taken {
			x.behind = 0
		}
		if err != nil {
			return seen.String(), text.String()
		}
	}
}

func TestTextGoesAroundTheSDKOnceItHasTakenUpTheText(t *testing.T) {
	t.Parallel()
	say := func(s string) string {
		return `{"choices":[{"delta":{"role":"assistant","content":"` + s + `","tool_calls":[]}}]}`
	}
	think := `{"choices":[{"delta":{"content":"","reasoning":"hm"}}]}`
	stop := `{"choices":[{"delta":{"content":"!"},"finish_reason":"stop"}]}`
	events := []string{say("a"), say("b"), say("c"), think, say("d"), say("e"), stop}
	sdk, around := through(t, true, events...)
	if around != "b|c|e|" {
		t.Errorf("%q went around the SDK", around)
	}
	if want := "data: " + strings.Join([]string{say("a"), think, say("d"), stop}, "\n\ndata: ") + "\n\n"; sdk != want {
		t.Errorf("the SDK saw %q instead of %q", sdk, want)
	}
	// An SDK that reads ahead of what it gives back must see all of it, or the text
	// would be out of order.
	if _, around = through(t, false, events...); around != "" {
		t.Errorf("%q went around an SDK that is behind", around)
	}
}
