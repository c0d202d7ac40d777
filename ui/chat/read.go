package chat

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/reading"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

// selecting is how the person goes through the conversation message by message.
type selecting struct {
	on   bool
	pick pick
	// at is the item chosen, one past the last for the answer that streams.
	at int
	// followed says that the end was followed before, moved that the person went
	// elsewhere since.
	followed, moved bool
	// first says that the first message is to be chosen once it is loaded.
	first bool
	// codes and links are what can be copied and opened of a stored message.
	codes []render.Code
	links []string
	find  finding
	// times says that exact times and durations are shown.
	times bool
}

// pick names the message chosen, whatever is loaded, merged or added around it.
type pick struct {
	of harness.Origin // of a stored message
	id int            // of its item, or of the one before what streams
	// streams says that it is the answer behind that item.
	streams bool
}

// shows reports whether item i is the one chosen.
func (s selecting) shows(i int) bool { return s.on && !s.find.typing && s.at == i }

// choosable reports whether something was said in item i that can be chosen.
func (m *Model) choosable(i int) bool {
	if i >= len(m.pages.items) {
		return i == len(m.pages.items) && !m.turn.live.empty()
	}
	msg := m.pages.items[i].rec.Message
	if msg == nil || msg.Role == harness.RoleTool || msg.Mark == harness.MarkNotice {
		return false
	}
	return len(m.desk().lines(i)) > 0
}

// beside is the next message from item i on in a direction, itself not included;
// -1 if there is none. Fits may ask for more.
func (m *Model) beside(i, step int, fits func(i int) bool) int {
	for i += step; i >= 0 && i <= len(m.pages.items); i += step {
		if (fits == nil || fits(i)) && m.choosable(i) { // which lays it out
			return i
		}
	}
	return -1
}

// prompts fits messages of the person.
func (m *Model) prompts(i int) bool { return i < len(m.pages.items) && tree.Said(m.pages.items[i].rec) }

// chosen is the record of the message chosen; ok is false of one that streams or is
// not stored yet.
func (m *Model) chosen() (harness.Record, bool) {
	if at := m.sel.at; m.sel.on && at < len(m.pages.items) {
		rec := m.pages.items[at].rec
		return rec, rec.Message != nil && rec.Seq > 0
	}
	return harness.Record{}, false
}

// chosenText is what was written in the message chosen.
func (m *Model) chosenText() string {
	switch at := m.sel.at; {
	case at < len(m.pages.items) && m.pages.items[at].rec.Message != nil:
		return m.pages.items[at].rec.Message.Text()
	case at == len(m.pages.items) && !m.turn.live.empty():
		return m.turn.live.text.Text()
	}
	return ""
}

// startSelecting chooses the lowest message on screen.
func (m Model) startSelecting() Model {
	if m.width <= 0 || m.small() {
		return m
	}
	at := len(m.pages.items)
	if !m.pages.follow || m.turn.live.empty() {
		at = m.beside(min(m.lowest(), len(m.pages.items)-1)+1, -1, nil)
	}
	if at < 0 {
		m.notice = OffUnsaid
		return m
	}
	m.sel.on, m.sel.followed, m.sel.moved = true, m.pages.follow, false
	m.pages.hold(m.desk(), m.rows())
	m = m.choose(at)
	if from, to := m.pages.seen(m.desk(), m.rows()); at < from || at > to { // lines of this window stand below it
		m = m.goToMessage(at)
		m.sel.moved = false // not by the person
	}
	return m
}

// stopSelecting goes back to writing. The end is followed again if it was before
// and the person stayed there.
func (m Model) stopSelecting() Model {
	if m.sel.on && (m.sel.followed && !m.sel.moved || m.atBottom()) {
		m.pages.follow = true
	}
	m = m.refoldFound()
	m.sel = selecting{times: m.sel.times, find: finding{n: m.sel.find.n + 1, last: m.sel.find.last}}
	return m
}

// atBottom reports whether the last lines are on screen.
func (m *Model) atBottom() bool {
	end, short := m.pages.bottom(m.desk(), m.rows())
	return m.pages.follow || short || !m.pages.top.before(end)
}

// choose makes item i the one chosen.
func (m Model) choose(i int) Model {
	m.sel.at = i
	m.sel.codes, m.sel.links = nil, nil
	if i >= len(m.pages.items) {
		m.sel.pick = pick{streams: true, id: m.pages.idAt(max(i-1, 0))}
		return m
	}
	it := m.pages.items[i]
	m.sel.pick = pick{id: it.id}
	if it.rec.Seq > 0 {
		m.sel.pick.of = origin(it.rec)
	}
	if msg := it.rec.Message; msg != nil {
		text := msg.Text()
		m.sel.links = reading.Links(text)
		if msg.Role == harness.RoleAssistant {
			m.sel.codes = codeBlocks(msg)
		}
	}
	return m
}

// repick finds the item that a pick names, which was at item was.
func (m *Model) repick(p pick, was int) int {
	items := m.pages.items
	is := func(i int) bool {
		if i < 0 || i >= len(items) {
			return false
		}
		return items[i].id == p.id || p.of.Record > 0 && items[i].rec.Seq > 0 && origin(items[i].rec) == p.of
	}
	if p.streams {
		was--
	}
	at := was
	for off := 0; !is(at) && off <= len(items)+max(was, 0); off++ { // from where it was outwards
		switch {
		case is(was - off):
			at = was - off
		case is(was + off):
			at = was + off
		}
	}
	if p.streams {
		if next := m.beside(min(at, len(items)-1), 1, nil); next >= 0 {
			return next
		}
	}
	if at = min(at, len(items)); at >= 0 && m.choosable(at) {
		return at
	}
	return m.beside(at, -1, nil)
}

// readAlong does what follows for who selects messages when something came or the
// window was scrolled. Selecting ends when something is to be decided or written.
func (m Model) readAlong(msg tea.Msg) (Model, tea.Cmd) {
	switch {
	case !m.sel.on:
		return m, nil
	case m.asks() || !m.box.Empty():
		return m.stopSelecting(), nil
	case m.small():
		return m, nil
	}
	at := m.repick(m.sel.pick, m.sel.at)
	if at < 0 && !m.sel.find.typing && !m.sel.find.busy {
		return m.stopSelecting(), nil
	}
	if p := m.sel.pick; at >= 0 && (at != m.sel.at || p.streams && at < len(m.pages.items) || p.of.Record == 0 && !p.streams) {
		m = m.choose(at)
	}
	if _, ok := msg.(tea.MouseMsg); ok {
		m.sel.moved = true
		m = m.chooseSeen()
	}
	if m.sel.first {
		return m.toFirst()
	}
	return m.findAlong()
}

// toFirst chooses the first message of all, once it is loaded.
func (m Model) toFirst() (Model, tea.Cmd) {
	m.sel.first = !m.pages.whole
	if m.sel.first {
		if m.pages.loading {
			return m, nil
		}
		return m.older(0)
	}
	if at := m.beside(-1, 1, nil); at >= 0 {
		m = m.goToMessage(at)
	}
	m.pages.home(m.desk(), m.rows())
	m.pages.hold(m.desk(), m.rows())
	return m, nil
}

// goToMessage chooses item i and scrolls as little as shows it, its beginning if it is
// longer than the window.
func (m Model) goToMessage(i int) Model {
	m.sel.moved = true
	m = m.choose(i)
	m.pages.reach(m.desk(), i, m.rows())
	return m
}

// chooseSeen chooses a message on screen if the one chosen is not there any more.
func (m Model) chooseSeen() Model {
	from, to := m.pages.seen(m.desk(), m.rows())
	at := m.sel.at
	switch {
	case at < from:
		at = m.beside(from-1, 1, nil)
	case at > to:
		at = m.beside(to+1, -1, nil)
	}
	if at < 0 || at == m.sel.at {
		return m
	}
	return m.choose(at)
}
