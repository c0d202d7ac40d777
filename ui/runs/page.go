package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// page is the text that is read: a run, or a decision. It is laid out once for
// a width, whatever is drawn of it.
type page struct {
	run   harness.RunID
	of    string // what is shown, with all that its text depends on
	width int
	pane  widget.Pane
	seen  bool // its end was on the screen
}

// laid brings the page up to date with what it shows and the size last
// announced.
func (m Model) laid() Model {
	if m.mode == modeList {
		m.page = page{}
		m.list.top = m.list.scrolled(m.layout(m.width, m.height).list, m.layout(m.width, m.height).headings)
		return m
	}
	it, _ := m.list.selected()
	of := m.pageOf(it)
	l := m.layout(m.width, m.height)
	if of != m.page.of {
		if it.run.ID != m.page.run || m.mode == modeDecide {
			m.page.pane = widget.Pane{}
		}
		m.page.seen = false
	}
	if of != m.page.of || l.width != m.page.width {
		m.page.pane = m.page.pane.Show(m.pageLines(it, l.width), l.page)
	} else {
		m.page.pane = m.page.pane.Resize(l.page)
	}
	m.page.run, m.page.of, m.page.width = it.run.ID, of, l.width
	if l.page > 0 && l.width > 0 && m.page.pane.Rest() == 0 {
		m.page.seen = true
	}
	return m
}

// pageOf names the text of the page.
func (m Model) pageOf(it item) string {
	if m.mode == modeDecide {
		digest := ""
		if p := m.list.pending(m.call); p != nil {
			digest = p.Digest
		}
		return fmt.Sprintf("decide %s %s %s", it.run.ID, m.call, digest)
	}
	return fmt.Sprintf("run %s %d %s %v %v %d %v %s %d %d %d %v", it.run.ID, it.run.Cursor, it.run.Status, it.run.Interrupted,
		it.owner, len(m.steps.list), m.steps.failed, it.run.Updated, m.tail.n, len(m.tail.list), len(m.tail.text), m.notes(it.run))
}

func (m Model) pageLines(it item, width int) []string {
	w := writer{theme: m.c.Theme, width: max(width-2, 1), limit: unlimited}
	if m.mode == modeDecide {
		if p := m.list.pending(m.call); p != nil {
			w.pending(*p)
		}
	} else {
		m.describe(&w, it)
	}
	for i, l := range w.lines {
		w.lines[i] = " " + l
	}
	return w.lines
}

// unread says how much of the decision is still to be read; empty if its end
// was on the screen.
func (m Model) unread() string {
	if m.page.seen {
		return ""
	}
	return fmt.Sprintf("read it to its end first: %s below", harness.Count(m.page.pane.Rest(), "line"))
}

// unlimited is the limit of a writer that leaves nothing out.
const unlimited = math.MaxInt

// writer collects lines, at most limit. Everything it is given is foreign text
// that it makes harmless.
type writer struct {
	theme *themes.Theme
	width int
	limit int
	lines []string
	more  bool // there was more
}

func (w *writer) full() bool { return len(w.lines) >= w.limit }

// put adds a finished line.
func (w *writer) put(line string) {
	if w.full() {
		w.more = true
		return
	}
	w.lines = append(w.lines, line)
}

// gap adds an empty line, unless there is one already.
func (w *writer) gap() {
	if n := len(w.lines); n > 0 && w.lines[n-1] != "" {
		w.put("")
	}
}

// line adds one line, cut at the width.
func (w *writer) line(paint themes.Paint, text string) {
	w.put(paint.On(widget.OneLine(text, w.width, w.theme.Ornaments.Ellipsis)))
}

// words adds prose, wrapped.
func (w *writer) words(paint themes.Paint, text string) {
	w.each(paint, "", text, render.Wrap)
}

// whole adds text that keeps every space and shows every return: all of it,
// unless the limit is less.
func (w *writer) whole(paint themes.Paint, text string) {
	w.each(paint, "  ", strings.ReplaceAll(w.head(text), "\r", "\u240d"), render.HardWrap)
}

// head is as much of a text as could be shown.
func (w *writer) head(text string) string {
	if w.limit == unlimited {
		return text
	}
	start := widget.Head(text, 16*(w.width+1)*(w.limit+1))
	w.more = w.more || len(start) < len(text)
	return start
}

func (w *writer) each(paint themes.Paint, indent, text string, wrap func(string, int) []string) {
	width := max(w.width-len(indent), 1)
	text = strings.ReplaceAll(render.Safe(strings.TrimRight(w.head(text), "\n")), "\t", "    ")
	for _, l := range wrap(text, width) {
		if w.full() {
			w.more = true
			return
		}
		w.put(indent + paint.On(l))
	}
}

// describe is all of a run.
func (m Model) describe(w *writer, it item) {
	p, r := w.theme.Paints, it.run
	w.line(p.Title, it.title)
	w.words(p.Muted, m.about(it))
	switch {
	case r.Error != nil:
		w.words(p.Error, m.c.Words(r.Error))
	case it.unread != nil:
		w.words(p.Error, m.c.Words(it.unread))
	}
	for i, pending := range r.Pending {
		w.gap()
		w.put(p.Heading.On(strings.ToUpper(fmt.Sprintf("waits for you %s %d of %d", w.theme.Ornaments.Dot, i+1, len(r.Pending)))))
		w.pending(pending)
	}
	m.told(w, it)
	if text := m.tail.text; m.tail.of == r.ID && text != "" {
		w.gap()
		w.put(p.Heading.On("STREAMING"))
		w.words("", text)
		return
	}
	if r.Partial != nil {
		w.gap()
		w.put(p.Heading.On("HALF AN ANSWER"))
		w.words("", cmp.Or(r.Partial.Text, r.Partial.Thinking))
	}
}

// told are the steps of a run as far as they are read.
func (m Model) told(w *writer, it item) {
	steps, failed := m.steps.list, m.steps.failed
	switch {
	case m.tail.of == it.run.ID:
		steps, failed = m.tail.list, m.tail.failed
	case m.steps.of != it.run.ID:
		return
	}
	if len(steps) == 0 && failed == nil {
		return
	}
	p := w.theme.Paints
	w.gap()
	w.put(p.Heading.On("STEPS"))
	if failed != nil {
		w.words(p.Error, m.c.Words(failed))
		return
	}
	results := resultsOf(steps)
	for _, r := range steps {
		if w.full() {
			w.more = true
			return
		}
		if r.Message == nil || r.Message.Role == harness.RoleTool {
			continue
		}
		who := "cairn  "
		if r.Message.Role == harness.RoleUser {
			who = "you    "
		}
		if text := strings.Join(strings.Fields(widget.Head(r.Message.Text(), 16*w.width)), " "); text != "" {
			w.line("", who+text)
		}
		for _, part := range r.Message.Parts {
			if part.Call != nil {
				w.call(*part.Call, results[part.Call.ID])
			}
		}
	}
}

// resultsOf are the results of calls, by the call's id.
func resultsOf(records []harness.Record) map[string]*harness.ToolResult {
	out := map[string]*harness.ToolResult{}
	for _, r := range records {
		if r.Message == nil {
			continue
		}
		for _, part := range r.Message.Parts {
			if part.Result != nil {
				out[part.Result.CallID] = part.Result
			}
		}
	}
	return out
}

func outcome(r *harness.ToolResult) string {
	switch {
	case r == nil:
		return "no result yet"
	case r.Unknown:
		return "outcome unknown"
	case r.Failed:
		return "failed"
	default:
		return "done"
	}
}

// call is a call and what came of it on one line. How it ended is never cut off
// by what it was given.
func (w *writer) call(c harness.ToolCall, r *harness.ToolResult) {
	name, ended := "tool   "+widget.OneLine(c.Name, w.width, w.theme.Ornaments.Ellipsis), "  "+outcome(r)
	given := widget.OneLine(inputWords(c), max(w.width-render.Width(name)-2-render.Width(ended), 8), w.theme.Ornaments.Ellipsis)
	if given != "" {
		name += "  " + given
	}
	w.line(w.theme.Paints.Muted, name+ended)
}

// inputWords is what tells most of a call's input: a command, a path, a
// question. Of other calls it is the whole of it.
func inputWords(c harness.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Input, &fields) == nil {
		for _, name := range []string{"command", "path", "url", "question", "pattern", "query"} {
			var text string
			if json.Unmarshal(fields[name], &text) == nil && strings.TrimSpace(text) != "" {
				return text
			}
		}
		if len(fields) == 0 {
			return ""
		}
	}
	return string(c.Input)
}

// pending is one thing that is waited for, with all that is agreed to.
func (w *writer) pending(p harness.Pending) {
	paints := w.theme.Paints
	w.words(paints.Strong, asks(p))
	if p.Changed {
		w.words(paints.Warning, "it changed after it was approved, so nothing was done: this is how it is now")
	}
	if p.Proposal == nil {
		w.gap()
		w.whole("", cmp.Or(p.Call.Malformed, string(p.Call.Input)))
		return
	}
	q := *p.Proposal
	w.gap()
	switch {
	case q.Diff != "":
		w.diff(q.Diff)
	case q.Kind == harness.ProposalQuestion:
		w.words("", q.Body)
	case q.Kind == harness.ProposalCommand: // where a line ends decides what runs
		w.whole("", strings.ReplaceAll(strings.TrimRight(w.head(q.Body), "\n"), "\n", "\u240a\n"))
	case q.Body != "":
		w.whole("", q.Body)
	case q.Kind != harness.ProposalFetch:
		w.whole("", string(p.Call.Input))
	}
	w.gap()
	for i, c := range q.Choices {
		w.words("", fmt.Sprintf("%d  %s", i+1, c))
	}
	if len(q.About) > 0 {
		w.words(paints.Muted, strings.Join(q.About, " "+w.theme.Ornaments.Dot+" "))
	}
	if q.Why != "" {
		w.words(paints.Muted, `why  "`+q.Why+`"`)
	}
	if why := p.Because(); why != "" {
		w.words(paints.Muted, "asked because  "+why)
	}
}

// diff adds a unified diff.
func (w *writer) diff(text string) {
	p := w.theme.Paints
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if w.full() {
			w.more = true
			return
		}
		var paint themes.Paint
		switch {
		case strings.HasPrefix(line, "+"):
			paint = p.Inserted
		case strings.HasPrefix(line, "-"):
			paint = p.Deleted
		case strings.HasPrefix(line, "@@"):
			paint = p.Muted
		}
		if line == "" {
			line = " "
		}
		w.whole(paint, line)
	}
}

// asks says in a sentence what a tool wants.
func asks(p harness.Pending) string {
	if p.Question() {
		return "the model asks"
	}
	return p.Call.Name + " " + p.Wants()
}
