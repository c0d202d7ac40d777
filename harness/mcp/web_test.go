package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// served is a server of the library, over HTTP.
func served(t *testing.T, fill func(*sdk.Server)) *httptest.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "served", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "do", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	if fill != nil {
		fill(s)
	}
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func at(url string) mcp.Options { return mcp.Options{Servers: []mcp.Server{{Name: "s", URL: url}}} }

func TestHeadersGoToTheServerAlone(t *testing.T) {
	t.Parallel()
	var strangers atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		strangers.Add(1)
	}))
	t.Cleanup(stranger.Close)
	for name, code := range map[string]int{"for good": http.StatusPermanentRedirect, "for now": http.StatusTemporaryRedirect, "found": http.StatusFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer hunter2hunter2" {
					t.Errorf("the server got the headers %v", r.Header)
				}
				http.Redirect(w, r, stranger.URL+"/mcp", code)
			}))
			t.Cleanup(h.Close)
			o := at(h.URL)
			o.Servers[0].Headers = map[string]string{"Authorization": "Bearer hunter2hunter2"}
			m, _ := managed(t, o)
			s := one(m)
			if s.State != harness.ServerFailed || !strings.Contains(s.Err, "redirects to 127.0.0.1") || !s.Retry.IsZero() {
				t.Errorf("the server is %+v", s)
			}
		})
	}
	t.Cleanup(func() {
		if strangers.Load() != 0 {
			t.Errorf("a stranger got %d requests", strangers.Load())
		}
	})
	t.Run("on the same host", func(t *testing.T) {
		t.Parallel()
		back := served(t, nil)
		front := http.NewServeMux()
		front.Handle("/", back.Config.Handler)
		front.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
		})
		h := httptest.NewServer(front)
		t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
		m, set := managed(t, at(h.URL+"/old"))
		ready(t, m)
		works(t, set, "s_do", "{}", "done")
	})
}

func TestRefusalsOverHTTPAreSentences(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		http.StatusUnauthorized: "401 Unauthorized", http.StatusForbidden: "403 Forbidden", http.StatusNotFound: "404 Not Found",
		http.StatusMethodNotAllowed: "405", http.StatusBadGateway: "502", http.StatusOK: "",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(code)
				_, _ = fmt.Fprint(w, "<html>"+r.URL.RawQuery+" "+r.Header.Get("X-Key")+"</html>")
			}))
			t.Cleanup(h.Close)
			var j journal
			o := at(h.URL + "/mcp/abcdefghijklmnop0123456789?key=hunter2hunter2")
			o.Servers[0].Headers, o.Log = map[string]string{"X-Key": "swordfish99"}, j.log()
			m, _ := managed(t, o)
			s := failed(t, m)
			if s.Err == "" || !strings.Contains(s.Err, want) {
				t.Errorf("the server says %s", s.Err)
			}
			if all := fmt.Sprintf("%+v %s", s, j.String()); strings.Contains(all, "hunter2") || strings.Contains(all, "swordfish") || strings.Contains(all, "abcdefghijklmnop0123") {
				t.Errorf("a secret is in %s", all)
			}
		})
	}
}

func TestAnAnswerOverHTTPIsBounded(t *testing.T) {
	t.Parallel()
	var size atomic.Int64
	h := served(t, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "big", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", int(size.Load()))}}}, nil
		})
	})
	m, set := managed(t, at(h.URL))
	ready(t, m)
	var kept keeper
	set.Artifacts = &kept
	size.Store(5 << 20)
	if r := call(t.Context(), set, "s_big", "{}", nil); r.Failed || len(kept.data) != 5<<20 {
		t.Errorf("the result has %d bytes and is %.200q", len(kept.data), r.Text)
	}
	size.Store(mcp.MaxMessage)
	if r := call(t.Context(), set, "s_big", "{}", nil); !r.Failed || !strings.Contains(r.Text, "32 MiB") {
		t.Errorf("the result is %.300q", r.Text)
	}
	works(t, set, "s_do", "{}", "done")
}

func TestAListIsCutAndReadInParts(t *testing.T) {
	t.Parallel()
	h := served(t, func(s *sdk.Server) {
		for i := range 1200 {
			s.AddTool(&sdk.Tool{Name: fmt.Sprintf("tool%04d", i), InputSchema: &jsonschema.Schema{Type: "object"}},
				func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					return &sdk.CallToolResult{}, nil
				})
		}
	})
	m, set := managed(t, at(h.URL))
	ready(t, m)
	s := one(m)
	if len(set.Names()) != 1000 || len(s.Tools) != 1000 || len(s.Refused) != 1 || !strings.Contains(s.Refused[0], "more tools than the 1000") {
		t.Errorf("there are %d tools, refused %q", len(set.Names()), s.Refused)
	}
}

// asks is a server whose tool asks the person.
func asks(t *testing.T, p *sdk.ElicitParams, ctxOf func(context.Context) context.Context) *httptest.Server {
	t.Helper()
	return served(t, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "ask", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			answer, err := r.Session.Elicit(ctxOf(ctx), p)
			if err != nil {
				answer = &sdk.ElicitResult{Action: "no: " + err.Error()}
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s %v", answer.Action, answer.Content)}}}, nil
		})
	})
}

func same(ctx context.Context) context.Context { return ctx }

func begun(ctx context.Context, set *tool.Set) <-chan harness.ToolResult {
	done := make(chan harness.ToolResult, 1)
	go func() { done <- call(ctx, set, "s_ask", "{}", nil) }()
	return done
}

func question(t *testing.T, m *mcp.Manager) harness.ServerQuestion {
	t.Helper()
	select {
	case q := <-m.Questions():
		return q
	case <-time.After(patience):
		t.Fatal("nothing is asked")
		return harness.ServerQuestion{}
	}
}

func TestAQuestionHasItsFields(t *testing.T) {
	t.Parallel()
	minimum, maximum, count := 1.0, 9.0, 2
	one, other := any("a"), any("b")
	h := asks(t, &sdk.ElicitParams{Message: "Who\x1b[2J are you?", RequestedSchema: &jsonschema.Schema{
		Type: "object", Required: []string{"zip", "name"}, Properties: map[string]*jsonschema.Schema{
			"name":   {Type: "string", Title: "Your name", Description: "In full.", MinLength: &count, Default: []byte(`"Ada"`)},
			"zip":    {Type: "integer", Minimum: &minimum, Maximum: &maximum},
			"mail":   {Type: "string", Format: "email"},
			"yes":    {Type: "boolean", Default: []byte("true")},
			"colour": {Type: "string", OneOf: []*jsonschema.Schema{{Const: &one, Title: "Aaa"}, {Const: &other, Title: "Bbb"}}},
			"many":   {Type: "array", MaxItems: &count, Items: &jsonschema.Schema{Type: "string", Enum: []any{"x", "y", "z"}}},
			"ratio":  {Type: "number"},
		},
	}}, same)
	o := at(h.URL)
	o.Interactive = true
	m, set := managed(t, o)
	ready(t, m)
	done := begun(t.Context(), set)
	q := question(t, m)
	var got []string
	for _, f := range q.Fields {
		got = append(got, fmt.Sprintf("%s:%s:%v", f.Name, f.Kind, f.Required))
	}
	const want = "zip:integer:true name:text:true colour:choice:false mail:text:false many:choices:false ratio:number:false yes:boolean:false"
	if strings.Join(got, " ") != want || strings.Contains(q.Text, "\x1b") {
		t.Fatalf("asked is %q with %q", q.Text, got)
	}
	name, colour := q.Fields[1], q.Fields[2]
	if name.Title != "Your name" || name.Help != "In full." || *name.Min != 2 || name.Default != "Ada" || q.Fields[3].Format != "email" ||
		q.Fields[6].Default != true || *q.Fields[0].Max != 9 || *q.Fields[4].Max != 2 || len(colour.Choices) != 2 || colour.Choices[1] != (harness.FieldChoiceOf{Value: "b", Title: "Bbb"}) {
		t.Errorf("the fields are %+v", q.Fields)
	}
	q.Answer(harness.ServerAnswer{Action: harness.AnswerAccept, Values: map[string]any{
		"zip": 7.0, "name": "Grace", "colour": "b", "many": []string{"x", "z"}, "ratio": 0.5, "yes": false, "other": "not asked",
	}})
	r := <-done
	for _, part := range []string{"accept", "zip:7", "name:Grace", "colour:b", "many:[x z]", "ratio:0.5", "yes:false"} {
		if !strings.Contains(r.Text, part) {
			t.Errorf("the server got %q, without %s", r.Text, part)
		}
	}
	if strings.Contains(r.Text, "not asked") {
		t.Errorf("the server got what it did not ask for: %q", r.Text)
	}
	done = begun(t.Context(), set)
	question(t, m).Answer(harness.ServerAnswer{Action: harness.AnswerAccept, Values: map[string]any{"zip": "seven", "name": "G"}})
	if r := <-done; !strings.HasPrefix(r.Text, "cancel") {
		t.Errorf("of a wrong answer the server got %q", r.Text)
	}
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	h := asks(t, &sdk.ElicitParams{Message: "?", RequestedSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context) context.Context {
		return t.Context() // it goes on asking when nobody calls it any more
	})
	o := at(h.URL)
	o.Interactive = true
	m, set := managed(t, o)
	ready(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	done := begun(ctx, set)
	q := question(t, m)
	cancel()
	if r := <-done; !r.Failed {
		t.Errorf("the call gave %+v", r)
	}
	select {
	case <-q.Done:
	case <-time.After(patience):
		t.Error("the question outlives its call")
	}
	q.Answer(harness.ServerAnswer{Action: harness.AnswerAccept})
}

func TestAQuestionWithAnAddress(t *testing.T) {
	t.Parallel()
	for address, asked := range map[string]bool{
		"https://login.example/start?id=1": true, "javascript:alert(1)": false, "file:///etc/passwd": false, "ftp://login.example/": false, "https://user:pw@login.example/": false,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			h := asks(t, &sdk.ElicitParams{Mode: "url", Message: "Sign in", URL: address, ElicitationID: "e1"}, same)
			o := at(h.URL)
			o.Interactive = true
			m, set := managed(t, o)
			ready(t, m)
			done := begun(t.Context(), set)
			if asked {
				q := question(t, m)
				if q.URL != address || len(q.Fields) != 0 {
					t.Errorf("asked is %+v", q)
				}
				q.Answer(harness.ServerAnswer{Action: harness.AnswerAccept})
			}
			if r := <-done; strings.HasPrefix(r.Text, "accept") != asked {
				t.Errorf("the call gave %+v", r)
			}
		})
	}
}

func TestWhereNobodyCanBeAskedServersAreToldSo(t *testing.T) {
	t.Parallel()
	h := asks(t, &sdk.ElicitParams{Message: "?", RequestedSchema: &jsonschema.Schema{Type: "object"}}, same)
	m, set := managed(t, at(h.URL))
	ready(t, m)
	if r := call(t.Context(), set, "s_ask", "{}", nil); !strings.Contains(r.Text, "no: ") || !strings.Contains(r.Text, "elicitation") {
		t.Errorf("the call gave %+v", r)
	}
}

func TestAServerThatComesLaterIsFoundByItself(t *testing.T) {
	t.Parallel()
	back := served(t, nil)
	var up atomic.Bool
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		back.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	m, set := managed(t, at(h.URL))
	if s := failed(t, m); s.Retry.IsZero() || !strings.Contains(s.Err, "503") {
		t.Fatalf("the server is %+v", s)
	}
	up.Store(true)
	until(t, m, "ready", func(s harness.ServerStatus) bool { return s.State == harness.ServerReady })
	works(t, set, "s_do", "{}", "done")
}

func TestASessionThatTheServerForgotIsMadeAgain(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[httptest.Server]
	now.Store(served(t, nil))
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().Config.Handler.ServeHTTP(w, r) }))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	m, set := managed(t, at(h.URL))
	ready(t, m)
	now.Store(served(t, nil)) // it knows nothing of the sessions of the other
	works(t, set, "s_do", "{}", "done")
}

func TestAPromptHasPartsAndAResourceItsBytes(t *testing.T) {
	t.Parallel()
	h := served(t, func(s *sdk.Server) {
		s.AddPrompt(&sdk.Prompt{Name: "p", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if r.Params.Arguments["who"] == "" {
				return nil, errors.New("who is missing")
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: "hello " + r.Params.Arguments["who"]}},
				{Role: "assistant", Content: &sdk.ImageContent{MIMEType: "image/png", Data: []byte{1, 2, 3}}},
				{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x://y", MIMEType: "text/plain", Text: "inside"}}},
			}}, nil
		})
		s.AddResource(&sdk.Resource{URI: "x://y/z.png", Name: "z", MIMEType: "image/png"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "x://y/z.png", MIMEType: "image/png", Blob: []byte{9, 8}}}}, nil
		})
	})
	m, _ := managed(t, at(h.URL))
	ready(t, m)
	got, err := m.Prompt(t.Context(), "s", "p", map[string]string{"who": "Ada"})
	if err != nil || len(got) != 3 {
		t.Fatalf("the prompt is %+v, %v", got, err)
	}
	image, inside := got[1].Parts[0], got[2].Parts[0]
	if got[0].Text() != "hello Ada" || got[1].Role != harness.RoleAssistant || image.Kind != harness.PartFile || !bytes.Equal(image.File.Data, []byte{1, 2, 3}) ||
		inside.Kind != harness.PartText || inside.Text != "inside" || inside.File == nil || inside.File.Name != "x://y" {
		t.Errorf("the prompt is %+v", got)
	}
	content, err := m.Read(t.Context(), "s", "x://y/z.png")
	if err != nil || len(content) != 1 || !bytes.Equal(content[0].Data, []byte{9, 8}) || content[0].MediaType != "image/png" || content[0].Name != "z.png" {
		t.Errorf("the resource is %+v, %v", content, err)
	}
	for what, err := range map[string]error{
		"prompt":   second(m.Prompt(t.Context(), "s", "none", nil)),
		"resource": second(m.Read(t.Context(), "s", "x://none")),
		"server":   second(m.Read(t.Context(), "none", "x://none")),
	} {
		if !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("a %s that is not there gave %v", what, err)
		}
	}
	if _, err := m.Prompt(t.Context(), "s", "p", nil); err == nil || errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "who is missing") {
		t.Errorf("a prompt without its argument gave %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAStreamThatBreaksLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	back := served(t, nil)
	var once sync.Once
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		cut := false
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			once.Do(func() { cut = true })
		}
		if cut {
			panic(http.ErrAbortHandler) // after it was read: nobody knows what it did
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		back.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	m, set := managed(t, at(h.URL))
	ready(t, m)
	if r := call(t.Context(), set, "s_do", "{}", nil); !r.Failed || !r.Unknown {
		t.Errorf("the call gave %+v", r)
	}
	works(t, set, "s_do", "{}", "done")
}
