package widget

import (
	"strings"
	"testing"
)

// BenchmarkLongText types into and draws long texts: of many lines, and of one
// line only.
func BenchmarkLongText(b *testing.B) {
	for name, text := range map[string]string{
		"lines":   strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20_000),
		"oneline": strings.Repeat("The quick brown fox jumps over the lazy dog. ", 2_000),
		"cjk":     strings.Repeat("会議の議事録と写真を整理する方法について。", 1_000),
	} {
		b.Run(name, func(b *testing.B) {
			f := Area(text).Resize(80, 24)
			for range 10 {
				f = press(f, "up")
			}
			for b.Loop() {
				f = press(f, "x", "backspace")
				f.Draw(80, 24)
			}
		})
	}
}
