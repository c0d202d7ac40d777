package screen

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// decode feeds the portions one by one, then lets time pass.
func decode(portions ...string) []tea.Msg {
	var d decoder
	var out []tea.Msg
	emit := func(msg tea.Msg) { out = append(out, msg) }
	for _, p := range portions {
		d.feed([]byte(p), emit)
	}
	for range 3 {
		d.expire(emit)
	}
	return out
}

// words says messages in short: keys by their Bubble Tea names.
func words(msgs []tea.Msg) string {
	var out []string
	for _, msg := range msgs {
		switch msg := msg.(type) {
		case tea.KeyMsg:
			out = append(out, msg.String())
		case PasteMsg:
			out = append(out, fmt.Sprintf("paste(%q)", string(msg)))
		case tea.MouseMsg:
			out = append(out, fmt.Sprintf("%s@%d,%d", msg, msg.X, msg.Y))
		default:
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T%+v", msg, msg), "screen."))
		}
	}
	return strings.Join(out, " ")
}

var decodeCases = []struct{ name, in, want string }{
	{"text", "abc", "a b c"},
	{"text that nobody types", "0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789"},
	{"text and space", "a b", "a   b"},
	{"wide text", "漢é👩‍👧", "漢é👩‍👧"},
	{"enter, tab, backspace", "\r\t\x7f", "enter tab backspace"},
	{"ctrl letters", "\x01\x03\x1a\x00", "ctrl+a ctrl+c ctrl+z ctrl+@"},
	{"line feed", "\n", "ctrl+j"},
	{"escape", "\x1b", "esc"},
	{"escape twice", "\x1b\x1b", "esc esc"},
	{"alt letter", "\x1bb", "alt+b"},
	{"alt letter before text", "\x1bbcd", "alt+b c d"},
	{"alt wide letter", "\x1bß", "alt+ß"},
	{"alt enter", "\x1b\r", "alt+enter"},
	{"alt backspace", "\x1b\x7f", "alt+backspace"},
	{"alt bracket", "\x1b]", "alt+]"},
	{"alt keys and the next ones", "\x1b]x\x1bPa\x1b_b\x1b^c\x1bXd", "alt+] x alt+P a alt+_ b alt+^ c alt+X d"},
	{"alt open bracket", "\x1b[", "alt+["},
	{"alt capital", "\x1bO", "alt+O"},
	{"alt arrow", "\x1b\x1b[A", "alt+up"},
	{"arrows", "\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"},
	{"application arrows", "\x1bOA\x1bOD\x1bOH\x1bOF", "up left home end"},
	{"modified arrows", "\x1b[1;2A\x1b[1;5C\x1b[1;6D\x1b[1;3B\x1b[1;7A", "shift+up ctrl+right ctrl+shift+left alt+down alt+ctrl+up"},
	{"paging", "\x1b[5~\x1b[6~\x1b[5;5~\x1b[2~\x1b[3~", "pgup pgdown ctrl+pgup insert delete"},
	{"home and end", "\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1b[1;5H", "home end home end home end ctrl+home"},
	{"function keys", "\x1bOP\x1b[15~\x1b[24~\x1b[[A\x1b[1;2P", "f1 f5 f12 f1 f13"},
	{"shift tab", "\x1b[Z", "shift+tab"},
	{"rxvt", "\x1b[5^\x1b[a", "ctrl+pgup shift+up"},
	{"shift enter, kitty", "\x1b[13;2u", "alt+enter"},
	{"shift enter, xterm", "\x1b[27;2;13~", "alt+enter"},
	{"ctrl enter", "\x1b[13;5u\x1b[27;5;13~", "ctrl+j ctrl+j"},
	{"alt enter, kitty", "\x1b[13;3u", "alt+enter"},
	{"keys of kitty", "\x1b[27u\x1b[99;5u\x1b[97;3u\x1b[97;4u\x1b[9;2u\x1b[32;5u\x1b[127;5u", "esc ctrl+c alt+a alt+A shift+tab ctrl+@ alt+backspace"},
	{"keys of xterm", "\x1b[27;5;46~\x1b[27;6;67~\x1b[27;3;120~", "ctrl+c alt+x"},
	{"keypad of kitty", "\x1b[57400u\x1b[57414u\x1b[57419u\x1b[57415u", "1 enter up ="},
	{"keypad", "\x1bOq\x1bOk\x1bOM", "1 + enter"},
	{"releases and lone modifiers", "\x1b[97;1:3u\x1b[57441;2u\x1b[97;9u", ""},
	{"alternate key codes", "\x1b[97:65;5u", "ctrl+a"},
	{"caps and num lock", "\x1b[99;69u\x1b[1;129A", "ctrl+c up"},
	{"focus", "\x1b[I\x1b[O", "FocusMsg{In:true} FocusMsg{In:false}"},
	{"wheel", "\x1b[<64;10;5M\x1b[<65;1;1M", "wheel up@9,4 wheel down@0,0"},
	{"button", "\x1b[<0;3;4M\x1b[<0;3;4m", "left press@2,3 left release@2,3"},
	{"old mouse", "\x1b[M`!!a", "wheel up@0,0 a"},
	{"background dark", "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "reply{dark:true}"},
	{"background light", "\x1b]11;rgb:ff/ff/ee\x07", "reply{dark:false}"},
	{"other replies", "\x1b]10;rgb:0/0/0\x07\x1b[>1;10;0c\x1b[12;40R\x1b[1;1R\x1bP0+r\x1b\\\x1b[?9;5\x1b[8;24;80t\x1b_G\x1b\\x", "x"},
	{"keys of the terminal's", "\x1b[?1u\x1b[>4;1m\x1b[>4;0m", "kittyAnswer1 modifyAnswer1 modifyAnswer0"},
	{"modes of the terminal's", "\x1b[?2026;2$y\x1b[?2027;0$y", "modeAnswer{mode:2026 state:2} modeAnswer{mode:2027 state:0}"},
	{"name and attributes", "\x1bP>|term\u202e 1\x1b\\\x1bP1+r4D73=1B\x1b\\\x1b[?62;22;52cx", "nameAnswerterm 1 capableAnswertrue attributesAnswer[62 22 52] x"},
	{"a change of the background", "\x1b[?997;1n\x1b[?997;2n\x1b[?997;3n", "scheme{dark:true} scheme{dark:false}"},
	{"a reply cut off by a key", "\x1b]11;rgb:1\rx", "enter x"},
	{"unknown sequences", "\x1b[99~\x1b[5;5Q\x1b[1;2$w", ""},
	{"invalid bytes", "a\xffb\xc3(", "a b ("},
	{"one byte controls", "a\u009bb", "a b"},
	{"paste", "\x1b[200~a\nb\x1b[201~", `paste("a\nb")`},
	{"paste, empty", "\x1b[200~\x1b[201~x", `paste("") x`},
	{"paste of CRLF", "\x1b[200~a\r\nb\r\n\x1b[201~\r", `paste("a\nb\n") enter`},
	{"paste of CR", "\x1b[200~a\rb\x1b[201~", `paste("a\nb")`},
	{"paste ending in two newlines", "\x1b[200~a\n\n\x1b[201~", `paste("a\n\n")`},
	{"paste with sequences", "\x1b[200~\x1b[31mred\x1b[A\x1b[201~", `paste("\x1b[31mred\x1b[A")`},
	{"paste of invalid bytes", "\x1b[200~a\xffb\x1b[201~", `paste("a�b")`},
	{"keys around pastes", "x\x1b[200~1\x1b[201~y\x1b[200~2\x1b[201~z", `x paste("1") y paste("2") z`},
}

func TestKeysPastesAndReplies(t *testing.T) {
	t.Parallel()
	for _, tc := range decodeCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := words(decode(tc.in)); got != tc.want {
				t.Errorf("%q gives %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

// joined merges text that portions had parted.
func joined(msgs []tea.Msg) []tea.Msg {
	var out []tea.Msg
	for _, msg := range msgs {
		key, ok := msg.(tea.KeyMsg)
		if n := len(out); ok && n > 0 && key.Type == tea.KeyRunes && !key.Alt {
			if last, ok := out[n-1].(tea.KeyMsg); ok && last.Type == tea.KeyRunes && !last.Alt {
				last.Runes = append(last.Runes[:len(last.Runes):len(last.Runes)], key.Runes...)
				out[n-1] = last
				continue
			}
		}
		out = append(out, msg)
	}
	return out
}

func TestPortionsDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, tc := range decodeCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			want := joined(decode(tc.in))
			for at := 1; at < len(tc.in); at++ {
				if got := joined(decode(tc.in[:at], tc.in[at:])); !reflect.DeepEqual(got, want) {
					t.Errorf("%q parted at %d gives %q, want %q", tc.in, at, words(got), words(want))
				}
			}
			var single []string
			for i := range len(tc.in) {
				single = append(single, tc.in[i:i+1])
			}
			if got := joined(decode(single...)); !reflect.DeepEqual(got, want) {
				t.Errorf("%q byte by byte gives %q, want %q", tc.in, words(got), words(want))
			}
		})
	}
}

func TestAPasteIsLiftedAlsoWhenItsEscapePassedForAKey(t *testing.T) {
	t.Parallel()
	var d decoder
	var out []tea.Msg
	emit := func(msg tea.Msg) { out = append(out, msg) }
	d.feed([]byte("\x1b"), emit)
	d.expire(emit)
	d.feed([]byte("[200~a\rb\x1b[201~"), emit)
	if got, want := words(out), `esc paste("a\nb")`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnEscapeWaitsShortlyAndASequenceLonger(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{"a": 0, "\x1b": escWait, "\x1b]": escWait, "\x1b]11;rgb": restWait, "\x1b[1;": restWait, "\x1b[200~never ends": 0} {
		var d decoder
		d.feed([]byte(in), func(tea.Msg) {})
		if got := d.wait(); got != want {
			t.Errorf("after %q the decoder waits %v, want %v", in, got, want)
		}
	}
}

func TestAnInterruptEndsAPasteWhoseEndGotLost(t *testing.T) {
	t.Parallel()
	for _, interrupt := range []string{"\x03", "\x1b[99;5u"} {
		if got, want := words(decode("\x1b[200~abc", "def", interrupt)), `paste("abcdef") ctrl+c`; got != want {
			t.Errorf("%q: got %q, want %q", interrupt, got, want)
		}
	}
}

func TestALongPasteComesWhole(t *testing.T) {
	t.Parallel()
	line := "a line of fifty-seven bytes, with \x1b[201 that is no end.\r\n"
	text := strings.Repeat(line, 20_000)
	all := pasteBegin + text + pasteEnd + "x"
	var portions []string
	for len(all) > 4095 {
		portions, all = append(portions, all[:4095]), all[4095:]
	}
	got := decode(append(portions, all)...)
	if len(got) != 2 {
		t.Fatalf("%d messages", len(got))
	}
	if want := PasteMsg(strings.ReplaceAll(text, "\r\n", "\n")); got[0] != want {
		t.Errorf("%d of %d bytes came", len(got[0].(PasteMsg)), len(want))
	}
	if words(got[1:]) != "x" {
		t.Errorf("after it came %q", words(got[1:]))
	}
}

func TestWhatIsHeldIsBounded(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"\x1b]", "\x1bP", "\x1b["} {
		var d decoder
		for range 100 {
			d.feed([]byte(begin), func(tea.Msg) {})
			begin = strings.Repeat("1", 4096)
			if len(d.held) > stringMax+4096 {
				t.Fatalf("%d bytes are held", len(d.held))
			}
		}
	}
}

// FuzzDecoder checks that no input panics, that portions do not matter and
// that a paste comes out as it went in.
func FuzzDecoder(f *testing.F) {
	for _, tc := range decodeCases {
		f.Add([]byte(tc.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		s := string(in)
		if len(s) > 0 {
			at = (at%len(s) + len(s)) % len(s)
			whole, parts := joined(decode(s)), joined(decode(s[:at], s[at:]))
			if !strings.Contains(s, "\x03") && !strings.Contains(s, "\x1b[99;5u") && !reflect.DeepEqual(whole, parts) {
				t.Errorf("%q parted at %d: %q, whole: %q", s, at, words(parts), words(whole))
			}
		}
		text := strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x1b", ""), "\x03", "")
		got := decode(pasteBegin+text[:len(text)/2], text[len(text)/2:]+pasteEnd)
		want := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		if len(got) != 1 || got[0] != PasteMsg(want) {
			t.Errorf("pasting %q gives %q", text, words(got))
		}
	})
}

func BenchmarkPasteOfAMegabyte(b *testing.B) {
	text := pasteBegin + strings.Repeat("a line of fifty-seven bytes, and so on and so forth .\r\n", 18_000) + pasteEnd
	b.SetBytes(int64(len(text)))
	for range b.N {
		var d decoder
		for rest := text; rest != ""; {
			n := min(len(rest), 4095)
			d.feed([]byte(rest[:n]), func(tea.Msg) {})
			rest = rest[n:]
		}
	}
}
