package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

const (
	// cellWidth and cellHeight are the size of a cell, margin is around all.
	cellWidth, cellHeight, margin = 8.4, 17, 12
	// maxPicture bounds a picture, in bytes.
	maxPicture = 60_000
)

// look is what a terminal looks like.
type look struct{ name, back, fore string }

func looks() []look {
	return []look{{"dark", "#1e1e24", "#d0d0d4"}, {"light", "#ffffff", "#24292f"}}
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
			if c.Content != "" {
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
	if at := e.CursorPosition(); !e.CursorHidden() {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" opacity=".5"/>`+"\n", margin+float64(at.X)*cellWidth, margin+at.Y*cellHeight, cellWidth, cellHeight)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func drawRun(b *bytes.Buffer, r run, y int, l look) {
	fore, back := hex(r.style.Fg, ""), hex(r.style.Bg, "")
	if r.style.Attrs&uv.AttrReverse != 0 {
		fore, back = hex(r.style.Bg, l.back), hex(r.style.Fg, l.fore)
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
func hex(c color.Color, own string) string {
	if c == nil {
		return own
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// check looks at all pictures of a directory.
func check(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("there is no picture in %s", dir)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if len(data) > maxPicture {
			return fmt.Errorf("%s has %d bytes; at most %d are wanted", p, len(data), maxPicture)
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return fmt.Errorf("%s is no valid XML: %w", p, err)
			}
		}
	}
	_, err = fmt.Fprintf(os.Stdout, "%d pictures are right\n", len(paths))
	return err
}
