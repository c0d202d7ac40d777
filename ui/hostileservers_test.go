package ui_test

import (
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/uitest"
)

// serving gives a window MCP servers whose every word is a text.
func serving(d *ui.Deps, bad string) {
	s := uitest.NewServers(" Qa" + bad + "Zb")
	s.Set(func(list []harness.ServerStatus) {
		list[0].Target += bad
		e := &list[1]
		e.Version, e.Protocol = "1"+bad, "2"+bad
		e.Tools[0].Name += bad
		e.Prompts[0].Name += bad
		e.Prompts[1].Arguments[1].Name += bad
		e.Resources[0].URI += bad
		e.Resources[0].MediaType += bad
	})
	d.Servers = s
	d.Files.Bytes = func(name string, data []byte) (harness.Part, error) {
		return harness.Part{Kind: harness.PartText, Text: string(data), File: &harness.File{Name: name, MediaType: "text/plain"}}, nil
	}
}

// besiegedServers goes where the words of servers are shown, step by step.
func besiegedServers(w *uitest.World, d ui.Deps, bad string) []func(g *glass) {
	text := "Qa" + bad + "Zb"
	s, ok := d.Servers.(*uitest.Servers)
	if !ok {
		return nil
	}
	press := func(keys ...string) func(g *glass) { return func(g *glass) { g.Press(keys...).Wait(time.Second) } }
	say := func(text string) func(g *glass) {
		return func(g *glass) { g.Type(text).Press("enter").Wait(time.Second) }
	}
	ask := func(q harness.ServerQuestion) func(g *glass) {
		return func(g *glass) {
			q.Server, q.Text, q.Done = "everything", "question "+text, make(chan struct{})
			s.Ask(q)
			g.Wait(time.Second)
		}
	}
	w.Steps("slowly", harness.Progress{Done: 1, Total: 2, Text: "half way " + text})
	min := 1.0
	return []func(g *glass){
		press("esc"), press("ctrl+c"),
		say("/mcp"), press("enter"), press("end"), press("esc"), press("r"), press("down", "enter"), press("pgdown"), press("end"), press("esc"), press("esc"),
		ask(harness.ServerQuestion{Fields: []harness.ServerField{
			{Name: "name" + bad, Title: "title " + text, Help: "help " + text, Kind: harness.FieldText, Required: true, Default: "default " + text},
			{Name: "n", Kind: harness.FieldInteger, Min: &min},
			{Name: "c", Kind: harness.FieldChoice, Choices: []harness.FieldChoiceOf{{Value: "v" + bad, Title: "choice " + text}}},
		}}),
		press("tab"), func(g *glass) { g.Paste("1" + text) }, press("enter"), press("esc", "esc"),
		ask(harness.ServerQuestion{URL: "https://example.com/" + bad}), press("esc"),
		func(g *glass) { g.Type("/everything:").Wait(time.Second) }, press("tab"), press("ctrl+c"), say("/everything:weather"), press("tab"), press("esc"), press("ctrl+c"),
		func(g *glass) { g.Type("@everything:").Wait(time.Second) }, press("tab"), press("ctrl+c"),
		func(g *glass) {
			w.Model.Then(uitest.Says("filled in"))
			g.Type("/everything:weather Paris").Press("enter").Wait(5 * time.Second)
		},
		func(g *glass) {
			w.Model.Then(uitest.Calls("slowly", `{"q":"x"}`), uitest.Says("done"))
			g.Type("slowly").Press("enter").Wait(700 * time.Millisecond)
		},
		func(g *glass) { g.Wait(5 * time.Second) }, press("f1"), press("end"), press("esc"), press("ctrl+p"), press("esc"),
	}
}
