package themes

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// files are the palettes and the contrast that text in them must have.
var files = map[string]float64{
	"dark": 4.5, "light": 4.5, "high-contrast-dark": 7, "high-contrast-light": 7, "ansi-dark": 4.5, "ansi-light": 4.5,
	"granite-dark": 4.5, "granite-light": 4.5, "lichen-dark": 4.5, "lichen-light": 4.5, "heather-dark": 4.5, "heather-light": 4.5,
	"tarn-dark": 4.5, "tarn-light": 4.5, "ember-dark": 4.5, "ember-light": 4.5,
}

func TestTextHasContrastOnTheAssumedBackground(t *testing.T) {
	t.Parallel()
	for file, least := range files {
		p, err := embedded(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.pairs(least) {
			// The eighth of the sixteen colours is grey on nearly every
			// terminal, and lighter than xterm's where it is set by hand.
			if strings.HasPrefix(file, "ansi") && c.color == "8" {
				continue
			}
			if got := contrast(c.color, c.back); got < c.least {
				t.Errorf("%s: %s %s on %s has contrast %.2f, want %.1f", file, c.key, c.color, c.back, got, c.least)
			}
		}
	}
}

// blind are the amounts of light that people without one kind of cone see, after
// Machado, Oliveira and Fernandes.
var blind = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// lab is a colour in the space in which distances are as large as they look.
func lab(c string, see [3][3]float64) [3]float64 {
	r, g, b := linear(c)
	var rgb [3]float64
	for i, m := range see {
		rgb[i] = min(max(m[0]*r+m[1]*g+m[2]*b, 0), 1)
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.95047)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestChangesDifferForTheColourBlind: their sign tells them apart too, but a page
// of them is read by colour.
func TestChangesDifferForTheColourBlind(t *testing.T) {
	t.Parallel()
	for file := range files {
		p, err := embedded(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, two := range [][2]string{{p.Syntax.Inserted, p.Syntax.Deleted}, {p.Colors.Success, p.Colors.Error}} {
			for kind, see := range blind {
				a, b := lab(two[0], see), lab(two[1], see)
				d := math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
				if d < 20 {
					t.Errorf("%s: %s and %s differ by %.1f for people with %s", file, two[0], two[1], d, kind)
				}
			}
		}
	}
}

// Every palette is judged, and every theme has its own.
func TestEveryPaletteIsJudgedAndItsOwn(t *testing.T) {
	t.Parallel()
	list, err := palettes.ReadDir("palettes")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(files) {
		t.Errorf("%d palettes, of which %d are judged", len(list), len(files))
	}
	seen := map[colours]string{}
	for _, f := range list {
		name := strings.TrimSuffix(f.Name(), ".toml")
		p, err := embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[p.Colors]; taken {
			t.Errorf("%s has the colours of %s", name, other)
		}
		seen[p.Colors] = name
		if _, judged := files[name]; !judged {
			t.Errorf("%s is not judged", name)
		}
		if dark := luminance(p.Background) < 0.2; dark != p.Dark {
			t.Errorf("%s says that it is dark: %v", name, p.Dark)
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
		{"missing key", `accent = "#7fc8f8"`, "", `key "colors.accent" is missing; set it, or have a theme that has it as the base`},
		{"unknown base", `name = "dark"`, `base = "drak"`, `line 1: key "base": there is no theme "drak" to build on; the nearest is "dark"`},
		{"number for a colour", `accent = "#7fc8f8"`, `accent = 7`, `line 8, column 10: key "colors.accent" must be a text in quotes`},
		{"no colour", `accent = "#7fc8f8"`, `accent = "blue"`, `line 8: key "colors.accent": "blue" is no colour`},
		{"short colour", `accent = "#7fc8f8"`, `accent = "#fff"`, `"#fff" is no colour`},
		{"colour with zeros", `accent = "#7fc8f8"`, `accent = "007"`, `"007" is no colour`},
		{"colour out of range", `accent = "#7fc8f8"`, `accent = "256"`, `"256" is no colour`},
		{"wrong type", "dark = true", `dark = "yes"`, `line 2, column 8: key "dark" must be true or false`},
		{"no TOML", "[colors]", "[colors", "line 5, column"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("%q is not in the file", c.from)
			}
			_, err := parse([]byte(bad), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
	th, err := parse(good, Options{})
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
	for _, name := range []string{"granite", "lichen", "heather", "tarn", "ember", "high-contrast", "ansi"} {
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
		{"TERM=vt100", true, NoColor},
		{"TERM=vt220-w", true, NoColor},
		{"TERM=xterm-mono", true, NoColor},
		{"TERM=vt100 CLICOLOR_FORCE=1", true, ANSI16},
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
			if _, err := parse(data, Options{}); err != nil {
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
		th, err := parse(data, Options{})
		if (th == nil) == (err == nil) {
			t.Fatalf("theme %v and error %v", th, err)
		}
	})
}

// parse makes the theme of a user's file.
func parse(data []byte, o Options) (*Theme, error) {
	d, err := ParseDesign("", data)
	if err != nil {
		return nil, err
	}
	return d.Theme(true, o), nil
}
