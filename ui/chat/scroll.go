package chat

// hold stays where the window is: the end is followed no more.
func (p *pages) hold(src source, h int) {
	if !p.follow {
		return
	}
	at := p.shown(src, h)
	p.leave(src)
	p.top = at
}

// shown is the first line in a window of h rows.
func (p *pages) shown(src source, h int) place {
	if !p.follow {
		return p.top
	}
	at, _ := p.bottom(src, h) // the beginning if all of it is seen
	return at
}

// seen are the first and the last item of which something is in a window of h rows.
func (p *pages) seen(src source, h int) (from, to int) {
	at := p.shown(src, h)
	if n := len(src.lines(at.item)); at.line >= n && at.item < len(p.items) {
		at = place{item: at.item + 1}
	}
	from, to = at.item, at.item
	for left := h + at.line; to < len(p.items); to++ {
		if left -= len(src.lines(to)); left <= 0 {
			break
		}
	}
	return from, to
}

// row is the row of a window of h rows in which a line is; ok is false if it is not
// in the window.
func (p *pages) row(src source, of place, h int) (row int, ok bool) {
	at := p.shown(src, h)
	if of.before(at) {
		return 0, false
	}
	row = -at.line
	for i := at.item; i < of.item && row < h; i++ {
		row += len(src.lines(i))
	}
	row += of.line
	return row, row >= 0 && row < h
}

// reach scrolls as little as shows item i whole in a window of h rows, or its
// beginning if it is longer than that. The end is not followed.
func (p *pages) reach(src source, i, h int) {
	p.hold(src, h)
	n := len(src.lines(i))
	_, begins := p.row(src, place{item: i}, h)
	_, ends := p.row(src, place{i, max(n-1, 0)}, h)
	switch {
	case begins && ends:
	case n < h && !(place{item: i}).before(p.top) && p.top.item != i:
		if at, short := p.above(src, h, i); !short {
			p.top = at
		}
	default:
		p.toTop(src, i, h)
	}
}

// toTop puts item i at the top of a window of h rows, as far as what follows fills
// it.
func (p *pages) toTop(src source, i, h int) {
	p.hold(src, h)
	switch end, short := p.bottom(src, h); {
	case short:
		p.top = place{}
	case end.before(place{item: i}):
		p.top = end
	default:
		p.top = place{item: i}
	}
}

// reveal shows a line in a window of h rows, with some above it if it is not there
// yet.
func (p *pages) reveal(src source, at place, h int) {
	p.hold(src, h)
	if _, ok := p.row(src, at, h); ok {
		return
	}
	p.top = at
	for range h / 3 {
		if !p.up(src) {
			break
		}
	}
	switch end, short := p.bottom(src, h); {
	case short:
		p.top = place{}
	case end.before(p.top):
		p.top = end
	}
}

// inherit has the newest item folded as what streamed before it was stored.
func (p *pages) inherit(f fold) {
	if n := len(p.items); n > 0 && f != foldUsual {
		p.items = append([]item(nil), p.items...)
		p.items[n-1].fold = f
	}
}
