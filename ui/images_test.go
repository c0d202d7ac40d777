package ui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui"
	files "cairn/ui/chat/attach"
	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// painting is an image that is red on its left and blue on its right.
func painting(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.NRGBA{R: 255, A: 255})
			if x >= w/2 {
				img.Set(x, y, color.NRGBA{B: 255, A: 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gallery is a session with images, and the parts of a window on it.
func gallery(t *testing.T, w *uitest.World, images ...harness.File) ui.Deps {
	t.Helper()
	s := harness.Session{ID: "talk", Title: "pictures"}
	var records []harness.Record
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, f := range images {
		msg := harness.UserText("what is in " + f.Name + "?")
		msg.Parts = append(msg.Parts, harness.Part{Kind: harness.PartFile, File: &images[i]})
		answer := harness.AssistantText("Two halves.")
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &msg, At: at}, harness.Record{Kind: harness.RecordMessage, Message: &answer, At: at})
	}
	w.Import(s, records)
	d := w.Deps("talk", false)
	d.Artifact = w.Store.Artifacts().Get
	return d
}

// drawn is a session in which a tool gave an image, and the parts of a window on it.
func drawn(t *testing.T, w *uitest.World, f harness.File) ui.Deps {
	t.Helper()
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	msgs := []harness.Message{
		harness.UserText("draw two halves"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "chart_draw", Input: []byte(`{"of":"halves"}`)}}}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Name: "chart_draw", Text: "drawn", Files: []harness.File{f}}}}},
		harness.AssistantText("There they are."),
	}
	var records []harness.Record
	for i := range msgs {
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &msgs[i], At: at})
	}
	w.Import(harness.Session{ID: "talk", Title: "charts"}, records)
	d := w.Deps("talk", false)
	d.Artifact = w.Store.Artifacts().Get
	return d
}

func TestTheImageOfAResultIsShownBelowItsCall(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(drawn(t, w, halves(t, "image 1", 400, 100)), 80, 24)
		d.Wait(time.Second).Shows("chart_draw", "[image image 1", "400x100", "There they are.")
		d.Send(kittyOf()).Wait(time.Second)
		if g := arrives(t, d, firstImage); isPainting(t, g.PNG) != image.Rect(0, 0, 400, 100) {
			t.Errorf("it fills %d x %d cells", g.Columns, g.Rows)
		}
		if n := strings.Count(d.Screen(), string(rune(0x10eeee))); n != 40*5 {
			t.Errorf("%d cells stand for it", n)
		}
		golden(t, "images-result", d.Model().View())
		d.Type("/image").Press("enter").Shows("image 1", "400x100")
	})
}

// halves is an image file of a size.
func halves(t *testing.T, name string, w, h int) harness.File {
	t.Helper()
	data := painting(t, w, h)
	return harness.File{Name: name, MediaType: "image/png", Size: int64(len(data)), Width: w, Height: h, Data: data}
}

// kittyOf are the abilities of a terminal that keeps images.
func kittyOf() screen.AbilitiesMsg {
	return screen.AbilitiesMsg{Answered: true, Name: "kitty(0.36.1)", Graphics: true, Images: screen.ProtocolKitty, CellWidth: 10, CellHeight: 20}
}

// arrives tells a window that the terminal has the image that it was given last.
func arrives(t *testing.T, d *uitest.Driver, id screen.ImageID) screen.Graphic {
	t.Helper()
	all := d.Graphics()
	if len(all) == 0 {
		t.Fatal("no image was sent")
	}
	g := all[len(all)-1]
	d.Send(screen.ImageMsg{Key: g.Key, ID: id})
	return g
}

// isPainting complains about bytes that are no such painting.
func isPainting(t *testing.T, data []byte) image.Rectangle {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	r, _, _, _ := img.At(b.Min.X, b.Min.Y).RGBA()
	_, _, blue, _ := img.At(b.Max.X-1, b.Max.Y-1).RGBA()
	if r < 0xe000 || blue < 0xe000 {
		t.Errorf("the terminal gets other colours: %x and %x", r, blue)
	}
	return b
}

const firstImage = screen.ImageID(7<<24 | 1)

func TestAnImageIsShownBelowItsNameWhereTheTerminalKeepsIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(gallery(t, w, halves(t, "shot.png", 400, 100)), 80, 24)
		d.Wait(time.Second).Shows("[image shot.png", "400x100]")
		if len(d.Graphics()) > 0 {
			t.Fatal("a terminal that said nothing is sent an image")
		}
		d.Send(kittyOf()).Wait(time.Second)
		if render.HasImage(d.Screen()) {
			t.Error("it is shown before the terminal has it")
		}
		g := arrives(t, d, firstImage)
		if g.Columns != 40 || g.Rows != 5 || isPainting(t, g.PNG) != image.Rect(0, 0, 400, 100) {
			t.Errorf("it fills %d x %d cells", g.Columns, g.Rows)
		}
		d.Shows("[image shot.png")
		if n := strings.Count(d.Screen(), string(rune(0x10eeee))); n != 40*5 {
			t.Errorf("%d cells stand for it", n)
		}
		golden(t, "images-kitty", d.Model().View())

		d.Send(screen.ImagesGoneMsg{All: true}).Wait(time.Second)
		if render.HasImage(d.Screen()) || len(d.Graphics()) != 2 {
			t.Errorf("after others had the terminal it was sent %d times", len(d.Graphics()))
		}
		arrives(t, d, firstImage+1)
		before := d.Updates()
		d.Wait(time.Minute)
		if n := len(d.Graphics()); n != 2 || d.Updates() > before {
			t.Errorf("while nothing happens it was sent %d times, with %d messages", n, d.Updates()-before)
		}

		d.Press("ctrl+x", "P").Shows("images are named only").Wait(time.Second)
		if render.HasImage(d.Screen()) {
			t.Error("it is shown though that was turned off")
		}
		d.Press("ctrl+x", "P").Shows("images are on: yes (kitty)")
		if !render.HasImage(d.Screen()) {
			t.Error("it is not shown again")
		}
	})
}

func TestImagesComeOneByOneAsTheyAreSeen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(gallery(t, w, halves(t, "a.png", 400, 300), halves(t, "b.png", 401, 300), halves(t, "c.png", 402, 300)), 80, 24)
		d.Send(kittyOf()).Wait(time.Second)
		for want := 1; want <= 2; want++ {
			if n := len(d.Graphics()); n > want {
				t.Fatalf("%d images are sent at once", n)
			}
			arrives(t, d, firstImage+screen.ImageID(want))
			d.Wait(time.Second)
		}
		before := len(d.Graphics())
		if before > 2 {
			t.Errorf("%d images are sent, of 2 that are seen", before)
		}
		d.Press("home").Wait(time.Second)
		if len(d.Graphics()) == before {
			t.Error("what is scrolled to is not sent")
		}
	})
}

// A view of more images than a terminal keeps, or of which others displace some there,
// does not have them sent again and again.
func TestImagesThatDisplaceOneAnotherComeToRest(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var all []harness.File
		for i := range 40 {
			all = append(all, halves(t, fmt.Sprintf("%d.png", i), 400+i, 10))
		}
		d := w.Start(gallery(t, w, all...), 80, 400)
		d.Send(kittyOf()).Wait(time.Second)
		told := 0
		for told < len(d.Graphics()) && told < 200 {
			told++
			d.Send(screen.ImageMsg{Key: d.Graphics()[told-1].Key, ID: firstImage + screen.ImageID(told)})
			if told > 5 {
				d.Send(screen.ImagesGoneMsg{IDs: []screen.ImageID{firstImage + screen.ImageID(told-5)}})
			}
			d.Wait(time.Second)
		}
		if told < 20 || told > 50 {
			t.Errorf("%d images are sent", told)
		}
		d.Send(screen.ImagesGoneMsg{All: true}).Wait(time.Second)
		if len(d.Graphics()) == told {
			t.Error("none is sent after others had the terminal")
		}
	})
}

func TestWhatCannotBeShownIsNamedWithTheReason(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		whole := halves(t, "cut.png", 40, 40)
		whole.Data = whole.Data[:len(whole.Data)/2]
		d := w.Start(gallery(t, w,
			harness.File{Name: "page.png", MediaType: "image/png", Data: []byte("<html>\x1b[2J"), Width: 30, Height: 30}, whole,
			harness.File{Name: "odd\x1b]0;x\a\u202e.jpg", MediaType: "image/jpeg", Data: painting(t, 20, 20)}), 80, 40)
		d.Send(kittyOf()).Wait(time.Second)
		d.Shows("[image page.png", "not shown: It is no PNG, JPEG, GIF or WebP image.", "[image cut.png", "not shown: It is a damaged PNG image")
		g := arrives(t, d, firstImage) // by its bytes, though it is called otherwise and tells no size
		if g.Columns != 2 || g.Rows != 1 || !render.HasImage(d.Screen()) {
			t.Errorf("%d x %d cells:\n%s", g.Columns, g.Rows, d.Screen())
		}
		golden(t, "images-refused", d.Screen())
	})
}

func TestImagesAreNamedOnlyInASCII(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		deps := gallery(t, w, halves(t, "shot.png", 400, 100))
		deps.Theme = func(dark bool) *themes.Theme {
			th, err := themes.Load("", dark, themes.Options{Profile: themes.TrueColor, ASCII: true})
			if err != nil {
				t.Fatal(err)
			}
			return th
		}
		d := w.Start(deps, 80, 24)
		d.Send(kittyOf()).Wait(time.Second).Shows("[image shot.png")
		d.Press("ctrl+x", "I").Wait(time.Second).Shows("This terminal shows no images")
		if len(d.Graphics()) > 0 {
			t.Error("an image is sent")
		}
	})
}

// pictured is what is painted over the screen.
func pictured(d *uitest.Driver) screen.Picture { return d.Model().(screen.Pictured).Picture() }

func TestAnImageIsLookedAtAlone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(gallery(t, w, halves(t, "a.png", 400, 100), halves(t, "b.png", 100, 400)), 80, 24)
		able := screen.AbilitiesMsg{Answered: true, Name: "iTerm2 3.5", Images: screen.ProtocolITerm, CellWidth: 10, CellHeight: 20}
		d.Send(able).Type("/image 2").Press("enter").Wait(time.Second).Shows("Image · image a.png", "1 of 2")
		p := pictured(d)
		if p.X != 20 || p.Y != 2 || !strings.HasPrefix(p.Sequence, "\x1b]1337;File=size=") {
			t.Fatalf("at %d, %d is %.60q", p.X, p.Y, p.Sequence)
		}
		_, body, _ := strings.Cut(strings.TrimSuffix(p.Sequence, "\a"), ":")
		data, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		isPainting(t, data)
		for y, l := range d.Lines()[p.Y : p.Y+5] {
			if l != "" {
				t.Errorf("row %d below the image says %q", y, l)
			}
		}
		if d.Press("f1"); pictured(d).Key != "" {
			t.Error("it is painted over the help")
		}
		if d.Press("esc"); pictured(d).Key != p.Key {
			t.Error("it is gone with the help")
		}
		d.Press("right").Wait(time.Second).Shows("b.png", "2 of 2")
		if q := pictured(d); q.Key == p.Key || !strings.Contains(q.Sequence, ";width=10;height=19;") {
			t.Errorf("the next one is %.90q", q.Sequence)
		}
		d.Resize(40, 10).Wait(time.Second)
		if q := pictured(d); !strings.Contains(q.Sequence, ";width=4;height=7;") {
			t.Errorf("in a small window it is %.90q", q.Sequence)
		}
		d.Press("esc").Hides("Image ·")
		if pictured(d).Key != "" {
			t.Error("it is painted after all")
		}
		d.Type("/image 3").Press("enter").Shows("there are only 2 images here")
		d.Type("/image x").Press("enter").Shows("/image 2 shows the image before the last")
	})
}

func TestAnImageIsSavedWhereItCannotBeShown(t *testing.T) {
	dir := t.TempDir()
	in(t, func(t *testing.T, w *uitest.World) {
		f := halves(t, "../../etc/shot.jpg", 40, 40)
		deps := gallery(t, w, f)
		deps.Dir = dir
		d := w.Start(deps, 60, 12)
		d.Press("tab", "k", "v").Wait(time.Second).Shows("PNG image, 40 x 40 pixels", "This terminal shows no images", "s saves it to a file.")
		golden(t, "images-named", d.Screen())
		d.Press("s").Wait(time.Second).Shows("saved as").Press("s").Wait(time.Second)
		d.Press("o").Shows("there is no display")
		// The terminal answers late.
		d.Send(screen.AbilitiesMsg{Answered: true, Images: screen.ProtocolSixel, CellWidth: 10, CellHeight: 20}).Wait(time.Second).Hides("shows no images")
		if p := pictured(d); !strings.HasPrefix(p.Sequence, "\x1bP0;1q\"1;1;40;40") {
			t.Errorf("it is painted with %.60q", p.Sequence)
		}
		for _, name := range []string{"shot.png", "shot-2.png"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(data, f.Data) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAnImageAloneIsMadeOfCellsWhereTheTerminalKeepsIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Start(gallery(t, w, halves(t, "a.png", 4000, 1000)), 80, 24)
		d.Send(kittyOf()).Wait(time.Second)
		arrives(t, d, firstImage)
		d.Press("ctrl+x", "I").Wait(time.Second).Shows("reading…")
		g := arrives(t, d, firstImage+1)
		if g.Columns != 78 || g.Rows != 10 {
			t.Errorf("it fills %d x %d cells", g.Columns, g.Rows)
		}
		if n := strings.Count(d.Screen(), string(rune(0x10eeee))); n != 780 {
			t.Errorf("%d cells stand for it", n)
		}
		d.Send(screen.ImagesGoneMsg{IDs: []screen.ImageID{firstImage + 1}}).Wait(time.Second)
		if arrives(t, d, firstImage+2); !render.HasImage(d.Screen()) {
			t.Error("it does not come back")
		}
		d.Send(tea.WindowSizeMsg{Width: 40, Height: 10}).Wait(time.Second)
		if g = d.Graphics()[len(d.Graphics())-1]; g.Columns > 38 {
			t.Errorf("in a small window it fills %d columns", g.Columns)
		}
	})
}

// pictures are sights of a chat in which an image was sent.
func pictures() []sight {
	with := func(d *ui.Deps) {
		look := d.Files.Look
		d.Files.Look = func(ctx context.Context, path string) (files.Seen, error) {
			if path != "cat.png" {
				return look(ctx, path)
			}
			return files.Seen{File: harness.File{Name: "cat " + short + ".png", MediaType: "image/png", Width: 300, Height: 200}}, nil
		}
		d.Files.Read = func(context.Context, string) (harness.Part, error) {
			img := image.NewGray(image.Rect(0, 0, 300, 200))
			var b bytes.Buffer
			err := png.Encode(&b, img)
			return harness.Part{Kind: harness.PartFile, File: &harness.File{
				Name: "cat " + short + ".png", MediaType: "image/png", Width: 300, Height: 200, Size: int64(b.Len()), Data: b.Bytes(),
			}}, err
		}
	}
	sends := func(d *uitest.Driver) *uitest.Driver {
		return d.Paste("see @cat.png ").Press("enter").Wait(5 * time.Second)
	}
	comes := func(d *uitest.Driver) {
		for i, g := range d.Graphics() {
			d.Send(screen.ImageMsg{Key: g.Key, ID: firstImage + screen.ImageID(i)}).Wait(time.Second)
		}
	}
	return []sight{
		{name: "image-named", with: with, open: func(_ *uitest.World, d *uitest.Driver) {
			sends(d).Press("ctrl+x", "I").Wait(time.Second)
		}},
		{name: "image", with: with, open: func(_ *uitest.World, d *uitest.Driver) {
			comes(sends(d).Send(kittyOf()).Wait(time.Second))
		}},
		{name: "image-alone", with: with, open: func(_ *uitest.World, d *uitest.Driver) {
			comes(sends(d).Send(kittyOf()).Press("ctrl+x", "I").Wait(time.Second))
		}},
	}
}
