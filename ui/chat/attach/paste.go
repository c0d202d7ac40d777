package attach

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pasteMax bounds a paste that is looked at as paths, in bytes.
const pasteMax = 16 << 10

// Paths returns what paths a paste may be nothing but, as terminals write files
// that are dropped on them: as they are, quoted or escaped for a shell, as file
// URLs; one on a line or several. The readings are in the order in which they
// are to be tried: one counts if all of it exists. None is returned for a text.
func Paths(paste string) [][]string {
	text := strings.TrimSpace(paste)
	if text == "" || len(text) > pasteMax || !utf8.ValidString(text) {
		return nil
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > filesMax {
		return nil
	}
	var readings [][]string
	add := func(paths []string) {
		if len(paths) == 0 || len(paths) > filesMax || !all(paths, isPath) {
			return
		}
		if !slices.ContainsFunc(readings, func(have []string) bool { return slices.Equal(have, paths) }) {
			readings = append(readings, paths)
		}
	}
	add(located(lines))
	var escaped, verbatim []string
	for _, line := range lines {
		escaped, verbatim = append(escaped, words(line, true)...), append(verbatim, words(line, false)...)
	}
	add(located(escaped))
	add(located(verbatim)) // where a backslash parts directories
	return readings
}

func all(paths []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return !ok(p) })
}

// isPath reports whether a word looks like a path rather than like a word: a
// paste of "docs" is none.
func isPath(p string) bool {
	if len(p) > pathMax || strings.IndexFunc(p, unicode.IsControl) >= 0 || strings.Contains(p, "://") {
		return false
	}
	return strings.ContainsAny(p, `/\`) || strings.LastIndexByte(p, '.') > 0
}

// located are paths with those that are file URLs made paths.
func located(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		u, err := url.Parse(w)
		if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			continue
		}
		out[i] = u.Path
		if drive := u.Path; len(drive) > 3 && drive[2] == ':' { // file:///C:/…
			out[i] = drive[1:]
		}
	}
	return out
}

// words parts a line as a shell does. It returns nil if a quote is left open.
func words(line string, escapes bool) []string {
	var out []string
	var word strings.Builder
	begun, quote := false, rune(0)
	rs := []rune(line)
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case quote != 0 && r == quote:
			quote = 0
		case escapes && r == '\\' && quote != '\'' && i+1 < len(rs):
			i++
			word.WriteRune(rs[i])
			begun = true
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}
