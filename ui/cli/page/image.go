package page

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// maxImage and maxImages bound the images in a page, in bytes: one, and all of
// them. What is beyond is named in its place.
const (
	maxImage  = 8 << 20
	maxImages = 32 << 20
)

// rasters are the kinds of images that can do nothing but be looked at.
func rasters() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// file is a file in its place: an image that can be shown, and else its name.
func (w *writer) file(f harness.File) part {
	name, media := render.SafeLine(f.Name), render.SafeLine(f.MediaType)
	if !strings.HasPrefix(f.MediaType, "image/") {
		return w.named(name, media, "")
	}
	if f.Size > maxImage || len(f.Data) > maxImage {
		return w.named(name, media, fmt.Sprintf("larger than %d MB", maxImage>>20))
	}
	data, err := w.bytesOf(f)
	if err != nil || len(data) == 0 {
		return w.named(name, media, "not in the store any more")
	}
	kind := http.DetectContentType(data)
	switch {
	case !slices.Contains(rasters(), kind):
		return w.named(name, media, "not a PNG, JPEG, GIF or WebP")
	case len(data) > maxImage:
		return w.named(name, media, fmt.Sprintf("larger than %d MB", maxImage>>20))
	case len(data) > w.room:
		return w.named(name, media, fmt.Sprintf("all images together are larger than %d MB", maxImages>>20))
	}
	w.room -= len(data)
	w.images += len(data)
	return part{
		Class: "image", Plain: name, Width: f.Width, Height: f.Height,
		Image: template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)), //nolint:gosec // the kind is one of ours
	}
}

// named is a file that is not in the page.
func (w *writer) named(name, media, why string) part {
	text := fmt.Sprintf("File %s (%s) is not in this page", name, media)
	if why != "" {
		text += ": " + why
	}
	w.left = append(w.left, text)
	return part{Class: "note", Plain: text}
}
