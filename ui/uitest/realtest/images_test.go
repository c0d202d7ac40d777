//go:build unix

package realtest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi/sixel"
)

var (
	graphics = regexp.MustCompile("\x1b_G([^;\x1b]*)(?:;([^\x1b]*))?\x1b\\\\")
	sixels   = regexp.MustCompile("\x1b\\[(\\d+);(\\d+)H\x1bP0;1q([^\x1b]*)\x1b\\\\")
)

// photo is a session in which an image was sent: red on its left, blue on its right,
// with some grain in it.
func photo(t *testing.T, grain int) home {
	t.Helper()
	h := keyed(t, newTalker(t).URL)
	h.configures("[models.\"own/mock\"]\nimages = true\n")
	img := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for y := range 200 {
		for x := range 300 {
			img.Set(x, y, color.NRGBA{R: 255, G: uint8(x * y % grain), A: 255})
			if x >= 150 {
				img.Set(x, y, color.NRGBA{B: 255, G: uint8(x * y % grain), A: 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "shot.png"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := h.answered("-p", "-s", "photo", "-f", "shot.png", "question what is it"); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	return h
}

// isPhoto complains about an image that is not the one that was sent.
func isPhoto(t *testing.T, img image.Image) {
	t.Helper()
	b := img.Bounds()
	r, _, _, _ := img.At(b.Min.X+1, b.Min.Y+1).RGBA()
	_, _, blue, _ := img.At(b.Max.X-2, b.Max.Y-2).RGBA()
	if r < 0xd000 || blue < 0xd000 {
		t.Errorf("the terminal gets an image of %v with %x and %x", b, r, blue)
	}
}

// removed reports whether what is written says that all images were removed.
func removed(written string) bool {
	at := strings.LastIndex(written, "\x1b_Ga=d,d=I")
	return at >= 0 && at > strings.LastIndex(written, "a=T") && at < strings.LastIndex(written, "\x1b[?1049l")
}

func TestAKittyShowsAnImageInTheConversation(t *testing.T) {
	t.Parallel()
	w := photo(t, 256).open("-s", "photo")
	w.shows("[image shot.png", "300x200]")
	w.send("\x1bP>|kitty(0.36.1)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;c")
	w.wait("the image", func(screen string) bool { return strings.Count(screen, "\U0010eeee") == 30*10 })
	w.send("x")
	screen := w.shows("> x") // no answer was typed
	if !strings.Contains(screen, "[image shot.png") {
		t.Errorf("its name is gone:\n%s", screen)
	}
	coded, head := "", ""
	for _, m := range graphics.FindAllStringSubmatch(w.written(), -1) {
		switch {
		case strings.Contains(m[1], "a=q"):
		case strings.Contains(m[1], "a=T"):
			head, coded = m[1], m[2]
		default:
			coded += m[2]
		}
	}
	data, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || !strings.Contains(head, ",U=1,c=30,r=10,a=T") {
		t.Fatalf("%s: %v", head, err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	isPhoto(t, img)
	w.send("\x15\x04")
	w.ends()
	if !removed(w.written()) {
		t.Error("the image is left in the terminal")
	}
}

func TestASixelTerminalShowsAnImageAlone(t *testing.T) {
	t.Parallel()
	w := photo(t, 1).open("-s", "photo")
	w.shows("[image shot.png", "300x200]")
	w.send("\x1bP>|XTerm(390)\x1b\\\x1b[6;20;10t\x1b[?62;4;22c")
	w.send("/image" + enter)
	w.shows("Image · image shot.png")
	w.wait("the image", func(string) bool { return sixels.Match(w.raw) })
	found := sixels.FindStringSubmatch(w.written())
	img, err := (&sixel.Decoder{}).Decode(strings.NewReader(found[3]))
	if err != nil || found[1] != "3" || found[2] != "26" {
		t.Fatalf("at row %s, column %s: %v", found[1], found[2], err)
	}
	isPhoto(t, img)
	if strings.Contains(w.written(), "a=T") {
		t.Error("it is given in another way, too")
	}
	before := len(w.written())
	w.send("q")
	w.shows("> write a message")
	w.wait("all cells again", func(string) bool { return bytes.Contains(w.raw[before:], []byte("\x1b[2J")) })
	w.send("\x04")
	w.ends()
}

func TestATerminalThatShowsNoImagesNamesThem(t *testing.T) {
	t.Parallel()
	h := photo(t, 1)
	w := h.open("-s", "photo")
	w.shows("[image shot.png", "300x200]")
	w.send("\x1bP>|plain 1\x1b\\\x1b[?62;22c")
	w.send("/image" + enter)
	w.shows("PNG image, 300 x 200 pixels", "This terminal shows no images")
	w.send("s")
	w.shows("saved as")
	if _, err := os.Stat(filepath.Join(h.dir, "shot-2.png")); err != nil {
		t.Error(err)
	}
	w.send("q")
	w.shows("> write a message")
	w.send("\x04")
	w.ends()
	if strings.Contains(w.written(), "a=T") || sixels.MatchString(w.written()) {
		t.Error("it is given an image")
	}
}
