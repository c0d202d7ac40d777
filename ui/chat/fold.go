package chat

import (
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// fold says how much of one message is shown, whatever is shown of the others.
type fold uint8

const (
	// foldUsual is as of all messages.
	foldUsual fold = iota
	// foldOpen is everything: tools with input and result, thinking, a long text.
	foldOpen
	// foldShut is the beginning, without details.
	foldShut
)

// longAnswer is from how many lines on an answer can be folded to its first
// shownLines.
const longAnswer = shownLines + 5

// within is the desk for what one message shows.
func (d desk) within(f fold) desk {
	switch f {
	case foldOpen:
		d.l.details, d.l.thinking = true, true
	case foldShut:
		d.l.details, d.l.thinking = false, false
	case foldUsual:
	}
	return d
}

// shut is the beginning of a long answer, if that is folded.
func (d desk) shut(f fold, body []string) []string {
	rest := len(body) - shownLines
	if f != foldShut || len(body) < longAnswer {
		return body
	}
	more := d.l.theme.Ornaments.Ellipsis + " " + harness.Count(rest, "more line")
	return append(body[:shownLines:shownLines], d.fit(d.l.theme.Paints.Muted.On(more+d.unfoldWords())))
}

// unfoldWords say which key shows the rest of a message.
func (d desk) unfoldWords() string {
	if k := d.m.usual(actDetails); k != "" {
		return " " + d.l.theme.Ornaments.Dot + " " + k + " shows them"
	}
	return ""
}

// hides reports whether a message has parts that are folded as a rule.
func hides(msg *harness.Message) bool {
	if msg.Role == harness.RoleUser {
		_, more := folded(strings.TrimRight(msg.Text(), "\n"))
		return more != ""
	}
	return len(msg.Calls()) > 0 || strings.TrimSpace(msg.Thinking()) != "" || len(msg.Used) > 0
}

// refold folds or unfolds a message: it goes on to the next way of showing it that
// looks different. It says why nothing folds if there is none.
func (m Model) refold(i int) (Model, string) {
	if i >= len(m.pages.items) {
		l := m.turn.live
		if l.empty() || len(l.thinking) == 0 {
			return m, "nothing of it folds yet"
		}
		return m.relaid(func(m Model) Model {
			if open := m.desk().within(l.fold).l.thinking; open {
				l.fold = foldShut
			} else {
				l.fold = foldOpen
			}
			return m
		}), ""
	}
	it := m.pages.items[i]
	msg := it.rec.Message
	has := msg != nil && hides(msg)
	long := msg != nil && msg.Role == harness.RoleAssistant && m.bodyLines(i) >= longAnswer
	next := foldUsual
	switch open := m.details || m.thinking; {
	case !has && !long:
		return m, "nothing of this message folds"
	case it.fold == foldUsual && (open || !has):
		next = foldShut
	case it.fold == foldUsual:
		next = foldOpen
	case it.fold == foldOpen && long:
		next = foldShut
	}
	return m.relaid(func(m Model) Model {
		m.pages.items = append([]item(nil), m.pages.items...)
		m.pages.items[i].fold = next
		return m
	}), ""
}

// bodyLines is how long the whole of an answer's text is.
func (m *Model) bodyLines(i int) int {
	return len(m.desk().within(foldUsual).answer(m.pages.items[i].rec.Message, stageOver))
}

// refolded has all messages shown in the same way again.
func (m Model) refolded() Model {
	items := append([]item(nil), m.pages.items...)
	for i := range items {
		items[i].fold = foldUsual
	}
	m.pages.items = items
	if m.turn.live != nil {
		m.turn.live.fold = foldUsual
	}
	return m
}

// relaid makes a change to how messages are laid out. The line at the top of the
// window stays there: it is found again by what it says.
func (m Model) relaid(change func(Model) Model) Model {
	p := &m.pages
	if p.follow || m.width <= 0 {
		return change(m)
	}
	id, line := p.idAt(p.top.item), p.top.line
	was := append([]string(nil), m.desk().lines(p.top.item)...)
	marked := len(m.desk().lines(p.mark.item))
	m = change(m)
	p = &m.pages
	p.top.item = p.byID(id, p.top.item)
	is := m.desk().lines(p.top.item)
	p.top.line = min(sameLine(was, is, line), max(len(is)-1, 0))
	if now := len(m.desk().lines(p.mark.item)); now != marked {
		p.mark.line = max(p.mark.line+now-marked, 0)
	}
	return m
}

// sameLine is the line of new lines that stands for line n of old ones: the one
// that says the same. Of what was folded away it is what stood above that.
func sameLine(was, is []string, n int) int {
	n = min(n, len(was)-1)
	if n <= 0 {
		return 0
	}
	at := make(map[string][]int, len(is))
	for i, l := range is {
		at[l] = append(at[l], i)
	}
	before := map[string]int{} // how often a line stands above the one at hand
	for _, l := range was[:n] {
		before[l]++
	}
	for up := n; ; up-- {
		if l := was[up]; up == 0 || strings.TrimSpace(l) != "" {
			if same := at[l]; before[l] < len(same) {
				return same[before[l]]
			}
		}
		if up == 0 {
			return 0
		}
		before[was[up-1]]--
	}
}

// textBefore is how many letters are in lines, whatever the width they were broken
// at.
func textBefore(lines []string) int {
	n := 0
	for _, l := range lines {
		n += letters(l)
	}
	return n
}

// letters counts what is drawn on a line but for space and images.
func letters(line string) int {
	n := 0
	if render.HasImage(line) {
		return 0
	}
	for i := 0; i < len(line); i++ {
		if line[i] == 0x1b { // a painting sequence
			for i < len(line) && line[i] != 'm' {
				i++
			}
			continue
		}
		if c := line[i]; c > ' ' && (c < 0x80 || c >= 0xc0) {
			n++
		}
	}
	return n
}

// lineWith is the line in which letter number n is.
func lineWith(lines []string, n int) int {
	for i, l := range lines {
		if n -= letters(l); n < 0 {
			return i
		}
	}
	return max(len(lines)-1, 0)
}
