package ui_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/overlay"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// dressed are the parts of a window with themes to choose from, and what is kept.
func dressed(t *testing.T, w *uitest.World, fail error) (ui.Deps, *[]string) {
	t.Helper()
	deps, kept := w.Deps("talk", false), &[]string{}
	deps.ThemeName = "auto"
	deps.Save = func(_ context.Context, key, value string) error {
		if fail == nil {
			*kept = append(*kept, key+"="+value)
		}
		return fail
	}
	deps.Themes = func(context.Context) []overlay.ThemeChoice {
		var all []overlay.ThemeChoice
		for _, name := range []string{"auto", "light", "high-contrast"} {
			d, err := themes.Builtin(name)
			if err != nil {
				t.Error(err)
			}
			all = append(all, overlay.ThemeChoice{Name: name, Make: func(dark bool) *themes.Theme { return d.Theme(dark, themes.Options{}) }})
		}
		return append(all, overlay.ThemeChoice{Name: "sunset", File: "/home/ada/sunset.toml", Wrong: "/home/ada/sunset.toml, line 4: unknown key \"mutted\""})
	}
	return deps, kept
}

// paints reports whether the screen has text in the accent of a theme.
func paints(t *testing.T, d *uitest.Driver, name string) bool {
	t.Helper()
	th, err := themes.Load(name, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(d.Model().View(), string(th.Paints.User))
}

func TestAThemeIsLookedAtWhileItIsChosen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps, kept := dressed(t, w, nil)
		d := w.Start(deps, 80, 24)
		d.Press("ctrl+x", "t").Wait(time.Second).Shows("Theme", "auto", "high-contrast", "selected", "esc back as it was")
		if !paints(t, d, "dark") {
			t.Fatal("the sample is not in the theme in force")
		}
		d.Press("down").Shows("Theme · light")
		if !paints(t, d, "light") {
			t.Error("the theme at the cursor is not to be seen")
		}
		d.Press("esc").Hides("selected")
		if !paints(t, d, "dark") || len(*kept) != 0 {
			t.Errorf("esc kept %v", *kept)
		}
		d.Type("/theme").Press("enter").Wait(time.Second).Press("end").Shows("line 4: unknown key")
		d.Press("enter").Shows("Theme · sunset")
		d.Press("up").Press("enter").Wait(time.Second).Shows("the theme is high-contrast from now on").Hides("selected")
		if !paints(t, d, "high-contrast") || fmt.Sprint(*kept) != "[theme=high-contrast]" {
			t.Errorf("kept %v", *kept)
		}
		d.Press("ctrl+x", "t").Wait(time.Second).Shows("Theme · high-contrast").Press("up").Press("esc")
		if !paints(t, d, "high-contrast") {
			t.Error("esc did not go back to what was kept")
		}
	})
}

func TestAFileReadAgainIsOnlyLookedAt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps, kept := dressed(t, w, nil)
		deps.ThemeName = "light" // as it was at the start: the file says something else now
		d := w.Start(deps, 80, 24)
		d.Press("ctrl+x", "t").Wait(time.Second).Shows("Theme · light")
		d.Press("r").Wait(time.Second)
		if !paints(t, d, "light") {
			t.Error("the file is not drawn as it is now")
		}
		d.Press("esc").Hides("selected")
		if !paints(t, d, "dark") || len(*kept) != 0 {
			t.Errorf("esc did not go back to what was in force, and kept %v", *kept)
		}
	})
}

func TestAThemeIsTakenByNameAndAFailureIsSaid(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps, _ := dressed(t, w, errors.New("theme is set by the flag --theme"))
		d := w.Start(deps, 80, 24)
		d.Type("/theme light").Press("enter").Wait(time.Second).Shows("The theme light is used now, but not kept", "set by the flag --theme")
		if !paints(t, d, "light") {
			t.Error("it is not used")
		}
		d.Type("/theme blue").Press("enter").Wait(time.Second).Shows("There is no theme blue; /theme lists them.")
		d.Type("/theme sunset").Press("enter").Wait(time.Second).Shows("The theme sunset cannot be used", "line 4")
	})
}

// TestAnotherBackgroundKeepsThePlace changes the background while an answer
// streams, the person reads above, and a message is half written.
func TestAnotherBackgroundKeepsThePlace(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		w.Model.Then(uitest.Thinks("First I look.", "the **end** of it"), uitest.Says(strings.SplitAfter(strings.Repeat("a line\n\n", 30), "\n\n")...))
		d := w.Open("q3", 80, 24)
		d.Type("Go on.").Press("enter").Wait(time.Second).Press("ctrl+t")
		d.Type("And on.").Press("enter").Wait(time.Second).Press("pgup").Type("half a")
		before, style := d.Screen(), d.Model().View()
		d.Send(screen.BackgroundMsg{Dark: false})
		if got := d.Screen(); got != before {
			t.Errorf("it shows\n%s\nand showed\n%s", got, before)
		}
		if d.Model().View() == style {
			t.Error("the colours are the same")
		}
		d.Wait(4 * time.Second).Press("end").Shows("a line").Press("home").Press("end")
		d.Send(screen.BackgroundMsg{Dark: true})
		if !strings.Contains(d.Model().View(), string(uitest.Theme(t, true).Paints.Muted)) {
			t.Error("it is not back in the dark theme")
		}
	})
}

// tour opens every screen and overlay and calls look on each.
func tour(t *testing.T, o themes.Options, width, height int, look func(name, view string)) {
	t.Helper()
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		w.Model.Then(uitest.Thinks("I think.", "> a quote\n\n- item\n- [x] done\n- [ ] to do\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n1. one `code`, **strong**, [link](https://example.com)\n\n```diff\n+ more\n- less\n```\n"))
		deps, _ := dressed(t, w, nil)
		deps.Session = harness.Session{ID: "q3", Dir: "/src"}
		deps.Grants, deps.Inbox = w.Store.Grants(), w.Store.Inbox()
		d, err := themes.Builtin("dark")
		if err != nil {
			t.Fatal(err)
		}
		deps.Theme = func(dark bool) *themes.Theme { return d.Theme(dark, o) }
		deps.Themes = nil
		drive := w.Start(deps, width, height)
		see := func(name string) { look(name, drive.Model().View()) }
		see("chat")
		drive.Type("Go on.").Press("enter").Wait(900 * time.Millisecond)
		see("streaming")
		drive.Wait(5 * time.Second)
		see("answer")
		drive.Press("ctrl+o", "ctrl+t")
		see("details")
		drive.Press("ctrl+o", "ctrl+t").Press("ctrl+x")
		see("leader")
		drive.Press("esc")
		for _, c := range []string{"/sessions", "/memory", "/facts", "/notes", "/inbox", "/runs", "/permissions", "/usage", "/context", "/tree", "/result", "/theme", "/help", "/tools", "/pins", "/todos"} {
			drive.Type(c).Press("enter").Wait(time.Second)
			see(c)
			drive.Press("f1")
			see(c + " help")
			drive.Press("esc").Press("esc").Press("esc").Wait(time.Second).Press("ctrl+u")
		}
		drive.Press("ctrl+r").Wait(time.Second)
		see("prompts")
	})
}

// TestASCIIDrawsNothingElse: what cairn draws itself is ASCII where that is asked
// for. What people and models wrote stays as it is.
func TestASCIIDrawsNothingElse(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {120, 40}} {
		tour(t, themes.Options{Profile: themes.TrueColor, ASCII: true}, size[0], size[1], func(name, view string) {
			for _, line := range strings.Split(view, "\n") {
				line = strings.NewReplacer("其他国家", "", "其他国", "", "其他", "", "其", "").Replace(line)
				for _, r := range line {
					if r > 0x7e {
						t.Errorf("%dx%d, %s: %q in %q", size[0], size[1], name, r, line)
						break
					}
				}
			}
		})
	}
}

// TestWithoutColoursNoneIsDrawn: weight, underline and reversal are left.
func TestWithoutColoursNoneIsDrawn(t *testing.T) {
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	tour(t, themes.Options{Profile: themes.NoColor}, 80, 24, func(name, view string) {
		for _, seq := range colour.FindAllString(view, -1) {
			for _, code := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(seq, "\x1b["), "m"), ";") {
				switch code {
				case "", "0", "1", "3", "4", "7", "9", "22", "23", "24", "27", "29":
				default:
					t.Fatalf("%s: %q has a colour", name, seq)
				}
			}
		}
	})
}
