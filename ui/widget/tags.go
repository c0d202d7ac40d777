package widget

import "strings"

// Tags reads what was typed as tags: words apart by spaces or commas, with or
// without a hash, each once.
func Tags(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\u3000' }) {
		t = strings.TrimLeft(t, "#")
		if f := Fold(t); t != "" && !seen[f] {
			seen[f] = true
			out = append(out, t)
		}
	}
	return out
}

// Hashed are tags as they are shown and typed: #one #two.
func Hashed(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return "#" + strings.Join(tags, " #")
}
