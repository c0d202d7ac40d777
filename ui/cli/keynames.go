package cli

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sequenceKey begins the sequences of two keys, such as "ctrl+x l".
const sequenceKey = "ctrl+x "

// keyNames are the keys that have names, as the screens spell them. Any of
// them may have alt+ in front, and so may a single character.
func keyNames() []string {
	all := []string{
		"enter", "tab", "shift+tab", "esc", "backspace", "delete", "insert", "pgup", "pgdown", "ctrl+pgup", "ctrl+pgdown",
		"shift+enter", "ctrl+@", "ctrl+\\", "ctrl+]", "ctrl+^", "ctrl+_",
	}
	for _, k := range []string{"up", "down", "left", "right", "home", "end"} {
		all = append(all, k, "shift+"+k, "ctrl+"+k, "ctrl+shift+"+k)
	}
	for n := 1; n <= 20; n++ {
		all = append(all, "f"+strconv.Itoa(n))
	}
	for r := 'a'; r <= 'z'; r++ {
		// Terminals send ctrl+i as tab and ctrl+m as enter.
		if r != 'i' && r != 'm' {
			all = append(all, "ctrl+"+string(r))
		}
	}
	return all
}

// wrongKey says what is wrong with the spelling of a key, empty if some
// terminal sends it.
func wrongKey(name string) string {
	key, _ := strings.CutPrefix(name, sequenceKey)
	bare := strings.TrimPrefix(key, "alt+")
	if r, n := utf8.DecodeRuneInString(bare); n > 0 && n == len(bare) && unicode.IsPrint(r) {
		return ""
	}
	names := keyNames()
	for _, known := range names {
		if bare == known {
			return ""
		}
	}
	switch bare {
	case "":
		return "a key is missing"
	case "space":
		return `the space bar is spelt " "`
	case "ctrl+i":
		return "terminals send ctrl+i as tab"
	case "ctrl+m":
		return "terminals send ctrl+m as enter"
	}
	text := "no terminal sends the key " + strconv.Quote(name)
	if best, ok := nearest(bare, names); ok {
		return text + "; did you mean " + best + "?"
	}
	return text + `; keys are spelt such as "ctrl+s", "alt+enter", "f2" or "ctrl+x l"`
}
