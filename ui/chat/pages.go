package chat

import "cairn/harness"

// item is one block of the conversation.
type item struct {
	id  int
	rec harness.Record
	// sent marks a message whose record number is not known yet.
	sent bool
	// quiet is a line of this window's own, kept nowhere; after is the record
	// it stands behind.
	quiet string
	after harness.Origin
	// retry says that the line is of a call that was to be made again.
	retry bool
	marks marks
	fold  fold
}

// origin says where a record is. Of the session's own log the session is empty,
// so that numbers of the logs that a fork goes on in are told from its own.
func origin(r harness.Record) harness.Origin { return harness.Origin{Session: r.In, Record: r.Seq} }

// place is a line of the conversation: a line of an item, or of the live
// block, whose index is one past the last item.
type place struct{ item, line int }

// pages is the conversation as far as it is loaded, and what part of it is
// seen. Items are laid out only when they are looked at. While follow is set
// the last lines are seen; otherwise top stays where it is, whatever is added.
type pages struct {
	items  []item
	nextID int
	follow bool
	top    place
	kept   keptPlace
	// mark is the end of the conversation when the person left it.
	mark place
	// parent is the record after which a fork goes its own way, zero in others.
	parent harness.Origin
	// whole says that the first item is the first of the branch.
	whole   bool
	loading bool
	// wantTop scrolls to the first message once everything is loaded.
	wantTop bool
}

// source lays out items. Index len(items) is the live block.
type source interface {
	lines(i int) []string
}

// add appends an item.
func (p *pages) add(it item) {
	p.nextID++
	it.id = p.nextID
	if it.quiet != "" {
		it.after = p.last()
	}
	p.items = append(p.items[:len(p.items):len(p.items)], it)
}

// last is where the newest stored record is, zero if none is loaded.
func (p *pages) last() harness.Origin {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].rec.Seq > 0 {
			return origin(p.items[i].rec)
		}
	}
	return harness.Origin{}
}

// before is where the record before r is, zero if r is the first of all. It is
// not known of the first one that a fork of a fork has of the session between.
func (p *pages) before(r harness.Record) (o harness.Origin, known bool) {
	switch {
	case r.Prev > 0:
		return harness.Origin{Session: r.In, Record: r.Prev}, true
	case r.In == "":
		return p.parent, true
	}
	return harness.Origin{}, false
}

// first is the oldest stored record loaded.
func (p *pages) first() (harness.Record, bool) {
	for _, it := range p.items {
		if it.rec.Seq > 0 {
			return it.rec, true
		}
	}
	return harness.Record{}, false
}

// put appends a stored record that is not there yet. A message of the person
// takes the place of the one shown when it was sent.
func (p *pages) put(rec harness.Record) {
	if rec.Seq > 0 && p.index(origin(rec)) >= 0 {
		return
	}
	if rec.Message != nil && rec.Message.Role == harness.RoleUser {
		for i := len(p.items) - 1; i >= 0; i-- {
			if p.items[i].sent && p.items[i].rec.Message.Text() == rec.Message.Text() {
				p.replace(i, rec)
				return
			}
		}
	}
	p.add(item{rec: rec})
}

// replace gives item i another record and a new layout.
func (p *pages) replace(i int, rec harness.Record) {
	p.items = append([]item(nil), p.items...)
	p.nextID++
	p.items[i] = item{id: p.nextID, rec: rec, marks: p.items[i].marks, fold: p.items[i].fold}
}

// settle gives the message that was just sent its record number.
func (p *pages) settle(seq int) {
	for i := len(p.items) - 1; i >= 0 && seq > 0 && p.index(harness.Origin{Record: seq}) < 0; i-- {
		if p.items[i].sent {
			rec := p.items[i].rec
			rec.Seq = seq
			p.replace(i, rec)
			return
		}
	}
}

// unsend takes away a message that was not stored.
func (p *pages) unsend() {
	kept := make([]item, 0, len(p.items))
	for _, it := range p.items {
		if !it.sent {
			kept = append(kept, it)
		}
	}
	p.items = kept
}

// cut drops item i and all after it.
func (p *pages) cut(i int) {
	p.items = p.items[:i:i]
	p.follow = true
}

// index is the place of a record among the items, -1 if it is not loaded.
func (p *pages) index(o harness.Origin) int {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].rec.Seq > 0 && origin(p.items[i].rec) == o {
			return i
		}
	}
	return -1
}

// idAt is the id of item i, 0 for the live block.
func (p *pages) idAt(i int) int {
	if i < len(p.items) {
		return p.items[i].id
	}
	return 0
}

// byID is the place of the item with an id; of one that is gone, the nearest
// to where it was.
func (p *pages) byID(id, was int) int {
	for i, it := range p.items {
		if it.id == id {
			return i
		}
	}
	return min(was, len(p.items))
}

// prepend adds older records before all others. Whole says that there are none
// before them.
func (p *pages) prepend(records []harness.Record, whole bool) {
	p.loading, p.whole = false, whole || len(records) == 0
	if p.whole && len(records) == 0 {
		return
	}
	all := make([]item, 0, len(records)+len(p.items))
	for _, r := range records {
		p.nextID++
		all = append(all, item{id: p.nextID, rec: r})
	}
	p.items = append(all, p.items...)
	p.top.item += len(records)
	p.mark.item += len(records)
}

// window returns the lines to show in h rows.
func (p *pages) window(src source, h int) []string {
	if h <= 0 {
		return nil
	}
	if p.follow {
		return p.tail(src, h)
	}
	var out []string
	at := p.top
	for at.item <= len(p.items) && len(out) < h {
		lines := src.lines(at.item)
		if at.line < len(lines) {
			out = append(out, lines[at.line:min(len(lines), at.line+h-len(out))]...)
		}
		at = place{item: at.item + 1}
	}
	return out
}

// tail returns the last h lines.
func (p *pages) tail(src source, h int) []string {
	var blocks [][]string
	n := 0
	for i := len(p.items); i >= 0 && n < h; i-- {
		lines := src.lines(i)
		if len(lines) > h-n {
			lines = lines[len(lines)-(h-n):]
		}
		blocks = append(blocks, lines)
		n += len(lines)
	}
	out := make([]string, 0, n)
	for i := len(blocks) - 1; i >= 0; i-- {
		out = append(out, blocks[i]...)
	}
	return out
}

// bottom is the top place when the last h lines are seen; short says that the
// loaded items do not fill them.
func (p *pages) bottom(src source, h int) (at place, short bool) {
	return p.above(src, h, len(p.items))
}

// above is bottom for the items up to last.
func (p *pages) above(src source, h, last int) (at place, short bool) {
	n := 0
	for i := last; i >= 0; i-- {
		lines := len(src.lines(i))
		if n+lines >= h {
			return place{i, n + lines - h}, false
		}
		n += lines
	}
	return place{}, true
}

// scroll moves by n lines, up if negative, in a window of h rows.
func (p *pages) scroll(src source, n, h int) {
	end, short := p.bottom(src, h)
	if short {
		if n > 0 || p.whole || len(p.items) == 0 {
			p.follow = true
		}
		return
	}
	if p.follow {
		if n >= 0 {
			return
		}
		p.leave(src)
		p.top = end
	}
	for ; n < 0; n++ {
		if !p.up(src) {
			break
		}
	}
	for ; n > 0 && p.top.before(end); n-- {
		p.down(src)
	}
	p.follow = !p.top.before(end)
}

// leave stops following and notes where the end was.
func (p *pages) leave(src source) {
	p.follow = false
	p.mark = place{len(p.items), len(src.lines(len(p.items)))}
}

// up moves the top one line towards the beginning.
func (p *pages) up(src source) bool {
	if n := len(src.lines(p.top.item)); p.top.line > n {
		p.top.line = n
	}
	for p.top.line == 0 {
		if p.top.item == 0 {
			return false
		}
		p.top.item--
		p.top.line = len(src.lines(p.top.item))
	}
	p.top.line--
	return true
}

// down moves the top one line towards the end.
func (p *pages) down(src source) {
	p.top.line++
	for p.top.item <= len(p.items) && p.top.line >= len(src.lines(p.top.item)) {
		p.top = place{item: p.top.item + 1}
	}
}

// home goes to the first line.
func (p *pages) home(src source, h int) {
	if _, short := p.bottom(src, h); short {
		return
	}
	if p.follow {
		p.leave(src)
	}
	p.top = place{}
}

// show puts the record's message at the top of a window of h rows.
func (p *pages) show(src source, o harness.Origin, h int) bool {
	for i, it := range p.items {
		if it.rec.Seq == 0 || origin(it.rec) != o {
			continue
		}
		p.follow = true
		if end, short := p.bottom(src, h); !short && (place{item: i}).before(end) {
			p.leave(src)
			p.top = place{item: i}
		}
		return true
	}
	return false
}

// fresh is the number of lines that came since the end was left.
func (p *pages) fresh(src source) int {
	n := -p.mark.line
	for i := p.mark.item; i <= len(p.items); i++ {
		n += len(src.lines(i))
	}
	return max(n, 0)
}

// thirsty reports whether older records are to be loaded to fill the window or
// because its top is near the first of them.
func (p *pages) thirsty(src source, h int) bool {
	if p.whole || p.loading || h <= 0 {
		return false
	}
	if !p.follow {
		return p.top.item < 4
	}
	// The answer that streams is left out: it changes with each piece, and
	// laying it out is for the frames that show it.
	_, short := p.above(src, h, len(p.items)-1)
	return short
}

func (a place) before(b place) bool {
	return a.item < b.item || a.item == b.item && a.line < b.line
}
