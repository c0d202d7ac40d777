package themes

import (
	"strings"

	"github.com/muesli/termenv"
)

// Profile is how many colours the terminal shows.
type Profile int

// The profiles, from most to least colours.
const (
	TrueColor Profile = iota
	ANSI256
	ANSI16
	// NoColor is what NO_COLOR asks for: weight, underline and reversal only.
	NoColor
	// noStyle is the plain theme: not one escape sequence.
	noStyle
)

// DetectProfile decides the profile from the environment alone; getenv is
// os.Getenv or a test's map, and tty tells whether the output is a terminal.
// NO_COLOR beats everything but an explicit CLICOLOR_FORCE.
func DetectProfile(getenv func(string) string, tty bool) Profile {
	force := getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0"
	term := strings.ToLower(getenv("TERM"))
	if !force && (getenv("NO_COLOR") != "" || !tty || colourless(term)) {
		return NoColor
	}
	switch strings.ToLower(getenv("COLORTERM")) {
	case "truecolor", "24bit":
		return TrueColor
	}
	switch {
	case strings.HasSuffix(term, "-direct"), strings.Contains(term, "kitty"),
		strings.Contains(term, "ghostty"), strings.Contains(term, "alacritty"), strings.Contains(term, "wezterm"):
		return TrueColor
	case strings.Contains(term, "256color"):
		return ANSI256
	default:
		return ANSI16
	}
}

// colourless reports whether a terminal of this kind shows no colours: the
// terminals of old, and those whose kind says so.
func colourless(term string) bool {
	for _, old := range []string{"vt52", "vt100", "vt102", "vt220", "vt320", "vt420", "vt510"} {
		if term == old || strings.HasPrefix(term, old+"-") {
			return true
		}
	}
	return term == "dumb" || strings.HasSuffix(term, "-m") || strings.HasSuffix(term, "-mono")
}

// termenv is the profile as the renderer libraries name it. They drop weight
// and underline together with colour at their lowest level, so NoColor is
// given to them as 16 colours of which no style uses one.
func (p Profile) termenv() termenv.Profile {
	switch p {
	case TrueColor:
		return termenv.TrueColor
	case ANSI256:
		return termenv.ANSI256
	case noStyle:
		return termenv.Ascii
	default:
		return termenv.ANSI
	}
}

// colour converts a palette colour to what the profile can show; empty means
// the terminal's own colour.
func (p Profile) colour(c string) string {
	if c == "" || p == NoColor || p == noStyle {
		return ""
	}
	switch v := p.termenv().Color(c).(type) {
	case termenv.RGBColor:
		return string(v)
	case termenv.ANSI256Color:
		return itoa(int(v))
	case termenv.ANSIColor:
		return itoa(int(v))
	default:
		return ""
	}
}
