package ui_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

// offering has the models, the places of keys and the themes of a window hold a text.
func offering(t *testing.T, d *ui.Deps, bad string) {
	t.Helper()
	text := "Qa" + bad + "Zb"
	d.Models = overlay.ModelSource{
		List: func(context.Context) ([]overlay.ModelLine, error) {
			return []overlay.ModelLine{
				{Name: "lock" + bad + "/mine" + bad, Window: 1000, NeedsKey: true},
				{Name: "test/owl" + bad, Window: 1000, Local: true, Key: "key " + text},
			}, nil
		},
		Found:   func(context.Context) ([]overlay.ModelLine, error) { return nil, errors.New("unfound " + text) },
		SaveKey: func(context.Context, string, string) (string, error) { return "", errors.New("refused " + text) },
		Doubt:   func(provider, _ string) string { return "doubt " + text + provider },
	}
	d.ThemeName = "auto"
	d.Themes = func(context.Context) []overlay.ThemeChoice {
		dark := func(dark bool) *themes.Theme { return uitest.Theme(t, dark) }
		return []overlay.ThemeChoice{
			{Name: "auto", Make: dark},
			{Name: "sun" + bad, File: "/home/ada/" + bad + ".toml", Wrong: "wrong " + text},
			{Name: "moon" + bad, File: "/home/ada/" + bad + ".toml", Make: dark, Faint: []string{"faint " + text}},
		}
	}
}

// walk goes step by step, looks after each at what was written to the terminal, and
// returns all that was to be seen.
func (g *glass) walk(steps []func(g *glass)) (seen string) {
	g.t.Helper()
	for i, step := range steps {
		step(g)
		g.show()
		seen += g.Screen()
		if g.Quit() {
			g.t.Fatalf("step %d ended the program", i)
		}
		if view := g.Model().View(); strings.Contains(view, "\x1b[31;7m") || !onlyColours(view) {
			g.t.Fatalf("step %d: the view holds more than text and colours: %q", i, view)
		}
		if why := obeyed(g.written.String()); why != "" {
			g.t.Fatalf("step %d: a terminal obeys %s\n%s", i, why, g.Screen())
		}
		g.written.Reset()
	}
	if diff := g.differs(); diff != "" {
		g.t.Error(diff)
	}
	return seen
}

// beside opens the side panel at its sizes.
func beside() []func(g *glass) {
	size := func(width, height int) func(g *glass) { return func(g *glass) { g.resize(width, height) } }
	panel := func(g *glass) { g.Press("ctrl+x", "b").Wait(time.Second) }
	return []func(g *glass){size(120, 40), panel, size(110, 28), size(200, 60), panel, size(100, 30)}
}

// chosen finds in what was said, and goes to the lists that something is chosen from.
func chosen(bad string) []func(g *glass) {
	text := "Qa" + bad + "Zb"
	press := func(keys ...string) func(g *glass) { return func(g *glass) { g.Press(keys...).Wait(time.Second) } }
	typed := func(text string) func(g *glass) {
		return func(g *glass) { g.Type(text).Press("enter").Wait(time.Second) }
	}
	paste := func(text string) func(g *glass) { return func(g *glass) { g.Paste(text).Wait(time.Second) } }
	return []func(g *glass){
		press("tab", "/"), paste("seek " + text), press("enter"), press("n"), press("/"), paste("model"), press("enter"), press("n"), press("esc"), press("esc"),
		press("ctrl+l"), press("down"), press("up"), paste(text), press("ctrl+u"), typed("lock"), paste("sk-0123" + text), press("enter"), press("enter"), press("esc"), press("esc"),
		press("ctrl+l"), typed("owl"), typed("/model"), press("esc"), typed("/model test/x"),
		typed("/theme"), press("down"), press("enter"), press("down"), press("enter"), typed("/theme"), press("esc"),
	}
}

// afterwards ends a window in the middle of a call, and has the next one welcome, ask
// about the call that nobody saw end, and list the runs.
func afterwards(g *glass, w *uitest.World, d ui.Deps, bad string) (seen string) {
	g.t.Helper()
	text := "Qa" + bad + "Zb"
	ran := w.Asking("deploy", harness.Proposal{Kind: harness.ProposalCommand, Body: "deploy " + text, Subject: "to " + text, Why: "why " + text, About: []string{"about " + text}})
	ran.Hang()
	w.Model.Then(uitest.Calls("deploy", `{"command":"x"}`))
	g.Wait(time.Minute).Type("hang").Press("enter").Wait(2 * time.Second).Type("y").Wait(time.Second)
	if len(ran.Calls()) != 1 {
		g.t.Fatalf("it does not run:\n%s", g.Screen())
	}
	w.Crash()
	g.Stop()
	ran.Work()

	fresh := w.Deps("bad", false)
	d.Engine, d.Holder = fresh.Engine, fresh.Holder
	d.Welcome = &overlay.WelcomeConfig{
		Keys: func(context.Context) ([]overlay.WelcomeKey, error) {
			return []overlay.WelcomeKey{{Provider: "provider " + text, From: "from " + text}}, nil
		},
		Servers: func(context.Context) ([]overlay.WelcomeServer, error) {
			return []overlay.WelcomeServer{{Name: "server " + text, Address: "http://" + text, Models: 3}}, nil
		},
		Model:  func(context.Context) (string, string, error) { return "test/parrot" + bad, "because " + text, nil },
		Places: []overlay.WelcomePlace{{What: "Place", Path: "/home/ada/" + text, Holds: "holds " + text}},
	}
	press := func(keys ...string) func(g *glass) { return func(g *glass) { g.Press(keys...).Wait(time.Second) } }
	after := behindGlass(g.t, w.Start(d, 100, 30), 100, 30)
	return after.walk([]func(g *glass){
		func(g *glass) { g.Wait(time.Second) }, func(g *glass) { g.resize(40, 10) }, press("pgdown"), func(g *glass) { g.resize(100, 30) }, press("enter"),
		func(g *glass) { g.Type("c").Wait(2 * time.Second) }, func(g *glass) { g.resize(40, 10) }, press("pgdown"), func(g *glass) { g.resize(100, 30) },
		press("g"), func(g *glass) { g.Paste("seen " + text) }, press("esc"), press("esc"),
		press("ctrl+x", "r"), press("y"), press("esc"), press("d"), press("f1"), press("esc"), func(g *glass) { g.resize(40, 10) }, press("esc"),
	})
}
