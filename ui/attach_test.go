package ui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/attach"
	files "cairn/ui/chat/attach"
	"cairn/ui/uitest"
)

// desk is a directory with some files in it.
func desk(t *testing.T) string {
	t.Helper()
	dir, long := t.TempDir(), time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	var pixels bytes.Buffer
	if err := png.Encode(&pixels, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"main.go": "package main\n", "cat.png": pixels.String(), "my cat.png": pixels.String(), "empty.txt": "",
		"import/row.go": "package row\n", "import/row_test.go": "package row_test\n", "import/deep/credit.go": "package deep\n",
		".gitignore": "*.log\n", "noise.log": "noise", "report.pdf": "%PDF-1.7\n1 0 obj <</Type /Page>> endobj\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// filesOf reads the files of a directory as the program does.
func filesOf(dir string) files.Files {
	f := attach.Files{Dir: dir}
	return files.Files{
		Look: func(ctx context.Context, path string) (files.Seen, error) {
			s, err := f.Look(ctx, path)
			return files.Seen(s), err
		},
		Read: f.Read, List: f.List, Bytes: attach.Bytes,
	}
}

// atDesk opens a chat beside some files.
func atDesk(w *uitest.World, dir string, width, height int) *uitest.Driver {
	d := w.Deps("talk", false)
	d.Files = filesOf(dir)
	return w.Start(d, width, height)
}

// last is the last message of the person as it is stored.
func last(t *testing.T, w *uitest.World) harness.Message {
	t.Helper()
	records, err := w.Store.Transcript().Tail(t.Context(), "talk", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Backward(records) {
		if r.Message != nil && r.Message.Role == harness.RoleUser {
			return *r.Message
		}
	}
	t.Fatal("nothing was sent")
	return harness.Message{}
}

func TestFilesAreChosenBehindAnAt(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("look at @").Shows("> import/", "  cat.png", "mention the file").Hides("noise.log", ".gitignore")
		d.Type("row").Shows("> import/row.go", "  import/row_test.go").Hides("cat.png")
		d.Press("down").Shows("> import/row_test.go").Press("up", "enter")
		d.Shows("> look at @import/row.go", "[text row.go 12 B]").Hides("row_test")
		d.Type("please").Press("enter").Wait(time.Second)
		if got := last(t, w).Text(); !strings.Contains(got, "look at @import/row.go please") {
			t.Errorf("sent %q", got)
		}
		if got := fmt.Sprint(last(t, w).Parts); !strings.Contains(got, "package row") {
			t.Errorf("the file is not in %s", got)
		}
		d.Shows("[text row.go 12 B]").Press("up").Shows("> look at @import/row.go please")
	})
}

func TestTheListOfFilesGoesIntoDirectoriesAndAway(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("@").Press("tab").Shows("> @import/", "  import/row.go", "> import/deep/").Type("deep/").Shows("> import/deep/credit.go")
		d.Press("esc").Hides("credit.go").Type("c").Hides("credit.go")
		d.Press("ctrl+u").Type("@nothing-like-this").Press("enter").Wait(time.Second)
		if got := last(t, w).Text(); got != "@nothing-like-this" {
			t.Errorf("sent %q", got)
		}
		d.Type("me@").Hides("import/")
	})
}

func TestAnImageIsSentAsOne(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("what is ").Paste(filepath.Join(dir, "my cat.png")).Shows(`my cat.png"`, "[image my cat.png 79 B 30x20]")
		d.Press("enter").Wait(time.Second)
		got := last(t, w)
		if n := len(got.Parts); n != 2 || got.Parts[1].File == nil || got.Parts[1].File.MediaType != "image/png" || got.Parts[1].File.Artifact == "" {
			t.Errorf("sent %+v", got.Parts)
		}
		d.Shows("[image my cat.png 79 B 30x20]")
	})
}

func TestPastedPathsAreFilesAndTextStaysText(t *testing.T) {
	dir := desk(t)
	cat, spaced := filepath.Join(dir, "cat.png"), filepath.Join(dir, "my cat.png")
	for _, c := range []struct{ name, paste, text string }{
		{"one", cat, "@" + cat + " "},
		{"with a line end", cat + "\r\n", "@" + cat + " "},
		{"escaped", strings.ReplaceAll(spaced, " ", `\ `), `@"` + spaced + `" `},
		{"quoted, two", "'" + cat + "' '" + spaced + "'", "@" + cat + ` @"` + spaced + `" `},
		{"urls", "file://" + cat + "\nfile://" + strings.ReplaceAll(spaced, " ", "%20"), "@" + cat + ` @"` + spaced + `" `},
		{"missing", filepath.Join(dir, "dog.png"), filepath.Join(dir, "dog.png")},
		{"one of two is missing", cat + " " + filepath.Join(dir, "dog.png"), cat + " " + filepath.Join(dir, "dog.png")},
		{"a directory", dir, dir},
		{"a sentence", "see " + cat, "see " + cat},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d := atDesk(w, dir, 300, 24)
				d.Type("see ").Paste(c.paste)
				for _, line := range strings.Split(strings.TrimSpace(c.text), "\n") {
					d.Shows(line)
				}
				d.Type("!").Press("enter").Wait(time.Second)
				if got := last(t, w).Text(); got != "see "+c.text+"!" {
					t.Errorf("sent %q, want %q", got, "see "+c.text+"!")
				}
			})
		})
	}
}

func TestAttachmentsAreTakenOut(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("/attach dog.png").Press("enter").Shows("there is no file dog.png", "> /attach dog.png")
		d.Press("ctrl+u").Type("/attach my cat.png").Press("enter").Shows(`> @"my cat.png"`, "[image my cat.png")
		d.Type("and @main.go now").Shows("[text main.go 13 B]")
		d.Press("ctrl+x", "d").Shows(`> @"my cat.png" and now`, "taken out: @main.go").Hides("[text")
		d.Press("ctrl+a", "backspace").Shows("> and now", "taken out: @my cat.png").Hides("[image")
		d.Press("ctrl+_").Shows("[image my cat.png")
	})
}

func TestAFileThatCannotBeSentRefusesTheMessageAndKeepsIt(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Deps("talk", false)
		d.Files = filesOf(dir)
		d.Files.Accepts = func(model, media string) error {
			if model == "test/parrot" && strings.HasPrefix(media, "image/") {
				return errors.New("test/parrot reads no images")
			}
			return nil
		}
		c := w.Start(d, 80, 24)
		c.Type("see @empty.txt").Shows("[empty.txt is empty]").Press("enter").Shows("not sent: empty.txt is empty", "> see @empty.txt")
		c.Press("ctrl+w").Type("@cat.png and @main.go").Press("enter").Wait(time.Second)
		c.Shows("not sent: cat.png: test/parrot reads no images", "> see @cat.png and @main.go", "[text main.go 13 B]")
		if n := len(asked(w)); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
		c.Type("/").Press("ctrl+u").Type("@report.pdf").Press("enter").Wait(time.Second).Shows("[document report.pdf 40 B 1 page]")
	})
}

func TestAFileThatChangedOrIsGoneIsTold(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("see @main.go").Shows("[text main.go 13 B]")
		change(t, filepath.Join(dir, "main.go"), "package other\n")
		d.Press("enter").Wait(time.Second).Shows("@main.go changed since you attached it: it is sent as it is now, text")
		d.Type("see @cat.png").Shows("[image cat.png")
		if err := os.Remove(filepath.Join(dir, "cat.png")); err != nil {
			t.Fatal(err)
		}
		d.Press("enter").Wait(time.Second).Shows("not sent: @cat.png is not there any more", "> see @cat.png").Hides("[image")
		d.Press("enter").Wait(time.Second)
		if got := last(t, w).Text(); got != "see @cat.png" {
			t.Errorf("sent %q", got)
		}
	})
}

func change(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADraftKeepsItsAttachments(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("compare @main.go, @cat.png and @import/row.go").Wait(2 * time.Second)
		d.Stop()
		w.Crash()
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "main.go"), later, later); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "import", "row.go")); err != nil {
			t.Fatal(err)
		}
		d = atDesk(w, dir, 120, 24)
		d.Shows("your draft is back", "@main.go changed since you wrote this", "@import/row.go is no file", "[text main.go", "[image cat.png")
		d.Hides("@cat.png changed", "row_test")
	})
}

func TestQueuedMessagesKeepTheirAttachments(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(5 * time.Second))
		d := atDesk(w, dir, 80, 24)
		d.Type("go").Press("enter").Wait(time.Second).Type("then @cat.png").Press("enter").Shows("queued 1")
		d.Type("and @empty.txt").Press("enter").Shows("queued 2").Wait(10 * time.Second)
		if got := last(t, w); len(got.Parts) != 2 || got.Parts[1].File == nil {
			t.Errorf("sent %+v", got.Parts)
		}
		d.Shows("not sent: empty.txt is empty", "queued 1").Press("alt+up").Shows("> and @empty.txt")
	})
}

func TestAnEditedMessageIsSentWithTheFilesAsTheyAreNow(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		d := atDesk(w, dir, 80, 24)
		d.Type("see @cat.png and @main.go").Press("enter").Wait(time.Second)
		change(t, filepath.Join(dir, "main.go"), "package other\n")
		if err := os.Remove(filepath.Join(dir, "cat.png")); err != nil {
			t.Fatal(err)
		}
		d.Press("ctrl+x", "E").Shows("> see @cat.png and @main.go").Type(" again").Press("enter").Wait(time.Second)
		got := last(t, w)
		text, images := "", 0
		for _, p := range got.Parts {
			text += p.Text
			if p.Kind == harness.PartFile {
				images++
			}
		}
		if images != 1 || !strings.Contains(text, "package other") || strings.Contains(text, "package main") {
			t.Errorf("sent %+v", got.Parts)
		}
		d.Shows("what was sent before is sent again")
		d.Type("/retry").Press("enter").Wait(time.Second)
		if n := len(last(t, w).Parts); n != len(got.Parts) {
			t.Errorf("asked again with %d parts, not %d", n, len(got.Parts))
		}
	})
}

func TestGoldenFiles(t *testing.T) {
	dir := desk(t)
	for _, s := range sizes {
		for name, show := range map[string]func(d *uitest.Driver){
			"files":    func(d *uitest.Driver) { d.Type("see @cat.png and @") },
			"attached": func(d *uitest.Driver) { d.Type("see @cat.png, @report.pdf, @main.go and @empty.txt") },
			"sent":     func(d *uitest.Driver) { d.Type("see @cat.png and @main.go").Press("enter").Wait(time.Second) },
		} {
			name := fmt.Sprintf("%s-%dx%d", name, s[0], s[1])
			t.Run(name, func(t *testing.T) {
				in(t, func(t *testing.T, w *uitest.World) {
					invoices(w)
					deps := w.Deps("q3", false)
					deps.Files = filesOf(dir)
					d := w.Start(deps, s[0], s[1])
					show(d)
					golden(t, name, strings.Join(d.Lines(), "\n")+"\n")
				})
			})
		}
	}
}

// TestRandomKeysAmongFiles types mentions, pastes paths and edits them in windows
// of all sizes. The driver fails when a view does not fit.
func TestRandomKeysAmongFiles(t *testing.T) {
	dir := desk(t)
	keys := []string{
		"@", "@", "@", "r", "o", "w", "/", ".", " ", "\"", "tab", "tab", "enter", "up", "down", "esc", "backspace", "backspace", "left", "right",
		"ctrl+a", "ctrl+e", "ctrl+w", "ctrl+u", "ctrl+y", "ctrl+_", "ctrl+n", "ctrl+p", "ctrl+x", "d", "e", "alt+up", "ctrl+r", "會", "ctrl+j",
	}
	texts := []string{
		filepath.Join(dir, "cat.png"), filepath.Join(dir, "my cat.png") + "\n", "@main.go @empty.txt", "@import/row.go,", "/attach main.go",
		"see @\x1b[2J.png", strings.Repeat("@main.go ", 300), "@" + strings.Repeat("x", 200),
	}
	for seed := range uint64(4) {
		in(t, func(t *testing.T, w *uitest.World) {
			r := rand.New(rand.NewPCG(seed, 2))
			d := atDesk(w, dir, 80, 24)
			for range 400 {
				switch r.IntN(14) {
				case 0:
					d.Paste(texts[r.IntN(len(texts))])
				case 1:
					d.Resize(r.IntN(130), r.IntN(45))
				case 2:
					d.Wait(time.Duration(r.IntN(800)) * time.Millisecond)
				default:
					d.Press(keys[r.IntN(len(keys))])
				}
				if strings.ContainsAny(d.Screen(), "\x1b\t\r") {
					t.Fatalf("a control character is drawn:\n%q", d.Screen())
				}
				if d.Quit() {
					d = atDesk(w, dir, 80, 24)
				}
			}
		})
	}
}
