package cli

import (
	"context"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/ui/uitest"
)

// A prompt may call a prompt of a configured server and mention its resources. What
// it says of others is only text, for which nothing is connected to.
func TestAPromptWantsWhatServersHave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed, stdin string
		code         int
		sent, told   string
		connects     bool
	}{
		"prompt":           {typed: "/everything:weather Paris", sent: "Tell of weather map[city:Paris]", connects: true},
		"resource":         {typed: "see @everything:demo://notes/1.md", sent: "the content of demo://notes/1.md", connects: true},
		"missing argument": {typed: "/everything:weather", code: ExitUsage, told: "it needs city", connects: true},
		"missing prompt":   {typed: "/everything:none", code: ExitUsage, told: "has no prompt none", connects: true},
		"missing resource": {typed: "see @everything:demo://none", code: ExitUsage, told: "has no resource demo://none", connects: true},
		"other server":     {typed: "/other:weather and @other:demo://x"},
		"standard input":   {typed: "sum it up", stdin: "/everything:weather Paris @everything:demo://notes/1.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, _, errs := world1(t)
			write(t, s.Getenv("HOME")+"/.config/cairn/config.toml", "[mcp.servers.everything]\ncommand = \"everything-server\"\n", 0o600)
			s.In = strings.NewReader(c.stdin)
			wire, connected := w.wire(), false
			wire.Servers = func(context.Context, Setup) (harness.Servers, error) {
				connected = true
				return uitest.NewServers(""), nil
			}
			if code := Main(t.Context(), s, []string{"-p", c.typed}, wire); code != c.code {
				t.Fatalf("exit %d, not %d: %s", code, c.code, errs)
			}
			if connected != c.connects || !strings.Contains(errs.String(), c.told) {
				t.Errorf("connected %v, told %s", connected, errs)
			}
			if c.code != 0 {
				return
			}
			list, err := w.store.Sessions().List(t.Context(), harness.SessionFilter{})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			records, err := w.store.Transcript().Tail(t.Context(), list[0].ID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var files strings.Builder
			for _, p := range records[0].Message.Parts {
				if p.File != nil {
					files.WriteString(p.Text)
				}
			}
			if got := files.String(); !strings.Contains(got, c.sent) || c.sent == "" && got != "" {
				t.Errorf("sent %q beside the words", got)
			}
		})
	}
}
