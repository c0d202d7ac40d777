package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// player is a server that does what its name says.
type player struct {
	name string
	out  io.Writer
	in   *bufio.Reader
	// tools are what it lists, calls what its tools do.
	tools string
	hold  bool
	// mute leaves the list of prompts unanswered.
	mute bool
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

const oneTool = `[{"name":"do","description":"Does it.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]`

// play is a scripted server: the whole of a program.
func play(name string) int {
	p := &player{name: name, out: os.Stdout, in: bufio.NewReaderSize(os.Stdin, 1<<20), tools: oneTool}
	if err := p.begin(); err != nil {
		return 3
	}
	for {
		text, err := p.in.ReadString('\n')
		if err != nil {
			if p.hold {
				select {} // it minds no end of its input
			}
			return 0
		}
		var r request
		if json.Unmarshal([]byte(text), &r) == nil {
			p.answer(r, text)
		}
	}
}

// begin is what the server does before the first message.
func (p *player) begin() error {
	switch p.name {
	case "banner":
		p.write("%s", "Welcome to the server!\n{not json}\n[]\n[1]\n{\"jsonrpc\":\"2.0\"}\n\x1b[31mred\x1b[0m\n\n")
	case "stubborn":
		p.hold = true
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		cmd := exec.CommandContext(context.Background(), "sleep", "1000")
		if err := cmd.Start(); err != nil {
			return err
		}
		return os.WriteFile(os.Getenv("PIDS"), fmt.Appendf(nil, "%d %d", os.Getpid(), cmd.Process.Pid), 0o600)
	case "noisy":
		for range 12_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 14)+"\x1b[2J")
		}
		fmt.Fprint(os.Stderr, "the last words\n")
	case "dies":
		fmt.Fprintln(os.Stderr, "I cannot find my file "+os.Getenv("SECRET_KEY"))
		os.Exit(7)
	case "silent":
		p.in = bufio.NewReader(blocked{})
	case "empty":
		p.tools = `[]`
	case "odd":
		p.tools = odd
	case "loud":
		p.tools = loud()
	case "disguised":
		p.tools = strings.ReplaceAll(inDisguise, "\n", "")
	case "byteatatime":
		p.out = slowly{os.Stdout}
	}
	return nil
}

// odd are tools that are not as they should be.
var odd = `[` + strings.Join([]string{
	`{"name":"bare","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}}`,
	`{"name":"list","inputSchema":{"type":"array"}}`,
	`{"name":"a.b","inputSchema":{"type":"object"}}`,
	`{"name":"a/b","inputSchema":{"type":"object"}}`,
	`{"name":"` + strings.Repeat("long", 30) + `1","inputSchema":{"type":"object"}}`,
	`{"name":"` + strings.Repeat("long", 30) + `2","inputSchema":{"type":"object"}}`,
	`{"name":"ünïcode 🙂","description":"hidden \u202e\u001b[2J\udb40\udc41 words","inputSchema":{"type":"object"}}`,
	`{"name":"loop","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}}`,
	`{"name":"unsafe","annotations":{"readOnlyHint":true,"idempotentHint":true,"title":"Harmless"},"inputSchema":{"type":"object"}}`,
}, ",") + `]`

type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

// slowly writes a byte at a time.
type slowly struct{ w io.Writer }

func (s slowly) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := s.w.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// write writes; whoever reads it may be gone.
func (p *player) write(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

func (p *player) reply(id json.RawMessage, result string) {
	p.write(`{"result":%s,"jsonrpc":"2.0","id":%s}`+"\n", result, id)
}

func (p *player) text(id json.RawMessage, text string) {
	body, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	p.reply(id, `{"content":[{"type":"text","text":`+string(body)+`}]}`)
}

func (p *player) notify(method, params string) {
	p.write(`{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)
}

func (p *player) answer(r request, raw string) {
	switch r.Method {
	case "initialize":
		p.reply(r.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true}},"serverInfo":{"name":"scripted \u001b[31m","version":"1"}}`)
	case "tools/list":
		p.reply(r.ID, `{"tools":`+p.tools+`}`)
	case "prompts/list":
		if p.mute {
			return
		}
		p.reply(r.ID, `{"prompts":[{"name":"greet"},{"name":"bad\u001b[2J"},null]}`)
	case "tools/call":
		p.call(r)
	case "notifications/cancelled":
		if file := os.Getenv("CANCELLED"); file != "" {
			_ = os.WriteFile(file, []byte(raw), 0o600)
		}
	case "server/discover", "prompts/get":
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", r.ID)
	}
}

// results are what tools gave that are not as they should be, by what is asked for.
var results = map[string]string{
	"null":      `null`,
	"empty":     `{}`,
	"number":    `{"content":42}`,
	"nothing":   `{"content":null}`,
	"nil part":  `{"content":[null]}`,
	"unknown":   `{"content":[{"type":"hologram"}]}`,
	"no res":    `{"content":[{"type":"resource"}]}`,
	"failed":    `{"isError":true,"content":[{"type":"text","text":"line one\nline two"}]}`,
	"failed ?":  `{"isError":true,"content":[]}`,
	"parts":     `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"AAA=","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"x://y","text":"inside"}},{"type":"resource","resource":{"uri":"x://z","blob":"AAAA"}},{"type":"resource_link","uri":"x://l","name":"n"}]}`,
	"garbage":   `{"content":[{"type":"image","data":"%%% no base64 \u001b[2J","mimeType":"image/png"}]}`,
	"structure": `{"content":[],"structuredContent":{"a":[1,2],"b":"<x>"}}`,
	"same":      `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
}

func (p *player) call(r request) {
	var in struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(r.Params.Arguments, &in)
	verb, rest, _ := strings.Cut(in.Text, " ")
	switch verb {
	case "weird":
		p.write("%s\n", strings.Join(weird(), "\n"))
		p.text(r.ID, "was weird")
	case "over":
		for range 2 {
			p.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}` + "\n")
		}
		p.text(r.ID, "it is over")
	case "ask":
		p.ask(77, rest)
		p.text(r.ID, p.heard(1))
	case "flood":
		for i := range 100 {
			p.ask(1000+i, `{"type":"object","properties":{"a":{"type":"string"}}}`)
		}
		p.text(r.ID, fmt.Sprint("answered ", strings.Count(p.heard(96), `"cancel"`)))
	case "deaf":
		for i := 0; ; i++ {
			p.write(`{"jsonrpc":"2.0","id":"%d %s","method":"ping"}`+"\n", i, strings.Repeat("x", 1000))
		}
	case "talk":
		for range 5000 {
			p.notify("notifications/message", `{"level":"error","data":"talking"}`)
		}
		p.settle()
		p.text(r.ID, "talked")
	case "env":
		p.text(r.ID, strings.Join(os.Environ(), "\n"))
	case "exit":
		os.Exit(9)
	case "leave":
		// Something that holds the output stays behind.
		cmd := exec.CommandContext(context.Background(), "sleep", "1000")
		cmd.Stdout = os.Stdout
		if cmd.Start() == nil && os.Getenv("PIDS") != "" {
			_ = os.WriteFile(os.Getenv("PIDS"), fmt.Appendf(nil, "%d", cmd.Process.Pid), 0o600)
		}
		os.Exit(9)
	case "hang":
		p.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":1}`, r.Params.Meta.Token))
		if rest == "all" {
			select {}
		}
	case "long":
		n, err := strconv.Atoi(rest)
		if err != nil {
			panic(err)
		}
		p.text(r.ID, strings.Repeat("é", n/2))
	case "lines":
		p.text(r.ID, strings.Repeat("a short line\n", 200_000))
	case "progress":
		for i := range 5 {
			p.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":5,"message":"step\u001b[2J %d"}`, r.Params.Meta.Token, i+1, i+1))
		}
		p.notify("notifications/progress", `{"progressToken":"other","progress":1}`)
		p.notify("notifications/progress", `{"progressToken":7,"progress":"x"}`)
		p.settle()
		p.text(r.ID, "done")
	case "change":
		p.tools = strings.ReplaceAll(oneTool, "Does it.", rest)
		p.tools = strings.ReplaceAll(p.tools, `"properties":{`, `"properties":{"extra":{"type":"string"},`)
		if p.mute = rest == "and say no prompts"; p.mute {
			p.notify("notifications/prompts/list_changed", "{}")
		}
		for range 4 {
			p.notify("notifications/tools/list_changed", "{}")
		}
		p.text(r.ID, "changed")
	case "result":
		p.reply(r.ID, results[rest])
	case "bad":
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad \u001b[2J arguments"}}`+"\n", r.ID)
	default:
		p.text(r.ID, "you said "+in.Text)
	}
}

// ask asks the person something.
func (p *player) ask(id int, schema string) {
	p.write(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Well?","requestedSchema":%s}}`+"\n", id, schema)
}

// settle waits until what was notified has been taken: an answer to a call may overtake
// it, and the answer to a question does not.
func (p *player) settle() {
	p.write("%s\n", `{"jsonrpc":"2.0","id":500,"method":"ping"}`)
	p.heard(1)
}

// heard are the next lines that came.
func (p *player) heard(n int) string {
	var all strings.Builder
	for range n {
		text, err := p.in.ReadString('\n')
		if err != nil {
			os.Exit(4)
		}
		all.WriteString(text)
	}
	return all.String()
}

// number reads the number of a process from a file.
func number(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
