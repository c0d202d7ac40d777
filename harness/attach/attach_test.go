package attach_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/attach"
)

// picture is an image of a format.
func picture(t *testing.T, format string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	gray := image.NewGray(image.Rect(0, 0, width, height))
	switch format {
	case "png":
		err = png.Encode(&b, gray)
	case "jpeg":
		err = jpeg.Encode(&b, gray, nil)
	case "gif":
		err = gif.Encode(&b, gray, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp is the header of a WebP image, with some bytes behind it.
func webp(chunk string, body ...byte) []byte {
	body = append(body, make([]byte, 20)...)
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(body)+12))
	return append(b, body...)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

const pdf = "%PDF-1.7\n1 0 obj <</Type /Pages /Count 2>> endobj 2 0 obj <</Type/Page>> endobj 3 0 obj <<\n/Type\n/Page/Parent 1 0 R>> endobj\n"

func TestAFileIsWhatItHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want harness.File
	}{
		"photo.txt":   {picture(t, "png", 30, 20), harness.File{MediaType: "image/png", Width: 30, Height: 20}},
		"photo.png":   {picture(t, "jpeg", 33, 21), harness.File{MediaType: "image/jpeg", Width: 33, Height: 21}},
		"moving":      {picture(t, "gif", 12, 9), harness.File{MediaType: "image/gif", Width: 12, Height: 9}},
		"lossy.webp":  {webp("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x41, 0xf0, 0x00), harness.File{MediaType: "image/webp", Width: 320, Height: 240}},
		"sharp.webp":  {webp("VP8L", 0x2f, 0x3f, 0xc1, 0x3b, 0x00), harness.File{MediaType: "image/webp", Width: 320, Height: 240}},
		"extra.webp":  {webp("VP8X", 0, 0, 0, 0, 0x3f, 0x01, 0x00, 0xef, 0x00, 0x00), harness.File{MediaType: "image/webp", Width: 320, Height: 240}},
		"report":      {[]byte(pdf), harness.File{MediaType: "application/pdf", Pages: 2}},
		"packed.pdf":  {[]byte("%PDF-1.7\n1 0 obj <</Linearized 1/L 100/N 12/T 9>> endobj stream"), harness.File{MediaType: "application/pdf", Pages: 12}},
		"unknown.pdf": {[]byte("%PDF-1.7\n1 0 obj stream /Encrypt ion"), harness.File{MediaType: "application/pdf"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), c.data)
			part, err := attach.Files{Dir: dir}.Read(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Name, c.want.Size = name, int64(len(c.data))
			got := *part.File
			got.Data = nil
			if part.Kind != harness.PartFile || fmt.Sprint(got) != fmt.Sprint(c.want) || !bytes.Equal(part.File.Data, c.data) {
				t.Errorf("it is %s %+v, want %+v", part.Kind, got, c.want)
			}
			seen, err := attach.Files{Dir: dir}.Look(t.Context(), name)
			if err != nil || fmt.Sprint(seen.File) != fmt.Sprint(c.want) || seen.Text || seen.Modified.IsZero() {
				t.Errorf("it looks like %+v, %v", seen, err)
			}
			same, err := attach.Bytes(name, c.data)
			if err != nil || fmt.Sprint(*same.File) != fmt.Sprint(*part.File) {
				t.Errorf("its bytes are %+v, %v", same.File, err)
			}
		})
	}
}

func TestTextIsFencedAndNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a b.go"), []byte("\ufeffpackage é // ```\n"))
	write(t, filepath.Join(dir, "vector.svg"), []byte("<svg></svg>"))
	write(t, filepath.Join(dir, "bell"), []byte("\x1b[2J\a"))
	write(t, filepath.Join(dir, "a\x1b\u202e\u009b\n2J"), []byte("odd"))
	for name, want := range map[string]string{
		"a b.go":     "a b.go:\n```go\npackage é // ```\n```",
		"vector.svg": "vector.svg:\n```svg\n<svg></svg>\n```",
		"bell":       "bell:\n```\n\x1b[2J\a\n```",
	} {
		part, err := attach.Files{Dir: dir}.Read(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if part.Kind != harness.PartText || part.Text != want || part.File.Name != name || part.File.MediaType != "text/plain" || part.File.Data != nil {
			t.Errorf("%s is %q with %+v", name, part.Text, part.File)
		}
		seen, err := attach.Files{Dir: dir}.Look(t.Context(), name)
		if err != nil || !seen.Text || seen.File.Size == 0 {
			t.Errorf("%s looks like %+v, %v", name, seen, err)
		}
	}
	// No name of a file drives or turns round what shows it.
	part, err := attach.Files{Dir: dir}.Read(t.Context(), "a\x1b\u202e\u009b\n2J")
	if err != nil || part.File.Name != "a 2J" || part.Text != "a 2J:\n```\nodd\n```" {
		t.Errorf("it is %q with %+v, %v", part.Text, part.File, err)
	}
}

// A fence is longer than any in the text, so that the text cannot leave it.
func TestNoTextLeavesItsFence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"plain":       {"a.go", "x\n", "a.go:\n```go\nx\n```"},
		"no newline":  {"a.go", "x", "a.go:\n```go\nx\n```"},
		"empty":       {"a", "", "a:\n```\n```"},
		"with fences": {"a.md", "````\nx\n  ````\n", "a.md:\n`````md\n````\nx\n  ````\n`````"},
		"odd name":    {"a\n```.`x", "y\n", "a ```.`x:\n```\ny\n```"},
	} {
		if got := attach.Fenced(c.file, c.text); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestFilesAreFoundWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "docs", "a.md"), []byte("here"))
	write(t, filepath.Join(home, "b.md"), []byte("home"))
	write(t, filepath.Join(dir, "~odd"), []byte("odd"))
	f := attach.Files{Dir: dir, Home: home}
	for name, want := range map[string]string{
		"docs/a.md": "here", "./docs/../docs/a.md": "here", "~/b.md": "home", "~odd": "odd", filepath.Join(home, "b.md"): "home",
		filepath.Join("..", filepath.Base(dir), "~odd"): "odd",
	} {
		part, err := f.Read(t.Context(), name)
		if err != nil || !strings.Contains(part.Text, want) || strings.Contains(part.Text, dir) {
			t.Errorf("%s is %q, %v", name, part.Text, err)
		}
	}
}

func TestWhatIsNotAttachedIsSaidInOneSentence(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for name, data := range map[string]string{
		"empty": "", "zero": "a\x00b", "zip": "PK\x03\x04\x00\x00", "latin": "caf\xe9", "wide": "\xff\xfeh\x00i\x00",
		"bmp": "BM\x00\x00\x00\x00", "broken.png": "\x89PNG\r\n\x1a\n\x00\x00", "flat.webp": string(webp("VP8X", 0, 0, 0, 0)[:24]), "locked.pdf": pdf + "trailer <</Encrypt 4 0 R>>",
		".env": "KEY=1", "keys/id_rsa": "-", "long.txt": strings.Repeat("é", attach.MaxText+1), "longer.txt": strings.Repeat("x", 4*attach.MaxText+1),
		"big.gif": "GIF89a" + strings.Repeat("\x00", attach.MaxImage), "big.pdf": "%PDF-1.7\n" + strings.Repeat("\x00", attach.MaxDocument),
		"large.gif": "GIF89a\x41\x1f\x01\x00\x00\x00\x00", "good.txt": "good",
	} {
		write(t, filepath.Join(dir, name), []byte(data))
	}
	write(t, filepath.Join(outside, "secret plans.txt"), []byte("plans"))
	write(t, filepath.Join(outside, ".npmrc"), []byte("token"))
	for from, to := range map[string]string{
		"link": "good.txt", "gone": "nothing", "loop": "loop", "out": filepath.Join(outside, "secret plans.txt"), "innocent.txt": ".env",
	} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink(".npmrc", filepath.Join(outside, "harmless")); err != nil {
		t.Fatal(err)
	}
	f := attach.Files{Dir: dir}
	for name, c := range map[string]struct {
		want    string
		missing bool
	}{
		"":                        {"is no name of a file", true},
		"a\x00b":                  {"is no name of a file", true},
		"missing":                 {"does not exist", true},
		"good.txt/more":           {"does not exist", true},
		strings.Repeat("n", 5000): {"does not exist", true},
		"keys":                    {"is a directory; name the files in it", true},
		"gone":                    {"is a link to nothing", true},
		"loop":                    {"cannot be read: ", false},
		"out":                     {"is a link that leads out of this directory", false},
		"innocent.txt":            {"where keys and passwords are usually kept", false},
		outside + "/harmless":     {"where keys and passwords are usually kept", false},
		".env":                    {"where keys and passwords are usually kept", false},
		"keys/id_rsa":             {"where keys and passwords are usually kept", false},
		"empty":                   {"is empty", false},
		"zero":                    {"is not text; text, PNG, JPEG", false},
		"zip":                     {"is not text but application/zip; text, PNG", false},
		"bmp":                     {"is not text but image/bmp", false},
		"latin":                   {"is not UTF-8 text: the byte at offset 3", false},
		"wide":                    {"is UTF-16 text; save it as UTF-8", false},
		"broken.png":              {"begins like a PNG image and is none, or it is damaged", false},
		"flat.webp":               {"begins like a WebP image and is none, or it is damaged", false},
		"large.gif":               {"is 8001 × 1 pixels large and models take at most 8000", false},
		"locked.pdf":              {"is a PDF that is locked with a password", false},
		"long.txt":                {"has 200001 characters and at most 200000 can be attached; give a part", false},
		"longer.txt":              {"has more than 200000 characters, which are the most", false},
		"big.gif":                 {"is a GIF image of 3.8 MB and at most 3.7 MB can be attached; make it smaller", false},
		"big.pdf":                 {"is a PDF of 22.1 MB and at most 22 MB can be attached; give the pages", false},
	} {
		for what, read := range map[string]func() error{
			"read": func() error { _, err := f.Read(t.Context(), name); return err },
			"look": func() error { _, err := f.Look(t.Context(), name); return err },
		} {
			err := read()
			var one *attach.Error
			if !errors.As(err, &one) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %.60q: %v", what, name, err)
			}
			if errors.Is(err, fs.ErrNotExist) != c.missing {
				t.Errorf("%s %.60q: missing is %t", what, name, !c.missing)
			}
		}
	}
	if part, err := f.Read(t.Context(), "link"); err != nil || !strings.HasPrefix(part.Text, "link:\n") {
		t.Errorf("a link within the directory: %q, %v", part.Text, err)
	}
	if part, err := f.Read(t.Context(), filepath.Join(outside, "secret plans.txt")); err != nil || !strings.Contains(part.Text, "plans") {
		t.Errorf("a file elsewhere: %q, %v", part.Text, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := f.Read(stopped, "good.txt"); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped reading says %v", err)
	}
}

// Half an image would be refused in each request of its conversation.
func TestHalfAnImageIsNotAttached(t *testing.T) {
	t.Parallel()
	thumb := picture(t, "jpeg", 3, 2)
	photo := picture(t, "jpeg", 200, 100)
	// A header may have a small image in it, which is whole.
	head := append([]byte{0xff, 0xd8, 0xff, 0xe1, byte((len(thumb) + 2) >> 8), byte(len(thumb) + 2)}, thumb...)
	for name, data := range map[string][]byte{
		"a.png": picture(t, "png", 300, 200), "a.jpeg": photo, "thumb.jpeg": append(head, photo[2:]...), "a.webp": webp("VP8L", 0x2f, 0x3f, 0xc1, 0x3b, 0x00),
	} {
		if _, err := attach.Bytes(name, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := attach.Bytes(name, append(slices.Clone(data), "trailing"...)); err != nil {
			t.Errorf("%s with something behind it: %v", name, err)
		}
		for _, cut := range []int{1, 2, 3, 9, 13} {
			if _, err := attach.Bytes(name, data[:len(data)-cut]); err == nil || !strings.Contains(err.Error(), "cut short or damaged") {
				t.Errorf("%s without its last %d bytes: %v", name, cut, err)
			}
		}
	}
	flipped := picture(t, "png", 300, 200)
	flipped[len(flipped)-20] ^= 1
	if _, err := attach.Bytes("a.png", flipped); err == nil || !strings.Contains(err.Error(), "cut short or damaged") {
		t.Errorf("a flipped bit: %v", err)
	}
}

func TestFilesAreListedForAChoice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"z.md", "a/b/c.go", "a/x.go", "a/junk.o", "build/out", ".git/config", ".env", "cat pic.png"} {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	write(t, filepath.Join(dir, ".gitignore"), []byte("build/\n*.o\n"))
	outside := t.TempDir()
	write(t, filepath.Join(outside, "there/deep"), []byte("x"))
	f := attach.Files{Dir: dir, Home: outside}
	for name, c := range map[string]struct {
		dir  string
		deep bool
		want []string
	}{
		"all":           {"", true, []string{".gitignore", "a/", "cat pic.png", "z.md", "a/b/", "a/x.go", "a/b/c.go"}},
		"here":          {"", false, []string{".gitignore", "a/", "cat pic.png", "z.md"}},
		"below":         {"a/", true, []string{"b/", "x.go", "b/c.go"}},
		"of the home":   {"~/", false, []string{"there/"}},
		"elsewhere":     {outside + "/there/", true, []string{"deep"}},
		"what is empty": {"a/b/../b/", false, []string{"c.go"}},
	} {
		got, more, err := f.List(t.Context(), c.dir, c.deep)
		if err != nil || more || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, more %t, %v", name, got, more, err)
		}
	}
	for _, wrong := range []string{"nowhere/", "z.md/"} {
		if got, _, err := f.List(t.Context(), wrong, true); err == nil {
			t.Errorf("%s lists %v", wrong, got)
		}
	}
}

// Whatever a file holds, it becomes valid input within the bounds, or is refused.
func FuzzBytes(f *testing.F) {
	f.Add("a.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"))
	f.Add("a.webp", webp("VP8L", 0x2f, 0x3f, 0xc1, 0x3b, 0x00))
	f.Add("a.pdf", []byte(pdf+"/Encrypt 1 0 R /Linearized /N 99999999999999"))
	f.Add("a\x1b[2J\n.md", []byte("````\n```"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		part, err := attach.Bytes(name, data)
		if err != nil {
			return
		}
		file := part.File
		if strings.ContainsAny(file.Name, "\x1b\n\r\x00") || !utf8.ValidString(file.Name) || !utf8.ValidString(part.Text) {
			t.Errorf("the name is %q, the text %q", file.Name, part.Text)
		}
		image := strings.HasPrefix(file.MediaType, "image/")
		if image != (file.Width > 0) || image != (file.Height > 0) || file.Pages < 0 || file.Size != int64(len(data)) {
			t.Errorf("it is %+v", file)
		}
		if (part.Kind == harness.PartText) != (file.MediaType == "text/plain") {
			t.Errorf("a %s is %s", file.MediaType, part.Kind)
		}
	})
}
