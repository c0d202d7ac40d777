package decide

import (
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// layout is how the dialog fits its room.
type layout struct {
	// pinned stands above what scrolls, tail below it.
	pinned, lines []string
	tail          tail
	// room is how many of the lines are seen, from top on; total are all.
	room, top, total int
	scrolls          bool
	// rules are the lines at which the rules begin that scroll with the text.
	rules map[harness.GrantScope]int
	title string
}

// tail is what stands below the text: a sentence, the choices, the field.
type tail struct {
	lines []string
	x, y  int
	caret bool
}

// layout fits the dialog into its room: all of it, or the text scrolling below
// who wants what, or everything but a line or two of choices scrolling.
func (d Dialog) layout(e Env) layout {
	head, facts, body := d.head(e), d.facts(e), d.body(e)
	full := d.tail(e)
	room := e.Height - 1 - len(full.lines)
	airy := joined([][]string{head, body, facts})
	if !d.whole && len(airy)+1 <= room {
		full.lines, full.y = append([]string{""}, full.lines...), full.y+1
		return layout{title: d.title(e, false), lines: airy, room: len(airy), total: len(airy), tail: full}
	}
	tight := append(append(append([]string(nil), head...), body...), facts...)
	if !d.whole && len(tight) <= room {
		return layout{title: d.title(e, false), lines: tight, room: len(tight), total: len(tight), tail: full}
	}
	if left := room - len(head) - len(facts) - 1; !d.whole && left >= leastBody {
		return d.scrolled(layout{
			title: d.title(e, false), pinned: append(append([]string(nil), head...), facts...), lines: body, tail: full,
		}, left)
	}
	spelt, rules := d.spelt(e, len(tight))
	all := append(tight, spelt...)
	small := d.short(e)
	room = e.Height - 1 - len(small.lines)
	l := layout{title: d.title(e, true), lines: all, tail: small, rules: rules}
	if len(all) <= room {
		l.room, l.total = len(all), len(all)
		return l
	}
	return d.scrolled(l, max(room-1, 0))
}

// scrolled fills in what part of the lines is seen.
func (d Dialog) scrolled(l layout, room int) layout {
	l.total, l.scrolls = len(l.lines), true
	l.room = min(room, l.total)
	l.top = min(max(d.top, 0), l.total-l.room)
	return l
}

// joined puts an empty line between parts.
func joined(parts [][]string) []string {
	var out []string
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, p...)
	}
	return out
}

// hidden says how much of the text is not on screen, and how to see it.
func (d Dialog) hidden(l layout, e Env) string {
	o := e.Theme.Ornaments
	below := l.total - l.top - l.room
	var parts []string
	if below > 0 {
		parts = append(parts, harness.Count(below, "more line")+" below")
	}
	if l.top > 0 {
		parts = append(parts, harness.Count(l.top, "line")+" above")
	}
	words := " " + o.Ellipsis + " " + strings.Join(parts, ", ")
	whole := d.key(Whole, e) + " full text"
	if d.whole {
		whole = d.key(Top, e) + " " + d.key(Bottom, e)
	}
	for _, more := range []string{d.key(PageUp, e) + " " + d.key(PageDown, e), whole} {
		if full := words + " " + o.Dot + " " + more; strings.TrimSpace(more) != "" && render.Width(full) <= e.Width {
			words = full
		}
	}
	return e.Theme.Paints.Warning.On(words)
}
