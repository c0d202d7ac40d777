package main

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"os"
	"regexp"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

const (
	// cellWidth and cellHeight are the size of a cell, margin is around all.
	cellWidth, cellHeight, margin = 8.4, 17, 12
)

// look is what a terminal looks like: its name, its own colours, what it tells of
// them in COLORFGBG, and its sixteen.
type look struct {
	name, back, fore, told string
	sixteen                [16]string
}

func looks() []look {
	return []look{
		{"dark", "#1e1e24", "#d0d0d4", "15;0", [16]string{
			"#000000", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d0d4",
			"#7f848e", "#f07178", "#b5e08f", "#ffd98a", "#82c4ff", "#dd9cf0", "#7fd8e2", "#ffffff",
		}},
		{"light", "#ffffff", "#24292f", "0;15", [16]string{
			"#24292f", "#b3261e", "#1a7f37", "#7d5600", "#0550ae", "#8250df", "#1b6b72", "#6e7781",
			"#57606a", "#cf222e", "#116329", "#633c01", "#0969da", "#6639ba", "#0e5a61", "#24292f",
		}},
	}
}

// colour is one of the terminal as SVG has it.
func colour(c string) color.Color {
	var r, g, b uint8
	_, _ = fmt.Sscanf(c, "#%02x%02x%02x", &r, &g, &b) // the colours are those above
	return color.RGBA{R: r, G: g, B: b, A: 255}
}

// tidy makes times of day, ids, the home and what is particular to a machine the
// same in all pictures: they differ from one making to the next.
func tidy(text string) string {
	text = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`).ReplaceAllString(text, "09:41:07")
	text = regexp.MustCompile(`\b\d\d:\d\d\b`).ReplaceAllString(text, "09:41")
	text = regexp.MustCompile(`/tmp/ada[0-9]+`).ReplaceAllString(text, "~")
	text = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).ReplaceAllString(text, "127.0.0.1:8080")
	text = regexp.MustCompile(`[0-9.]+ GB free`).ReplaceAllString(text, "96.4 GB free")
	text = regexp.MustCompile(`\bpid [0-9]+`).ReplaceAllStringFunc(text, func(pid string) string {
		return "pid " + "4711283"[:min(len(pid)-4, 7)]
	})
	if host, err := os.Hostname(); err == nil {
		text = regexp.MustCompile(`\bon `+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(text, "on laptop")
	}
	text = regexp.MustCompile(`\bpts/[0-9]+`).ReplaceAllString(text, "pts/1")
	return regexp.MustCompile(`\b[a-z2-7]{10}\b`).ReplaceAllStringFunc(text, func(word string) string {
		if !strings.ContainsAny(word, "234567") {
			return word
		}
		return "k3v7mzq2ab" // an id
	})
}

// run is neighbouring text in one style.
type run struct {
	at, cells int
	text      string
	style     uv.Style
}

// runs are those of a row.
func runs(e *vt.Emulator, y, width int) []run {
	var list []run
	for x := 0; x < width; {
		c := e.CellAt(x, y)
		text, w, style := " ", 1, uv.Style{}
		if c != nil {
			style = c.Style
			if c.Content != "" && !imageCell(c.Content) {
				text, w = c.Content, max(c.Width, 1)
			}
		}
		if n := len(list); n > 0 && list[n-1].style.Equal(&style) {
			list[n-1].text += text
			list[n-1].cells += w
		} else {
			list = append(list, run{x, w, text, style})
		}
		x += w
	}
	return list
}

// tidied is the text of a run after tidy, and how many cells it takes.
func tidied(r run) (text string, cells int) {
	text = tidy(r.text)
	return text, r.cells + len(text) - len(r.text) // all that changes is ASCII
}

// picture draws a screen.
func picture(e *vt.Emulator, l look, title string) []byte {
	width, height := e.Width(), e.Height()
	var b bytes.Buffer
	w, h := float64(width)*cellWidth+2*margin, float64(height)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", l.back)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="%s" xml:space="preserve">`+"\n", l.fore)
	for y := range height {
		for _, r := range runs(e, y, width) {
			drawRun(&b, r, y, l)
		}
	}
	drawImage(&b, e)
	if at := e.CursorPosition(); !e.CursorHidden() {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" opacity=".5"/>`+"\n", margin+float64(at.X)*cellWidth, margin+at.Y*cellHeight, cellWidth, cellHeight)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func drawRun(b *bytes.Buffer, r run, y int, l look) {
	fore, back := l.hex(r.style.Fg, ""), l.hex(r.style.Bg, "")
	if r.style.Attrs&uv.AttrReverse != 0 {
		fore, back = l.hex(r.style.Bg, l.back), l.hex(r.style.Fg, l.fore)
	}
	x := margin + float64(r.at)*cellWidth
	if back != "" && back != l.back {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, margin+y*cellHeight, float64(r.cells)*cellWidth, cellHeight, back)
	}
	r.text, r.cells = tidied(r)
	text := strings.TrimRight(r.text, " ")
	lead := len(text) - len(strings.TrimLeft(text, " "))
	if text = text[lead:]; text == "" {
		return
	}
	cells := r.cells - (len(r.text) - len(strings.TrimRight(r.text, " "))) - lead
	x += float64(lead) * cellWidth
	more := ""
	for _, a := range []struct {
		on   bool
		text string
	}{
		{fore != "", ` fill="` + fore + `"`},
		{r.style.Attrs&uv.AttrBold != 0, ` font-weight="bold"`},
		{r.style.Attrs&uv.AttrFaint != 0, ` opacity=".6"`},
		{r.style.Attrs&uv.AttrItalic != 0, ` font-style="italic"`},
		{r.style.Underline != 0, ` text-decoration="underline"`},
		{r.style.Attrs&uv.AttrStrikethrough != 0, ` text-decoration="line-through"`},
	} {
		if a.on {
			more += a.text
		}
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x, margin+float64(y)*cellHeight+13, float64(cells)*cellWidth, more, html.EscapeString(text))
}

// hex is a colour as SVG has it, or what stands for the terminal's own.
func (l look) hex(c color.Color, own string) string {
	if c == nil {
		return own
	}
	if basic, ok := c.(ansi.BasicColor); ok && int(basic) < len(l.sixteen) {
		return l.sixteen[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
