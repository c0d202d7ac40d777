package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// paragraphs is an answer of paragraphs that can be told apart.
func paragraphs(word string, n int) (pieces, each []string) {
	for i := range n {
		each = append(each, fmt.Sprintf("%s paragraph %02d.", word, i))
		pieces = append(pieces, each[i]+"\n\n")
	}
	return pieces, each
}

func TestInlineWhatIsSaidWhileTheSizeChangesElsewhereIsNotLost(t *testing.T) {
	for _, height := range []int{14, 40} {
		t.Run(fmt.Sprint(height), func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				pieces, each := paragraphs("the", 60)
				w.Model.Then(uitest.Says(pieces...))
				s := inline(t, w, "talk", 60, height)
				s.says("go").passes(time.Second, 50*time.Millisecond)
				s.Press("f1")
				s.frame()
				s.resized(70, height).passes(time.Minute, time.Second)
				s.Press("esc")
				s.frame().passes(time.Second, 100*time.Millisecond).once(each[10:]...)
			})
		})
	}
}

func TestInlineWhatIsSaidInTheFrameOfAResizeIsNotLost(t *testing.T) {
	for _, to := range []int{61, 90} {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				pieces, each := paragraphs("the", 12)
				w.Model.Then(uitest.Says(pieces...))
				s := inline(t, w, "talk", 60, 50)
				s.says("go").passes(300*time.Millisecond, 50*time.Millisecond)
				s.Resize(to, 50)
				s.term.Resize(to, 50)
				s.painter.Resize(to, 50)
				s.Wait(300 * time.Millisecond)
				s.frame().passes(20*time.Second, 200*time.Millisecond).once(each...)
			})
		})
	}
}

func TestInlineAResizeLeavesTheOtherConversation(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		pieces, each := paragraphs("the", 20)
		w.Model.Then(uitest.Says(pieces...), uitest.Says("short"))
		s := inline(t, w, "talk", 60, 20)
		s.says("go").passes(20*time.Second, 200*time.Millisecond)
		s.Press("ctrl+n")
		s.frame().says("other").passes(5*time.Second, 200*time.Millisecond)
		s.resized(70, 20).once(each...).once("short")
	})
}

func TestInlineALineOfAnotherWidthIsWrapped(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.Repeat("word ", 10)+"end\n\n", "more"))
		s := inline(t, w, "talk", 60, 20)
		s.says("go").Wait(5 * time.Second)
		s.Resize(40, 20)
		s.term.Resize(40, 20)
		s.painter.Resize(40, 20)
		s.frame()
		if all := strings.Join(strings.Fields(s.all()), " "); !strings.Contains(all, strings.Repeat("word ", 7)) || !strings.Contains(all, "end more") {
			t.Errorf("some of it is cut off:\n%s", s.all())
		}
	})
}

func TestInlineAnAnswerThatIsTriedAgainSaysSoBeforeItIsGivenAnew(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		pieces, each := paragraphs("the", 20)
		broken, first := paragraphs("no", 8)
		w.Model.Then(uitest.Says(pieces...))
		d, tried := w.Deps("talk", false), false
		d.Engine = tapped{d.Engine, func(e harness.Event, send func(harness.Event)) {
			if e.Type == harness.EventText && !tried {
				tried = true
				f := e
				for _, f.Text = range broken {
					send(f)
					f.Offset += len(f.Text)
					time.Sleep(50 * time.Millisecond)
				}
				f.Type, f.Text, f.Offset, f.Attempt = harness.EventReset, "", 0, e.Attempt+1
				send(f)
				f.Type, f.Wait, f.Error = harness.EventRetry, 1, &harness.RunError{Text: "busy"}
				send(f)
			}
			if e.Type == harness.EventText {
				e.Attempt++
			}
			send(e)
		}}
		s := inlineOf(t, w, d, 60, 14)
		s.says("go").passes(20*time.Second, 100*time.Millisecond)
		s.once(slices.Concat(first[:6], []string{"busy; tried again", "the answer was given anew:"}, each)...)
	})
}

func TestInlineTheHalfAnswerOfATurnThatFailedIsKept(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Fails("half of it", "broke"), uitest.Says("fine"))
		s := inline(t, w, "talk", 60, 24)
		s.says("go").passes(3*time.Second, 100*time.Millisecond).once("half of it")
		s.says("more").passes(3*time.Second, 100*time.Millisecond).once("half of it", "fine").once("more")
	})
}

func TestInlineWhatWasTakenBackIsToldOnce(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		s := inline(t, w, "talk", 60, 24)
		for _, text := range []string{"one", "two", "three"} {
			s.says(text).passes(3*time.Second, 500*time.Millisecond)
		}
		s.says("/undo").passes(3*time.Second, 100*time.Millisecond).once("echo three", "was taken back")
		s.Press("ctrl+u")
		s.frame().says("four").passes(3*time.Second, 100*time.Millisecond).once("was taken back", "echo four")
	})
}
