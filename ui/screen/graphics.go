package screen

import (
	"encoding/base64"
	"os"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// Protocol is a way to show images in a terminal.
type Protocol int

// The ways.
const (
	// ProtocolNone is a terminal that shows none, as far as is known.
	ProtocolNone Protocol = iota
	// ProtocolKitty has images stored in the terminal and shown by cells that stand
	// for their parts, so that they are drawn, scrolled and covered as text is.
	ProtocolKitty
	// ProtocolITerm and ProtocolSixel paint pixels over cells.
	ProtocolITerm
	ProtocolSixel
)

// The values of [Options].Images.
const (
	ImagesAuto  = "auto"
	ImagesOff   = "off"
	ImagesKitty = "kitty"
	ImagesITerm = "iterm"
	ImagesSixel = "sixel"
)

const (
	// askGraphics asks whether images are shown in the manner of kitty, with one of
	// a single pixel that is not stored.
	askGraphics = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
	// askCells asks how large a cell is, and all of them, in pixels.
	askCells = "\x1b[16t\x1b[14t"
	// sixelAttribute is what a terminal counts among its attributes if it shows
	// sixel images.
	sixelAttribute = 4

	// heldMax is how many images are kept in the terminal, the newest of them.
	heldMax = 32
	// chunkSize is how much of an image one sequence carries, as the protocol has it,
	// and pieceSize how much is written between two frames, in bytes.
	chunkSize = 4096
	pieceSize = 16 << 10
	// lowIDs is how many numbers of images there are for one program, firstID the
	// lowest: smaller ones are colours that may be told in another way.
	lowIDs, firstID = 240, 16
)

// Graphic is an image for a terminal that keeps images.
type Graphic struct {
	// Key is what it is called in the [ImageMsg] that tells that it is there.
	Key string
	// PNG are its bytes, of our own encoder.
	PNG []byte
	// Columns and Rows are the cells it fills.
	Columns, Rows int
}

// ImageID is the number of an image in the terminal: the highest and the lowest
// byte tell it apart, what is between them is zero, so that a colour of 256 and a
// mark can stand for it.
type ImageID uint32

// Colour is the colour of 256 that stands for the image, and Mark what is added to
// it.
func (id ImageID) Colour() int { return int(id & 0xff) }

// Mark is the highest byte; see Colour.
func (id ImageID) Mark() int { return int(id >> 24) }

// ImageMsg tells that an image is in the terminal. Only then may cells that stand
// for it be drawn: terminals look for it at the time they get them.
type ImageMsg struct {
	Key string
	ID  ImageID
}

// ImagesGoneMsg tells which images are not in the terminal any more. All says that
// others had it, so that no image is there or still comes.
type ImagesGoneMsg struct {
	IDs []ImageID
	All bool
}

// Has reports whether an image is among them.
func (msg ImagesGoneMsg) Has(id ImageID) bool { return msg.All || slices.Contains(msg.IDs, id) }

// Transmit is a command that gives the terminal an image, some of it between every
// two frames, so that nothing else waits for it. It may be lost while others have
// the terminal: an ImagesGoneMsg comes then, for all there are.
func Transmit(g Graphic) tea.Cmd {
	return func() tea.Msg { return transmitMsg(g) }
}

// Transmitted is the image that a message of [Transmit] gives the terminal, for
// whoever has none, such as tests; ok is false if it is no such message.
func Transmitted(msg tea.Msg) (g Graphic, ok bool) {
	m, ok := msg.(transmitMsg)
	return Graphic(m), ok
}

type (
	transmitMsg Graphic
	pumpMsg     struct{}
)

// imaging is what the screen knows of images. The screen's mu guards it.
type imaging struct {
	choice  string
	inline  bool   // there is no alternate screen
	program string // what the environment calls the terminal
	tmux    bool
	mark    ImageID // the highest byte of our images
	low     ImageID // the lowest one of the newest, 0 before the first
	held    []ImageID
	queue   []Graphic
	now     ImageMsg // which is being written
	rest    []string // what is left of it
	over    placed
	lost    bool // all of them, which the model does not know yet
}

// prepareImages takes what is known of images before any answer, and adds to what
// is asked of a terminal of the given TERM.
func (s *Screen) prepareImages(o Options, kind, ask string) string {
	s.images = imaging{
		choice: o.Images, inline: o.Inline, program: o.Getenv("TERM_PROGRAM"), tmux: o.Getenv("TMUX") != "",
		mark: ImageID(1+os.Getpid()%0xff) << 24,
	}
	s.measureCell()
	s.able.Images = s.images.protocol(s.able)
	if strings.HasPrefix(ask, askKitty) { // others would take the questions for orders
		return s.images.ask(kind) + ask
	}
	return ask
}

// ask is what is asked about images of a terminal of the given TERM. What
// stands between us and the terminal would take the first question for a title.
func (i *imaging) ask(kind string) string {
	switch {
	case i.choice == ImagesOff:
		return ""
	case i.tmux, strings.HasPrefix(kind, "screen"), strings.HasPrefix(kind, "tmux"):
		return askCells
	}
	return askGraphics + askCells
}

// protocol is how images are shown on a terminal. Without the alternate screen none
// are kept in it: what is in the scrollback outlives them.
func (i *imaging) protocol(a Abilities) Protocol {
	p := i.chosen(a)
	if i.inline && p == ProtocolKitty {
		return ProtocolNone
	}
	return p
}

func (i *imaging) chosen(a Abilities) Protocol {
	switch i.choice {
	case ImagesOff:
		return ProtocolNone
	case ImagesKitty:
		return ProtocolKitty
	case ImagesITerm:
		return ProtocolITerm
	case ImagesSixel:
		return ProtocolSixel
	}
	name := strings.ToLower(a.Name)
	switch {
	case a.Graphics && (strings.HasPrefix(name, "kitty") || strings.HasPrefix(name, "ghostty")):
		// Others that know the protocol know nothing of cells that stand for images.
		return ProtocolKitty
	case !i.tmux && (strings.HasPrefix(name, "iterm2") || strings.HasPrefix(name, "wezterm") || i.program == "iTerm.app" || i.program == "WezTerm"):
		return ProtocolITerm
	case a.Sixel:
		return ProtocolSixel
	}
	return ProtocolNone
}

type (
	graphicsAnswer bool
	cellAnswer     struct{ width, height int }
	areaAnswer     struct{ width, height int }
)

func (g graphicsAnswer) tell(a *Abilities) { a.Graphics = a.Graphics || bool(g) }
func (c cellAnswer) tell(a *Abilities)     { a.CellWidth, a.CellHeight = c.width, c.height }
func (areaAnswer) tell(*Abilities)         {} // the screen knows how many cells it has

// cellMax is the largest cell that is believed, in pixels.
const cellMax = 512

// sizeAnswer reads what a terminal tells of its pixels; nil if it is none.
func sizeAnswer(body string) any {
	n, ok := numbers(body)
	if !ok || len(n) != 3 || n[1] <= 0 || n[2] <= 0 {
		return nil
	}
	switch {
	case n[0] == 6 && n[1] <= cellMax && n[2] <= cellMax:
		return cellAnswer{n[2], n[1]}
	case n[0] == 4 && n[1] <= 1<<16 && n[2] <= 1<<16:
		return areaAnswer{n[2], n[1]}
	}
	return nil
}

// graphicsReply reads an answer about images in the manner of kitty.
func graphicsReply(body string) any {
	about, state, ok := strings.Cut(body, ";")
	if !ok || !strings.HasPrefix(about, "G") || !slices.Contains(strings.Split(about[1:], ","), "i=31") {
		return nil
	}
	return graphicsAnswer(state == "OK")
}

// measureCell takes the size of a cell from the system, if that knows it.
func (s *Screen) measureCell() {
	if s.cell == nil {
		return
	}
	if w, h := s.cell(); w > 0 && h > 0 {
		s.able.CellWidth, s.able.CellHeight = w, h
	}
}

// measure takes the size of a cell from that of the whole screen.
func (s *Screen) measure(width, height int) {
	columns, rows := s.paint.width, s.paint.height
	if s.size != nil {
		if w, h, err := s.size(); err == nil && w > 0 && h > 0 { // no frame may have been drawn yet
			columns, rows = w, h
		}
	}
	if s.able.CellWidth == 0 && width/columns > 0 && height/rows > 0 {
		s.able.CellWidth, s.able.CellHeight = min(width/columns, cellMax), min(height/rows, cellMax)
	}
}

// transmit takes an image to be sent. It reports whether sending is to begin.
func (s *Screen) transmit(g Graphic) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.images
	if g.Columns <= 0 || g.Rows <= 0 || len(g.PNG) == 0 {
		return false
	}
	if !s.active {
		i.lost = true
		return false
	}
	i.queue = append(i.queue, g)
	return len(i.rest) == 0 && len(i.queue) == 1
}

// pump writes the next piece of the images to be sent. It returns what is to be
// told, and whether there is more.
func (s *Screen) pump() (told []tea.Msg, more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.images
	if !s.active {
		i.queue, i.rest = nil, nil
		return nil, false, nil
	}
	var b strings.Builder
	if len(i.rest) == 0 {
		if len(i.queue) == 0 {
			return nil, false, nil
		}
		g := i.queue[0]
		i.queue = i.queue[1:]
		if gone, out := i.evict(); len(gone) > 0 {
			b.WriteString(out)
			told = append(told, ImagesGoneMsg{IDs: gone})
		}
		i.now = ImageMsg{g.Key, i.fresh()}
		i.held = append(i.held, i.now.ID)
		i.rest = chunks(g, i.now.ID)
	}
	for len(i.rest) > 0 && b.Len() < pieceSize {
		b.WriteString(i.wrapped(i.rest[0]))
		i.rest = i.rest[1:]
	}
	if len(i.rest) == 0 {
		told = append(told, i.now)
	}
	return told, len(i.rest)+len(i.queue) > 0, s.write([]byte(b.String()))
}

// fresh is a number that no image has.
func (i *imaging) fresh() ImageID {
	for {
		if i.low++; i.low < firstID || i.low >= firstID+lowIDs {
			i.low = firstID
		}
		if id := i.mark | i.low; !slices.Contains(i.held, id) {
			return id
		}
	}
}

// evict makes room for one more image and returns what does.
func (i *imaging) evict() (gone []ImageID, out string) {
	for len(i.held) >= heldMax {
		gone = append(gone, i.held[0])
		out += i.wrapped(removal(i.held[0]))
		i.held = i.held[1:]
	}
	return gone, out
}

// clear forgets all images and returns what removes them from the terminal, while
// the screen is still the one that they are on.
func (i *imaging) clear() (out string) {
	for _, id := range i.held {
		out += i.wrapped(removal(id))
	}
	i.lost = i.lost || len(i.held)+len(i.queue) > 0
	i.held, i.queue, i.rest, i.over = nil, nil, nil, placed{}
	return out
}

// wrapped is a sequence as it gets to the terminal itself.
func (i *imaging) wrapped(sequence string) string {
	if i.tmux {
		return ansi.TmuxPassthrough(sequence)
	}
	return sequence
}

// removal has the terminal forget an image.
func removal(id ImageID) string {
	return ansi.KittyGraphics(nil, "a=d", "d=I", "i="+strconv.FormatUint(uint64(id), 10), "q=2")
}

// chunks are the sequences that give the terminal an image.
func chunks(g Graphic, id ImageID) []string {
	o := kitty.Options{Action: kitty.TransmitAndPut, Format: kitty.PNG, ID: int(id), Columns: g.Columns, Rows: g.Rows, VirtualPlacement: true, Quiet: 2}
	options := o.Options()
	data := base64.StdEncoding.EncodeToString(g.PNG)
	var out []string
	for len(data) > 0 {
		n := min(len(data), chunkSize)
		more := "m=0"
		if n < len(data) {
			more = "m=1"
		}
		out = append(out, ansi.KittyGraphics([]byte(data[:n]), append(options, more)...))
		data, options = data[n:], []string{"q=2"}
	}
	return out
}

// sends is the command that goes on sending images, nil if none is to be sent.
func (r *root) sends(more bool) tea.Cmd {
	if !more {
		return nil
	}
	return func() tea.Msg { return pumpMsg{} }
}

// pumped writes a piece and tells the model what came of it.
func (r *root) pumped() tea.Cmd {
	told, more, err := r.screen.pump()
	r.screen.report(err)
	cmds := []tea.Cmd{r.sends(more)}
	for _, msg := range told {
		cmds = append(cmds, r.update(msg))
	}
	return tea.Batch(cmds...)
}

// tellGone tells the model that the terminal has no images any more.
func (s *Screen) tellGone() {
	s.mu.Lock()
	lost := s.images.lost
	s.images.lost = false
	s.mu.Unlock()
	if lost {
		s.Send(ImagesGoneMsg{All: true})
	}
}

// ProtocolOf is how images are shown on a terminal that said of itself what it is
// able to do, by a choice such as [ImagesAuto].
func ProtocolOf(choice string, getenv func(string) string, able Abilities) Protocol {
	i := imaging{choice: choice, program: getenv("TERM_PROGRAM"), tmux: getenv("TMUX") != ""}
	return i.protocol(able)
}

// AskImages is the question about images to a terminal of the given TERM, to which it
// may answer; empty if it is not to be asked.
func AskImages(choice, kind string, getenv func(string) string) string {
	i := imaging{choice: choice, tmux: getenv("TMUX") != ""}
	if !strings.HasPrefix(questions(kind, getenv), askKitty) {
		return ""
	}
	return strings.TrimSuffix(i.ask(kind), askCells)
}
