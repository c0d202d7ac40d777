package render

import (
	"strings"
	"testing"
	"time"

	"cairn/themes"
)

// answer makes a Markdown text of at least n bytes, half of it CJK and emoji.
func answer(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		switch i % 6 {
		case 0:
			b.WriteString("## Section about **things** and `code`\n\n")
		case 1:
			b.WriteString("The importer reads *each* row and keeps what [the docs](https://example.com/x) say, then it goes on with `row.go` and Map<string> until the end of the file is reached and nothing is left to read.\n\n")
		case 2:
			b.WriteString("- first point with some words in it\n- second point, longer than the first one by a few words\n- 模板 vault 之後，第三點\n\n")
		case 3:
			b.WriteString("```go\nfunc f(a int) error {\n\tif a == 0 {\n\t\treturn errors.New(\"zero\")\n\t}\n\treturn nil\n}\n```\n\n")
		case 4:
			b.WriteString(strings.Repeat("漢字かな交じり文と👩‍👩‍👧‍👦絵文字🇩🇪を含む段落。", 8) + "\n\n")
		case 5:
			b.WriteString("| key | value |\n|-----|-------|\n| 模板 | a |\n| b | 👍🏽 ok |\n\n")
		}
	}
	return b.String()
}

func stream(m *Markdown, text string, piece int) {
	s := NewStream(m)
	for i := 0; i < len(text); i += piece {
		s.Append(text[i:min(i+piece, len(text))])
		s.Lines(100)
	}
	s.Finish()
	s.Lines(100)
}

// BenchmarkStreamGrowth streams N and 2N bytes in 4-byte pieces, drawing after
// each, and reports the ratio of the times: 2 is linear.
func BenchmarkStreamGrowth(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"mixed", answer(200 << 10)},
		{"paragraph", strings.Repeat("word *emphasis* and `code` in one line ", 200<<10/39)},
		{"lines", strings.Repeat("a line of one paragraph, with *emphasis*\n", 200<<10/41)},
		{"list", strings.Repeat("- an item of one long list with `code`\n", 200<<10/39)},
		{"table", "| a | b |\n|---|---|\n" + strings.Repeat("| cell | another `cell` |\n", 200<<10/26)},
		{"fence", "```go\n" + strings.Repeat("x := f(y, \"z\") // comment\n", 200<<10/27)},
		{"quote", strings.Repeat("> quoted text in one block\n", 200<<10/27)},
		{"newlines", strings.Repeat("\n", 100000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := testMarkdown(b, "dark", themes.Options{})
			var half, whole time.Duration
			for b.Loop() {
				m.Forget()
				start := time.Now()
				stream(m, c.text[:len(c.text)/2], 4)
				half += time.Since(start)
				m.Forget()
				start = time.Now()
				stream(m, c.text, 4)
				whole += time.Since(start)
			}
			b.ReportMetric(float64(whole)/float64(half), "ratio-2N/N")
			b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N)/float64(len(c.text)/4), "ns/delta")
		})
	}
}

// BenchmarkAnswer streams 2,000 tokens of Markdown and draws after every second
// one, as a screen does at 60 frames a second for 100 tokens a second.
func BenchmarkAnswer(b *testing.B) {
	text := answer(9 << 10)
	for b.Loop() {
		s := NewStream(testMarkdown(b, "dark", themes.Options{}))
		for i, n := 0, 0; i < len(text); i, n = i+5, n+1 {
			s.Append(text[i:min(i+5, len(text))])
			if n%2 == 0 {
				s.Lines(100)
			}
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	text := answer(10 << 10)
	m := testMarkdown(b, "dark", themes.Options{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Forget()
		m.Message(text, 100)
	}
}

// BenchmarkNasty renders texts made to be slow, whole and streamed, and reports
// the worst of them.
func BenchmarkNasty(b *testing.B) {
	m := testMarkdown(b, "dark", themes.Options{})
	texts := nasty(100 << 10)
	var worst time.Duration
	var name string
	for b.Loop() {
		for n, text := range texts {
			m.Forget()
			start := time.Now()
			m.Message(text, 80)
			m.Forget()
			stream(m, text, 64)
			if d := time.Since(start); d > worst {
				worst, name = d, n
			}
		}
	}
	b.ReportMetric(worst.Seconds()*1000, "worst-ms")
	b.Log("worst: ", name)
}

// BenchmarkWarm measures what the first code block would otherwise wait for.
// Only the first iteration loads anything.
func BenchmarkWarm(b *testing.B) {
	for b.Loop() {
		Warm()
	}
}

// BenchmarkLinesUnchanged is a frame in which no text came.
func BenchmarkLinesUnchanged(b *testing.B) {
	s := NewStream(testMarkdown(b, "dark", themes.Options{}))
	s.Append(answer(200 << 10))
	s.Lines(100)
	for b.Loop() {
		s.Lines(100)
	}
}

// BenchmarkMessageAgain is a message that was drawn before.
func BenchmarkMessageAgain(b *testing.B) {
	m := testMarkdown(b, "dark", themes.Options{})
	text := answer(4 << 10)
	for b.Loop() {
		m.Message(text, 100)
	}
}
