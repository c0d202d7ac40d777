package gemini

import (
	"bytes"
	"image/gif"
	"image/png"

	"cairn/harness"
)

// maxPixels bounds the pictures that are decoded here.
const maxPixels = 40 << 20

// still turns a GIF, which the interface refuses, into a PNG of its first picture.
// One that cannot be read stays as it is: the refusal says more than a guess here.
func still(f harness.File) harness.File {
	if f.MediaType != "image/gif" {
		return f
	}
	size, err := gif.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil || size.Width*size.Height > maxPixels {
		return f
	}
	picture, err := gif.Decode(bytes.NewReader(f.Data))
	if err != nil {
		return f
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		return f
	}
	f.MediaType, f.Data = "image/png", out.Bytes()
	return f
}
