package browser

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// ideaRow is one suggestion: id, what it would do, text, and what is special
// about it.
func (m Model) ideaRow(e entry, mark string, width int) string {
	i := e.idea
	left := mark + render.Pad(m.oneLine(e.id(), 8), 4) + " " + kindWord(i.of.Kind) + " "
	word := i.word()
	if _, ok := m.drafts[e.id()]; ok {
		word = "draft"
	}
	right := fmt.Sprintf("%4s", widget.Ago(m.c.Now(), e.created()))
	switch {
	case width >= 70:
		right = render.Pad(word, 7) + " " + render.Pad(m.oneLine(e.fact.Category, 12), 12) + right
	case width >= 50:
		right = first(word, m.oneLine(e.fact.Category, 10)) + right
	case word != "":
		right = word
	}
	room := width - render.Width(left) - render.Width(right) - 1
	return render.Fit(left+m.oneLine(strings.TrimSpace(e.title()), room), right, width, m.c.Theme.Ornaments.Ellipsis)
}

// proposed is the line below the facts about what waits in the inbox.
func (m Model) proposed(room, width int) []string {
	n := len(m.lists[tabInbox].entries)
	if n == 0 || room < 2 {
		return nil
	}
	text := fmt.Sprintf("%d proposed: press %s", n, m.key("browser.inbox", "3"))
	return []string{"", "  " + m.c.Theme.Paints.Accent.On(m.oneLine(text, width-2))}
}

// describeIdea is describe for a suggestion: the fact as it would be, what it
// contradicts, and then where it comes from. What is to be decided comes before
// where it comes from.
func (m Model) describeIdea(e entry, width, height int) []string {
	t, w := m.c.Theme, width-1
	out := []string{" " + t.Paints.Muted.On(m.oneLine(m.ideaHeadline(e), w))}
	body, meta := m.ideaBody(*e.idea, w, height), m.ideaMeta(e, w)
	room := height - 1 - len(meta)
	if len(body) > room { // some of where it comes from gives way, but not all
		meta = meta[:max(min(len(meta), 2, height-2), 0)]
		if len(e.idea.against) > 0 {
			meta = meta[:min(len(meta), 1)]
		}
		room = height - 1 - len(meta)
	}
	if len(body) > room {
		body = body[:max(room, 0)]
		if n := len(body); n > 0 {
			all := t.Ornaments.Ellipsis + " (" + m.key("browser.view", "v") + ": all)"
			body[n-1] = render.Truncate(body[n-1], max(w-render.Width(all), 0), "") + all
		}
	}
	out = append(out, indent(body)...)
	if len(meta) > 0 && len(out)+len(meta) < height {
		out = append(out, "")
	}
	out = append(out, indent(meta)...)
	return out[:min(len(out), height)]
}

// ideaHeadline is what a suggestion is, in one line.
func (m Model) ideaHeadline(e entry) string {
	s := e.idea.of
	what := map[harness.SuggestionKind]string{
		harness.SuggestAdd:    "add a fact",
		harness.SuggestChange: "change " + s.Fact,
		harness.SuggestRetire: "retire " + s.Fact,
	}[s.Kind]
	parts := []string{s.ID, what}
	if s.By == harness.ByModel {
		parts = append(parts, "by the model, asked")
	} else {
		parts = append(parts, "by the model, after a turn")
	}
	if s.Own {
		parts = append(parts, "your own words")
	}
	if c := e.fact.Category; c != "" {
		parts = append(parts, c)
	}
	if !s.Created.IsZero() {
		parts = append(parts, m.moment(s.Created))
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

// ideaBody is what would be, beside or above what stands against it. Of long
// texts not much more is laid out than height lines can show.
func (m Model) ideaBody(i idea, width, height int) []string {
	p := m.c.Theme.Paints
	var out []string
	if i.of.Stale {
		text := i.of.Fact + " was changed since this was suggested: it can only be refused."
		for _, l := range render.Wrap(render.SafeLine(text), width) {
			out = append(out, p.Error.On(l))
		}
	}
	const barWidth = 3
	if len(i.against) == 0 || m.width < wideFrom || width < 40 {
		out = append(out, m.wouldBe(i, width, height)...)
		for _, f := range i.against {
			out = append(out, m.opposed(f, width, height, "contradicts ")...)
		}
		return out
	}
	left := (width - barWidth) / 2
	right := width - barWidth - left
	suggested := append([]string{p.Muted.On("suggested")}, m.wouldBe(i, left, height)...)
	var stands []string
	for _, f := range i.against {
		stands = append(stands, m.opposed(f, right, height, "contradicts ")...)
	}
	sep := " " + p.Border.On(m.c.Theme.Ornaments.Bar) + " "
	return append(out, render.Columns(sep, []int{left, right}, suggested, stands)...)
}

// wouldBe is the fact as accepting would make it: with what changes, or as what
// would be forgotten.
func (m Model) wouldBe(i idea, width, height int) []string {
	p, next := m.c.Theme.Paints, i.next()
	enough := 16 * (width + 1) * (height + 1)
	if i.of.Kind != harness.SuggestChange {
		lines, _ := widget.Lines(strings.TrimSpace(next.Text), width, height)
		if i.of.Kind == harness.SuggestRetire {
			for n, l := range lines {
				lines[n] = p.Deleted.On(l)
			}
		}
		return lines
	}
	was, now := widget.Head(i.fact.Text, enough), widget.Head(next.Text, enough)
	out := wordDiff(was, now, p, width)
	for _, d := range differences(ofFact(i.fact), ofFact(next)) {
		if d != "text changed" {
			out = append(out, p.Muted.On(m.oneLine(d, width)))
		}
	}
	return out
}

// opposed is a fact that a suggestion cannot be true with.
func (m Model) opposed(f harness.Fact, width, height int, label string) []string {
	head := label + f.ID
	if c := f.Updated; !c.IsZero() {
		head += ", " + m.day(c)
	}
	lines, _ := widget.Lines(strings.TrimSpace(f.Text), width, height)
	return append([]string{m.c.Theme.Paints.Strong.On(m.oneLine(head, width))}, lines...)
}

// ideaMeta are the lines about why, where from and tags.
func (m Model) ideaMeta(e entry, width int) []string {
	var out []string
	add := func(label, text string) {
		if text != "" {
			out = append(out, m.c.Theme.Paints.Muted.On(label)+m.oneLine(text, width-len(label)))
		}
	}
	flat := func(text string) string { return strings.Join(strings.Fields(widget.Head(text, 2000)), " ") }
	why := "why    "
	if e.idea.of.Kind == harness.SuggestRetire {
		why = "but    "
	}
	add(why, flat(e.idea.of.Why))
	add("from   ", m.from(e))
	if q := flat(e.source().Quote); q != "" {
		add("said   ", `"`+q+`"`)
	}
	add("tags   ", widget.Hashed(e.tags()))
	return out
}
