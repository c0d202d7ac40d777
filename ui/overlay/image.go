package overlay

import (
	"context"
	"fmt"
	"image"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

const (
	// keptPixels bounds what is kept of the image that is looked at, and sentPixels
	// what the terminal gets of it, sentFar over a line to another machine.
	keptPixels, sentPixels, sentFar = 4_000_000, 2_000_000, 400_000
	// sixelPixels and sixelFar are that of images in a format that takes more bytes.
	sixelPixels, sixelFar = 500_000, 150_000
	// The least cell there is: of a terminal that does not tell, an image that is
	// painted over cells must take no more of them than were meant.
	leastCellWidth, leastCellHeight = 5, 10
	// leastHeight is the least number of rows with room for an image.
	leastHeight = 4
)

// ImageItem is an image that can be looked at.
type ImageItem struct {
	// Name is that of its file, Words describe it. They are foreign text.
	Name, Words string
	// Load reads its bytes. It is called in commands.
	Load func(ctx context.Context) ([]byte, error)
}

// ImageHow is how a terminal shows images. It is a message to what shows some.
type ImageHow struct {
	Protocol screen.Protocol
	// CellWidth and CellHeight are the size of a cell in pixels, 0 if it is not known.
	CellWidth, CellHeight int
	// Far says that the terminal is on another machine.
	Far bool
}

// ImageConfig is what the overlay that shows images works with.
type ImageConfig struct {
	// Items are the images there are, At is the one to begin with.
	Items []ImageItem
	At    int
	// How is how the terminal shows images; an [ImageHow] that comes later takes its
	// place.
	How ImageHow
	// Dir is where images are saved.
	Dir string
	// Browse opens a file in another program, nil where there is no display, and Shelf
	// is where copies for it are kept.
	Browse func(ctx context.Context, path string) error
	Shelf  *Shelf
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "image.next".
	Keys map[string][]string
}

// Image is the overlay that shows an image as large as fits, one of several. Where
// the terminal shows none, it tells what the image is, and still opens and saves it.
// It is a value: Update returns the next one.
type Image struct {
	ctx   context.Context
	c     ImageConfig
	token *token // whose messages are its own
	at    int

	picture image.Image // nil until it is decoded
	info    render.ImageInfo
	failed  error
	notice  string

	cells  render.Cells // what it fills, no columns if it is not painted
	busy   bool         // it is being made for some cells
	id     screen.ImageID
	paint  string // what paints it, of terminals that keep none
	width  int
	height int
}

// token tells one overlay from others; it must have a size to have an address.
type token struct{ _ byte }

type (
	// imageRead brings the image at a place in the list.
	imageRead struct {
		of      *token
		at      int
		picture image.Image
		info    render.ImageInfo
		err     error
	}
	// imageMade brings what the terminal gets of it.
	imageMade struct {
		of    *token
		at    int
		cells render.Cells
		paint string
		sent  screen.Graphic
		err   error
	}
	// imageDone says how saving or opening went.
	imageDone struct {
		of     *token
		notice string
	}
)

func (ImageHow) overlayMsg()  {}
func (imageRead) overlayMsg() {}
func (imageMade) overlayMsg() {}
func (imageDone) overlayMsg() {}

// NewImage returns the overlay, which knows nothing until Open. There must be an item.
func NewImage(ctx context.Context, c ImageConfig) Image {
	if c.Words == nil {
		c.Words = error.Error
	}
	c.How = c.How.with(c.Theme)
	return Image{ctx: ctx, c: c, at: min(max(c.At, 0), len(c.Items)-1), token: &token{}}
}

// with is how images are shown in a theme: not at all where ASCII alone was asked for.
func (h ImageHow) with(t *themes.Theme) ImageHow {
	if t != nil && t.Ornaments.Closed < "\x80" {
		h.Protocol = screen.ProtocolNone
	}
	return h
}

// Open reads the image.
func (i Image) Open() (Image, tea.Cmd) { return i, i.read() }

// Title implements [Layer].
func (i Image) Title() string { return "image" }

// Cursor implements [Layer]: nothing is typed here.
func (i Image) Cursor() (x, y int, visible bool) { return 0, 0, false }

// SetTheme changes the colours.
func (i Image) SetTheme(t *themes.Theme) Image {
	i.c.Theme = t
	return i
}

// Why a key may be off.
const (
	offOneImage  = "it is the only image here"
	offUnread    = "it cannot be read"
	offNoDisplay = "there is no display before you that is this machine's own; save it instead"
)

// Bindings are the keys of the overlay as they are now.
func (i Image) Bindings() []render.Binding {
	const group = "Image"
	others, read := "", ""
	if len(i.c.Items) < 2 {
		others = offOneImage
	}
	if i.failed != nil {
		read = offUnread
	}
	display := read
	if read == "" && (i.c.Browse == nil || i.c.Shelf == nil) {
		display = offNoDisplay
	}
	b := []render.Binding{
		{Action: "image.close", Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "image.previous", Keys: []string{"left", "h", "p"}, Help: "image before", Foot: "before", Group: group, Rank: 3, Off: others},
		{Action: "image.next", Keys: []string{"right", "l", "n", "tab"}, Help: "next image", Foot: "next", Group: group, Rank: 2, Off: others},
		{Action: "image.open", Keys: []string{"o"}, Help: "open in another program", Foot: "open", Group: group, Rank: 4, Off: display},
		{Action: "image.save", Keys: []string{"s"}, Help: "save to a file", Foot: "save", Group: group, Rank: 5, Off: read},
	}
	return widget.Rebind(b, i.c.Keys)
}

// ImageActions are all keys of the overlay that shows images.
func ImageActions() []render.Binding { return Image{}.Bindings() }

// Update handles a key, a size, what became of an image in the terminal, or one of
// this overlay's messages.
func (i Image) Update(msg tea.Msg) (Image, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		i.width, i.height = msg.Width, msg.Height
		return i.fit()
	case tea.KeyMsg:
		return i.onKey(msg)
	case imageRead:
		if msg.of == i.token && msg.at == i.at {
			i.picture, i.info, i.failed = msg.picture, msg.info, msg.err
			return i.fit()
		}
	case imageMade:
		return i.made(msg)
	case imageDone:
		if msg.of == i.token {
			i.notice = msg.notice
		}
	case ImageHow:
		return i.shownAs(msg.with(i.c.Theme))
	case screen.ImageMsg:
		if i.busy && msg.Key == i.key(i.cells) {
			i.id, i.busy = msg.ID, false
			return i.fit() // the size may have changed meanwhile
		}
	case screen.ImagesGoneMsg:
		if i.id != 0 && msg.Has(i.id) || msg.All {
			i.id, i.busy, i.cells = 0, false, render.Cells{}
			return i.fit()
		}
	}
	return i, nil, nil
}

func (i Image) onKey(k tea.KeyMsg) (Image, tea.Cmd, Intent) {
	action, off := widget.Match(i.Bindings(), k)
	i.notice = off
	switch action {
	case "image.close":
		return i, nil, Closed{}
	case "image.next":
		return i.turn(1)
	case "image.previous":
		return i.turn(-1)
	case "image.open":
		return i, i.browse(), nil
	case "image.save":
		return i, i.save(), nil
	}
	return i, nil, nil
}

// shownAs goes on with another way of showing images.
func (i Image) shownAs(how ImageHow) (Image, tea.Cmd, Intent) {
	if how == i.c.How {
		return i, nil, nil
	}
	i.c.How = how
	i.cells, i.busy, i.id, i.paint = render.Cells{}, false, 0, ""
	if i.picture == nil && i.failed == nil {
		return i, i.read(), nil
	}
	return i.fit()
}

// turn goes to another image.
func (i Image) turn(by int) (Image, tea.Cmd, Intent) {
	n := len(i.c.Items)
	i.at = (i.at + by + n) % n
	i.picture, i.failed, i.info, i.notice = nil, nil, render.ImageInfo{}, ""
	i.cells, i.busy, i.id, i.paint = render.Cells{}, false, 0, ""
	return i, i.read(), nil
}

// read reads the image and makes it small enough to be kept.
func (i Image) read() tea.Cmd {
	ctx, item, out := i.ctx, i.c.Items[i.at], imageRead{of: i.token, at: i.at}
	shown := i.c.How.Protocol != screen.ProtocolNone
	return func() tea.Msg {
		data, err := item.Load(ctx)
		if err != nil {
			out.err = fmt.Errorf("read the image: %w", err)
			return out
		}
		if !shown {
			out.info, out.err = render.ReadImageInfo(data)
			return out
		}
		picture, info, err := render.DecodeImage(data)
		if out.info, out.err = info, err; err == nil {
			all := render.Cells{Columns: info.Width, Rows: info.Height, Width: 1, Height: 1}
			out.picture = all.Scaled(picture, keptPixels)
		}
		return out
	}
}

// key is what the terminal calls the image in some cells.
func (i Image) key(c render.Cells) string {
	return fmt.Sprintf("view %p %d %dx%d", i.token, i.at, c.Columns, c.Rows)
}

// room are the cells there are for the image.
func (i Image) room() render.Cells {
	rows := usageRoom(i.height) - 1 // the last one is for what is told
	if i.height < leastHeight {
		rows = 0
	}
	c := render.Cells{Columns: i.width - 2, Rows: rows, Width: i.c.How.CellWidth, Height: i.c.How.CellHeight}
	if i.c.How.Protocol == screen.ProtocolSixel && (c.Width <= 0 || c.Height <= 0) {
		c.Width, c.Height = leastCellWidth, leastCellHeight
	}
	return c
}

// fit has the image made for the size that the screen has now.
func (i Image) fit() (Image, tea.Cmd, Intent) {
	if i.picture == nil || i.c.How.Protocol == screen.ProtocolNone || i.busy {
		return i, nil, nil
	}
	cells := i.room().Fit(i.info.Width, i.info.Height)
	if cells == i.cells {
		return i, nil, nil
	}
	i.cells, i.id, i.paint = cells, 0, ""
	if cells.Columns == 0 {
		return i, nil, nil
	}
	i.busy = true
	return i, i.make(cells), nil
}

// most is how many pixels the terminal gets.
func (i Image) most() int {
	sixel := i.c.How.Protocol == screen.ProtocolSixel
	switch {
	case sixel && i.c.How.Far:
		return sixelFar
	case sixel:
		return sixelPixels
	case i.c.How.Far:
		return sentFar
	}
	return sentPixels
}

// make encodes the image for some cells.
func (i Image) make(cells render.Cells) tea.Cmd {
	out := imageMade{of: i.token, at: i.at, cells: cells}
	picture, how, dark, key, most := i.picture, i.c.How.Protocol, i.c.Theme.Dark, i.key(cells), i.most()
	return func() tea.Msg {
		picture := cells.Scaled(picture, most)
		switch how {
		case screen.ProtocolKitty:
			out.sent = screen.Graphic{Key: key, Columns: cells.Columns, Rows: cells.Rows}
			out.sent.PNG, out.err = render.ImagePNG(picture)
		case screen.ProtocolITerm:
			out.paint, out.err = render.ITermImage(picture, cells.Columns, cells.Rows)
		case screen.ProtocolSixel:
			out.paint, out.err = render.SixelImage(picture, dark)
		case screen.ProtocolNone:
		}
		return out
	}
}

// made takes what the terminal gets of an image.
func (i Image) made(msg imageMade) (Image, tea.Cmd, Intent) {
	switch {
	case msg.of != i.token || msg.at != i.at || msg.cells != i.cells:
		return i, nil, nil
	case msg.err != nil:
		i.failed, i.busy = msg.err, false
		return i, nil, nil
	case i.c.How.Protocol == screen.ProtocolKitty:
		return i, screen.Transmit(msg.sent), nil
	}
	i.paint, i.busy = msg.paint, false
	return i.fit() // the size may have changed meanwhile
}

// Picture implements [screen.Pictured] for terminals that paint images over cells.
func (i Image) Picture() screen.Picture {
	if i.paint == "" || i.cells != i.room().Fit(i.info.Width, i.info.Height) {
		return screen.Picture{}
	}
	x, y := i.corner()
	return screen.Picture{Key: i.key(i.cells) + " " + strconv.FormatBool(i.c.Theme.Dark), X: x, Y: y, Sequence: i.paint}
}
