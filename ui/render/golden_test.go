package render

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func testMarkdown(tb testing.TB, name string, o themes.Options) *Markdown {
	tb.Helper()
	th, err := themes.Load(name, true, o)
	if err != nil {
		tb.Fatal(err)
	}
	return NewMarkdown(th)
}

// TestGolden compares the sample document, without its styles, with what was
// looked at and found right.
func TestGolden(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{40, 80} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			m := testMarkdown(t, "dark", themes.Options{})
			got := ansi.Strip(strings.Join(m.Message(string(sample), width), "\n")) + "\n"
			file := filepath.Join("testdata", fmt.Sprintf("sample.%d.golden", width))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("width %d differs from %s; got:\n%s", width, file, got)
			}
		})
	}
}
