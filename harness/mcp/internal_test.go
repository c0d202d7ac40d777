package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/tool"
)

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// messages reads all messages of an output.
func messages(t *testing.T, in io.Reader) (all []jsonrpc.Message, junk []string) {
	t.Helper()
	p := newPipe(io.NopCloser(in), nothing{}, func(s string) { junk = append(junk, s) }, func(error) {})
	for {
		m, err := p.Read(t.Context())
		if err != nil {
			_ = p.Close()
			return all, junk
		}
		all = append(all, m)
	}
}

func FuzzOutputOfAProgram(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "hello\n", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", `[{"jsonrpc":"2.0","method":"x"}]`, "[]\n[1]\n{}\nnull\n",
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`, "\xff\x00\x1b[2J{\r\n", strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(seed))
	}
	const good = `{"jsonrpc":"2.0","method":"notifications/good"}`
	f.Fuzz(func(t *testing.T, data []byte) {
		all, junk := messages(t, io.MultiReader(bytes.NewReader(data), strings.NewReader("\n"+good+"\n")))
		if len(all) == 0 {
			t.Fatal("the message behind it is lost")
		}
		if last, ok := all[len(all)-1].(*jsonrpc.Request); !ok || last.Method != "notifications/good" {
			t.Fatalf("the last message is %+v", all[len(all)-1])
		}
		for _, text := range junk {
			if len(text) > maxJunk {
				t.Fatalf("of what is no message %d bytes are kept", len(text))
			}
			if said := line(text); strings.ContainsAny(said, "\x1b\n\r\x00") || !utf8.ValidString(said) {
				t.Fatalf("%q is said", said)
			}
		}
	})
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"content":null}`, `{"content":[{"type":"text"}]}`, `{"content":[{"type":"resource","resource":{}}],"structuredContent":[1,{"a":null}]}`,
		`{"isError":true}`, `{"content":[{"type":"tool_result","content":[]}]}`, `{"content":[{"type":"resource_link"}],"isError":true}`,
	} {
		f.Add([]byte(seed))
	}
	l := &link{c: Server{Name: "s"}, secrets: tool.NewRedactor(nil)}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r sdk.CallToolResult
		if json.Unmarshal(data, &r) != nil {
			return
		}
		text, err := l.result(&r, func(harness.File) bool { return true })
		if (text == "") == (err == nil) || r.IsError == (err == nil) {
			t.Fatalf("the result is %q, %v", text, err)
		}
	})
}

func FuzzSchemaOfATool(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `{"type":["object"]}`, `{"type":"object","properties":[]}`, `{"$schema":"x","$ref":"#"}`, `{"properties":{"a":{"$id":"x"}}}`} {
		f.Add([]byte(seed))
	}
	l := &link{c: Server{Name: "s"}, secrets: tool.NewRedactor(nil)}
	f.Fuzz(func(t *testing.T, data []byte) {
		var given any
		if json.Unmarshal(data, &given) != nil {
			return
		}
		schema, err := schemaOf(given)
		if err != nil {
			return
		}
		again, err := schemaOf(given)
		if err != nil || !bytes.Equal(schema, again) {
			t.Fatalf("the schema is %s and %s", schema, again)
		}
		o := offered{name: "s_x", remote: "x", schema: schema}
		var set tool.Set
		set.Group("mcp", []tool.Tool{l.tool(o)})
	})
}

func TestALineIsReadToItsLimit(t *testing.T) {
	t.Parallel()
	long := `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 200_000) + `"}`
	all, junk := messages(t, strings.NewReader(long+"\n"+long))
	if len(all) != 2 || len(junk) != 0 {
		t.Errorf("there are %d messages and %q", len(all), junk)
	}
	why := make(chan error, 1)
	p := newPipe(io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("y", MaxMessage+2)), strings.NewReader("\n"))), nothing{}, func(string) {}, func(err error) { why <- err })
	if _, err := p.Read(t.Context()); err == nil {
		t.Error("a line beyond the limit was read")
	}
	if err := <-why; !tooLong(err) {
		t.Errorf("the reason is %v", err)
	}
}

func TestATargetHoldsNoSecret(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Server{
		"npx -y server '/home/ada/my files'": {Command: "npx", Args: []string{"-y", "server", "/home/ada/my files"}},
		"run --api-key … --token=… x":        {Command: "run", Args: []string{"--api-key", "hunter2", "--token=hunter2", "x"}},
		"run postgres://db/x …":              {Command: "run", Args: []string{"postgres://u:hunter2@db/x", "abcdefghij0123456789"}},
		"https://example.com/v1/…/mcp?…":     {URL: "https://example.com/v1/abcdefghij0123456789/mcp?key=hunter2"},
		"run a<U+001B>[2J":                   {Command: "run", Args: []string{"a\x1b[2J"}},
	} {
		if got := target(s); got != want || strings.Contains(got, "hunter2") {
			t.Errorf("the target is %q, want %q", got, want)
		}
	}
}

func TestHiddenCharactersAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 台 👩‍💻 ❤️":      "plain é 台 👩‍💻 ❤️",
		"a\u202eb\u200b\u2066c": "a<U+202E>b<U+200B><U+2066>c",
		"\U000E0041\U000E0042":  "<U+E0041><U+E0042>",
		"\x1b]0;x\x07\x9b":      "<U+001B>]0;x<U+0007>\uFFFD",
		"a\r\nb\tc":             "a<U+000D>\nb\tc",
	} {
		if got := words(text, 100); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := words(strings.Repeat("é", 300), 100); got != strings.Repeat("é", 100)+"…" {
		t.Errorf("a long text is %q", got)
	}
}

func TestNoArgumentShowsASecret(t *testing.T) {
	t.Parallel()
	const key = "swordfish1234"
	for _, args := range [][]string{
		{"mcp-remote", "https://example.com/mcp", "--header", "Authorization: Bearer " + key},
		{"mcp-remote", "https://example.com/mcp", "--header", "Authorization:Bearer " + key},
		{"--header", "X-Mine: " + key},
		{"-H", "cookie: a=" + key},
		{"--header=Authorization: Basic " + key},
		{"run", "-e", "GITHUB_TOKEN=" + key, "image"},
		{"run", "--env=GITHUB_TOKEN=" + key},
		{"-eGITHUB_TOKEN=" + key},
		{"--api-key", key},
		{"--api-key=" + key},
		{"postgres://ada:" + key + "@db/x"},
		{"--db=postgres://ada:" + key + "@db/x"},
		{`{"apiKey":"` + key + `"}`},
		{"https://example.com/?access_token=" + key + "&x=y"},
		{"sk-proj-" + key + key},
	} {
		s := Server{Name: "s", Command: "npx", Args: args}
		if got := target(s); strings.Contains(got, "swordfish") {
			t.Errorf("%q is shown as %q", args, got)
		}
		// The program tells what it was given, the secret by itself, too.
		for _, told := range []string{strings.Join(args, " "), "no access with " + key} {
			if got := secrets(s).Redact(told); strings.Contains(got, "swordfish") && !strings.HasPrefix(args[0], "sk-") {
				t.Errorf("of %q, %q becomes %q", args, told, got)
			}
		}
	}
	for _, args := range [][]string{{"-y", "@scope/server@1.2.3", "--port=8080", "/home/ada/papers", "C:\\papers"}, {"--header", "Accept: text/plain"}} {
		s := Server{Name: "s", Command: "npx", Args: args}
		if got, want := strings.ReplaceAll(target(s), "'", ""), "npx "+strings.Join(args, " "); got != want {
			t.Errorf("%q is shown as %q", args, got)
		}
	}
}

func TestAPasswordInTheEnvironmentIsNotTold(t *testing.T) {
	t.Parallel()
	s := Server{Name: "s", Command: "x", Env: map[string]string{"STORE": "postgres://ada:swordfish1234@db/x"}}
	if got := secrets(s).Redact("cannot log in as ada with swordfish1234"); strings.Contains(got, "swordfish") {
		t.Errorf("it is told: %q", got)
	}
}
