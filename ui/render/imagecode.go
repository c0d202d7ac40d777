package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
)

// maxMarks is how many rows and columns can be told by the marks on a cell.
const maxMarks = 256

// ImageCells are the lines of cells that stand for an image which a terminal keeps:
// the number of the image is in the colour and in the last mark of each, its row and
// column are in the others. A line takes as many cells as there are columns.
func ImageCells(colour, mark, columns, rows int) []string {
	columns, rows = min(columns, maxMarks), min(rows, maxMarks)
	lines := make([]string, 0, max(rows, 0))
	last := string(kitty.Diacritic(mark))
	for y := range rows {
		var b strings.Builder
		b.WriteString("\x1b[38;5;" + strconv.Itoa(colour) + "m")
		row := string(kitty.Placeholder) + string(kitty.Diacritic(y))
		for x := range columns {
			b.WriteString(row + string(kitty.Diacritic(x)) + last)
		}
		b.WriteString("\x1b[39m")
		lines = append(lines, b.String())
	}
	return lines
}

// imageCell reports whether a character stands for a part of an image.
func imageCell(r rune) bool { return r == kitty.Placeholder }

// HasImage reports whether cells of a text stand for an image.
func HasImage(s string) bool { return strings.ContainsRune(s, kitty.Placeholder) }

// Unpictured is a text without the cells that stand for images, each of which is
// made a blank.
func Unpictured(s string) string {
	if !HasImage(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		if strings.HasPrefix(cluster, string(kitty.Placeholder)) {
			b.WriteByte(' ')
		} else {
			b.WriteString(cluster)
		}
		s = s[len(cluster):]
	}
	return b.String()
}

// ImagePNG are the bytes of an image as a PNG file.
func ImagePNG(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode the image: %w", err)
	}
	return b.Bytes(), nil
}

// ITermImage paints an image over cells from the cursor on, in the manner of iTerm2.
func ITermImage(img image.Image, columns, rows int) (string, error) {
	data, err := ImagePNG(img)
	if err != nil {
		return "", err
	}
	content := make([]byte, base64.StdEncoding.EncodedLen(len(data)))
	base64.StdEncoding.Encode(content, data)
	return ansi.ITerm2(iterm2.File{
		Size: int64(len(data)), Width: iterm2.Cells(columns), Height: iterm2.Cells(rows), Inline: true, DoNotMoveCursor: true, Content: content,
	}), nil
}

// SixelImage paints an image from the cursor on, in the manner of DEC. It has no
// transparency: what is clear is as the background is, black or white.
func SixelImage(img image.Image, dark bool) (string, error) {
	ground := color.Color(color.White)
	if dark {
		ground = color.Black
	}
	flat := image.NewNRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Over)
	// To choose 256 colours of a million takes a second, of some thousand none.
	for i, c := range flat.Pix {
		flat.Pix[i] = c&0xf8 | c>>5
	}
	var b bytes.Buffer
	if err := (&sixel.Encoder{}).Encode(&b, flat); err != nil {
		return "", fmt.Errorf("encode the image: %w", err)
	}
	return ansi.SixelGraphics(0, 1, 0, b.Bytes()), nil
}
