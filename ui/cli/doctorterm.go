package cli

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/themes"
	"cairn/ui/screen"
)

const (
	// askLimit bounds how long a terminal is waited for.
	askLimit = time.Second
	// The least size that everything of cairn works at.
	leastWidth, leastHeight = 40, 10
)

// askTerminal asks for the background, the keys in the manner of kitty, three modes
// and the name, and last for what every terminal answers.
const askTerminal = "\x1b]11;?\x1b\\" + "\x1b[?u" + "\x1b[?2026$p" + "\x1b[?2027$p" + "\x1b[?2031$p" + "\x1b[>q" + "\x1b[c"

// resetModes undoes what a program that was killed may have left in force: a frame
// that was begun, reports of the mouse, the focus, pastes and the background, how
// characters are measured, the scrolled rows, keys in a manner of their own (which
// each of the two screens keeps for itself), and the other screen. The cursor is
// saved before what moves it, so that on the ordinary screen it stays.
const resetModes = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2027l" +
	"\x1b[?1l\x1b>\x1b7\x1b[r\x1b8\x1b[<9u\x1b[>4m\x1b7\x1b[?1049l\x1b[<9u\x1b[?7h\x1b[?25h\x1b[0m\x1b(B\x0f\r"

// answers is what a terminal said of itself.
type answers struct {
	any                                bool
	name                               string
	background                         string // "dark" or "light", empty if it was not told
	kitty, sync, graphemes, scheme, cb bool
}

// The forms of answers.
const (
	answerKitty      = "\x1b\\[\\?(\\d+)u"
	answerMode       = "\x1b\\[\\?(2026|2027|2031);([0-4])\\$y"
	answerName       = "\x1bP>\\|([^\x1b\x07]*)(?:\x1b\\\\|\x07)"
	answerBackground = "\x1b\\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})"
	answerKind       = "\x1b\\[\\?([0-9;]*)c"
)

// readAnswers takes the answers out of what a terminal sent, whatever else is in it.
func readAnswers(b []byte) answers {
	find := func(form string) []string {
		return regexp.MustCompile(form).FindStringSubmatch(string(b))
	}
	var a answers
	if m := find(answerKind); m != nil {
		a.any = true
		a.cb = slices.Contains(strings.Split(m[1], ";"), "52")
	}
	a.kitty = find(answerKitty) != nil
	if m := find(answerName); m != nil {
		a.name = m[1]
	}
	for _, m := range regexp.MustCompile(answerMode).FindAllStringSubmatch(string(b), -1) {
		has := m[2] != "0" && m[2] != "4"
		switch m[1] {
		case "2026":
			a.sync = has
		case "2027":
			a.graphemes = has
		case "2031":
			a.scheme = has
		}
	}
	if m := find(answerBackground); m != nil {
		a.background = brightness(m[1:])
	}
	a.any = a.any || a.kitty || a.name != "" || a.background != ""
	return a
}

// brightness says whether a colour of three hexadecimal parts is dark or light.
func brightness(rgb []string) string {
	sum := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} {
		n, err := strconv.ParseUint(rgb[i], 16, 32)
		if err != nil {
			return ""
		}
		sum += weight * float64(n) / float64(uint64(1)<<(4*len(rgb[i]))-1)
	}
	if sum < 0.5 {
		return "dark"
	}
	return "light"
}

// examineTerminal tells what the terminal is, and asks it what it can do.
func (a *app) examineTerminal(ctx context.Context) []finding {
	get := a.s.Getenv
	if !a.s.OutTTY {
		return []finding{noted("terminal", "standard output is no terminal", "")}
	}
	name := get("TERM")
	if name == "" {
		name = "(TERM is not set)"
	}
	parts := []string{name}
	for _, v := range []string{"COLORTERM", "TERM_PROGRAM", "TMUX", "STY", "SSH_TTY"} {
		if get(v) != "" {
			parts = append(parts, v+"="+get(v))
		}
	}
	list := []finding{good("terminal", strings.Join(parts, ", "))}
	if get("TERM") == "dumb" {
		list[0] = noted("terminal", list[0].Text+"; the plain chat is used", "set TERM to what the terminal is, such as xterm-256color")
		return list
	}
	list = append(list, a.examineColours())
	if a.s.Ask != nil {
		list = append(list, a.examineSize()...)
	}
	if a.s.Ask != nil && get("TERM") != "" && get("TERM") != "linux" {
		b, err := a.s.Ask(screen.AskImages(screen.ImagesAuto, get("TERM"), get)+askTerminal, askLimit)
		if err != nil {
			list = append(list, noted("asked terminal", "it cannot be asked: "+cause(err).Error(), ""))
		} else {
			list = append(append(list, answerFindings(readAnswers(b))...), a.images(b))
		}
	}
	list = append(list, a.clipboard())
	if get("TMUX") != "" {
		list = append(list, examineTmux(ctx, tmuxOption)...)
	}
	return list
}

// examineSize tells how large the terminal is.
func (a *app) examineSize() []finding {
	w, h := a.s.Width, a.s.Height
	switch {
	case w <= 0 || h <= 0:
		return []finding{noted("size", "the terminal does not know its size; 80 by 24 is assumed", "run: stty cols 80 rows 24, with the real numbers")}
	case w < leastWidth || h < leastHeight:
		return []finding{noted("size", fmt.Sprintf("%d columns, %d rows: not everything fits", w, h), fmt.Sprintf("make it at least %d by %d", leastWidth, leastHeight))}
	}
	return []finding{good("size", fmt.Sprintf("%d columns, %d rows", w, h))}
}

// examineColours tells how many colours are used, and why.
func (a *app) examineColours() finding {
	const about = "colours"
	switch p := a.profile(); {
	case p == themes.TrueColor:
		return good(about, "16 million")
	case p == themes.ANSI256:
		return noted(about, "256", "if the terminal shows more: export COLORTERM=truecolor")
	case p == themes.ANSI16:
		return noted(about, "16", "if the terminal shows more: export COLORTERM=truecolor, or set TERM to what it is")
	case a.flags.noColor || a.s.Getenv("NO_COLOR") != "":
		return good(about, "none, by NO_COLOR or --no-color")
	}
	return good(about, "none: a terminal of this kind has none")
}

// answerFindings tells what a terminal said of itself.
func answerFindings(a answers) []finding {
	const about = "asked terminal"
	if !a.any {
		return []finding{noted(about, fmt.Sprintf("it answered nothing within %s, so nothing is taken for granted", askLimit), "")}
	}
	name := a.name
	if name == "" {
		name = "it does not tell its name"
	}
	list := []finding{good(about, name)}
	if a.kitty {
		list = append(list, good("keys", "unambiguous: shift+enter makes a new line"))
	} else {
		list = append(list, noted("keys", "shift+enter cannot be told from enter here", "alt+enter, ctrl+j or a backslash before enter make a new line"))
	}
	yes := map[bool]string{true: "yes", false: "no"}
	list = append(list, good("frames", "shown whole (mode 2026): "+yes[a.sync]+"; characters measured as seen (mode 2027): "+yes[a.graphemes]))
	switch {
	case a.background == "":
		list = append(list, noted("background", "it does not tell; dark is assumed", "set the theme: theme = \"light\" in the configuration"))
	case a.scheme:
		list = append(list, good("background", a.background+"; it tells when that changes"))
	default:
		list = append(list, good("background", a.background))
	}
	return list
}

// clipboard tells how copied text gets to the clipboard.
func (a *app) clipboard() finding {
	const about = "clipboard"
	get := a.s.Getenv
	switch {
	case get("TERM") == "linux":
		return noted(about, "the Linux console has none", "open a result and write it to a file instead: /export")
	case get("TMUX") != "":
		return good(about, "copied text is sent to tmux, which passes it on if set-clipboard is on (OSC 52)")
	case get("STY") != "":
		return noted(about, "GNU screen does not pass copied text on", "use tmux, or select with the mouse and shift held")
	case get("SSH_TTY") != "":
		return good(about, "copied text is sent over ssh to your own terminal (OSC 52), if that takes it")
	}
	return good(about, "copied text is sent to the terminal (OSC 52), if that takes it")
}

// examineSurroundings looks at what is neither terminal nor cairn's own.
func (a *app) examineSurroundings() []finding {
	get := a.s.Getenv
	_, value, wide := locale(get)
	var list []finding
	if wide || runtime.GOOS == "windows" {
		list = append(list, good("locale", value))
	} else {
		list = append(list, noted("locale", fmt.Sprintf("%q does not say UTF-8; characters beyond ASCII may look wrong", value), "export LANG=C.UTF-8, or another that ends in UTF-8"))
	}
	list = append(list, examineEditor(get))
	now := a.s.Now()
	return append(list, good("clock", now.Format("2006-01-02 15:04:05 MST")))
}

// examineEditor looks for the person's editor.
func examineEditor(get func(string) string) finding {
	const about = "editor"
	name, from := "vi", "neither VISUAL nor EDITOR is set"
	if runtime.GOOS == "windows" {
		name = "notepad"
	}
	for _, v := range []string{"EDITOR", "VISUAL"} {
		if words := strings.Fields(get(v)); len(words) > 0 {
			name, from = words[0], "from "+v
		}
	}
	if _, err := exec.LookPath(name); err != nil {
		return noted(about, fmt.Sprintf("%s (%s) is not found", name, from), "set VISUAL or EDITOR to an editor that is there")
	}
	return good(about, name+" ("+from+")")
}

// resetTerminal undoes what a program that crashed may have left.
func (a *app) resetTerminal(ctx context.Context) error {
	if !a.s.OutTTY || a.s.Getenv("TERM") == "dumb" {
		return usage("standard output is no terminal that could be reset")
	}
	a.out.text(resetImages(a.s.Getenv) + resetModes)
	if a.s.InTTY && a.s.Sane != nil {
		if err := a.s.Sane(ctx); err != nil {
			return fmt.Errorf("reset the terminal: %w; try: stty sane", err)
		}
	}
	return nil
}
