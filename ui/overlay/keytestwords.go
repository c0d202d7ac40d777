package overlay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// bind is the line that gives a key to an action.
func bind(action, key string) string {
	if action == "" {
		action = "ACTION"
	}
	return strconv.Quote(action) + " = [" + strconv.Quote(key) + "]"
}

// named is how cairn calls a key, and how the terminal does if that differs.
func named(s struck) string {
	name := s.key
	switch name {
	case "":
		name = "(unknown)"
	case " ":
		name = "space"
	}
	if said := spelt(s.bytes); said != "" && said != s.key && s.key != "" {
		name += ", sent as " + said
	}
	return name
}

// sent are the bytes of a key, as they are written and as numbers.
func sent(bytes string) string {
	if bytes == "" {
		return "(not told)"
	}
	return visible(bytes) + "  " + fmt.Sprintf("% x", bytes)
}

// visible writes bytes with names for those that cannot be seen.
func visible(bytes string) string {
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, text)
		}
		text = ""
	}
	for _, r := range bytes {
		var name string
		switch {
		case r == 0x1b:
			name = "ESC"
		case r == ' ':
			name = "SPACE"
		case r == 0x7f:
			name = "DEL"
		case r < ' ':
			name = "^" + string(r+'@')
		case !unicode.IsPrint(r):
			name = fmt.Sprintf("U+%04X", r)
		default:
			text += string(r)
			continue
		}
		flush()
		out = append(out, name)
	}
	flush()
	return strings.Join(out, " ")
}

// spelt is a key as the terminal itself names it, for those that it sends with
// their number and modifiers; empty for all others.
func spelt(bytes string) string {
	body, ok := strings.CutPrefix(bytes, "\x1b[")
	if !ok {
		return ""
	}
	var code, mods string
	if rest, kitty := strings.CutSuffix(body, "u"); kitty {
		code, mods, _ = strings.Cut(rest, ";")
	} else if rest, xterm := strings.CutPrefix(body, "27;"); xterm {
		mods, code, _ = strings.Cut(strings.TrimSuffix(rest, "~"), ";")
	}
	code, _, _ = strings.Cut(code, ":")
	mods, _, _ = strings.Cut(mods, ":")
	n, err := strconv.Atoi(code)
	if err != nil || n <= 0 || n > unicode.MaxRune {
		return ""
	}
	bits, err := strconv.Atoi(mods)
	if err != nil {
		bits = 1
	}
	name := map[int]string{13: "enter", 9: "tab", 27: "esc", 127: "backspace", 32: "space"}[n]
	if name == "" {
		name = string(rune(n))
	}
	held := ""
	for i, mod := range []string{"shift+", "alt+", "ctrl+", "super+", "hyper+", "meta+"} {
		if (bits-1)>>i&1 == 1 {
			held += mod
		}
	}
	return held + name
}
