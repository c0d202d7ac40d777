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
		c = xterm[n]
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
