package render

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// maxPixels bounds an image that is decoded: a few bytes may stand for an image that
// fills the memory.
const maxPixels = 50_000_000

// decoder reads the images of one kind.
type decoder struct {
	// kind is what it is called, and ext how names of its files end.
	kind, ext string
	begins    []string
	config    func(data []byte) (image.Config, error)
	decode    func(data []byte) (image.Image, error)
}

// decoders are those of all kinds that are shown.
func decoders() []decoder {
	read := func(data []byte) *bytes.Reader { return bytes.NewReader(data) }
	return []decoder{
		{
			"PNG", "png",
			[]string{"\x89PNG\r\n\x1a\n"},
			func(b []byte) (image.Config, error) { return png.DecodeConfig(read(b)) },
			func(b []byte) (image.Image, error) { return png.Decode(read(b)) },
		},
		{
			"JPEG", "jpg",
			[]string{"\xff\xd8\xff"},
			func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(read(b)) },
			func(b []byte) (image.Image, error) { return jpeg.Decode(read(b)) },
		},
		{
			"GIF", "gif",
			[]string{"GIF87a", "GIF89a"},
			func(b []byte) (image.Config, error) { return gif.DecodeConfig(read(b)) },
			func(b []byte) (image.Image, error) { return gif.Decode(read(b)) }, // the first picture
		},
		{
			"WebP", "webp",
			[]string{"RIFF"},
			func(b []byte) (image.Config, error) { return webp.DecodeConfig(read(b)) },
			func(b []byte) (image.Image, error) { return webp.Decode(read(b)) },
		},
	}
}

// ErrNoImage means that bytes are no image of a kind that is shown, whatever their
// file is called.
var ErrNoImage = errors.New("it is no PNG, JPEG, GIF or WebP image")

// ImageInfo is what the head of an image tells.
type ImageInfo struct {
	// Kind is "PNG", "JPEG", "GIF" or "WebP", and Ext how the names of such files end.
	Kind, Ext string
	// Width and Height are in pixels.
	Width, Height int
}

// ReadImageInfo reads the head of an image. Its errors are sentences.
func ReadImageInfo(data []byte) (ImageInfo, error) {
	i, _, err := headOf(data)
	return i, err
}

func headOf(data []byte) (info ImageInfo, d decoder, err error) {
	defer caught(&err)
	for _, d := range decoders() {
		for _, begin := range d.begins {
			if !bytes.HasPrefix(data, []byte(begin)) {
				continue
			}
			c, err := d.config(data)
			if err != nil {
				return ImageInfo{}, d, fmt.Errorf("it is a damaged %s image: %w", d.kind, err)
			}
			info := ImageInfo{d.kind, d.ext, c.Width, c.Height}
			switch {
			case c.Width <= 0 || c.Height <= 0:
				return info, d, fmt.Errorf("it is a damaged %s image: it has no pixels", d.kind)
			case c.Width > maxPixels/c.Height:
				return info, d, fmt.Errorf("it is %d x %d pixels large, more than is shown", c.Width, c.Height)
			}
			return info, d, nil
		}
	}
	return ImageInfo{}, decoder{}, ErrNoImage
}

// DecodeImage reads an image, of one with several pictures the first. What would
// fill the memory is refused by its head alone. Its errors are sentences.
func DecodeImage(data []byte) (img image.Image, info ImageInfo, err error) {
	defer caught(&err)
	info, d, err := headOf(data)
	if err != nil {
		return nil, info, err
	}
	if img, err = d.decode(data); err != nil {
		return nil, info, fmt.Errorf("it is a damaged %s image: %w", d.kind, err)
	}
	if b := img.Bounds(); b.Empty() || b.Dx() > maxPixels/b.Dy() {
		return nil, info, fmt.Errorf("it is a damaged %s image: it has no pixels", d.kind)
	}
	return img, info, nil
}

// caught makes an error of a decoder's panic: what it reads is of strangers.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = errors.New("it is a damaged image: it cannot be decoded")
	}
}

// The cell that is assumed where a terminal does not tell its size, in pixels.
const (
	usualCellWidth, usualCellHeight = 8, 16
)

// Cells are a number of columns and rows, and the size of each cell in pixels.
type Cells struct {
	Columns, Rows int
	// Width and Height are 0 if they are not known.
	Width, Height int
}

// cell is the size of a cell, the usual one if it is not known.
func (c Cells) cell() (width, height int) {
	if c.Width <= 0 || c.Height <= 0 {
		return usualCellWidth, usualCellHeight
	}
	return c.Width, c.Height
}

// Fit is as many of the cells as an image of a size in pixels fills without being
// enlarged or distorted: no columns if it has no size.
func (c Cells) Fit(width, height int) Cells {
	if width <= 0 || height <= 0 || c.Columns <= 0 || c.Rows <= 0 {
		return Cells{Width: c.Width, Height: c.Height}
	}
	cw, ch := c.cell()
	w, h := float64(width)/float64(cw), float64(height)/float64(ch)
	by := min(1, float64(c.Columns)/w, float64(c.Rows)/h)
	up := func(n float64, most int) int { return min(max(int(math.Ceil(n-1e-6)), 1), most) }
	c.Columns, c.Rows = up(w*by, c.Columns), up(h*by, c.Rows)
	return c
}

// Scaled is an image no larger than the cells, and than so many pixels.
func (c Cells) Scaled(img image.Image, most int) image.Image {
	b := img.Bounds()
	cw, ch := c.cell()
	w, h := float64(b.Dx()), float64(b.Dy())
	by := min(1, float64(c.Columns*cw)/w, float64(c.Rows*ch)/h, math.Sqrt(float64(most)/(w*h)))
	to := image.Rect(0, 0, max(int(w*by), 1), max(int(h*by), 1))
	out := image.NewNRGBA(to)
	draw.BiLinear.Scale(out, to, img, b, draw.Src, nil)
	return out
}
