package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/vt"
)

// chart is a PNG file: rows that were dropped, by month.
func chart() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 360, 180), color.Palette{color.RGBA{250, 248, 244, 255}, color.RGBA{120, 120, 128, 255}, color.RGBA{86, 128, 170, 255}, color.RGBA{200, 96, 72, 255}})
	fill := func(r image.Rectangle, c uint8) {
		draw.Draw(img, r, image.NewUniform(img.Palette[c]), image.Point{}, draw.Src)
	}
	for y := 30; y <= 150; y += 30 {
		fill(image.Rect(20, y, 340, y+1), 1)
	}
	for i, high := range []int{42, 56, 118, 64, 48, 70, 36, 30} {
		c := uint8(2)
		if high > 100 {
			c = 3
		}
		fill(image.Rect(32+i*38, 150-high, 58+i*38, 150), c)
	}
	fill(image.Rect(20, 150, 340, 152), 1)
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img) // a buffer takes all
	return b.Bytes()
}

// imageCell reports whether the text of a cell stands for a part of an image.
func imageCell(text string) bool { return strings.HasPrefix(text, string(kitty.Placeholder)) }

// drawImage draws the chart over the cells that stand for an image, as a terminal does
// that keeps it.
func drawImage(b *bytes.Buffer, e *vt.Emulator) {
	var over image.Rectangle
	for y := range e.Height() {
		for x := range e.Width() {
			if c := e.CellAt(x, y); c != nil && imageCell(c.Content) {
				over = over.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if over.Empty() {
		return
	}
	fmt.Fprintf(b, `<image x="%.1f" y="%d" width="%.1f" height="%d" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
		margin+float64(over.Min.X)*cellWidth, margin+over.Min.Y*cellHeight, float64(over.Dx())*cellWidth, over.Dy()*cellHeight, base64.StdEncoding.EncodeToString(chart()))
}
