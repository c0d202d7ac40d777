package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/render"
	"cairn/ui/screen"
)

const (
	// imageColumns and imageRows bound an image in the conversation, and leastRows is
	// how many rows it may take in the smallest window.
	imageColumns, imageRows, leastRows = 60, 16, 3
	// imagePixels bounds what is sent of one, and farPixels that over a line to
	// another machine: a terminal enlarges it again.
	imagePixels, farPixels = 500_000, 150_000
	// imagesSeen is how many images at most are shown at once, fewer than a terminal
	// keeps: else the last would displace the first without end.
	imagesSeen = 24
)

// errImageElsewhere says that what is kept of an image is its name.
var errImageElsewhere = errors.New("what is kept of it here is its name")

// Images is how the terminal shows images. The zero value shows none.
type Images struct {
	Protocol screen.Protocol
	// CellWidth and CellHeight are the size of a cell in pixels, 0 if it is not known.
	CellWidth, CellHeight int
	// Far says that the terminal is on another machine.
	Far bool
}

// imageKey says which image it is, in which size.
type imageKey struct {
	sha256        string
	columns, rows int
}

// name is what the terminal calls it.
func (k imageKey) name() string { return fmt.Sprintf("%s %dx%d", k.sha256, k.columns, k.rows) }

// imaging is what a chat knows of the images in its conversation. Its maps are never
// changed, but for sums, which is only ever added to.
type imaging struct {
	use Images
	// there are those in the terminal, failed why others are not, by what they are.
	there  map[imageKey]screen.ImageID
	failed map[string]string
	// sizes are in pixels, of images whose messages do not tell.
	sizes map[string][2]int
	sums  map[*harness.File]string
	// busy is the one that is being made or sent; changes counts what became of them.
	busy    imageKey
	changes int
	// seen is what was looked at for images the last time, and sent how many of that
	// the terminal was given.
	seen imageView
	sent int
}

// imageView is what the images that are seen depend on.
type imageView struct {
	next, items   int
	top           place
	follow        bool
	width, height int
	use           Images
	changes       int
}

// UseImages tells how the terminal shows images.
func (m Model) UseImages(u Images) (Model, tea.Cmd) {
	if m.img.use == u {
		return m, nil
	}
	return m.relaid(func(m Model) Model {
		m.img.use = u
		return m
	}).fetchImages()
}

// imagesShown reports whether images are part of the conversation: only those that a
// terminal keeps are, since they scroll and are covered as text is.
func (m *Model) imagesShown() bool {
	return m.img.use.Protocol == screen.ProtocolKitty && m.deps.Theme != nil && m.deps.Theme.Ornaments.Closed >= "\x80"
}

// isImage reports whether a file is shown as an image, if it can be.
func isImage(f *harness.File) bool { return f != nil && strings.HasPrefix(f.MediaType, "image/") }

// imagesOf are the images that are shown with a message: its own, and those of the
// results of its calls.
func (m *Model) imagesOf(msg *harness.Message) []*harness.File {
	if msg == nil {
		return nil
	}
	var files []*harness.File
	for _, p := range msg.Parts {
		switch {
		case p.Kind == harness.PartFile && isImage(p.File):
			files = append(files, p.File)
		case p.Call != nil:
			files = append(files, imagesIn(m.results[p.Call.ID])...)
		}
	}
	return files
}

// imagesIn are the images of a result.
func imagesIn(res *harness.ToolResult) []*harness.File {
	if res == nil {
		return nil
	}
	var files []*harness.File
	for i := range res.Files {
		if isImage(&res.Files[i]) {
			files = append(files, &res.Files[i])
		}
	}
	return files
}

// sum is the sha256 of an image, empty if its bytes are nowhere.
func (m *Model) sum(f *harness.File) string {
	if f.Artifact != "" || len(f.Data) == 0 {
		return f.Artifact
	}
	sum, known := m.img.sums[f]
	if !known {
		digest := sha256.Sum256(f.Data)
		sum = hex.EncodeToString(digest[:])
		m.img.sums[f] = sum
	}
	return sum
}

// imageAt is what an image is called and the cells it fills: ok is false if it has no
// place, or none yet.
func (d desk) imageAt(f *harness.File) (key imageKey, cells render.Cells, ok bool) {
	sum := d.m.sum(f)
	if sum == "" || d.m.img.failed[sum] != "" {
		return imageKey{sha256: sum}, render.Cells{}, false
	}
	width, height := f.Width, f.Height
	if size, known := d.m.img.sizes[sum]; known {
		width, height = size[0], size[1]
	}
	room := render.Cells{
		Columns: min(d.l.width-2, imageColumns), Rows: d.l.images.rows,
		Width: d.l.images.use.CellWidth, Height: d.l.images.use.CellHeight,
	}
	cells = room.Fit(width, height)
	return imageKey{sum, cells.Columns, cells.Rows}, cells, cells.Columns > 0
}

// imageLook is what the layout of images depends on.
type imageLook struct {
	shown bool
	use   Images
	rows  int
}

func (m *Model) imageLook() imageLook {
	if !m.imagesShown() {
		return imageLook{}
	}
	return imageLook{true, m.img.use, min(max(m.height/2, leastRows), imageRows)}
}

// pictured is what the layout of an item depends on of images, 0 without any.
func (m *Model) pictured(it item) int {
	if !m.imagesShown() || len(m.imagesOf(it.rec.Message)) == 0 {
		return 0
	}
	return m.img.changes + 1
}

// files are the files of a message, by name, and below each what is seen of it.
func (d desk) files(msg *harness.Message) []string {
	var lines []string
	for _, p := range msg.Parts {
		if p.File != nil && (p.Kind == harness.PartFile || p.Kind == harness.PartText) {
			lines = append(lines, d.file(p)...)
		}
	}
	return lines
}

// file is one file by name, and below it what is seen of it.
func (d desk) file(p harness.Part) []string {
	muted := d.l.theme.Paints.Muted
	lines := []string{d.fit(muted.On("[" + attach.Words(*p.File, p.Kind == harness.PartText) + "]"))}
	if p.Kind != harness.PartFile || !isImage(p.File) {
		return lines
	}
	return append(lines, d.picture(p.File)...)
}

// resultImages are the images of a result, by name, and below each what is seen of it.
func (d desk) resultImages(res *harness.ToolResult) []string {
	var lines []string
	for _, f := range imagesIn(res) {
		lines = append(lines, d.fit(d.l.theme.Paints.Muted.On("    ["+attach.Words(*f, false)+"]")))
		lines = append(lines, d.picture(f)...)
	}
	return lines
}

// picture is what is seen of an image.
func (d desk) picture(f *harness.File) []string {
	if !d.l.images.shown {
		return nil
	}
	key, cells, ok := d.imageAt(f)
	if !ok {
		if why := d.m.img.failed[key.sha256]; why != "" {
			return []string{d.fit(d.l.theme.Paints.Muted.On("  not shown: " + render.SafeLine(why)))}
		}
		return nil
	}
	id, there := d.m.img.there[key]
	if !there {
		return make([]string, cells.Rows)
	}
	var lines []string
	for _, l := range render.ImageCells(id.Colour(), id.Mark(), cells.Columns, cells.Rows) {
		lines = append(lines, "  "+l)
	}
	return lines
}

// fetchImages has the next image made that is seen and not in the terminal yet: one
// at a time, so that nothing else waits for them.
func (m Model) fetchImages() (Model, tea.Cmd) {
	if m.img.busy != (imageKey{}) || m.width <= 0 || !m.imagesShown() {
		return m, nil
	}
	now := imageView{m.pages.nextID, len(m.pages.items), m.pages.top, m.pages.follow, m.width, m.height, m.img.use, m.img.changes}
	was := m.img.seen
	if now == was {
		return m, nil
	}
	m.img.seen = now
	if was.changes = now.changes; now != was {
		m.img.sent = 0
	}
	if m.img.sent >= 2*imagesSeen { // other chats displace them
		return m, nil
	}
	return m.fetchSeen()
}

// fetchSeen is apart from fetchImages because to lay out is to copy the whole model.
func (m Model) fetchSeen() (Model, tea.Cmd) {
	d := m.desk()
	from, to := m.pages.seen(d, m.rows())
	seen := map[imageKey]bool{}
	for i := from; i <= to && i < len(m.pages.items); i++ {
		for _, f := range m.imagesOf(m.pages.items[i].rec.Message) {
			key, cells, ok := d.imageAt(f)
			if seen[key] = true; len(seen) > imagesSeen {
				return m, nil
			}
			if _, there := m.img.there[key]; there || key.sha256 == "" || m.img.failed[key.sha256] != "" {
				continue
			}
			if !ok { // its size is not known yet
				cells = render.Cells{}
			} else {
				m.img.sent++
			}
			m.img.busy = key
			return m, m.makeImage(f, key, cells)
		}
	}
	return m, nil
}

// makeImage reads an image and makes of it what the terminal gets. Without cells only
// its size is read.
func (m Model) makeImage(f *harness.File, key imageKey, cells render.Cells) tea.Cmd {
	ctx, to, load := m.ctx, m.to(), m.loadImage(f)
	most := imagePixels
	if m.img.use.Far {
		most = farPixels
	}
	return func() tea.Msg {
		out := imageMsg{to: to, key: key}
		data, err := load(ctx)
		if err != nil {
			out.err = fmt.Errorf("read the image: %w", err)
			return out
		}
		info, err := render.ReadImageInfo(data)
		if out.width, out.height = info.Width, info.Height; err != nil || cells.Columns == 0 {
			out.err = err
			return out
		}
		img, _, err := render.DecodeImage(data)
		if err != nil {
			out.err = err
			return out
		}
		png, err := render.ImagePNG(cells.Scaled(img, most))
		out.graphic, out.err = screen.Graphic{Key: key.name(), PNG: png, Columns: cells.Columns, Rows: cells.Rows}, err
		return out
	}
}

// imageMsg brings an image as the terminal gets it, or only its size.
type imageMsg struct {
	to
	key           imageKey
	width, height int
	graphic       screen.Graphic
	err           error
}

func (msg imageMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.imageChanged(func(i *imaging) {
			i.failed = with(i.failed, msg.key.sha256, m.deps.Words(msg.err))
			i.busy = imageKey{}
		}), nil
	case msg.graphic.Key != "":
		return m, screen.Transmit(msg.graphic)
	}
	return m.imageChanged(func(i *imaging) {
		i.sizes = with(i.sizes, msg.key.sha256, [2]int{msg.width, msg.height})
		i.busy = imageKey{}
	}), nil
}

// imageChanged makes a change to what is known of images, and has what is read stay
// where it is.
func (m Model) imageChanged(change func(i *imaging)) Model {
	return m.relaid(func(m Model) Model {
		m.img.changes++
		change(&m.img)
		return m
	})
}

// ImageThere takes that the terminal has an image, and what is to be done then.
func (m Model) ImageThere(msg screen.ImageMsg) (Model, tea.Cmd) {
	key := m.img.busy
	if key == (imageKey{}) || key.name() != msg.Key {
		return m, nil
	}
	return m.imageChanged(func(i *imaging) {
		i.there = with(i.there, key, msg.ID)
		i.busy = imageKey{}
	}).fetchImages()
}

// ImagesGone takes that the terminal has some images no more, and what is to be done
// then.
func (m Model) ImagesGone(msg screen.ImagesGoneMsg) (Model, tea.Cmd) {
	return m.imageChanged(func(i *imaging) {
		i.there = maps.Clone(i.there)
		maps.DeleteFunc(i.there, func(_ imageKey, id screen.ImageID) bool { return msg.Has(id) })
		if msg.All {
			i.busy, i.sent = imageKey{}, 0
		}
	}).fetchImages()
}

// with is a map with one more entry; the one given stays as it is.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	out := make(map[K]V, len(m)+1)
	maps.Copy(out, m)
	out[key] = value
	return out
}
