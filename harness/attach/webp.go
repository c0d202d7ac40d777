package attach

import (
	"encoding/binary"
	"errors"
	"image"
)

// errWebP means that a WebP image does not begin as one does.
var errWebP = errors.New("no WebP header")

// webp reads width and height of a WebP image from the header of its first
// chunk: lossy, lossless or extended.
func webp(data []byte) (image.Config, error) {
	const header, chunk = 12, 8
	if len(data) < header+chunk+10 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return image.Config{}, errWebP
	}
	body := data[header+chunk:]
	switch string(data[header : header+4]) {
	case "VP8 ":
		if body[3] != 0x9d || body[4] != 0x01 || body[5] != 0x2a {
			return image.Config{}, errWebP
		}
		const size = 1<<14 - 1 // the two bits above scale it
		return image.Config{
			Width: int(binary.LittleEndian.Uint16(body[6:])) & size, Height: int(binary.LittleEndian.Uint16(body[8:])) & size,
		}, nil
	case "VP8L":
		if body[0] != 0x2f {
			return image.Config{}, errWebP
		}
		const size = 1<<14 - 1
		bits := int(binary.LittleEndian.Uint32(body[1:]))
		return image.Config{Width: bits&size + 1, Height: bits>>14&size + 1}, nil
	case "VP8X":
		return image.Config{Width: three(body[4:]) + 1, Height: three(body[7:]) + 1}, nil
	}
	return image.Config{}, errWebP
}

// three is a number of three bytes, the least first.
func three(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
