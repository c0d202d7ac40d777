package attach

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
)

const (
	// MaxImage bounds an image, in bytes. A provider that allows 5 MB counts it as
	// it is sent, where three bytes take four characters.
	MaxImage = 37 << 20 / 10
	// MaxDocument bounds a document, in bytes. A provider that allows requests of
	// 32 MB counts it as it is sent, with all else that is in the request.
	MaxDocument = 22 << 20
	// MaxText bounds a text, in characters.
	MaxText = 200_000
	// maxSide bounds the width and the height of an image, in pixels: a request
	// with a larger one is refused, and so would be all that follow it.
	maxSide = 8_000
	// sniffed is how many bytes tell what a file is.
	sniffed = 512
)

// kind is what a file is by its first bytes.
type kind struct {
	// media is its media type, empty for what may be text.
	media string
	// word names it in sentences.
	word string
	// most is how many bytes of it are taken.
	most int64
	// config reads width and height, nil for what has none.
	config func(data []byte) (image.Config, error)
	// whole reports whether nothing is missing at the end, nil if that is not known.
	whole func(data []byte) bool
}

func kinds() []kind {
	return []kind{
		{"image/png", "PNG image", MaxImage, func(data []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(data)) }, wholePNG},
		{"image/jpeg", "JPEG image", MaxImage, func(data []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(data)) }, wholeJPEG},
		{"image/gif", "GIF image", MaxImage, func(data []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(data)) }, nil},
		{"image/webp", "WebP image", MaxImage, webp, wholeWebP},
		{"application/pdf", "PDF", MaxDocument, nil, nil},
	}
}

// sniff tells what a file is by its first bytes.
func sniff(head []byte) kind {
	media := http.DetectContentType(head)
	for _, k := range kinds() {
		if k.media == media {
			return k
		}
	}
	// Four bytes are the most that a character has.
	return kind{word: "text", most: utf8.UTFMax * MaxText}
}

// tooLarge is the error for a file of more bytes than its kind may have.
func (k kind) tooLarge(name string, size int64) error {
	if k.media == "" {
		return &Error{name, fmt.Sprintf("has more than %d characters, which are the most that can be attached; give a part of it, or have it read with read_file", MaxText), nil}
	}
	help := "give the pages that matter"
	if k.config != nil {
		help = "make it smaller, or save it as JPEG"
	}
	return &Error{name, fmt.Sprintf("is a %s of %s and at most %s can be attached; %s", k.word, megabytes(size), megabytes(k.most), help), nil}
}

// megabytes is a size, rounded up to a tenth.
func megabytes(n int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Ceil(float64(n)/(1<<20)*10)/10), ".0") + " MB"
}

// Bytes makes input of bytes that have no file, such as what was pasted. name is
// what it is called.
func Bytes(name string, data []byte) (harness.Part, error) {
	k := sniff(data[:min(len(data), sniffed)])
	if int64(len(data)) > k.most {
		return harness.Part{}, k.tooLarge(name, int64(len(data)))
	}
	return typed(name, name, data)
}

// typed makes input of what a file holds. named is the file as the person named
// it, base what the model is told.
func typed(named, base string, data []byte) (harness.Part, error) {
	if len(data) == 0 {
		return harness.Part{}, &Error{named, "is empty", nil}
	}
	k := sniff(data[:min(len(data), sniffed)])
	file := &harness.File{Name: plainName(base), MediaType: k.media, Size: int64(len(data))}
	switch {
	case int64(len(data)) > k.most:
		return harness.Part{}, k.tooLarge(named, int64(len(data)))
	case k.media == "":
		return textOf(named, file, data)
	case k.config == nil:
		if locked(data) {
			return harness.Part{}, &Error{named, "is a PDF that is locked with a password, which no model can open; save it without one", nil}
		}
		file.Pages = pages(data)
	default:
		c, err := k.config(data)
		if err != nil || c.Width <= 0 || c.Height <= 0 {
			return harness.Part{}, &Error{named, fmt.Sprintf("begins like a %s and is none, or it is damaged", k.word), err}
		}
		if k.whole != nil && !k.whole(data) {
			return harness.Part{}, &Error{named, fmt.Sprintf("is a %s that is cut short or damaged; save it again", k.word), nil}
		}
		if c.Width > maxSide || c.Height > maxSide {
			return harness.Part{}, &Error{named, fmt.Sprintf("is %d × %d pixels large and models take at most %d of either; make it smaller", c.Width, c.Height, maxSide), nil}
		}
		file.Width, file.Height = c.Width, c.Height
	}
	file.Data = data
	return harness.Part{Kind: harness.PartFile, File: file}, nil
}

// plainName is a name on one line that drives nothing and reads as it is written.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	return strings.Join(strings.Fields(name), " ")
}

// locked reports whether a PDF is encrypted: its trailer then refers to how.
func locked(data []byte) bool {
	for rest := data; ; {
		at := bytes.Index(rest, []byte("/Encrypt"))
		if at < 0 {
			return false
		}
		rest = rest[at+len("/Encrypt"):]
		fields := bytes.Fields(rest[:min(len(rest), 40)])
		if len(fields) > 2 && number(fields[0]) && number(fields[1]) && bytes.HasPrefix(fields[2], []byte("R")) {
			return true
		}
	}
}

func number(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(word) > 0
}

// pages counts the pages of a PDF where that takes no reading of it: the objects
// that say that they are one, else what its first object says. It is 0 where
// neither tells.
func pages(data []byte) int {
	n := 0
	for rest := data; ; {
		at := bytes.Index(rest, []byte("/Type"))
		if at < 0 {
			break
		}
		rest = rest[at+len("/Type"):]
		if after, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " \r\n\t"), []byte("/Page")); ok && ends(after) {
			n++
		}
	}
	if n > 0 {
		return n
	}
	head := data[:min(len(data), 4_096)]
	at := bytes.Index(head, []byte("/Linearized"))
	if at < 0 {
		return 0
	}
	_, after, ok := bytes.Cut(head[at:], []byte("/N "))
	if !ok {
		return 0
	}
	for _, c := range bytes.TrimLeft(after, " ") {
		if c < '0' || c > '9' || n > 1_000_000 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// ends reports whether a name ends before what follows it.
func ends(after []byte) bool {
	return len(after) == 0 || bytes.IndexByte([]byte(" \r\n\t/<>[]()%"), after[0]) >= 0
}
