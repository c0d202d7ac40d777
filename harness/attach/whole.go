package attach

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Half an image has a header that tells its size, and no provider takes it: not
// now, and not in any request of the conversation that it is in. So each format is
// followed to its end, without unpacking it.

// wholePNG follows the chunks of a PNG image to the one that ends it. The sums of
// those that an image can do without, such as a profile of its colours, may be wrong:
// programs write them so, and readers leave such chunks out.
func wholePNG(data []byte) bool {
	const signature, length, kind, sum = 8, 4, 4, 4
	for at := signature; len(data)-at >= length+kind+sum; {
		n := binary.BigEndian.Uint32(data[at:])
		if n > math.MaxInt32 || int(n) > len(data)-at-length-kind-sum {
			return false
		}
		body := data[at+length : at+length+kind+int(n)]
		at += length + len(body)
		const optional = 1 << 5 // the first letter of the kind is a small one
		if body[0]&optional == 0 && crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(data[at:]) {
			return false
		}
		if at += sum; bytes.HasPrefix(body, []byte("IEND")) {
			return true
		}
	}
	return false
}

// wholeJPEG looks for the mark that ends a JPEG image, behind the last one that
// begins a scan: in what is between them neither can be. A small image within the
// header has both, too.
func wholeJPEG(data []byte) bool {
	scan, end := bytes.LastIndex(data, []byte{0xff, 0xda}), bytes.LastIndex(data, []byte{0xff, 0xd9})
	return scan >= 0 && end > scan
}

// wholeWebP compares a WebP image with the length in its header.
func wholeWebP(data []byte) bool {
	const head = 8
	return len(data) >= head && uint64(binary.LittleEndian.Uint32(data[4:]))+head <= uint64(len(data))
}
