package render

import (
	"strings"
	"testing"

	"cairn/themes"
)

func BenchmarkPara8K(b *testing.B) {
	text := strings.Repeat("word *emphasis* and `code` in one line ", 6<<10/39)
	m := testMarkdown(b, "dark", themes.Options{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Forget()
		m.Message(text, 100)
	}
}
func BenchmarkTable8K(b *testing.B) {
	text := "| a | b |\n|---|---|\n" + strings.Repeat("| cell | another `cell` |\n", 6<<10/26)
	m := testMarkdown(b, "dark", themes.Options{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Forget()
		m.Message(text, 100)
	}
}
