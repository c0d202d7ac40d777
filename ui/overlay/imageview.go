package overlay

import (
	"fmt"
	"strings"

	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

// corner is the cell of the upper left corner of the image.
func (i Image) corner() (x, y int) {
	x = max((i.width-i.cells.Columns)/2, 0)
	if y = 1; i.height >= roomyFrom {
		y = 2
	}
	return x, y
}

// View draws the overlay: exactly height lines, none wider than width.
func (i Image) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	t := i.c.Theme
	body := i.body(width, height)
	if height < 3 {
		return widget.Frame(body, width, height)
	}
	for len(body) < usageRoom(height)-1 {
		body = append(body, "")
	}
	body = append(body, render.Truncate(" "+t.Paints.Muted.On(render.SafeLine(i.notice)), width, t.Ornaments.Ellipsis))
	head, foot := i.header(width), widget.Footer(i.Bindings(), t, width)
	if height < roomyFrom {
		return widget.Frame(append(append([]string{head}, body...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, body...), rule, foot), width, height)
}

// header says which image it is.
func (i Image) header(width int) string {
	t := i.c.Theme
	left := " " + t.Paints.Title.On("Image") + t.Paints.Muted.On(" "+t.Ornaments.Dot+" "+render.SafeLine(i.c.Items[i.at].Words))
	right := ""
	if n := len(i.c.Items); n > 1 {
		right = fmt.Sprintf("%d of %d ", i.at+1, n)
	}
	return render.Fit(left, t.Paints.Muted.On(right), width, t.Ornaments.Ellipsis)
}

// body is the image, or what is said in its place.
func (i Image) body(width, height int) []string {
	t := i.c.Theme
	room := max(usageRoom(height)-1, 1)
	switch {
	case i.failed != nil:
		return i.said(width, room, "This image is not shown: "+i.c.Words(i.failed))
	case i.c.How.Protocol == screen.ProtocolNone && i.info.Kind != "":
		return i.said(width, room, fmt.Sprintf("%s image, %d x %d pixels", i.info.Kind, i.info.Width, i.info.Height),
			"This terminal shows no images, as far as it tells.", i.ways())
	case i.picture == nil || i.busy:
		return i.said(width, room, "reading"+t.Ornaments.Ellipsis)
	case i.id == 0 || i.width != width || i.height != height:
		return nil // what is painted over it must find blank cells
	}
	x, _ := i.corner()
	lines := render.ImageCells(i.id.Colour(), i.id.Mark(), i.cells.Columns, i.cells.Rows)
	for n, l := range lines {
		lines[n] = strings.Repeat(" ", x) + l
	}
	return lines
}

// ways say what can be done with an image that is not shown.
func (i Image) ways() string {
	save := widget.KeyFor(i.c.Keys, "image.save", "s") + " saves it to a file."
	if i.c.Browse == nil || i.c.Shelf == nil {
		return save
	}
	return widget.KeyFor(i.c.Keys, "image.open", "o") + " opens it in another program, " + save
}

// said are sentences in place of the image.
func (i Image) said(width, room int, sentences ...string) []string {
	var lines []string
	for _, s := range sentences {
		for _, l := range render.Wrap(render.Safe(s), max(width-2, 1)) {
			lines = append(lines, " "+i.c.Theme.Paints.Muted.On(l))
		}
	}
	return lines[:min(len(lines), room)]
}
