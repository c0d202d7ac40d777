package chat

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/reading"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// findPage is how many records are searched at a time.
const findPage = 500

// finding is what the person looks for in the conversation. The zero value is
// nothing.
type finding struct {
	n      int // tells the search from earlier ones
	typing bool
	field  widget.Field
	query  reading.Query
	last   string // what was looked for before, as it was typed
	// hits are the records that say it, one for each time, the newest first.
	hits []harness.Origin
	busy bool // there is more to search
	// at is the hit at hand, -1 before there is one; wanted says that its message
	// is being loaded.
	at     int
	wanted bool
	// id is the item of the hit, nth which of its places it is.
	id, nth int
	// newest is the last record that was searched.
	newest harness.Origin
	opened []int // ids of the items that were unfolded to show a hit
	said   string
	back   back
}

// back is where the person was when they began to look for something.
type back struct {
	selecting bool
	followed  bool
	pick      pick
	id, line  int // of the line at the top
	at        int
}

// hitIn is which of the places in an item is the one at hand, -1 for none.
func (s selecting) hitIn(id int) int {
	if s.on && s.find.query.On() && s.find.at >= 0 && s.find.id == id {
		return s.find.nth
	}
	return -1
}

// found paints what is looked for in an item laid out.
func (d desk) found(i int, have laid) laid {
	q := d.m.sel.find.query
	if !q.On() || d.m.pages.items[i].rec.Message == nil {
		return have
	}
	have.spans = q.Spans(have.lines, d.headingLine(i)+1) // the heading is no text
	p := d.l.theme.Paints
	have.lines = reading.Paint(have.lines, have.spans, have.state.hit, p.Match, p.Selected)
	return have
}

// askFind asks what to look for.
func (m Model) askFind() Model {
	if !m.sel.on {
		b := m.here()
		if m = m.startSelecting(); !m.sel.on {
			return m
		}
		m.sel.find.back = b
	} else if !m.sel.find.query.On() {
		m.sel.find.back = m.here()
	}
	m.sel.find.typing, m.sel.find.field = true, widget.Line("")
	return m
}

// here is where the person is.
func (m *Model) here() back {
	return back{
		selecting: m.sel.on, followed: m.pages.follow, pick: m.sel.pick, at: m.sel.at,
		id: m.pages.idAt(m.pages.top.item), line: m.pages.top.line,
	}
}

// findKey handles a key while it is asked what to look for.
func (m Model) findKey(msg tea.KeyMsg) (Model, tea.Cmd) {
	f := &m.sel.find
	switch action, _ := render.Match(m.Bindings(), msg.String()); action {
	case actFindGo:
		text := f.field.Text()
		if reading.NewQuery(text).On() {
			return m.find(text)
		}
		if f.last != "" {
			return m.find(f.last)
		}
		return m.endFind()
	case actFindBack:
		return m.endFind()
	}
	if next, ok := f.field.Key(msg); ok {
		f.field = next
	}
	return m, nil
}

// find looks for words in the whole branch, from its end to its beginning; without
// any it asks for them.
func (m Model) find(words string) (Model, tea.Cmd) {
	query := reading.NewQuery(words)
	if !m.sel.on || !query.On() {
		if m = m.askFind(); !m.sel.on || !query.On() {
			return m, nil
		}
	}
	m = m.refoldFound()
	m.sel.find = finding{n: m.sel.find.n + 1, query: query, last: words, busy: true, at: -1, back: m.sel.find.back}
	if !m.stored {
		m.sel.find.busy = false
		m.sel.find.said = OffUnsaid
		return m, nil
	}
	return m, m.lookThrough(harness.Origin{})
}

// hitsMsg brings what a part of the branch says of what is looked for.
type hitsMsg struct {
	to
	n      int
	hits   []harness.Origin
	newest harness.Origin
	oldest harness.Origin // zero at the beginning of the branch
	err    error
}

// lookThrough searches the records before one, or the last ones.
func (m Model) lookThrough(before harness.Origin) tea.Cmd {
	ctx, d, to, id, q, n := m.ctx, m.deps, m.to(), m.session.ID, m.sel.find.query, m.sel.find.n
	return func() tea.Msg {
		out := hitsMsg{to: to, n: n}
		var page []harness.Record
		page, out.err = pageBefore(ctx, d.Transcript, id, before)
		for _, r := range slices.Backward(page) {
			for range said(q, r) {
				out.hits = append(out.hits, origin(r))
			}
		}
		if len(page) > 0 {
			out.newest = origin(page[len(page)-1])
		}
		if len(page) == findPage {
			out.oldest = origin(page[0])
		}
		return out
	}
}

// pageBefore reads the records before one, or the last ones if that is zero.
func pageBefore(ctx context.Context, t harness.Transcript, id harness.SessionID, before harness.Origin) ([]harness.Record, error) {
	var page []harness.Record
	var err error
	if before.Record == 0 {
		page, err = t.Tail(ctx, id, 0, findPage)
	} else {
		page, err = t.Before(ctx, id, before, findPage)
	}
	if err != nil {
		return nil, fmt.Errorf("search session %s: %w", id, err)
	}
	return page, nil
}

// said is how often a record says what is looked for: in its words, its thinking,
// and what its tools were given and gave.
func said(q reading.Query, r harness.Record) int {
	if r.Message == nil || r.Message.Mark == harness.MarkNotice {
		return 0
	}
	var n int
	if r.Message.Role == harness.RoleAssistant {
		n = q.Prose(r.Message.Text())
	} else {
		n = q.Count(r.Message.Text())
	}
	n += q.Count(r.Message.Thinking())
	for _, p := range r.Message.Parts {
		switch {
		case p.Call != nil:
			n += q.Count(inputText(p.Call))
		case p.Result != nil:
			n += q.Count(p.Result.Text)
		}
	}
	return n
}

func (msg hitsMsg) apply(m Model) (Model, tea.Cmd) {
	f := &m.sel.find
	if !m.sel.on || msg.n != f.n {
		return m, nil
	}
	if msg.err != nil {
		f.busy = false
		return m.trouble(msg.err)
	}
	known := len(f.hits)
	f.hits = append(f.hits, msg.hits...)
	if f.newest.Record == 0 {
		f.newest = msg.newest
	}
	var cmds []tea.Cmd
	if f.busy = msg.oldest.Record > 0; f.busy {
		cmds = append(cmds, m.lookThrough(msg.oldest))
	}
	if f.at < 0 {
		var cmd tea.Cmd
		m, cmd = m.firstHit(known)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// firstHit goes to the hit that is nearest above what is read, of those from known
// on; if there is none at all above, to the last one.
func (m Model) firstHit(known int) (Model, tea.Cmd) {
	f := &m.sel.find
	_, low := m.pages.seen(m.desk(), m.rows())
	var from harness.Record
	for i := min(low, len(m.pages.items)-1); i >= 0 && from.Seq == 0; i-- {
		from = m.pages.items[i].rec
	}
	for k := known; k < len(f.hits); k++ {
		switch o := f.hits[k]; {
		case o.Session == from.In && o.Record > from.Seq, o.Session == "" && from.In != "":
		case o.Session != from.In && from.In != "" && m.pages.index(o) > low:
		default:
			return m.toHit(k)
		}
	}
	switch {
	case f.busy:
	case len(f.hits) == 0:
		f.said = "not found"
	default:
		m, cmd := m.toHit(0)
		m.sel.find.said = "only further down"
		return m, cmd
	}
	return m, nil
}

// nextHit goes to the next hit towards the end, or the one before if step is -1.
// Behind the last one it goes on with the first, and says so.
func (m Model) nextHit(step int) (Model, tea.Cmd) {
	f := &m.sel.find
	f.said = ""
	switch to := f.at - step; {
	case len(f.hits) == 0 && !f.busy:
		f.said = "not found"
	case f.at < 0, to >= len(f.hits) && f.busy:
		f.said = "still searching" + m.deps.Theme.Ornaments.Ellipsis
	case to < 0 && f.busy:
		f.said = "this is the last one; the first is still searched for"
	case to < 0:
		m, cmd := m.toHit(len(f.hits) - 1)
		m.sel.find.said = "went on at the first"
		return m, cmd
	case to >= len(f.hits):
		m, cmd := m.toHit(0)
		m.sel.find.said = "went on at the last"
		return m, cmd
	default:
		return m.toHit(to)
	}
	return m, nil
}

// toHit shows a hit, loading what lies between if need be.
func (m Model) toHit(k int) (Model, tea.Cmd) {
	f := &m.sel.find
	f.at, f.wanted = k, false
	m.sel.moved = true
	i := m.itemOf(f.hits[k])
	if i < 0 {
		if m.pages.whole {
			f.said = "it is not on this branch any more"
			return m, nil
		}
		f.wanted = true
		return m.older(0)
	}
	f.nth = 0
	for j := k + 1; j < len(f.hits) && m.itemNear(f.hits[j], i) == i; j++ {
		f.nth++
	}
	f.id = m.pages.items[i].id
	m = m.choose(i)
	return m.showHit(i), nil
}

// showHit scrolls to the hit at hand, which is in item i. What is folded away of
// it is unfolded.
func (m Model) showHit(i int) Model {
	f := &m.sel.find
	have := m.desk().laid(i)
	if it := m.pages.items[i]; len(have.spans) <= f.nth && it.fold != foldOpen && hides(it.rec.Message) {
		f.opened = append(slices.Clone(f.opened), it.id)
		m = m.relaid(func(m Model) Model {
			m.pages.items = slices.Clone(m.pages.items)
			m.pages.items[i].fold = foldOpen
			return m
		})
		f = &m.sel.find
		have = m.desk().laid(i)
	}
	line := 0
	if n := len(have.spans); n > 0 {
		f.nth = min(f.nth, n-1)
		line = have.spans[f.nth].Line
	}
	if i == 0 && line > 0 { // the empty line before the first item is left out
		line--
	}
	m.pages.reveal(m.desk(), place{i, line}, m.rows())
	return m
}

// itemOf is the item in which a record is shown, -1 if it is not loaded.
func (m *Model) itemOf(o harness.Origin) int { return m.callerOf(m.pages.index(o)) }

// itemNear is itemOf for a record that is at item i or right before it.
func (m *Model) itemNear(o harness.Origin, i int) int {
	for j := i; j < min(i+64, len(m.pages.items)); j++ {
		if rec := m.pages.items[j].rec; rec.Seq > 0 && origin(rec) == o {
			return m.callerOf(j)
		}
	}
	return -1
}

// callerOf is the item of the answer whose tools an item has the results of; of
// other items it is the item itself.
func (m *Model) callerOf(i int) int {
	for i > 0 && m.pages.items[i].rec.Message != nil && m.pages.items[i].rec.Message.Role == harness.RoleTool {
		i--
	}
	return i
}

// findAlong goes on with the search when records came.
func (m Model) findAlong() (Model, tea.Cmd) {
	f := &m.sel.find
	if !f.query.On() {
		return m, nil
	}
	if last := m.pages.last(); !f.busy && f.newest.Record > 0 && last != f.newest {
		if at := m.pages.index(f.newest); at >= 0 {
			for _, it := range m.pages.items[at+1:] {
				m = m.foundMore(it.rec)
			}
		}
		f = &m.sel.find
		f.newest = last
	}
	if f.wanted && !m.pages.loading {
		return m.toHit(f.at)
	}
	return m, nil
}

// foundMore counts what a new record says of what is looked for.
func (m Model) foundMore(r harness.Record) Model {
	n := said(m.sel.find.query, r)
	if r.Seq == 0 || n == 0 {
		return m
	}
	f := &m.sel.find
	f.hits = append(slices.Repeat([]harness.Origin{origin(r)}, n), f.hits...)
	if f.at >= 0 {
		f.at += n
	}
	return m
}

// refoldFound folds again what was unfolded to show hits.
func (m Model) refoldFound() Model {
	opened := m.sel.find.opened
	if len(opened) == 0 {
		return m
	}
	m.sel.find.opened = nil
	return m.relaid(func(m Model) Model {
		m.pages.items = slices.Clone(m.pages.items)
		for i, it := range m.pages.items {
			if slices.Contains(opened, it.id) && it.fold == foldOpen {
				m.pages.items[i].fold = foldUsual
			}
		}
		return m
	})
}

// endFind looks for nothing any more and goes back to where the person read.
func (m Model) endFind() (Model, tea.Cmd) {
	f := m.sel.find
	if f.typing && f.query.On() { // what was looked for before is still looked for
		m.sel.find.typing = false
		return m, nil
	}
	m = m.refoldFound()
	m.sel.find = finding{n: f.n + 1, last: f.last}
	b := f.back
	if b.followed {
		m.pages.follow = true
	} else {
		m.pages.follow = false
		m.pages.top = place{m.pages.byID(b.id, m.pages.top.item), b.line}
	}
	if !b.selecting {
		m.sel.moved, m.sel.followed = true, false
		return m.stopSelecting(), nil
	}
	if at := m.repick(b.pick, b.at); at >= 0 {
		m = m.choose(at)
	}
	return m, nil
}
