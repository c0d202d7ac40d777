package chat

import (
	"slices"

	"cairn/harness"
)

// merge takes the newest records of the branch, read when the log ended with
// record upTo. What is shown of them stays, what is missing between or after is
// added, what is no longer on the branch goes, but not what is newer than was
// read. Records that do not touch those shown replace them all.
func (p *pages) merge(records []harness.Record, upTo int) {
	top, mark := p.idAt(p.top.item), p.idAt(p.mark.item)
	from := p.join(records)
	old, above := p.items[from:], []item(nil)
	n, at := slices.IndexFunc(old, func(it item) bool { return !it.loose() }), -1
	if n > 0 { // what was said before a message stays above it
		at = p.stored(old[n], records)
	}
	if at >= 0 {
		above, old = old[:n], old[n:]
	}
	old = p.claimed(old, records)
	p.items = p.items[:from:from]
	for i, r := range records {
		if i == at {
			p.anchor(above...)
		}
		p.items = append(p.items, p.known(old, r)...)
	}
	newer := func(o harness.Origin) bool {
		return o.Session == "" && o.Record > upTo &&
			!slices.ContainsFunc(records, func(r harness.Record) bool { return origin(r) == o })
	}
	for _, it := range old {
		switch {
		case it.loose():
			p.anchor(it)
		case newer(origin(it.rec)), it.sent, it.quiet != "" && newer(it.after):
			p.items = append(p.items, it)
		}
	}
	p.top.item, p.mark.item = p.byID(top, p.top.item), p.byID(mark, p.mark.item)
}

// join is the item from which on the newest records of the branch take the
// place of what is shown.
func (p *pages) join(records []harness.Record) int {
	if len(records) == 0 { // the branch is empty
		p.whole, p.follow = true, true
		return 0
	}
	if from := p.index(origin(records[0])); from >= 0 {
		return from
	}
	last, end := p.last(), harness.Origin{}
	before, known := p.before(records[0])
	first := known && before == end
	switch {
	case last == end: // what stands there already comes behind
		p.whole = p.whole && first
		return 0
	case known && before == last:
		from := len(p.items)
		for from > 0 && p.items[from-1].sent {
			from--
		}
		return from
	}
	p.whole = first
	if !slices.ContainsFunc(records, func(r harness.Record) bool { return p.index(origin(r)) >= 0 }) {
		p.follow = true
	}
	return 0
}

// settled goes back to the end if what was read there is gone.
func (p *pages) settled(src source, h int) {
	if end, short := p.bottom(src, h); !p.follow && (short || !p.top.before(end)) {
		p.follow = true
	}
}

// loose reports whether the item is a line of this window that was said before
// any record was loaded.
func (it item) loose() bool { return it.quiet != "" && it.after == (harness.Origin{}) }

// anchor adds lines of this window, which stand from now on behind the record
// that is the last one now.
func (p *pages) anchor(lines ...item) {
	for _, it := range lines {
		it.after = p.last()
		p.items = append(p.items, it)
	}
}

// claimed are the old items without the message that was just sent, if it is
// among the records: they may be read before the run says that it began.
func (p *pages) claimed(old []item, records []harness.Record) []item {
	sent := slices.IndexFunc(old, func(it item) bool { return it.sent })
	if sent < 0 || p.stored(old[sent], records) < 0 {
		return old
	}
	return slices.Delete(slices.Clone(old), sent, sent+1)
}

// stored is which of the records an item shows, -1 if none. Of a message that was
// just sent that is one of its text that is not shown yet.
func (p *pages) stored(it item, records []harness.Record) int {
	return slices.IndexFunc(records, func(r harness.Record) bool {
		if !it.sent {
			return it.rec.Seq > 0 && origin(it.rec) == origin(r)
		}
		return r.Message != nil && r.Message.Role == harness.RoleUser && p.index(origin(r)) < 0 &&
			r.Message.Text() == it.rec.Message.Text()
	})
}

// known is the record's item among old ones, with the lines of this window
// that stand behind it, or a new item.
func (p *pages) known(old []item, r harness.Record) []item {
	var out []item
	for _, it := range old {
		if it.rec.Seq > 0 && origin(it.rec) == origin(r) || it.quiet != "" && it.after == origin(r) {
			out = append(out, it)
		}
	}
	if len(out) > 0 && out[0].rec.Seq == r.Seq {
		return out
	}
	p.nextID++
	return append([]item{{id: p.nextID, rec: r}}, out...)
}
