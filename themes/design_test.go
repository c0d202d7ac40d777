package themes

import (
	"strings"
	"testing"
)

func TestAThemeInheritsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	d, err := ParseDesign("mine", []byte("base = \"light\"\ndark = false\n[colors]\naccent = \"#aa0000\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	light, err := Load("light", false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := d.Theme(false, Options{})
	if got.Name != "mine" || got.Dark || got.Paints.Error != light.Paints.Error || got.Paints.Accent == light.Paints.Accent {
		t.Errorf("got %q, dark %v, %q and %q", got.Name, got.Dark, got.Paints.Error, got.Paints.Accent)
	}
	if len(d.Faint()) != 0 {
		t.Errorf("hard to read: %v", d.Faint())
	}
	d, err = ParseDesign("mine", []byte("base = \"high-contrast\"\ndark = false\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Theme(true, Options{}).Dark {
		t.Error("the base is not that of the background")
	}
}

// What is hard to read is told with its role, the line and how far it is off.
func TestFaintColoursAreTold(t *testing.T) {
	t.Parallel()
	d, err := ParseDesign("mine", []byte("base = \"dark\"\n\n[colors]\nmuted = \"#444444\" # grey\nborder = \"#444444\"\nbadge_text = \"240\"\nuser = \"4\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	faint := d.Faint()
	if len(faint) != 2 || faint[0].Key != "colors.muted" || faint[1].Key != "colors.badge_text" {
		t.Fatalf("got %v", faint)
	}
	if want := "line 4: colors.muted is hard to read: #444444 on #1e1e24 has a contrast of 1.7, and 4.5 is the least"; faint[0].String() != want {
		t.Errorf("got %q, want %q", faint[0], want)
	}
	// A new background makes the inherited colours hard to read, on no line.
	d, err = ParseDesign("mine", []byte("base = \"dark\"\nbackground = \"#ffffff\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if faint = d.Faint(); len(faint) == 0 || faint[0].Line != 0 || strings.HasPrefix(faint[0].String(), "line") {
		t.Errorf("got %v", faint)
	}
}

// A starter is its base until a line is taken out of its comments.
func TestAStarterIsAThemeAndSoIsEachLineOfIt(t *testing.T) {
	t.Parallel()
	for _, base := range bases() {
		data, err := Starter("mine", base, base != "light")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(data), strings.ReplaceAll(strings.ReplaceAll(string(data), "# background", "background"), "\n# ", "\n#")} {
			if text != string(data) { // every colour, written out
				var b strings.Builder
				table := false
				for line := range strings.Lines(text) {
					if table = table || strings.HasPrefix(line, "["); table {
						line = strings.TrimPrefix(line, "#")
					}
					b.WriteString(line)
				}
				text = b.String()
			}
			d, err := ParseDesign("mine", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v in\n%s", base, err, text)
			}
			p, err := baseOf(base, base != "light")
			if err != nil {
				t.Fatal(err)
			}
			if d.dark.Colors != p.Colors || d.dark.Syntax != p.Syntax {
				t.Errorf("%s: the starter is another theme", base)
			}
		}
	}
	if _, err := Starter("mine", "auto", true); err == nil || !strings.Contains(err.Error(), "there is no theme") {
		t.Errorf("got %v", err)
	}
}
