//go:build unix

package screen

import (
	"regexp"
	"strings"
	"testing"
)

func TestWhatATerminalSaysOfItselfIsPassedOn(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.resize(100, 10)
	s.wait("the size", func(out string) bool { return strings.Contains(emulate(t, out, 100, 10), "100x10") })
	s.send("\x1b[?1u\x1bP>|kitty(0.36)\x1b\\\x1b[?2026;2$y\x1b[?2027;0$y\x1b[?2031;1$y\x1bP1+r4d73=5c\x1b\\\x1b[?62;c")
	want := "kitty(0.36) kitty=true xterm=false sync=true wide=false scheme=true clip=true"
	s.wait(want, func(out string) bool { return strings.Contains(emulate(t, out, 100, 10), want) })
	s.send("\x1b[O")
	s.wait("focus", func(out string) bool { return strings.Contains(emulate(t, out, 100, 10), "in=false") })
	s.send("q")
	s.end()
	if shown := s.screen(100, 10); strings.Contains(shown, "2026") {
		t.Errorf("an answer was typed:\n%s", shown)
	}
	s.restored()
}

func TestTheBytesOfKeysAreToldToWhoListens(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("\x1b[13;2uL")
	s.waitShown("alt+enter")
	if strings.Contains(s.screen(40, 10), "heard") {
		t.Error("they are told to nobody")
	}
	s.send("\x1b[13;2u")
	s.waitShown(`heard "\x1b[13;2u" alt+enter true`)
	s.send("\x1b[99~")
	s.waitShown(`heard "\x1b[99~" ctrl+@ false`)
	s.send("q")
	s.end()
}

func TestTerminalsAreNotAskedWhatTheyWouldTakeForOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, program, tmux, want string }{
		{"linux", "", "", ""},
		{"vt100", "", "", ""},
		{"vte-256color", "", "", allQuestions},
		{"xterm-256color", "", "", allQuestions},
		{"xterm-256color", "Apple_Terminal", "", askEnd},
		{"screen-256color", "", "", strings.Replace(allQuestions, askCapable, "", 1)},
		{"screen-256color", "", "/tmp/tmux,1,0", allQuestions},
		{"tmux-256color", "tmux", "/tmp/tmux,1,0", allQuestions},
	} {
		got := questions(c.kind, func(name string) string {
			return map[string]string{"TERM_PROGRAM": c.program, "TMUX": c.tmux}[name]
		})
		if got != c.want {
			t.Errorf("%+v is asked %q", c, got)
		}
	}
}

func TestHowATerminalMeasuresIsNotTrustedBeforeItSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t, "chat")
	s.waitFor("ready")
	s.send("❤️")
	placed := regexp.MustCompile("❤️\x1b\\[[0-9]+G")
	s.wait("the heart", func(out string) bool { return strings.Contains(out, "❤️") })
	s.wait("the heart in its place", placed.MatchString)
	s.send("q")
	s.end()
}
