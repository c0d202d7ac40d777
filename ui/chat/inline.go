package chat

import (
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// given is what of the conversation stands in the terminal's own scrollback, of a
// chat that is drawn without the alternate screen. What was given is never changed.
type given struct {
	begun bool
	// items are the ids of the items that were given, last is that of the newest that
	// is stored. The map is only ever added to.
	items map[int]bool
	last  int
	// of is the conversation that was looked at.
	of   conversation
	live givenLive
}

// conversation tells one state of the items from another.
type conversation struct{ items, nextID int }

// givenLive is what was given of the answer that streams.
type givenLive struct {
	attempt int
	// headed says that its heading was given, lines how many of its text were, and
	// tail are the last of these.
	headed bool
	lines  int
	tail   []string
	// level says that they are all that nothing can change any more.
	level bool
}

// overlap is how many of the lines that were given of a stream tell where the stored
// answer goes on.
const overlap = 6

// Flows reports whether the chat can be drawn as the last lines of a terminal: the
// person follows it and nothing else is to be seen.
func (m Model) Flows() bool {
	return m.pages.follow && !m.covered() && !m.askWhole() && !m.sel.on
}

// Give returns the lines of what is final and was not given before, for the
// terminal to keep. Those of a conversation that is opened begin with its last ones.
func (m Model) Give() (Model, []string) {
	if m.small() || !m.loaded() {
		return m, nil
	}
	d := m.desk()
	var out []string
	m.given.live.level = false
	first := len(m.given.items) == 0
	if !m.given.begun {
		m.given.begun, m.given.items = true, map[int]bool{}
		out = m.passOver(d)
	}
	from := m.ungiven()
	// While an answer streams, what stands before it stays as it is.
	if now := (conversation{len(m.pages.items), m.pages.nextID}); now != m.given.of {
		m.given.of = now
		if m.takenBack() {
			out = append(out, d.quiet("what stands above was taken back; from here on it goes on")...)
			from = m.ungiven()
		}
		for _, i := range m.between(from) {
			out = append(out, d.lines(i)...)
			m.mark(i)
		}
	}
	i := from
	for ; i < len(m.pages.items) && m.final(i); i++ {
		out = append(out, m.remaining(i, d.lines(i), &out)...)
		m.mark(i)
	}
	if i == len(m.pages.items) {
		out = append(out, m.giveLive(d)...)
	}
	if first && len(out) > 0 && out[0] != "" {
		out = append([]string{""}, out...)
	}
	return m, out
}

// loaded reports whether the end of the conversation is known.
func (m Model) loaded() bool {
	return m.own.fresh || m.stored && (m.session.Records == 0 || m.pages.last() != harness.Origin{})
}

// passOver marks what is too long ago to be given, and says how to read it.
func (m Model) passOver(d desk) []string {
	top, short := m.pages.above(d, m.rows(), len(m.pages.items)-1)
	if short {
		return nil
	}
	for _, it := range m.pages.items[:top.item] {
		m.given.items[it.id] = true
	}
	if top.item == 0 && m.pages.whole {
		return nil
	}
	words := "what was said before is in the conversation, not here"
	if k := m.keyOf(actPageUp); k != "" {
		words += ": " + k + " reads it"
	}
	return d.quiet(words)
}

// mark says that item i was given.
func (m *Model) mark(i int) {
	it := m.pages.items[i]
	m.given.items[it.id] = true
	if it.rec.Seq > 0 {
		m.given.last = max(m.given.last, it.id)
	}
}

// ungiven is the first item that was not given, behind those that were.
func (m Model) ungiven() int {
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		if m.given.items[m.pages.items[i].id] {
			return i + 1
		}
	}
	return 0
}

// takenBack reports whether the last stored item that was given is no longer part of
// the conversation. That is so once: what comes back is given again.
func (m *Model) takenBack() bool {
	is := func(it item) bool { return it.id == m.given.last }
	if m.given.last == 0 || slices.ContainsFunc(m.pages.items, is) {
		return false
	}
	was := m.given.items
	m.given.items, m.given.last = map[int]bool{}, 0
	for i, it := range m.pages.items {
		if was[it.id] {
			m.mark(i)
		}
	}
	return true
}

// between are the items that came in between those that were given, such as the half
// answer of a turn that failed, which is stored once the person goes on. What is read
// of older ones stands before all of them.
func (m Model) between(from int) []int {
	var late []int
	begun := false
	for i, it := range m.pages.items[:from] {
		if m.given.items[it.id] {
			begun = true
		} else if begun {
			late = append(late, i)
		}
	}
	return late
}

// final reports whether nothing of an item will be shown otherwise any more.
func (m Model) final(i int) bool {
	it := m.pages.items[i]
	msg := it.rec.Message
	switch {
	case it.sent:
		return false
	case it.retry:
		return i+1 < len(m.pages.items) || !m.turn.active()
	case msg == nil || msg.Role != harness.RoleAssistant:
		return true
	case !slices.ContainsFunc(msg.Calls(), func(c harness.ToolCall) bool { return m.results[c.ID] == nil }):
		return true
	}
	// A call without a result may get one as long as nothing else was said: who it
	// waits for is not always known here.
	return slices.ContainsFunc(m.pages.items[i+1:], func(next item) bool {
		return next.rec.Message != nil && next.rec.Run != it.rec.Run
	})
}

// remaining are the lines of item i without those that were given while it streamed,
// which only an answer does.
func (m *Model) remaining(i int, lines []string, before *[]string) []string {
	l, msg := m.given.live, m.pages.items[i].rec.Message
	if !l.headed || len(lines) == 0 || msg == nil || msg.Role != harness.RoleAssistant {
		return lines
	}
	m.given.live = givenLive{}
	best := -1
	for at := len(l.tail); len(l.tail) > 0 && at <= len(lines); at++ {
		// Of several places the one that is nearest to where they stood.
		if slices.Equal(lines[at-len(l.tail):at], l.tail) && (best < 0 || offBy(at, l.lines) < offBy(best, l.lines)) {
			best = at
		}
	}
	if best < 0 {
		if l.lines > 0 {
			*before = append(*before, m.desk().quiet("the answer was given anew:")...)
		}
		return lines
	}
	return append(lines[best:len(lines):len(lines)], m.afterwards(msg)...)
}

// afterwards says below an answer that was given while it streamed what else stands
// in its heading.
func (m *Model) afterwards(msg *harness.Message) []string {
	words := slices.DeleteFunc([]string{usedWords(msg.Used), string(msg.Mark)}, func(s string) bool { return s == "" })
	if len(words) == 0 {
		return nil
	}
	d := m.desk()
	return d.quiet(strings.Join(words, " "+d.l.theme.Ornaments.Dot+" "))
}

// offBy is how far an end of some lines is from where it was, behind a heading.
func offBy(at, lines int) int {
	if d := at - lines - 2; d >= 0 {
		return d
	}
	return lines + 2 - at
}

// giveLive gives what nothing can change any more of the text that streams.
func (m *Model) giveLive(d desk) []string {
	l, was := m.turn.live, m.given.live
	if l.empty() || l.mark != "" || !m.turn.active() || d.l.thinking && len(l.thinking) > 0 {
		return nil
	}
	var out []string
	if was.headed && was.attempt != l.attempt {
		out = append(out, d.quiet("the answer begins again:")...)
		was = givenLive{}
	}
	lines, fixed := l.text.Lines(d.l.width), l.text.Fixed()
	if fixed <= was.lines {
		was.level = fixed == was.lines
		m.given.live = was
		return out
	}
	if !was.headed {
		out = append(out, d.liveHead(len(m.pages.items), false)...)
	}
	out = append(out, lines[was.lines:fixed]...)
	m.given.live = givenUpTo(l.attempt, lines, fixed)
	return out
}

// givenUpTo is that the first of the lines of a stream were given.
func givenUpTo(attempt int, lines []string, n int) givenLive {
	return givenLive{attempt: attempt, headed: true, lines: n, tail: slices.Clone(lines[max(0, n-overlap):n]), level: true}
}

// region are the lines that are not given yet, as many of the last as fit into
// room.
func (m Model) region(room int) []string {
	d := m.desk()
	var out []string
	from := m.ungiven()
	for i := from; i < len(m.pages.items); i++ {
		out = append(out, d.lines(i)...)
	}
	live := d.live()
	if l := m.given.live; l.headed && m.turn.live != nil && l.attempt == m.turn.live.attempt && len(live) > 0 {
		live = m.turn.live.text.Lines(d.l.width)
		live = live[min(l.lines, len(live)):]
	}
	out = append(out, live...)
	return out[max(0, len(out)-room):]
}

// RegionView draws what is not given yet and what stands below it: as many lines as
// that needs, at most the height of the screen.
func (m Model) RegionView() string {
	if m.small() {
		return render.Truncate("the window is too small", m.width, "")
	}
	f := m.foot()
	head := m.head()[:1]
	lines := m.region(max(m.height-len(f.lines)-len(head), 0))
	lines = append(append(lines, head...), f.lines...)
	return strings.Join(lines[max(0, len(lines)-m.height):], "\n")
}

// RegionCursor is the caret's place in that.
func (m Model) RegionCursor() (x, y int, visible bool) {
	x, y, visible = m.Cursor()
	if m.small() {
		return x, y, visible
	}
	below := 1 + m.footRows()
	rows := len(m.region(max(m.height-below, 0))) + below
	return x, y - m.height + min(rows, m.height), visible
}

// Rewrapped returns the last lines of what was given, at least so many if there are,
// at the width that the chat has now.
func (m Model) Rewrapped(n int) (Model, []string) {
	l, was := m.turn.live, m.given.live
	m.given.live = givenLive{}
	if m.small() || !m.given.begun {
		return m, nil
	}
	d := m.desk()
	var out []string
	// What is not known to the line is given from its beginning again.
	if was.headed && was.level && !l.empty() && l.attempt == was.attempt {
		lines, fixed := l.text.Lines(d.l.width), l.text.Fixed()
		out = append(d.liveHead(len(m.pages.items), false), lines[:fixed]...)
		m.given.live = givenUpTo(l.attempt, lines, fixed)
	}
	to := m.ungiven()
	for i := to - 1; i >= 0 && len(out) < n && m.given.items[m.pages.items[i].id]; i-- {
		out = append(slices.Clone(d.lines(i)), out...)
	}
	return m, out
}

// Anew forgets what was given: the conversation is to be given from its last lines
// on, below another one.
func (m Model) Anew() Model {
	m.given = given{}
	return m
}
