package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/tool/recall"
	"cairn/storage/mem"
)

// over is what is served of a store.
func over(m *mem.Store, writes bool) Options {
	o := Options{
		Facts: m.Facts(), Notes: m.Notes(), History: recall.History{Search: m.Searcher(), Sessions: m.Sessions(), Transcript: m.Transcript()},
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[the password]") },
	}
	if writes {
		o.Inbox = m.Inbox()
	}
	return o
}

// connect serves a client, which calls itself name.
func connect(t *testing.T, o Options, name string) *mcp.ClientSession {
	t.Helper()
	theirs, ours := io.Pipe()
	back, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := Run(t.Context(), o, theirs, out)
		done <- err
		out.Close() //nolint:errcheck // a pipe
	}()
	c, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: back, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()    //nolint:errcheck // what it says is told by done
		ours.Close() //nolint:errcheck // a pipe
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// call calls a tool and returns what it says.
func call(t *testing.T, c *mcp.ClientSession, name, input string) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range r.Content {
		text += part.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

func names(t *testing.T, c *mcp.ClientSession) string {
	t.Helper()
	r, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, tl := range r.Tools {
		if tl.Annotations.ReadOnlyHint == strings.Contains("save_memory update_memory forget_memory", tl.Name) {
			t.Errorf("%s is told to read only: %v", tl.Name, tl.Annotations.ReadOnlyHint)
		}
		all = append(all, tl.Name)
	}
	return strings.Join(all, " ")
}

// An agent reads and writes nothing, unless it is let suggest.
func TestAgentsReadAndAtMostSuggest(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	if _, _, err := m.Facts().Save(t.Context(), harness.Fact{Text: "Works in Berlin; the password is hunter2hunter2\x1b[2J\u202e"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Notes().Save(t.Context(), harness.Note{Title: "Berlin", Body: "A note\x1b]0;x\x07 about\n\tBerlin"}, ""); err != nil {
		t.Fatal(err)
	}
	reads := connect(t, over(m, false), "reader")
	if got, want := names(t, reads), "recall_memories search_history"; got != want {
		t.Errorf("it is offered %s, want %s", got, want)
	}
	if text, failed := call(t, reads, recall.RecallTool, `{"query":"berlin"}`); failed || !strings.Contains(text, "[fact/f1] (general) Works in Berlin; the password is [the password]") ||
		!strings.Contains(text, "[note/n1] Berlin") || strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("it recalls %q", text)
	}
	if _, err := reads.CallTool(t.Context(), &mcp.CallToolParams{Name: recall.SaveTool, Arguments: map[string]any{"content": "x"}}); err == nil {
		t.Error("a reader saves")
	}
	if text, failed := call(t, reads, recall.RecallTool, `{"layer":7}`); !failed || !strings.Contains(text, "arguments were not accepted") {
		t.Errorf("bad arguments: %q", text)
	}
	writes := connect(t, over(m, true), "helper")
	if got, want := names(t, writes), "forget_memory recall_memories save_memory search_history update_memory"; got != want {
		t.Errorf("it is offered %s, want %s", got, want)
	}
	for name, input := range map[string]string{
		recall.SaveTool: `{"content":"Ada has a cat"}`, recall.UpdateTool: `{"id":"f1","text":"Works in Hamburg"}`, recall.ForgetTool: `{"id":"f1"}`,
	} {
		for range 2 {
			if text, failed := call(t, writes, name, input); failed || !strings.HasPrefix(text, recall.Suggested) {
				t.Errorf("%s says %q", name, text)
			}
		}
	}
	if text, failed := call(t, writes, recall.SaveTool, `{"content":"My note","layer":"note"}`); !failed {
		t.Errorf("a note is taken: %q", text)
	}
	if list, err := m.Inbox().List(t.Context(), harness.InboxFilter{}); err != nil || len(list) != 3 || list[0].Source.Client != "helper" {
		t.Errorf("%+v waits, %v", list, err)
	}
	if f, err := m.Facts().Get(t.Context(), "f1"); err != nil || f.Revision != 1 || f.State != harness.StateActive {
		t.Errorf("the fact is %+v, %v", f, err)
	}
}

// What was found in the history says where, and what was saved meanwhile is found.
func TestHistoryIsSearched(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	c := connect(t, over(m, false), "reader")
	if text, failed := call(t, c, recall.HistoryTool, `{"query":"parser"}`); failed || !strings.HasPrefix(text, "No message") {
		t.Errorf("before: %q", text)
	}
	s := harness.Session{ID: "talk", Title: "About\nparsers"}
	records := []harness.Record{{Kind: harness.RecordMessage, Message: &harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, Text: "The parser takes hunter2hunter2"}}}}}
	if _, _, err := m.Sessions().Import(t.Context(), s, records); err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, c, recall.HistoryTool, `{"query":"parser"}`); failed || !strings.Contains(text, "[session/talk #1] user") || strings.Contains(text, "hunter2") {
		t.Errorf("it finds %q", text)
	}
}

// Facts and notes are resources: all of them once, page by page, also while some
// are added and forgotten.
func TestFactsAndNotesAreResources(t *testing.T) {
	t.Parallel()
	m := mem.New(nil)
	const facts = 2*pageSize + 5
	for i := range facts {
		if _, _, err := m.Facts().Save(t.Context(), harness.Fact{Text: fmt.Sprint("Fact ", i+1)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Notes().Save(t.Context(), harness.Note{Title: "Plan", Body: "hunter2hunter2 *x*"}, ""); err != nil {
		t.Fatal(err)
	}
	c := connect(t, over(m, false), "reader")
	var got []string
	cursor := ""
	for {
		r, err := c.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Resources) > pageSize {
			t.Fatalf("a page of %d", len(r.Resources))
		}
		for _, x := range r.Resources {
			got = append(got, x.URI)
		}
		if cursor = r.NextCursor; cursor == "" {
			break
		}
		if err := m.Facts().Forget(t.Context(), cursor); err != nil { // the last one that was told
			t.Fatal(err)
		}
	}
	if len(got) != facts+1 || got[0] != "cairn://facts/f1" || got[facts-1] != fmt.Sprintf("cairn://facts/f%d", facts) || got[facts] != "cairn://notes/n1" {
		t.Errorf("%d resources, from %s to %s", len(got), got[0], got[len(got)-1])
	}
	for uri, want := range map[string]string{"cairn://facts/f1": "Fact 1\n", "cairn://notes/n1": "# Plan\n\n[the password] *x*\n"} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(r.Contents) != 1 || r.Contents[0].Text != want {
			t.Errorf("%s is %+v, %v", uri, r, err)
		}
	}
	for _, uri := range []string{"cairn://facts/f100", "cairn://facts/f999", "cairn://notes/f1", "cairn://facts/../notes/n1", "cairn://facts/", "file:///etc/passwd"} {
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is %+v", uri, r.Contents[0])
		}
	}
	if r, err := c.ListResourceTemplates(t.Context(), nil); err != nil || len(r.ResourceTemplates) != 2 {
		t.Errorf("the templates are %+v, %v", r, err)
	}
	for _, bad := range []string{"x", "f", "f-3", "99", "f99999999999999999999"} {
		if _, err := c.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: bad}); err == nil {
			t.Errorf("the cursor %q is taken", bad)
		}
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// Lines that are no requests are refused one by one, and what was asked before the
// input ended is answered.
func TestGarbageEndsNoConnection(t *testing.T) {
	t.Parallel()
	in := hello + "garbage\n\n[]\n{\"x\":1}\n5\n{}{}\n" + strings.Repeat("x", maxRequest+10) + "\n" + `{"jsonrpc":"2.0","id":"last","method":"tools/list"}`
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": &slow{strings.NewReader(in)}} {
		var out bytes.Buffer
		if err := Run(t.Context(), over(mem.New(nil), false), r, &out); err != nil {
			t.Fatal(err)
		}
		answered, refused := map[string]bool{}, 0
		for line := range strings.Lines(out.String()) {
			var a struct {
				ID     any             `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  *struct{ Code int }
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			if a.ID == nil && a.Error != nil {
				refused++
			} else if a.Result != nil {
				answered[fmt.Sprint(a.ID)] = true
			}
		}
		if refused != 6 || !answered["1"] || !answered["last"] {
			t.Errorf("%s: %d refused, %v answered:\n%s", name, refused, answered, out.String())
		}
	}
}

// slow gives one byte at a time.
type slow struct{ r io.Reader }

func (s *slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 1)]) }

// It ends with its context, also while nothing comes, and when a request is under
// way.
func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	m := mem.New(nil)
	o := over(m, false)
	began := make(chan struct{})
	o.Facts = stuck{m.Facts(), began}
	go func() {
		done <- Run(ctx, o, io.MultiReader(strings.NewReader(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall_memories","arguments":{}}}`+"\n"), in), io.Discard)
	}()
	<-began
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// stuck are facts that are not listed before the context ends.
type stuck struct {
	harness.Facts
	began chan struct{}
}

func (s stuck) List(ctx context.Context, _ harness.MemoryFilter) ([]harness.Fact, error) {
	close(s.began)
	<-ctx.Done()
	return nil, ctx.Err()
}

// FuzzRequests checks that no input is too much for the server, and that all it
// writes are lines of JSON.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(hello + "x"))
	f.Add([]byte(hello + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"cairn://facts/f1"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}` + "\n" + `{"jsonrpc":"2.0","id":null,"result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["cairn://facts/f1"]}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := Run(t.Context(), over(mem.New(nil), true), bytes.NewReader(append([]byte(hello), in...)), &out); err != nil {
			t.Skip(err) // the library ends a connection over some messages
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("%q", line)
			}
		}
	})
}
