package screen

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkStream paints a bottom-anchored transcript of 120x40 to which a
// word is added each frame; the bytes a frame are reported beside its time.
func BenchmarkStream(b *testing.B) {
	const width, height = 120, 40
	var lines []string
	last := ""
	view := func() string {
		room := height - 3
		all := append(lines[:len(lines):len(lines)], last)
		all = all[max(len(all)-room, 0):]
		out := make([]string, 0, height)
		for _, l := range all {
			out = append(out, "\x1b[38;5;63m▌\x1b[0m "+l)
		}
		for len(out) < room {
			out = append(out, "")
		}
		return strings.Join(append(out, "\x1b[38;5;63m"+strings.Repeat("─", width)+"\x1b[0m", "› ", "ready"), "\n")
	}
	p := newPainter("xterm-256color", width, height)
	written := 0
	b.ReportAllocs()
	for i := range b.N {
		if len(last) > 100 {
			lines, last = append(lines, last), ""
			if len(lines) > 2*height {
				lines = append([]string{}, lines[height:]...)
			}
		}
		last += fmt.Sprintf("word%d ", i%97)
		written += len(p.paint(view(), caret{2, height - 2, true}))
	}
	b.ReportMetric(float64(written)/float64(b.N), "B/frame")
}
