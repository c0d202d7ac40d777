package ui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// scroll is a window without the alternate screen, and a terminal in memory that
// keeps what scrolls off.
type scroll struct {
	*uitest.Driver
	t       *testing.T
	term    *vt.Emulator
	painter *screen.Painter
	bytes   int
}

// inline opens a session below a shell's line.
func inline(t *testing.T, w *uitest.World, id string, width, height int) *scroll {
	t.Helper()
	return inlineOf(t, w, w.Deps(sessionID(id), false), width, height)
}

// inlineOf opens one of what is given.
func inlineOf(t *testing.T, w *uitest.World, d ui.Deps, width, height int) *scroll {
	t.Helper()
	d.Inline = true
	s := &scroll{Driver: w.Start(d, width, height), t: t, term: vt.NewEmulator(width, height), painter: screen.NewPainter(width, height)}
	if _, err := s.term.Write([]byte("$ cairn --inline\r\n")); err != nil {
		t.Fatal(err)
	}
	return s.frame()
}

// frame draws a frame.
func (s *scroll) frame() *scroll {
	s.t.Helper()
	b := s.painter.Draw(s.Model())
	s.bytes += len(b)
	if _, err := s.term.Write(b); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// passes draws a frame each so often for a while, as while an answer streams.
func (s *scroll) passes(d, each time.Duration) *scroll {
	s.t.Helper()
	for ; d > 0; d -= each {
		s.Wait(each)
		s.frame()
	}
	return s
}

// says types a message and sends it.
func (s *scroll) says(text string) *scroll {
	s.t.Helper()
	s.Type(text)
	s.frame()
	s.Press("enter")
	return s.frame()
}

// resized changes the size of window and terminal.
func (s *scroll) resized(width, height int) *scroll {
	s.t.Helper()
	s.Resize(width, height)
	s.term.Resize(width, height)
	s.painter.Resize(width, height)
	return s.frame()
}

// all is what the terminal has, its scrollback first.
func (s *scroll) all() string {
	var lines []string
	for _, l := range s.term.Scrollback().Lines() {
		lines = append(lines, strings.TrimRight(l.String(), " "))
	}
	for l := range strings.SplitSeq(s.term.String(), "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// once fails unless each of the texts is there once, in this order.
func (s *scroll) once(texts ...string) *scroll {
	s.t.Helper()
	all, at := s.all(), 0
	for _, text := range texts {
		if n := strings.Count(all, text); n != 1 {
			s.t.Fatalf("%q is there %d times:\n%s", text, n, all)
		}
		if i := strings.Index(all, text); i < at {
			s.t.Fatalf("%q does not come in order:\n%s", text, all)
		} else {
			at = i
		}
	}
	return s
}

func sessionID(id string) harness.SessionID { return harness.SessionID(id) }

func TestInlineWhatIsSaidStaysInTheScrollback(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		s := inline(t, w, "talk", 60, 12)
		for i := range 6 {
			s.says(fmt.Sprintf("message %d", i)).passes(2*time.Second, 100*time.Millisecond)
		}
		want := []string{"$ cairn --inline"}
		for i := range 6 {
			want = append(want, "echo message "+fmt.Sprint(i))
		}
		s.once(want...).once("write a message")
		if s.term.IsAltScreen() {
			t.Error("the alternate screen is open")
		}
	})
}

// TestInlineAnAnswerIsThatOfTheChat streams Markdown of every kind byte by byte and
// compares what the terminal has in the end with what the full screen shows.
func TestInlineAnAnswerIsThatOfTheChat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sample.md", "nested.md"} {
		text, err := os.ReadFile(filepath.Join("render", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		// A link that is defined below what is given already stays as it was.
		text = []byte(strings.ReplaceAll(string(text), "[one]", "one"))
		for _, width := range []int{40, 80} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				t.Parallel()
				in(t, func(t *testing.T, w *uitest.World) {
					w.Model.Then(byBytes("I think", string(text), time.Millisecond))
					s := inline(t, w, "talk", width, 16)
					s.says("hello").passes(time.Duration(len(text)+100)*time.Millisecond, 16*time.Millisecond).passes(3*time.Second, time.Second)
					got := strings.Split(s.all(), "\n")
					full := strings.Split(w.Open("talk", width, 400).Screen(), "\n")
					from := slices.IndexFunc(full, func(l string) bool { return strings.Contains(l, "thinking") })
					last := slices.IndexFunc(full[from:], func(l string) bool { return strings.HasPrefix(l, "> ") }) + from
					answer := strings.Split(strings.Split(strings.Join(full[from+1:last], "\n"), "\n\n\n")[0], "\n")
					at := slices.IndexFunc(got, func(l string) bool { return strings.Contains(l, "thinking") })
					if at < 0 || len(got) < at+1+len(answer) {
						t.Fatalf("the answer is not there:\n%s\nin the chat it is\n%s", strings.Join(got, "\n"), strings.Join(answer, "\n"))
					}
					for i, l := range answer {
						if strings.TrimRight(l, " ") != got[at+1+i] {
							t.Fatalf("line %d is %q, in the chat %q\n%s", i, got[at+1+i], l, strings.Join(got, "\n"))
						}
					}
				})
			})
		}
	}
}

func TestInlineOverlaysAndReadingUseTheAlternateScreenAndComeBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		s := inline(t, w, "talk", 60, 14)
		s.says("one").passes(2*time.Second, 200*time.Millisecond)
		before := s.all()
		for _, step := range [][2]string{{"ctrl+p", "esc"}, {"ctrl+r", "esc"}, {"f1", "esc"}} {
			s.Press(step[0])
			s.frame()
			s.Press(step[1])
			s.frame()
		}
		if s.term.IsAltScreen() {
			t.Fatal("the alternate screen is still open")
		}
		if after := s.all(); after != before {
			t.Errorf("the terminal has\n%s\nand before\n%s", after, before)
		}
		s.says("two").passes(2*time.Second, 200*time.Millisecond).once("echo one", "echo two")
	})
}

func TestInlineASessionThatIsOpenedBeginsWithItsEnd(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var texts []string
		for i := range 40 {
			texts = append(texts, fmt.Sprintf("text %02d.", i))
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		s := inline(t, w, "talk", 60, 16)
		s.once("not here: pgup", "text 38.", "text 39.")
		if strings.Contains(s.all(), "text 10.") {
			t.Errorf("all of it was written:\n%s", s.all())
		}
		s.Press("pgup")
		if s.frame(); !s.term.IsAltScreen() {
			t.Error("reading back is not on the alternate screen")
		}
		s.Press("end")
		if s.frame(); s.term.IsAltScreen() {
			t.Error("the end is still on the alternate screen")
		}
		s.once("text 39.")
	})
}

func TestInlineToolsAreWrittenOnceTheyAreDone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tool("look", "all fine")
		w.Model.Then(uitest.Calls("look", `{}`), uitest.Says("done looking"))
		s := inline(t, w, "talk", 60, 14)
		s.says("look").passes(3*time.Second, 100*time.Millisecond)
		s.once("tool  look", "done looking")
	})
}

func TestInlineAStormOfSizesLeavesOneRegion(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		s := inline(t, w, "talk", 80, 24)
		for i := range 8 {
			s.says(fmt.Sprintf("message %d", i)).passes(2*time.Second, 500*time.Millisecond)
		}
		for _, size := range [][2]int{{40, 10}, {120, 40}, {60, 12}, {41, 30}, {80, 24}} {
			s.resized(size[0], size[1])
		}
		screen := s.term.String()
		if n := strings.Count(screen, "write a message"); n != 1 {
			t.Errorf("the box is there %d times:\n%s", n, screen)
		}
		s.says("the last").passes(2*time.Second, 500*time.Millisecond)
		if n := strings.Count(s.term.String(), "echo the last"); n != 1 {
			t.Errorf("the answer is there %d times:\n%s", n, s.term.String())
		}
	})
}

func TestInlineACallThatWaitsIsWrittenOnceItRan(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Shell()
		w.Model.Then(uitest.Calls("run_command", `{"command":"ls"}`), uitest.Says("listed"))
		s := inline(t, w, "talk", 60, 24)
		s.says("list").passes(2*time.Second, 100*time.Millisecond)
		s.once("waits for approval").Wait(time.Second)
		s.Press("y")
		s.passes(3*time.Second, 50*time.Millisecond).once("tool  run_command", "listed")
		if all := s.all(); strings.Contains(all, "no result") || strings.Contains(all, "waits for approval") {
			t.Errorf("the call is not as it ended:\n%s", all)
		}
	})
}

func TestInlineAStoppedAnswerSaysSo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(byBytes("", strings.Repeat("one line\n\n", 400), time.Millisecond))
		s := inline(t, w, "talk", 60, 14)
		s.says("talk").passes(time.Second, 50*time.Millisecond)
		s.Press("esc", "esc")
		s.passes(2*time.Second, 100*time.Millisecond).once("interrupted")
	})
}
