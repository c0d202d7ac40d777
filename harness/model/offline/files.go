package offline

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// unseen follows what is told of files.
const unseen = "That is all I can tell: I have no weights, so I do not see what is in it. A real model reads images and documents."

// kinds are the words for media types.
var kinds = map[string]string{ //nolint:gochecknoglobals // a table that nobody changes
	"image/png": "a PNG image", "image/jpeg": "a JPEG image", "image/gif": "a GIF image", "image/webp": "a WebP image", model.PDF: "a PDF document",
}

// attached tells of the files of a message what can be told without looking into
// them, empty if there are none.
func attached(m harness.Message) string {
	var lines []string
	for _, p := range m.Parts {
		if p.Kind == harness.PartFile && p.File != nil {
			lines = append(lines, "- "+described(*p.File))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "You attached:\n\n" + strings.Join(lines, "\n") + "\n\n" + unseen
}

// described is what is known of a file.
func described(f harness.File) string {
	facts := []string{kinds[f.MediaType]}
	if facts[0] == "" {
		facts[0] = "a file of type " + model.Sentence(f.MediaType)
	}
	if width, height := pixels(f); width > 0 && height > 0 {
		facts = append(facts, fmt.Sprintf("%d by %d pixels", width, height))
	}
	switch {
	case f.Pages == 1:
		facts = append(facts, "1 page")
	case f.Pages > 1:
		facts = append(facts, fmt.Sprintf("%d pages", f.Pages))
	}
	if n := max(f.Size, int64(len(f.Data))); n > 0 {
		facts = append(facts, sized(n))
	}
	return fmt.Sprintf("`%s`: %s", strings.ReplaceAll(model.Sentence(f.Name), "`", "'"), strings.Join(facts, ", "))
}

// pixels are the width and the height of an image, 0 if they are not known.
func pixels(f harness.File) (width, height int) {
	sizes := map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/gif": gif.DecodeConfig,
	}
	size := sizes[f.MediaType]
	if f.Width > 0 && f.Height > 0 || size == nil {
		return f.Width, f.Height
	}
	is, err := size(bytes.NewReader(f.Data))
	if err != nil {
		return 0, 0 // broken, or not what it is said to be: its size stays unknown
	}
	return is.Width, is.Height
}

// sized is a number of bytes in words.
func sized(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
