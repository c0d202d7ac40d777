package ui_test

import (
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/uitest"
)

// serverSights are the screens and overlays about MCP servers.
func serverSights() []sight {
	one := func(name string, open func(s *uitest.Servers, w *uitest.World, d *uitest.Driver)) sight {
		var s *uitest.Servers
		return sight{
			name: name,
			with: func(d *ui.Deps) {
				s = uitest.NewServers(" " + short)
				d.Servers = s
			},
			open: func(w *uitest.World, d *uitest.Driver) { open(s, w, d) },
		}
	}
	ask := func(name string, q harness.ServerQuestion, keys ...string) sight {
		return one(name, func(s *uitest.Servers, _ *uitest.World, d *uitest.Driver) {
			q.Done = make(chan struct{})
			s.Ask(q)
			d.Wait(time.Second)
			for _, k := range keys {
				d.Press(k).Wait(time.Second)
			}
		})
	}
	typed := func(name, text string, keys ...string) sight {
		return one(name, func(_ *uitest.Servers, _ *uitest.World, d *uitest.Driver) {
			d.Type(text).Wait(time.Second)
			for _, k := range keys {
				d.Press(k).Wait(time.Second)
			}
		})
	}
	q := person(nil)
	q.Text += " " + scripts
	q.Fields[0].Title += " " + short
	q.Fields[3].Choices[0].Title += " " + scripts
	return []sight{
		typed("servers", "/mcp", "enter"), typed("server", "/mcp", "enter", "down", "enter"), typed("server-end", "/mcp", "enter", "down", "enter", "end"),
		typed("prompts", "/everything:"), typed("prompt-form", "/everything:weather", "enter"), typed("resources", "see @everything:"),
		ask("form", q), ask("form-wrong", q, "tab", "x", "tab", "down", "enter", "enter", "enter", "enter", "enter"), ask("form-end", q, "shift+tab"),
		ask("form-address", harness.ServerQuestion{Server: "everything", Text: "Sign in " + scripts, URL: "https://example.com/" + strings.Repeat("long/", 30) + "模板"}),
		ask("form-consent", harness.ServerQuestion{Server: "everything", Text: strings.Repeat("May I? "+short+" ", 40)}),
		one("progress", func(_ *uitest.Servers, w *uitest.World, d *uitest.Driver) {
			w.Steps("slow_tool", harness.Progress{Done: 3, Total: 10, Text: "reading " + scripts})
			w.Model.Then(uitest.Calls("slow_tool", `{"q":"`+short+`"}`))
			d.Type("go").Press("enter").Wait(700 * time.Millisecond)
		}),
	}
}
