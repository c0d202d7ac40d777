package themes

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/muesli/termenv"
)

// Faint is a colour that is hard to read on what it is drawn on.
type Faint struct {
	// Key is the key of the colour, such as "colors.muted", on Line of its file; 0
	// means that it is inherited.
	Key  string
	Line int
	// Color is drawn on Back with a contrast of Ratio, and Least is what it takes.
	Color, Back  string
	Ratio, Least float64
}

// String is a sentence without its full stop.
func (f Faint) String() string {
	return fmt.Sprintf("%s%s is hard to read: %s on %s has a contrast of %.1f, and %.1f is the least", onLine(f.Line), f.Key, f.Color, f.Back, f.Ratio, f.Least)
}

// leastContrast is what WCAG 2 asks of text, and visibleContrast what a line takes
// to be seen.
const leastContrast, visibleContrast = 4.5, 1.5

// pair is a colour and what it is drawn on.
type pair struct {
	key, color, back string
	least            float64
}

// pairs are all colours of a palette in the order of its keys, with what they
// are drawn on and the contrast they need where text needs least.
func (p *palette) pairs(least float64) []pair {
	all := p.all()
	var out []pair
	for _, key := range keys() {
		c, ok := all[key]
		back, need := p.Background, least
		switch key {
		case "background", "colors.selected_back", "colors.badge_back":
			continue
		case "colors.selected_text":
			back = p.Colors.SelectedBack
		case "colors.badge_text":
			back = p.Colors.BadgeBack
		case "colors.border": // no text: that it is seen is enough
			need = visibleContrast
		}
		if ok && c != "" && back != "" {
			out = append(out, pair{key, c, back, need})
		}
	}
	return out
}

// faint are the colours that are hard to read. The terminal's own sixteen are
// what its owner made them: of them nothing is known.
func (p *palette) faint(data []byte) []Faint {
	var out []Faint
	for _, c := range p.pairs(leastContrast) {
		if owned(c.color) || owned(c.back) {
			continue
		}
		if ratio := contrast(c.color, c.back); ratio < c.least {
			out = append(out, Faint{Key: c.key, Line: lineOf(data, c.key), Color: c.color, Back: c.back, Ratio: ratio, Least: c.least})
		}
	}
	return out
}

// owned reports whether a colour is one of the terminal's sixteen.
func owned(c string) bool {
	n, err := strconv.Atoi(c)
	return err == nil && n < 16
}

// contrast is that of WCAG 2, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG 2.
func luminance(c string) float64 {
	r, g, b := linear(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// linear is a colour as amounts of light, from 0 to 1. The terminal's sixteen are
// taken as xterm has them.
func linear(c string) (r, g, b float64) {
	if n, err := strconv.Atoi(c); err == nil {
		if c = termenv.ANSI256Color(n).String(); n < 16 {
			c = strings.Fields(xterm)[n]
		}
	}
	rgb := termenv.ConvertToRGB(termenv.RGBColor(c))
	lin := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return lin(rgb.R), lin(rgb.G), lin(rgb.B)
}

const xterm = `#000000 #cd0000 #00cd00 #cdcd00 #0000ee #cd00cd #00cdcd #e5e5e5
	#7f7f7f #ff0000 #00ff00 #ffff00 #5c5cff #ff00ff #00ffff #ffffff`
