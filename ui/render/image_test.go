package render

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
	"pgregory.net/rapid"
)

// halves is an image with a red left and a blue right half.
func halves(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.NRGBA{R: 255, A: 255})
			if x >= w/2 {
				img.Set(x, y, color.NRGBA{B: 255, A: 255})
			}
		}
	}
	return img
}

// isHalves complains about an image that is not halves of any size.
func isHalves(t *testing.T, what string, img image.Image) {
	t.Helper()
	b := img.Bounds()
	if b.Dx() < 2 {
		t.Fatalf("%s is %v large", what, b)
	}
	y := (b.Min.Y + b.Max.Y) / 2
	lr, _, lb, _ := img.At(b.Min.X, y).RGBA()
	rr, _, rb, _ := img.At(b.Max.X-1, y).RGBA()
	if lr < 0xd000 || lb > 0x3000 || rr > 0x3000 || rb < 0xd000 {
		t.Errorf("%s has the colours %x %x and %x %x", what, lr, lb, rr, rb)
	}
}

// encoded is an image as a file of each kind.
func encoded(tb testing.TB, img image.Image) map[string][]byte {
	tb.Helper()
	var p, j, g bytes.Buffer
	if err := errors.Join(png.Encode(&p, img), jpeg.Encode(&j, img, nil), gif.Encode(&g, img, nil)); err != nil {
		tb.Fatal(err)
	}
	w, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		tb.Fatal(err)
	}
	return map[string][]byte{"PNG": p.Bytes(), "JPEG": j.Bytes(), "GIF": g.Bytes(), "WebP": w}
}

func TestImagesAreKnownByTheirBytes(t *testing.T) {
	t.Parallel()
	for kind, data := range encoded(t, halves(40, 20)) {
		img, info, err := DecodeImage(data)
		if err != nil || info.Kind != kind {
			t.Errorf("%s is taken for %+v, %v", kind, info, err)
			continue
		}
		if kind == "WebP" {
			continue // a single pixel
		}
		if info.Width != 40 || info.Height != 20 {
			t.Errorf("%s is %d x %d", kind, info.Width, info.Height)
		}
		isHalves(t, kind, img)
	}
}

// vast is the beginning of a PNG image of a size.
func vast(w, h uint32) []byte {
	head := make([]byte, 13)
	binary.BigEndian.PutUint32(head, w)
	binary.BigEndian.PutUint32(head[4:], h)
	head[8], head[9] = 8, 2
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

func TestBadImagesAreRefusedInASentence(t *testing.T) {
	t.Parallel()
	whole := encoded(t, halves(40, 20))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":        {nil, "it is no PNG"},
		"text":           {[]byte("<svg onload=alert(1)>"), "it is no PNG"},
		"too large":      {vast(60_000, 60_000), "60000 x 60000 pixels large"},
		"no size":        {vast(0, 7), "damaged PNG"},
		"only a head":    {vast(7, 7), "damaged PNG"},
		"cut PNG":        {whole["PNG"][:len(whole["PNG"])/2], "damaged PNG"},
		"cut JPEG":       {whole["JPEG"][:len(whole["JPEG"])/2], "damaged JPEG"},
		"cut GIF":        {whole["GIF"][:len(whole["GIF"])/2], "damaged GIF"},
		"cut WebP":       {whole["WebP"][:len(whole["WebP"])/2], "damaged WebP"},
		"sound, no WebP": {[]byte("RIFF\x04\x00\x00\x00WAVE"), "damaged WebP"},
	} {
		img, _, err := DecodeImage(c.data)
		if err == nil || img != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gives %v, %v", name, img, err)
		}
	}
}

func TestNoBytesMakeADecoderPanicOrFillTheMemory(t *testing.T) {
	t.Parallel()
	whole := encoded(t, halves(12, 12))
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole[rapid.SampledFrom([]string{"PNG", "JPEG", "GIF", "WebP"}).Draw(t, "kind")])
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		img, _, err := DecodeImage(data[:rapid.IntRange(0, len(data)).Draw(t, "length")])
		if err == nil && (img == nil || img.Bounds().Dx()*img.Bounds().Dy() > maxPixels) {
			t.Fatalf("it is an image, %v", img)
		}
	})
}

func TestAnImageFitsIntoCellsWithoutBeingEnlarged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room          Cells
		width, height int
		cols, rows    int
	}{
		{Cells{60, 20, 10, 20}, 100, 100, 10, 5},
		{Cells{60, 20, 10, 20}, 6000, 1000, 60, 5},
		{Cells{60, 20, 10, 20}, 1000, 6000, 7, 20},
		{Cells{60, 20, 0, 0}, 480, 320, 60, 20},
		{Cells{60, 20, 10, 20}, 1, 1, 1, 1},
		{Cells{60, 20, 10, 20}, 50_000, 1, 60, 1},
		{Cells{60, 20, 10, 20}, 0, 5, 0, 0},
		{Cells{0, 20, 10, 20}, 5, 5, 0, 0},
	} {
		got := c.room.Fit(c.width, c.height)
		if got.Columns != c.cols || got.Rows != c.rows {
			t.Errorf("%d x %d in %+v is %+v, want %d columns and %d rows", c.width, c.height, c.room, got, c.cols, c.rows)
		}
		if c.cols == 0 {
			continue
		}
		img := got.Scaled(halves(c.width, c.height), 10_000).Bounds()
		if img.Empty() || img.Dx()*img.Dy() > 10_000 || img.Dx() > c.width || img.Dy() > c.height {
			t.Errorf("%d x %d is made %v", c.width, c.height, img)
		}
	}
}

func TestCellsOfAnImageTakeACellEach(t *testing.T) {
	t.Parallel()
	lines := ImageCells(7, 255, 256, 256)
	if len(lines) != 256 {
		t.Fatalf("%d lines", len(lines))
	}
	for y, line := range lines {
		if w := Width(line); w != 256 {
			t.Fatalf("line %d is %d cells wide", y, w)
		}
	}
	want := "\x1b[38;5;7m" + string(kitty.Placeholder) + string([]rune{kitty.Diacritic(1), kitty.Diacritic(0), kitty.Diacritic(255)})
	if !strings.HasPrefix(lines[1], want) {
		t.Errorf("a line begins %q", lines[1][:40])
	}
	if got := Unpictured("ab" + ansi.Strip(ImageCells(7, 255, 3, 1)[0]) + "é漢"); got != "ab   é漢" {
		t.Errorf("without the image it is %q", got)
	}
}

func TestTextCannotStandForAnImage(t *testing.T) {
	t.Parallel()
	if got := Safe(ImageCells(7, 255, 1, 1)[0]); strings.ContainsRune(got, kitty.Placeholder) || !strings.Contains(got, "⟨U+10EEEE⟩") {
		t.Errorf("it is shown as %q", got)
	}
}

func TestWhatIsPaintedIsTheImage(t *testing.T) {
	t.Parallel()
	img := Cells{Columns: 10, Rows: 2, Width: 8, Height: 16}.Scaled(halves(160, 64), 1<<20)

	text, err := ITermImage(img, 10, 2)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(strings.TrimSuffix(text, "\a"), ":")
	if !strings.HasPrefix(head, "\x1b]1337;File=size=") || !strings.Contains(head, ";width=10;height=2;inline=1") || strings.Contains(head, "name=") {
		t.Errorf("it begins %q", head)
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	back, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	isHalves(t, "iTerm2's", back)

	if text, err = SixelImage(img, true); err != nil {
		t.Fatal(err)
	}
	for i, c := range text {
		if c < ' ' && i != 0 && i != len(text)-2 || c > '~' {
			t.Fatalf("there is a byte %x within it", c)
		}
	}
	_, body, _ = strings.Cut(strings.TrimSuffix(text, "\x1b\\"), "q")
	if back, err = (&sixel.Decoder{}).Decode(strings.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	isHalves(t, "DEC's", back)
	if back.Bounds().Dx() != 80 || back.Bounds().Dy() != 32 {
		t.Errorf("it is %v large", back.Bounds())
	}
}

// A photograph has more colours than the format: each of its pixels is painted none
// the less, once.
func TestASixelImageHasNoHoles(t *testing.T) {
	t.Parallel()
	const w, h = 90, 50
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 4)
	}
	text, err := SixelImage(img, false)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(strings.TrimSuffix(text, "\x1b\\"), "q")
	painted := map[image.Point]int{}
	at := image.Point{}
	for i := strings.IndexByte(body, '#'); i < len(body); i++ {
		n := 1
		switch body[i] {
		case '$':
			at.X = 0
			continue
		case '-':
			at.X, at.Y = 0, at.Y+6
			continue
		case '#':
			i += len(body[i+1:]) - len(strings.TrimLeft(body[i+1:], "0123456789;"))
			continue
		case '!':
			digits := body[i+1 : i+1+len(body[i+1:])-len(strings.TrimLeft(body[i+1:], "0123456789"))]
			if n, err = strconv.Atoi(digits); err != nil {
				t.Fatal(err)
			}
			i += 1 + len(digits)
		}
		for range n {
			for y := range 6 {
				if (body[i]-'?')>>y&1 == 1 {
					painted[at.Add(image.Pt(0, y))]++
				}
			}
			at.X++
		}
	}
	if len(painted) != w*h {
		t.Errorf("%d pixels are painted of %d", len(painted), w*h)
	}
	for p, n := range painted {
		if n != 1 || !p.In(img.Bounds()) {
			t.Fatalf("%v is painted %d times", p, n)
		}
	}
}
