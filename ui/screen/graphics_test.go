package screen

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

func TestHowImagesAreShownFollowsFromWhatTheTerminalIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice, name, program, tmux string
		graphics, sixel, inline     bool
		want                        Protocol
	}{
		{name: "kitty(0.36.1)", graphics: true, want: ProtocolKitty},
		{name: "ghostty 1.1.0", graphics: true, sixel: false, want: ProtocolKitty},
		{name: "kitty(0.20.0)", want: ProtocolNone},
		// They know the protocol, but nothing of cells that stand for images.
		{name: "Konsole 24.08", graphics: true, sixel: true, want: ProtocolSixel},
		{name: "WezTerm 20240203", graphics: true, sixel: true, want: ProtocolITerm},
		{name: "iTerm2 3.5.10", sixel: true, want: ProtocolITerm},
		{program: "iTerm.app", want: ProtocolITerm},
		{program: "iTerm.app", tmux: "/tmp/x,1,0", want: ProtocolNone},
		{name: "tmux 3.5", tmux: "/tmp/x,1,0", sixel: true, want: ProtocolSixel},
		{name: "XTerm(390)", sixel: true, want: ProtocolSixel},
		{name: "VTE(7600)", want: ProtocolNone},
		{want: ProtocolNone},
		{choice: ImagesOff, name: "kitty(0.36.1)", graphics: true, want: ProtocolNone},
		{choice: ImagesKitty, tmux: "/tmp/x,1,0", want: ProtocolKitty},
		{choice: ImagesKitty, inline: true, want: ProtocolNone},
		{choice: ImagesITerm, name: "kitty(0.36.1)", graphics: true, want: ProtocolITerm},
		{choice: ImagesSixel, inline: true, want: ProtocolSixel},
	} {
		i := imaging{choice: c.choice, program: c.program, tmux: c.tmux != "", inline: c.inline}
		if got := i.protocol(Abilities{Name: c.name, Graphics: c.graphics, Sixel: c.sixel}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestATerminalIsAskedAboutImagesOnlyWhereItMayAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice, kind, program, tmux string
		want                        bool
	}{
		{ImagesAuto, "xterm-256color", "", "", true},
		{ImagesOff, "xterm-256color", "", "", false},
		{ImagesAuto, "tmux-256color", "", "/tmp/x,1,0", false},
		{ImagesKitty, "xterm-256color", "", "/tmp/x,1,0", false},
		{ImagesAuto, "screen", "", "", false},
		{ImagesAuto, "linux", "", "", false},
		{ImagesAuto, "xterm-256color", "Apple_Terminal", "", false},
	} {
		getenv := func(name string) string { return map[string]string{"TERM_PROGRAM": c.program, "TMUX": c.tmux}[name] }
		if got := AskImages(c.choice, c.kind, getenv); (got != "") != c.want || strings.Contains(got, "16t") {
			t.Errorf("%+v is asked %q", c, got)
		}
	}
}

// told are the abilities that answers amount to.
func told(t *testing.T, s *Screen, answers string) Abilities {
	t.Helper()
	var d decoder
	d.feed([]byte(answers), func(msg tea.Msg) {
		a, ok := msg.(answer)
		if !ok {
			t.Errorf("%q types %v", answers, msg)
			return
		}
		s.learn(a)
	})
	return s.able
}

// kept is a screen whose terminal is a buffer.
func kept(out io.Writer) *Screen {
	return &Screen{
		log: slog.New(slog.DiscardHandler), now: time.Now, out: out, paint: newPainter("xterm", 20, 6), active: true,
		images: imaging{mark: 7 << 24},
	}
}

func TestAnswersAboutImagesAreRead(t *testing.T) {
	t.Parallel()
	a := told(t, kept(io.Discard), "\x1bP>|kitty(0.36)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[6;17;9t\x1b[?62;4;52c")
	if !a.Graphics || !a.Sixel || a.CellWidth != 9 || a.CellHeight != 17 || a.Images != ProtocolKitty {
		t.Errorf("%+v", a)
	}
	if a = told(t, kept(io.Discard), "\x1b[4;120;200t"); a.CellWidth != 10 || a.CellHeight != 20 {
		t.Errorf("of the whole screen a cell is %d x %d", a.CellWidth, a.CellHeight)
	}
	for _, no := range []string{
		"\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\", "\x1b_Gi=32;OK\x1b\\", "\x1b_G;OK\x1b\\", "\x1b_Gi=31\x1b\\",
	} {
		if a = told(t, kept(io.Discard), no); a.Graphics {
			t.Errorf("%q says yes", no)
		}
	}
	for _, odd := range []string{"\x1b[6;0;9t", "\x1b[6;99999999;9t", "\x1b[4;1;1t", "\x1b[4;9999999;99999999t"} {
		var d decoder
		s := kept(io.Discard)
		d.feed([]byte(odd), func(msg tea.Msg) {
			if a, ok := msg.(answer); ok {
				s.learn(a)
			}
		})
		if s.able.CellWidth != 0 || s.able.CellHeight != 0 {
			t.Errorf("%q is believed: %+v", odd, s.able)
		}
	}
}

// graphic is an image of noise, which takes many chunks.
func graphic(t *testing.T, key string, side int) Graphic {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	n := uint32(1)
	for i := range img.Pix {
		n = n*1664525 + 1013904223
		img.Pix[i] = byte(n >> 24)
	}
	img.Set(0, 0, color.NRGBA{R: 1, G: 2, B: 3, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return Graphic{Key: key, PNG: b.Bytes(), Columns: 4, Rows: 2}
}

var apc = regexp.MustCompile("\x1b_G([^;\x1b]*)(?:;([^\x1b]*))?\x1b\\\\")

// sent takes the images out of what was written: their options, and their bytes.
func sent(t *testing.T, out string) (options []string, data [][]byte, rest string) {
	t.Helper()
	coded := ""
	for _, m := range apc.FindAllStringSubmatch(out, -1) {
		if strings.Contains(m[1], "a=d") {
			options = append(options, m[1])
			continue
		}
		if coded == "" {
			options = append(options, m[1])
		}
		if len(m[2]) > chunkSize || !strings.Contains(m[1], "q=2") {
			t.Errorf("a chunk of %d bytes has the options %s", len(m[2]), m[1])
		}
		if coded += m[2]; !strings.Contains(m[1], "m=1") {
			b, err := base64.StdEncoding.DecodeString(coded)
			if err != nil {
				t.Fatal(err)
			}
			data, coded = append(data, b), ""
		}
	}
	if coded != "" {
		t.Error("an image has no end")
	}
	return options, data, apc.ReplaceAllString(out, "")
}

func TestAnImageIsGivenInPiecesThatMakeItWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := kept(&out)
	g := graphic(t, "a", 100)
	if !s.transmit(g) || s.transmit(graphic(t, "b", 8)) {
		t.Fatal("sending does not begin once")
	}
	var keys []string
	pieces := 0
	for more := true; more; pieces++ {
		before := out.Len()
		msgs, rest, err := s.pump()
		if err != nil {
			t.Fatal(err)
		}
		if n := out.Len() - before; n > pieceSize+chunkSize+200 {
			t.Errorf("a piece of %d bytes", n)
		}
		for _, msg := range msgs {
			m := msg.(ImageMsg)
			keys = append(keys, m.Key)
			if m.ID.Mark() != 7 || m.ID.Colour() != firstID+len(keys)-1 {
				t.Errorf("%q is number %x", m.Key, m.ID)
			}
		}
		more = rest
	}
	if strings.Join(keys, " ") != "a b" || pieces < 3 {
		t.Errorf("%q came in %d pieces", keys, pieces)
	}
	options, data, rest := sent(t, out.String())
	if rest != "" || len(data) != 2 || !bytes.Equal(data[0], g.PNG) {
		t.Errorf("%d images, and %q", len(data), rest)
	}
	if want := "f=100,q=2,i=117440528,U=1,c=4,r=2,a=T,m=1"; options[0] != want {
		t.Errorf("the options are %s, want %s", options[0], want)
	}
}

func TestATerminalKeepsOnlySoManyImages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := kept(&out)
	var gone []ImageID
	for range heldMax + 300 {
		s.transmit(graphic(t, "x", 1))
		msgs, _, err := s.pump()
		if err != nil {
			t.Fatal(err)
		}
		for _, msg := range msgs {
			if m, ok := msg.(ImagesGoneMsg); ok {
				gone = append(gone, m.IDs...)
			}
		}
	}
	if len(s.images.held) != heldMax || len(gone) != 300 {
		t.Errorf("%d are kept and %d gone", len(s.images.held), len(gone))
	}
	seen := map[ImageID]bool{}
	for _, id := range s.images.held {
		if seen[id] || id.Colour() < firstID || id.Colour() > 255 {
			t.Errorf("the number %x is there twice, or none", id)
		}
		seen[id] = true
	}
	if n := strings.Count(out.String(), "a=d,d=I,i="); n != 300 {
		t.Errorf("%d were removed", n)
	}
}

func TestImagesAreRemovedWhenOthersGetTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := kept(&out)
	s.transmit(graphic(t, "a", 100))
	if _, more, err := s.pump(); err != nil || !more {
		t.Fatalf("it is sent at once, %v", err)
	}
	if got := s.images.clear(); got != "\x1b_Ga=d,d=I,i=117440528,q=2\x1b\\" {
		t.Errorf("it is removed by %q", got)
	}
	if got := s.images.clear(); got != "" {
		t.Errorf("and again by %q", got)
	}
	out.Reset()
	if _, more, err := s.pump(); more || err != nil || out.Len() > 0 {
		t.Errorf("it goes on: %q", out.String())
	}
	s.tellGone()
	if len(s.early) != 1 || !s.early[0].(ImagesGoneMsg).All {
		t.Errorf("it is told %v", s.early)
	}
	s.early = nil
	s.active = false
	if s.transmit(graphic(t, "b", 8)) {
		t.Error("it is sent to others")
	}
	if s.tellGone(); len(s.early) != 1 {
		t.Error("one that was lost is not told of")
	}
}

func TestInTmuxImagesPassThrough(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := kept(&out)
	s.images.tmux = true
	s.transmit(graphic(t, "a", 8))
	if _, _, err := s.pump(); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.HasPrefix(text, "\x1bPtmux;\x1b\x1b_Gf=100") || !strings.HasSuffix(text, "\x1b\x1b\\\x1b\\") {
		t.Errorf("it is sent as %q", text)
	}
}

func TestAPictureIsPaintedOnceAndGoesWithAllCells(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := kept(&out)
	view := strings.Repeat("\n", 4) + "foot"
	p := Picture{Key: "one", X: 2, Y: 1, Sequence: "\x1bPq#0\x1b\\"}
	const painted = "\x1b7\x1b[2;3H\x1bPq#0\x1b\\\x1b8"
	draw := func(view string, p Picture) string {
		t.Helper()
		out.Reset()
		if err := s.draw(view, caret{}, p); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := draw(view, p); !strings.HasSuffix(got, painted) {
		t.Errorf("the first frame is %q", got)
	}
	if got := draw(view, p); got != "" {
		t.Errorf("the same again writes %q", got)
	}
	if got := draw(view+"!", p); got == "" || strings.Contains(got, "\x1bP") {
		t.Errorf("another foot writes %q", got)
	}
	s.redraw()
	if got := draw(view+"!", p); !strings.Contains(got, "\x1b[2J") || !strings.HasSuffix(got, painted) {
		t.Errorf("drawn anew it is %q", got)
	}
	moved := p
	moved.X = 5
	if got := draw(view+"!", moved); !strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "\x1b[2;6H\x1bPq") {
		t.Errorf("moved it is %q", got)
	}
	if got := draw(view+"!", Picture{}); !strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\x1bP") {
		t.Errorf("without it is %q", got)
	}
	if got := draw(view+"!", Picture{}); got != "" {
		t.Errorf("then it writes %q", got)
	}
}

// The cells that stand for an image are moved and covered as any others, and each
// stays whole.
func TestCellsOfImagesAreCells(t *testing.T) {
	t.Parallel()
	cell := func(x, y int) string {
		return string([]rune{0x10eeee, '\u0305', '\u030d', '\u030e'})
	}
	line := "\x1b[38;5;99m" + cell(0, 0) + cell(1, 0) + cell(2, 0) + "\x1b[39m"
	e := vt.NewSafeEmulator(12, 6)
	t.Cleanup(func() { _ = e.Close() })
	p := NewPainter(12, 6)
	show := func(view string) string {
		b := p.Paint(view, 0, 0, false)
		if strings.ContainsRune(string(b), 0x10eeee) && !strings.Contains(string(b), "38;5;99m") {
			t.Errorf("the colour of an image is told as another: %q", b)
		}
		if _, err := e.Write(b); err != nil {
			t.Fatal(err)
		}
		return ansi.Strip(e.Render())
	}
	for i, view := range []string{
		"a\nb\n  " + line + " x\nc\nd\ne", "b\n  " + line + " x\nc\nd\ne\nf", "b\n  " + line[:len(line)-len(cell(0, 0))-5] + "\x1b[39m" + "[]" + "\nc\nd\ne\nf", line + line + "\n" + line,
	} {
		got, want := strings.TrimRight(show(view), "\n "), ansi.Strip(view)
		for n, l := range strings.Split(want, "\n") {
			if lines := strings.Split(got, "\n"); n >= len(lines) || strings.TrimRight(lines[n], " ") != l {
				t.Errorf("view %d: the terminal shows\n%q\nwant\n%q", i, got, want)
				break
			}
		}
	}
}

func TestTheSizeOfACellIsTheSystemsIfItKnows(t *testing.T) {
	t.Parallel()
	s := kept(os.Stdout)
	s.size = func() (int, int, error) { return 20, 6, nil }
	s.cell = func() (int, int) { return 11, 22 }
	s.look()
	if s.able.CellWidth != 11 || s.able.CellHeight != 22 {
		t.Errorf("%+v", s.able)
	}
	s.cell = func() (int, int) { return 0, 0 }
	s.look()
	if s.able.CellWidth != 11 {
		t.Error("what was known is forgotten")
	}
}
