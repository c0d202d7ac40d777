package themes

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, c string) float64 {
	t.Helper()
	if !strings.HasPrefix(c, "#") { // the terminal's own sixteen: xterm's values
		var n int
		if _, err := fmt.Sscan(c, &n); err != nil {
			t.Fatalf("colour %q: %v", c, err)
		}
		if c = termenv.ANSI256Color(n).String(); n < len(xterm) {
			c = xterm[n]
		}
	}
	rgb := termenv.ConvertToRGB(termenv.RGBColor(c))
	lin := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(rgb.R) + 0.7152*lin(rgb.G) + 0.0722*lin(rgb.B)
}

var xterm = [16]string{
	"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
	"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// files are the palettes and the contrast that text in them must have.
var files = map[string]float64{
	"dark": 4.5, "light": 4.5, "high-contrast-dark": 7, "high-contrast-light": 7, "ansi-dark": 4.5, "ansi-light": 4.5,
}

func TestTextHasContrastOnTheAssumedBackground(t *testing.T) {
	t.Parallel()
	for file, least := range files {
		p, err := embedded(file)
		if err != nil {
			t.Fatal(err)
		}
		for key, c := range p.all() {
			back, need := p.Background, least
			switch key {
			case "background", "colors.selected_back", "colors.badge_back":
				continue
			case "colors.selected_text":
				back = p.Colors.SelectedBack
			case "colors.badge_text":
				back = p.Colors.BadgeBack
			case "colors.border": // not text: visible is enough
				need = 1.5
			}
			// The eighth of the sixteen colours is grey on nearly every
			// terminal, and lighter than xterm's where it is set by hand.
			if c == "" || strings.HasPrefix(file, "ansi") && c == "8" {
				continue
			}
			if got := contrast(t, c, back); got < need {
				t.Errorf("%s: %s %s on %s has contrast %.2f, want %.1f", file, key, c, back, got, need)
			}
		}
	}
}

func TestLoadUnknownNamesTheNearest(t *testing.T) {
	t.Parallel()
	_, err := Load("drak", true, Options{})
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `"dark"`) {
		t.Fatalf("got %v", err)
	}
}

func TestParseNamesLineAndNearestKey(t *testing.T) {
	t.Parallel()
	good, err := palettes.ReadFile("palettes/dark.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"misspelt key", "muted =", "mutted =", `line 7: unknown key "colors.mutted"; the nearest is "colors.muted"`},
		{"missing key", `accent = "#7fc8f8"`, "", `key "colors.accent" is missing`},
		{"no colour", `accent = "#7fc8f8"`, `accent = "blue"`, `line 8: key "colors.accent": "blue" is no colour`},
		{"short colour", `accent = "#7fc8f8"`, `accent = "#fff"`, `"#fff" is no colour`},
		{"colour out of range", `accent = "#7fc8f8"`, `accent = "256"`, `"256" is no colour`},
		{"wrong type", "dark = true", `dark = "yes"`, "line 2, column"},
		{"no TOML", "[colors]", "[colors", "line 5, column"},
		{"no name", `name = "dark"`, `name = ""`, `"name" is missing or empty`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("%q is not in the file", c.from)
			}
			_, err := Parse([]byte(bad), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
	th, err := Parse(good, Options{})
	if err != nil || th.Name != "dark" || !th.Dark {
		t.Fatalf("got %+v, %v", th, err)
	}
}

func TestLoadFollowsTheBackground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		dark bool
		want string
	}{
		{"", true, "dark"},
		{"", false, "light"},
		{Auto, false, "light"},
		{"dark", false, "dark"},
		{"light", true, "light"},
		{"high-contrast", true, "high-contrast"},
		{"high-contrast", false, "high-contrast"},
		{"ansi", false, "ansi"},
		{Plain, true, "plain"},
	} {
		th, err := Load(c.name, c.dark, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if th.Name != c.want {
			t.Errorf("Load(%q, %t) is %q, want %q", c.name, c.dark, th.Name, c.want)
		}
	}
	for _, name := range []string{"high-contrast", "ansi"} {
		d, err := Load(name, true, Options{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := Load(name, false, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Paints.Error == l.Paints.Error || d.Dark == l.Dark {
			t.Errorf("%s is the same on both backgrounds", name)
		}
	}
}

// TestMeaningIsNeverColourAlone compares, without colours, the roles that must
// differ from ordinary text.
func TestMeaningIsNeverColourAlone(t *testing.T) {
	t.Parallel()
	th, err := Load("dark", true, Options{Profile: NoColor})
	if err != nil {
		t.Fatal(err)
	}
	p := th.Paints
	for name, paint := range map[string]Paint{
		"error": p.Error, "warning": p.Warning, "selected": p.Selected, "badge": p.Badge, "match": p.Match, "heading": p.Heading,
		"link": p.Link, "key": p.Key, "user": p.User, "disabled": p.Disabled,
	} {
		if paint == p.Text {
			t.Errorf("%s looks like text without colours", name)
		}
		if got := th.Styles.Error.Render("x"); !strings.Contains(got, "\x1b[1m") {
			t.Errorf("an error is not bold without colours: %q", got)
		}
	}
	if p.Selected == p.Text || !strings.Contains(string(p.Selected), "7") {
		t.Errorf("the selection is not reversed without colours: %q", p.Selected)
	}
}

func TestOnlySelectionAndBadgesHaveABackground(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		th, err := Load(name, true, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for role, s := range map[string]Paint{
			"text": th.Paints.Text, "muted": th.Paints.Muted, "code": th.Paints.Code, "error": th.Paints.Error, "match": th.Paints.Match,
		} {
			if strings.Contains(string(s), "48;") {
				t.Errorf("%s: %s paints a background: %q", name, role, s)
			}
		}
		if back := th.Markdown.Document.BackgroundColor; back != nil {
			t.Errorf("%s: documents have the background %s", name, *back)
		}
	}
}

func TestPlainHasNoSequences(t *testing.T) {
	t.Parallel()
	th, err := Load(Plain, true, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := th.Styles.Error.Render("x") + th.Paints.Selected.On("y") + th.Styles.Selected.Render("z"); got != "xyz" {
		t.Fatalf("got %q", got)
	}
	if th.Ornaments != ornaments(true) {
		t.Error("plain has ornaments that are no ASCII")
	}
}

func TestASCIIOrnamentsAreASCII(t *testing.T) {
	t.Parallel()
	for s := range strings.FieldsSeq(fmt.Sprint(ornaments(true))) {
		for _, r := range s {
			if r > 0x7e {
				t.Errorf("%q is no ASCII", s)
			}
		}
	}
}

func TestDetectProfile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		tty  bool
		want Profile
	}{
		{"TERM=xterm-256color COLORTERM=truecolor", true, TrueColor},
		{"TERM=xterm-256color", true, ANSI256},
		{"TERM=xterm-kitty", true, TrueColor},
		{"TERM=xterm", true, ANSI16},
		{"TERM=dumb", true, NoColor},
		{"TERM=xterm-256color", false, NoColor},
		{"TERM=xterm-256color NO_COLOR=1", true, NoColor},
		{"TERM=xterm-256color NO_COLOR=1 CLICOLOR_FORCE=1", true, ANSI256},
		{"TERM=xterm-256color CLICOLOR_FORCE=0", false, NoColor},
		{"", true, ANSI16},
	} {
		env := map[string]string{}
		for kv := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := DetectProfile(func(k string) string { return env[k] }, c.tty); got != c.want {
			t.Errorf("%q, terminal %t: profile %d, want %d", c.env, c.tty, got, c.want)
		}
	}
}

// TestFewColoursGetNoTrueColour looks at the sequences that a
// terminal of few colours gets.
func TestFewColoursGetNoTrueColour(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		th, err := Load(name, true, Options{Profile: ANSI16})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{th.Styles.Error.Render("x"), th.Paints.Link.On("x"), th.Paints.Selected.On("x")} {
			if strings.Contains(s, "8;2;") || strings.Contains(s, "8;5;") {
				t.Errorf("%s: %q", name, s)
			}
		}
	}
}

func TestSourceOfEveryThemeParses(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for _, dark := range []bool{true, false} {
			data, err := Source(name, dark)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(data, Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Source("no", true); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// FuzzParse checks that whatever is in a user's file is a theme or an error.
func FuzzParse(f *testing.F) {
	good, err := Source("dark", true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("name = 1\n[colors]\n[colors.text]\nx = 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		th, err := Parse(data, Options{})
		if (th == nil) == (err == nil) {
			t.Fatalf("theme %v and error %v", th, err)
		}
	})
}
