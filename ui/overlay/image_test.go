package overlay

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/screen"
)

// dot is an image of some pixels.
func dot(tb testing.TB, w, h int) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// item is an image whose bytes are at hand.
func item(name string, data []byte) ImageItem {
	return ImageItem{Name: name, Words: "image " + name, Load: func(context.Context) ([]byte, error) { return data, nil }}
}

// looked opens images and answers what the overlay asks for.
func looked(t *testing.T, c ImageConfig, width, height int) Image {
	t.Helper()
	th, err := themes.Load("", true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Theme = th
	i, cmd := NewImage(t.Context(), c).Open()
	i, _, _ = i.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return doing(t, i, cmd)
}

// doing carries out commands to their end.
func doing(t *testing.T, i Image, cmd tea.Cmd) Image {
	t.Helper()
	for cmd != nil {
		i, cmd, _ = i.Update(cmd())
	}
	return i
}

func pressing(t *testing.T, i Image, key string) Image {
	t.Helper()
	i, cmd, _ := i.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)})
	return doing(t, i, cmd)
}

func TestAnImageOpensInAnotherProgramFromACopyOfItsOwn(t *testing.T) {
	t.Parallel()
	data, shelf, given := dot(t, 9, 9), &Shelf{}, ""
	c := ImageConfig{
		Items: []ImageItem{item("-x; rm -rf $HOME\n.exe", data)}, Shelf: shelf, Dir: t.TempDir(),
		Browse: func(_ context.Context, path string) error {
			given = path
			return nil
		},
	}
	i := pressing(t, looked(t, c, 60, 10), "o")
	if !strings.Contains(i.View(60, 10), "given to another program") {
		t.Error(ansi.Strip(i.View(60, 10)))
	}
	info, err := os.Stat(given)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Base(given) != "x_ rm -rf _HOME_.png" {
		t.Errorf("it is given %q, %v, %v", given, info, err)
	}
	if dir, err := os.Stat(filepath.Dir(given)); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("in %v, %v", dir, err)
	}
	if err := shelf.Clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(given)); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
	if err := shelf.Clear(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoImageIsNeitherOpenedNorSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := ImageConfig{
		Items: []ImageItem{item("x.png", []byte("#!/bin/sh\n"))}, Shelf: &Shelf{}, Dir: dir,
		Browse: func(context.Context, string) error {
			t.Error("it is opened")
			return nil
		},
	}
	i := pressing(t, pressing(t, looked(t, c, 60, 10), "s"), "o")
	if got := ansi.Strip(i.View(60, 10)); !strings.Contains(got, "This image is not shown: it is no PNG") {
		t.Error(got)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("it is saved as %v, %v", files, err)
	}
}

func TestNoNameLeadsOutOfTheDirectory(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"shot.png": "shot", "../../etc/passwd": "passwd", `..\..\boot.ini`: "boot", "": "image", "...": "image", "/": "image", "a\x1b[2J\u202eb.png": "a__2J_b",
		"日本.jpeg": "日本", "-rf": "rf", ".bashrc": "image", "~/x": "x", "a\x00b": "a_b", "c:\\con.png": "con", "a\xffb.png": "a_b",
	} {
		if got := stemOf(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := stemOf(rapid.String().Draw(t, "name"))
		if got == "" || len(got) > nameMax || !utf8.ValidString(got) || filepath.Base(got) != got || strings.ContainsAny(got, "/\\\x00\n\x1b") || strings.HasPrefix(got, ".") {
			t.Fatalf("it is %q", got)
		}
	})
}

func TestNothingIsWrittenOver(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(outside, filepath.Join(dir, "a.png")); err != nil {
		t.Skip(err)
	}
	for _, want := range []string{"a-2.png", "a-3.png"} {
		path, err := writeNew(dir, "a.png", "png", []byte("x"))
		if err != nil || filepath.Base(path) != want {
			t.Errorf("it is %q, %v", path, err)
		}
	}
	if _, err := os.Stat(outside); !os.IsNotExist(err) {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestASixelImageStaysWithinItsCellsOnATerminalThatTellsNoSize(t *testing.T) {
	t.Parallel()
	i := looked(t, ImageConfig{Items: []ImageItem{item("x.png", dot(t, 500, 500))}, How: ImageHow{Protocol: screen.ProtocolSixel}}, 40, 12)
	p := i.Picture()
	if p.Key == "" || !strings.HasPrefix(p.Sequence, "\x1bP0;1q\"1;1;") {
		t.Fatalf("it is %.60q", p.Sequence)
	}
	size, _, _ := strings.Cut(strings.TrimPrefix(p.Sequence, "\x1bP0;1q\"1;1;"), "#")
	if size != "90;90" { // nine rows of the smallest cells
		t.Errorf("it is %s pixels large", size)
	}
}

func TestAnImageThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	bad := ImageItem{Name: "x", Words: "image x", Load: func(context.Context) ([]byte, error) { return nil, errors.New("the store is gone") }}
	i := looked(t, ImageConfig{Items: []ImageItem{bad, item("y.png", dot(t, 4, 4))}, How: ImageHow{Protocol: screen.ProtocolITerm}}, 60, 10)
	if got := ansi.Strip(i.View(60, 10)); !strings.Contains(got, "not shown: read the image: the store is gone") {
		t.Error(got)
	}
	if i = pressing(t, i, "n"); i.Picture().Key == "" {
		t.Errorf("the next one is not shown: %s", ansi.Strip(i.View(60, 10)))
	}
}

func TestTheImageFitsAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		width, height := rapid.IntRange(0, 60).Draw(rt, "width"), rapid.IntRange(0, 20).Draw(rt, "height")
		how := screen.Protocol(rapid.IntRange(0, 3).Draw(rt, "how"))
		w, h := rapid.IntRange(1, 300).Draw(rt, "w"), rapid.IntRange(1, 300).Draw(rt, "h")
		i := looked(t, ImageConfig{Items: []ImageItem{item("x\x1b[2J.png", dot(t, w, h))}, How: ImageHow{Protocol: how}}, width, height)
		lines := strings.Split(i.View(width, height), "\n")
		if height > 0 && len(lines) != height {
			rt.Fatalf("%d lines in %d", len(lines), height)
		}
		p := i.Picture()
		if p.Key != "" && (p.X < 0 || p.Y < 1 || p.X+i.cells.Columns > width || p.Y+i.cells.Rows > height-1) {
			rt.Fatalf("%d columns and %d rows are painted at %d, %d in %d x %d", i.cells.Columns, i.cells.Rows, p.X, p.Y, width, height)
		}
	})
}
