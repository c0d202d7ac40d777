package ui_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/ui/uitest"
)

// byBytes says a text byte by byte, one each so often, after a thought if there is one.
func byBytes(thought, text string, every time.Duration) uitest.Answer {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		var parts []harness.Part
		for _, p := range []struct {
			text  string
			delta model.DeltaKind
			part  harness.PartKind
		}{{thought, model.DeltaThinking, harness.PartThinking}, {text, model.DeltaText, harness.PartText}} {
			for i := range len(p.text) {
				select {
				case <-time.After(every):
				case <-ctx.Done():
					return model.Reply{}, ctx.Err()
				}
				emit(model.Delta{Kind: p.delta, Text: p.text[i : i+1]})
			}
			if p.text != "" {
				parts = append(parts, harness.Part{Kind: p.part, Text: p.text})
			}
		}
		return model.Reply{Parts: parts, Stop: harness.StopEnd, Model: "test/parrot"}, nil
	}
}

// TestAnAnswerThatStreamsByteByByteIsThatOfItsReopening streams Markdown of every
// kind and looks after each byte: the view fits, the line of keys is where it is,
// and the finished chat is that of who opens it anew.
func TestAnAnswerThatStreamsByteByByteIsThatOfItsReopening(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sample.md", "nested.md"} {
		text, err := os.ReadFile(filepath.Join("render", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{20, 40, 80, 120} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				t.Parallel()
				in(t, func(t *testing.T, w *uitest.World) {
					w.Tell("talk", "Our talk", time.Now(), "hello", "hello 模板")
					w.Model.Then(byBytes("I *think*:\n\n- 模板 👩‍👩‍👧‍👦\n", string(text), time.Millisecond))
					const height = 400 // all of it is on the screen
					d := w.Open("talk", width, height)
					d.Press("ctrl+t").Type("go").Press("enter")
					for range len(text) + 100 {
						d.Wait(time.Millisecond)
						lines := d.Lines() // fails where one does not fit
						if len(lines) != height || !strings.Contains(lines[height-1], "^P palette") {
							t.Fatalf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
						}
					}
					d.Wait(time.Minute)
					streamed := d.Lines()
					if d.Press("ctrl+d"); !d.Quit() {
						t.Fatal("it does not end")
					}
					d = w.Open("talk", width, height)
					if reopened := d.Press("ctrl+t").Wait(time.Second).Lines(); !slices.Equal(reopened, streamed) {
						for i := range streamed {
							if streamed[i] != reopened[i] {
								t.Fatalf("line %d is %q, and opened anew %q\n%s", i, streamed[i], reopened[i], strings.Join(streamed, "\n"))
							}
						}
					}
				})
			})
		}
	}
}
