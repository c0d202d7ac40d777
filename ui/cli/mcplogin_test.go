package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness/mcp/oauthtest"
	"cairn/storage/mem"
)

// signing is the program with an MCP server that is signed in to.
type signing struct {
	home string
	as   *oauthtest.Server
	wire Wire
	env  map[string]string
	// in is what is typed next.
	in string
}

func newSigning(t *testing.T) *signing {
	t.Helper()
	s := &signing{home: t.TempDir(), as: oauthtest.New(t), env: map[string]string{}}
	w := &scriptWorld{}
	w.store = mem.New(time.Now)
	s.wire = w.wire()
	s.wire.Browser = func(func(string) string) func(context.Context, string) error { return oauthtest.Open }
	s.config(t, s.as.URL)
	return s
}

// config writes the configuration.
func (s *signing) config(t *testing.T, address string) {
	t.Helper()
	path := filepath.Join(s.home, ".config", "cairn", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("[mcp.servers.tickets]\nurl = \""+address+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// secrets is what the file of secrets holds.
func (s *signing) secrets(t *testing.T) string {
	t.Helper()
	path := filepath.Join(s.home, ".config", "cairn", "secrets.toml")
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v", info.Mode())
	}
	return string(data)
}

// run runs the program.
func (s *signing) run(t *testing.T, want int, args ...string) (out, complaints string) {
	t.Helper()
	var o, e strings.Builder
	streams := Streams{
		In: strings.NewReader(s.in), Out: &o, Err: &e, Dir: s.home, Now: time.Now,
		Getenv: func(name string) string {
			if name == "HOME" {
				return s.home
			}
			return s.env[name]
		},
	}
	if code := Main(t.Context(), streams, args, s.wire); code != want {
		t.Fatalf("cairn %s ended with %d:\n%s%s", strings.Join(args, " "), code, o.String(), e.String())
	}
	if all := o.String() + e.String(); strings.Contains(all, "secret-") || strings.Contains(all, "\x1b") {
		t.Errorf("cairn %s said\n%s", strings.Join(args, " "), all)
	}
	return o.String(), e.String()
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

func TestSigningInToAServerAndOut(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	out, _ := s.run(t, ExitFailed, "mcp", "test", "tickets")
	wants(t, out, "tickets failed after", "it wants you to sign in (401 Unauthorized); run: cairn mcp login tickets")
	if s.secrets(t) != "" || len(s.as.Asked()) > 0 {
		t.Error("somebody signed in by themselves")
	}
	out, _ = s.run(t, ExitDone, "mcp", "login", "tickets")
	wants(t, out, "Open this address in a browser to sign in to tickets:\n"+s.as.At+"/authorize?", "You are signed in to tickets; that is kept in "+s.home+"/.config/cairn/secrets.toml.",
		"tickets is ready after", "signed in; to end that: cairn mcp logout tickets", "tool tickets_do")
	wants(t, s.secrets(t), "[servers.tickets]", "secret-token-1")
	out, _ = s.run(t, ExitDone, "mcp", "list")
	wants(t, out, "on, signed in")
	out, _ = s.run(t, ExitDone, "mcp", "list", "--check", "--json")
	wants(t, out, `"signed_in": true`, `"state": "ready"`)

	// A token that is refused is renewed, and the next one is kept.
	s.as.Revoke(false)
	out, _ = s.run(t, ExitDone, "mcp", "test", "tickets", "--json")
	wants(t, out, `"signed_in": true`, `"state": "ready"`)
	wants(t, s.secrets(t), "secret-token-2", "secret-refresh-2")

	out, _ = s.run(t, ExitDone, "mcp", "logout", "tickets")
	wants(t, out, "The sign-in to tickets is gone from ")
	if strings.Contains(s.secrets(t), "tickets") {
		t.Error(s.secrets(t))
	}
	_, complaints := s.run(t, ExitNotFound, "mcp", "logout", "tickets")
	wants(t, complaints, `you are not signed in to an MCP server "tickets"`)
	out, _ = s.run(t, ExitDone, "mcp", "list")
	if strings.Contains(out, "signed in") {
		t.Error(out)
	}

	out, complaints = s.run(t, ExitDone, "mcp", "login", "tickets", "--json")
	wants(t, complaints, s.as.At+"/authorize?")
	var told struct {
		Name     string `json:"name"`
		SignedIn bool   `json:"signed_in"`
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.Name != "tickets" || !told.SignedIn {
		t.Errorf("%v: %s", err, out)
	}
	s.run(t, ExitDone, "mcp", "remove", "tickets")
	if strings.Contains(s.secrets(t), "tickets") {
		t.Error("a server that is gone is still signed in to: " + s.secrets(t))
	}
}

func TestAnotherAddressUnderTheNameOfAServerIsNotSignedInTo(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	s.run(t, ExitDone, "mcp", "login", "tickets")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the other server got %q", got)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	s.config(t, other.URL)
	out, _ := s.run(t, ExitDone, "mcp", "list")
	if strings.Contains(out, "signed in") {
		t.Error(out)
	}
	out, _ = s.run(t, ExitFailed, "mcp", "test")
	wants(t, out, "cairn mcp login tickets; if it wants a key instead, set the header")
	_, complaints := s.run(t, ExitFailed, "mcp", "login", "tickets")
	wants(t, complaints, "MCP server tickets: it does not say where one signs in to it")
	wants(t, s.secrets(t), "secret-token-1")
}

func TestNoBrowserIsOpenedWhereNobodyWantsOne(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	s.wire.Browser = func(func(string) string) func(context.Context, string) error {
		t.Error("a browser was opened")
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, typed := io.Pipe()
	t.Cleanup(func() { _ = typed.Close() })
	var e strings.Builder
	o := heard(func(text string) {
		if strings.Contains(text, "paste the address") {
			cancel() // ctrl+c
		}
	})
	code := Main(ctx, Streams{In: in, Out: o, Err: &e, Dir: s.home, Now: time.Now, Getenv: func(name string) string {
		if name == "HOME" {
			return s.home
		}
		return ""
	}}, []string{"mcp", "login", "--no-browser", "tickets"}, s.wire)
	if code == ExitDone || s.secrets(t) != "" {
		t.Errorf("it ended with %d and kept %q", code, s.secrets(t))
	}
}

// heard is told what is written.
type heard func(text string)

func (h heard) Write(p []byte) (int, error) {
	h(string(p))
	return len(p), nil
}

func TestWhatCannotBeSignedInToSaysSo(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	_, complaints := s.run(t, ExitNotFound, "mcp", "login", "nobody")
	wants(t, complaints, `there is no MCP server "nobody"`)
	s.run(t, ExitDone, "mcp", "add", "files", "--", "npx", "-y", "x")
	_, complaints = s.run(t, ExitUsage, "mcp", "login", "files")
	wants(t, complaints, "MCP server files is a program; one signs in to servers that have a url")
	s.as.Answer = func(q url.Values) {
		q.Set("error", "access_denied")
		q.Set("error_description", "no \x1b[31mway")
	}
	_, complaints = s.run(t, ExitFailed, "mcp", "login", "tickets")
	wants(t, complaints, "MCP server tickets: you are not signed in; it says: access_denied: no <U+001B>[31mway")
	if s.secrets(t) != "" {
		t.Error(s.secrets(t))
	}
	_, complaints = s.run(t, ExitUsage, "config", "set", "mcp.servers.tickets.client_secret", "hunter2hunter2")
	wants(t, complaints, "may be a secret")
}
