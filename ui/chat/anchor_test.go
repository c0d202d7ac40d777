package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// prose is a source of texts that are wrapped to a width, as messages are.
type prose struct {
	texts []string
	width int
}

func (p prose) lines(i int) []string {
	if i >= len(p.texts) {
		return nil
	}
	out := []string{""}
	for at := 0; at < len(p.texts[i]); at += p.width {
		out = append(out, p.texts[i][at:min(at+p.width, len(p.texts[i]))])
	}
	return out
}

func TestALineIsFoundAgainByItsTextAtAnotherWidth(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 300 {
		text += fmt.Sprintf("w%03d", i)
	}
	wide, narrow := prose{[]string{text}, 80}.lines(0), prose{[]string{text}, 40}.lines(0)
	for n := 1; n < len(wide); n++ {
		at := lineWith(narrow, textBefore(wide[:n]))
		if !strings.HasPrefix(wide[n], narrow[at]) {
			t.Errorf("line %d became %q, which it does not begin with: %q", n, narrow[at], wide[n])
		}
	}
}

func TestTheSameLineIsFoundInAnotherLayout(t *testing.T) {
	t.Parallel()
	was := []string{"", "cairn", "a text", "tool", "  input", "  result", "end"}
	is := []string{"", "cairn", "a text", "tool", "end"}
	for n, want := range []int{0, 1, 2, 3, 3, 3, 4} {
		if got := sameLine(was, is, n); got != want {
			t.Errorf("line %d became %d, not %d", n, got, want)
		}
	}
	twice := []string{"", "x", "same", "y", "same"}
	if got := sameLine(twice, twice, 4); got != 4 {
		t.Errorf("the second of two lines that say the same became line %d", got)
	}
}

func TestAMessageIsReachedRevealedAndHeld(t *testing.T) {
	t.Parallel()
	p := pages{follow: true, whole: true}
	p.merge(records(1, 60), 60)
	src := lengths{p: &p}
	const h = 10
	all := src.all()
	for i := range p.items {
		p.reach(src, i, h)
		if p.follow {
			t.Fatalf("item %d: the end is followed", i)
		}
		if n := len(src.lines(i)); n > 0 {
			if _, ok := p.row(src, place{i, n - 1}, h); !ok {
				t.Errorf("item %d is not whole in the window", i)
			}
		}
		if got := p.window(src, h); len(got) != h {
			t.Errorf("item %d: %d lines in a window of %d", i, len(got), h)
		}
	}
	for i := len(p.items) - 1; i >= 0; i-- {
		for line := range src.lines(i) {
			p.reveal(src, place{i, line}, h)
			if row, ok := p.row(src, place{i, line}, h); !ok || p.window(src, h)[row] != src.lines(i)[line] {
				t.Errorf("line %d of item %d is not in row %d", line, i, row)
			}
		}
	}
	p.follow = true
	p.hold(src, h)
	if got := p.window(src, h); p.follow || strings.Join(got, "\n") != strings.Join(all[len(all)-h:], "\n") {
		t.Errorf("held at %q", got)
	}
}

func TestDurationsAreTold(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "", -3: "", 0.01: "0.1 s", 4.2: "4.2 s", 75: "1 min 15 s", 3725: "1 h 2 min"} {
		if got := span(secs(seconds)); got != want {
			t.Errorf("%v seconds: %q, not %q", seconds, got, want)
		}
	}
}

func TestWhatIsSaidIsCopiedAsItWasWritten(t *testing.T) {
	t.Parallel()
	user, answer, more := harness.UserText("a\nb"), harness.AssistantText("**c**\n"), harness.AssistantText("d")
	got := spokenText([]harness.Record{{Message: &user}, {Kind: harness.RecordReset}, {Message: &answer}, {Message: &more}})
	if want := "you:\n\na\nb\n\ncairn:\n\n**c**\n\nd\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func secs(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
