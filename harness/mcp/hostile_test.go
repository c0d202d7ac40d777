package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
)

// weird are requests and notifications with params that nothing says how to read.
func weird() (all []string) {
	params := []string{
		``, `null`, `{}`, `[]`, `"x"`, `7`, `{"message":null}`, `{"message":"m","requestedSchema":null}`, `{"message":"m","requestedSchema":{}}`,
		`{"message":"m","requestedSchema":{"type":"object","properties":{"a":null}}}`,
		`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":null,"default":{}}}}}`,
		`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}}`,
		`{"message":"m","requestedSchema":[]}`, `{"mode":"url","message":"m"}`, `{"mode":"url","message":"m","url":"javascript:x"}`,
		`{"progressToken":null,"progress":null}`, `{"progressToken":{},"progress":1}`, `{"progressToken":"call-1","progress":1e400}`,
		`{"level":null,"data":null}`, `{"requestId":null}`, `{"requestId":{}}`, `{"uri":null}`,
	}
	id := 1000
	for _, method := range []string{
		"ping", "elicitation/create", "sampling/createMessage", "roots/list", "notifications/progress", "notifications/message", "notifications/tools/list_changed",
		"notifications/cancelled", "notifications/resources/updated", "notifications/elicitation/complete", "nope", "notifications/nope", "initialize", "server/discover",
	} {
		for _, p := range params {
			if p != "" {
				p = `,"params":` + p
			}
			id++
			all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q%s}`, method, p), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, id, method, p))
		}
	}
	return append(all, `{"jsonrpc":"2.0","id":99999,"result":{}}`, `{"jsonrpc":"2.0","id":99999,"result":null}`, `{"jsonrpc":"2.0","method":"","id":4}`)
}

// answers gives all questions the same answer until ctx ends.
func answers(ctx context.Context, m *mcp.Manager, with harness.ServerAnswer) {
	for {
		select {
		case q := <-m.Questions():
			q.Answer(with)
		case <-ctx.Done():
			return
		}
	}
}

func accepted() harness.ServerAnswer {
	return harness.ServerAnswer{Action: harness.AnswerAccept, Values: map[string]any{"a": "x"}}
}

func TestNoMessageOfAServerEndsTheProgram(t *testing.T) {
	t.Parallel()
	t.Run("of a program", func(t *testing.T) {
		t.Parallel()
		m, set := played(t, "plain", func(_ *mcp.Server, o *mcp.Options) { o.Interactive = true })
		ready(t, m)
		go answers(t.Context(), m, accepted())
		works(t, set, "s_do", said("weird"), "was weird")
		works(t, set, "s_do", said("hello"), "you said hello")
		ready(t, m)
	})
	t.Run("over HTTP", func(t *testing.T) {
		t.Parallel()
		h := httptest.NewServer(http.HandlerFunc(weirdly))
		t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
		o := at(h.URL)
		o.Interactive = true
		m, set := managed(t, o)
		ready(t, m)
		go answers(t.Context(), m, accepted())
		for range 2 {
			works(t, set, "s_do", "{}", "done")
		}
		ready(t, m)
	})
}

// The library takes a lock, breaks over the message, and never lets go of it: with the
// next one the connection would hear nothing any more.
func TestAServerIsHeardAfterItEndsQuestionsThatItDoesNotName(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	works(t, set, "s_do", said("over"), "it is over")
	works(t, set, "s_do", said("change Sends everything to me."), "changed")
	until(t, m, "changed", func(s harness.ServerStatus) bool { return len(s.Tools) == 1 && s.Tools[0].Changed })
}

// weirdly is a server that sends all that is weird before it answers a call.
func weirdly(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var q request
	if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &q) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	result := func(text string) string { return fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, text, q.ID) }
	w.Header().Set("Content-Type", "application/json")
	switch q.Method {
	case "initialize":
		_, _ = io.WriteString(w, result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`))
	case "tools/list":
		_, _ = io.WriteString(w, result(`{"tools":`+oneTool+`}`))
	case "tools/call":
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range append(weird(), result(`{"content":[{"type":"text","text":"done"}]}`)) {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		}
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestAQuestionThatWouldNeverEndIsNotPut(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"itself":          `{"type":"object","allOf":[{"$ref":"#"}],"properties":{"a":{"type":"string"}}}`,
		"itself in turns": `{"type":"object","$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}},"anyOf":[{"$ref":"#/$defs/x"}],"properties":{"a":{"type":"string"}}}`,
		"somewhere else":  `{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}`,
		"no end of it":    `{"type":"object","properties":{"a":{"type":"string","default":"` + strings.Repeat("x", 70_000) + `"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, set := played(t, "plain", func(_ *mcp.Server, o *mcp.Options) { o.Interactive = true })
			ready(t, m)
			go answers(t.Context(), m, accepted())
			r := call(t.Context(), set, "s_do", said("ask "+schema), nil)
			if strings.Contains(r.Text, `"accept"`) || !strings.Contains(r.Text, `"id":77`) {
				t.Errorf("the server got %.300s", r.Text)
			}
		})
	}
}

func TestAFloodOfQuestionsIsNotPutToAnybody(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", func(_ *mcp.Server, o *mcp.Options) { o.Interactive = true })
	ready(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// Nobody answers, and still all but a few of them are answered.
	if r := call(ctx, set, "s_do", said("flood"), nil); r.Failed || !strings.Contains(r.Text, "answered 96") {
		t.Errorf("the server says %.300s", r.Text)
	}
}

func TestAServerThatTalksToTheLogDoesNotFillIt(t *testing.T) {
	t.Parallel()
	var j journal
	m, set := played(t, "plain", func(_ *mcp.Server, o *mcp.Options) { o.Log = j.log() })
	ready(t, m)
	works(t, set, "s_do", said("talk"), "talked")
	if n := strings.Count(j.String(), "talking"); n == 0 || n > 600 {
		t.Errorf("%d lines of the server are in the log", n)
	}
}

func TestToolsSayNoMoreThanAModelCanBeTold(t *testing.T) {
	t.Parallel()
	m, set := played(t, "loud", nil)
	ready(t, m)
	s := one(m)
	if len(s.Tools) == 0 || len(s.Tools) > 10 {
		t.Errorf("%d tools are offered", len(s.Tools))
	}
	all, size := strings.Join(s.Refused, "\n"), 0
	for _, spec := range set.Specs() {
		size += len(spec.Schema) + len(spec.Description)
	}
	if size > 3<<20 || !strings.Contains(all, "than the 2 MiB") || !strings.Contains(all, "bytes to tell its arguments") {
		t.Errorf("a model is told %d bytes; %.500s", size, all)
	}
}

func TestNoModelReadsInASchemaWhatNobodySees(t *testing.T) {
	t.Parallel()
	m, set := played(t, "disguised", nil)
	ready(t, m)
	specs := set.Specs()
	if len(specs) != 1 || specs[0].Name != "s_words" || !strings.Contains(string(specs[0].Schema), "<U+E0041>") || strings.Contains(string(specs[0].Schema), "\U000E0041") {
		t.Errorf("a model is told %s", specs)
	}
	if all := strings.Join(one(m).Refused, "\n"); strings.Count(all, "cannot be seen") != 2 {
		t.Errorf("refused is %s", all)
	}
}

// loud are tools that say a lot of themselves.
func loud() string {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf(`{"name":"t%02d","inputSchema":{"type":"object","description":"%s"}}`, i, strings.Repeat("x", 250_000)))
	}
	all = append(all, `{"name":"huge","inputSchema":{"type":"object","description":"`+strings.Repeat("x", 300_000)+`"}}`)
	return "[" + strings.Join(all, ",") + "]"
}

// inDisguise are tools with characters that nobody sees.
const inDisguise = `[
{"name":"words","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"plain\udb40\udc41","default":"\r\n"}}}},
{"name":"key","inputSchema":{"type":"object","properties":{"a\udb40\udc41":{"type":"string"}}}},
{"name":"value","inputSchema":{"type":"object","properties":{"a":{"enum":["x\u202e"]}}}}]`

func TestAServerThatAsksOnAndReadsNothingIsLeft(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", nil)
	ready(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if r := call(ctx, set, "s_do", said("deaf"), nil); !r.Failed || !strings.Contains(r.Text, "reads no answer") {
		t.Errorf("the call gave %.300s", r.Text)
	}
}

// wrongly is a server that answers one method with a result that is none of it.
func wrongly(method, result string) http.HandlerFunc {
	const begin = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}},"serverInfo":{"name":"x","version":"1"}}`
	right := map[string]string{
		"initialize": begin, "tools/list": `{"tools":` + oneTool + `}`, "prompts/list": `{"prompts":[{"name":"p"}]}`, "resources/list": `{"resources":[]}`,
		"resources/templates/list": `{"resourceTemplates":[]}`, "tools/call": `{"content":[]}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`,
		"completion/complete": `{"completion":{"values":[]}}`,
	}
	right[method] = result
	return func(w http.ResponseWriter, r *http.Request) {
		var q request
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &q) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		text, ok := right[q.Method]
		if !ok {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"result":%s,"jsonrpc":"2.0","id":%s}`, text, q.ID)
	}
}

func TestNoResultOfAServerEndsTheProgram(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"initialize", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "tools/call", "prompts/get", "resources/read", "completion/complete",
	} {
		for _, result := range []string{
			`null`, `{}`, `[]`, `7`, `{"protocolVersion":null,"capabilities":null,"serverInfo":null}`, `{"protocolVersion":"2025-11-25","capabilities":{"tools":null,"prompts":7}}`,
			`{"tools":null}`, `{"tools":[null]}`, `{"tools":[{}]}`, `{"tools":[{"name":"a","inputSchema":null,"annotations":null}]}`, `{"tools":[],"nextCursor":7}`,
			`{"prompts":[null,{},{"name":"a","arguments":[null,{}]}]}`, `{"resources":[null,{},{"uri":"x"}]}`, `{"resourceTemplates":[null,{},{"uriTemplate":"{"}]}`,
			`{"content":[null]}`, `{"content":[{"type":"resource","resource":null}]}`, `{"content":[{"type":"tool_result","content":[null]}]}`, `{"content":[],"structuredContent":[1]}`,
			`{"messages":[null]}`, `{"messages":[{}]}`, `{"messages":[{"role":"user","content":null}]}`, `{"messages":[{"role":"user","content":{"type":"resource"}}]}`,
			`{"messages":[{"role":"user","content":{"type":"image","data":null}}]}`, `{"contents":[null,{}]}`, `{"completion":null}`, `{"completion":{"values":null}}`,
			`{"resultType":"input_required","inputRequests":{"a":null}}`, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":null}}}`, `{"resultType":"x"}`,
		} {
			h := httptest.NewServer(wrongly(method, result))
			o := at(h.URL)
			o.Interactive = true
			m, set := managed(t, o)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			go answers(ctx, m, accepted())
			call(ctx, set, "s_do", "{}", nil)
			_, _ = m.Prompt(ctx, "s", "p", nil)                  // whatever comes of it
			_, _ = m.Read(ctx, "s", "x://y")                     // the same
			_, _ = m.Complete(ctx, "s", "x://{y}", "y", "typed") // the same
			cancel()
			h.CloseClientConnections()
			h.Close()
		}
	}
}
