package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat/compose"
	"cairn/ui/chat/reading"
	"cairn/ui/render"
)

const (
	// cachedItems bounds how many laid-out items are kept.
	cachedItems = 400
	// foldedLines and foldedBytes are the sizes above which a message of the
	// person is folded,
	// to its first shownLines.
	foldedLines = 40
	foldedBytes = 32 << 10
	shownLines  = 20
	shownBytes  = 2 << 10
	// resultLines is how much of a tool's result the details show.
	resultLines = 200
	// argWidth is how many cells of a tool's input its line shows at most.
	argWidth = 60
	// leastArg is how many it keeps, however narrow the window is, and
	// stateWidth how many are kept for where the call stands.
	leastArg, stateWidth = 8, 20
	// longLine is from how many bytes on the size of one line is told in bytes.
	longLine = 4 << 10
)

// look is what the layout of an item depends on besides the item.
type look struct {
	width    int
	details  bool
	thinking bool
	theme    *themes.Theme
	forked   string
	// noted says that the note of what was condensed is unfolded, times that
	// exact times and durations are shown.
	noted, times bool
	// find is what is looked for.
	find   string
	images imageLook
}

// state is what the layout of an item depends on that may change.
type state struct {
	known  int
	fold   fold
	chosen bool
	// moved tells how far its running calls are, as they told last.
	moved int
	// hit is which of the places that are looked for is the one at hand, -1 for
	// none of them.
	hit int
	// pictured is what became of its images.
	pictured int
}

// laid is an item laid out.
type laid struct {
	state state
	lines []string
	// spans are the places at which it says what is looked for.
	spans []reading.Span
}

// layouts keeps items laid out for one look. It is a memo: every copy of a
// model may share it.
type layouts struct {
	look look
	byID map[int]laid
	foot footer
}

// desk lays out the conversation of one model.
type desk struct {
	m *Model
	l look
	i int // the item that is laid out
}

func (m *Model) desk() desk {
	l := look{width: m.pageWidth(), details: m.details, thinking: m.thinking, theme: m.deps.Theme, forked: m.forkedWords(), noted: m.cut.shown, times: m.sel.times, find: m.sel.find.query.Text(), images: m.imageLook()}
	if m.laid.look != l || len(m.laid.byID) > cachedItems {
		*m.laid = layouts{look: l, byID: map[int]laid{}, foot: m.laid.foot}
	}
	return desk{m: m, l: l}
}

// lines implements source.
func (d desk) lines(i int) []string {
	if i >= len(d.m.pages.items) {
		d.i = i
		return first(i, d.live())
	}
	return first(i, d.laid(i).lines)
}

// laid is an item laid out, as it is now.
func (d desk) laid(i int) laid {
	it := d.m.pages.items[i]
	now := state{d.known(it), it.fold, d.m.sel.shows(i), d.moved(it), d.m.sel.hitIn(it.id), d.m.pictured(it)}
	have, ok := d.m.laid.byID[it.id]
	if !ok || have.state != now {
		d.i = i
		have = laid{state: now, lines: d.within(it.fold).item(i)}
		have = d.found(i, have)
		d.m.laid.byID[it.id] = have
	}
	return have
}

// first leaves out the empty line before the first item.
func first(i int, lines []string) []string {
	if i == 0 && len(lines) > 0 {
		return lines[1:]
	}
	return lines
}

// known tells what can change of an item: its marks, and of its tool calls
// results, whether a call waits for a decision, and whether it is running.
func (d desk) known(it item) int {
	n := 0
	if it.marks&markCut != 0 {
		n = d.m.cut.at.Record
	}
	n = n<<allMarks | int(it.marks)
	if it.rec.Message == nil || it.rec.Message.Role != harness.RoleAssistant {
		return n
	}
	for _, p := range it.rec.Message.Parts {
		if p.Kind != harness.PartCall || p.Call == nil {
			continue
		}
		n *= int(stages) + 2
		switch {
		case d.m.results[p.Call.ID] != nil:
			n += int(stages)
		case d.m.pending(p.Call.ID) != nil:
			n += int(stages) + 1
		default:
			n += int(d.m.stage(it.rec.Run))
		}
	}
	return n
}

// item lays out one item, with an empty line before it. Behind the last one
// that a fork has of its parent it is told whose it is.
func (d desk) item(i int) []string {
	lines := append(d.divider(d.m.pages.items[i]), d.block(i)...)
	if r := d.m.pages.items[i].rec; r.Seq > 0 && r.In != "" && origin(r) == d.m.pages.parent {
		lines = slices.Concat(lines, d.quiet(d.l.forked))
	}
	return lines
}

// block lays out what an item says.
func (d desk) block(i int) []string {
	it := d.m.pages.items[i]
	paints := d.l.theme.Paints
	switch {
	case it.quiet != "":
		return d.quiet(it.quiet)
	case it.rec.Kind == harness.RecordCondensed:
		return d.condensed(i)
	case it.rec.Kind == harness.RecordReset:
		return d.quiet("the conversation was set anew here; what is above is no longer sent")
	case it.rec.Kind == harness.RecordConfig:
		return d.quiet(changeWords(it.rec.Data))
	case it.rec.Message == nil:
		return nil
	}
	msg := it.rec.Message
	switch {
	case msg.Mark == harness.MarkNotice:
		return d.quiet(msg.Text())
	case msg.Role == harness.RoleUser:
		name := "you"
		if msg.Name != "" {
			name = render.SafeLine(msg.Name)
		}
		head := d.heading(i, d.speaker(name, paints.User, it)+paints.Muted.On(d.tail(append([]string{d.at(it.rec.At)}, d.standing(it)...)...)))
		return append([]string{"", head}, d.person(msg)...)
	case msg.Role == harness.RoleAssistant:
		body := d.answer(msg, d.m.stage(it.rec.Run))
		if len(body) == 0 {
			return nil
		}
		body = append(d.shut(it.fold, body), d.usage(i)...)
		if d.follows(i) {
			return slices.Concat([]string{d.signAbove(i)}, d.pinnedLine(it), d.usedLine(d.usedMore(i), false), body)
		}
		tail := append([]string{d.at(it.rec.At), usedWords(msg.Used), string(msg.Mark)}, d.standing(it)...)
		head := d.speaker("cairn", paints.Assistant, it) + paints.Muted.On(d.tail(tail...))
		return slices.Concat([]string{"", d.heading(i, head)}, d.usedLine(msg.Used, true), body)
	}
	return nil
}

// speaker is the name above a message, quieter if that is not in the context.
func (d desk) speaker(name string, paint themes.Paint, it item) string {
	if it.marks&markOut != 0 {
		paint = d.l.theme.Paints.Muted
	}
	return paint.On(name)
}

// pinnedLine tells of a message without a heading that it is pinned.
func (d desk) pinnedLine(it item) []string {
	if it.marks&markPinned == 0 {
		return nil
	}
	return []string{d.fit(d.l.theme.Paints.Muted.On(strings.Join(d.standing(it), " "+d.l.theme.Ornaments.Dot+" ")))}
}

// follows reports whether an answer goes on from one above it, so that it
// needs no heading of its own.
func (d desk) follows(i int) bool {
	items := d.m.pages.items
	if items[i].rec.Message.Mark != harness.MarkNone {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		switch msg := items[j].rec.Message; {
		case msg == nil:
			return false
		case msg.Role == harness.RoleTool:
		default:
			return msg.Role == harness.RoleAssistant && msg.Mark == harness.MarkNone && items[j].rec.Run == items[i].rec.Run
		}
	}
	return false
}

// tail joins what follows a name, each part after a dot.
func (d desk) tail(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p != "" {
			b.WriteString(" " + d.l.theme.Ornaments.Dot + " " + p)
		}
	}
	return b.String()
}

// at is a time as it is shown: of today without the day.
func (d desk) at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	now := d.m.deps.Now()
	if t = t.In(now.Location()); d.l.times {
		return t.Format(stamp)
	}
	if y, m, day := t.Date(); y == now.Year() && m == now.Month() && day == now.Day() {
		return t.Format("15:04")
	}
	if t.Year() == now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

func (d desk) fit(line string) string {
	return render.Truncate(line, d.l.width, d.l.theme.Ornaments.Ellipsis)
}

// quiet is a line of the program's own.
func (d desk) quiet(text string) []string {
	out := []string{""}
	for _, l := range render.Wrap(render.Safe(text), d.l.width) {
		out = append(out, d.l.theme.Paints.Muted.On(l))
	}
	return out
}

// person lays out a message of the person: as typed, folded if very long.
func (d desk) person(msg *harness.Message) []string {
	text := strings.TrimRight(msg.Text(), "\n")
	more := ""
	if !d.l.details {
		text, more = folded(text)
	}
	lines := render.Wrap(render.Safe(text), d.l.width)
	if more != "" {
		lines = append(lines, d.fit(d.l.theme.Paints.Muted.On(d.l.theme.Ornaments.Ellipsis+" "+more+" more"+d.unfoldWords())))
	}
	return append(append(lines, d.files(msg)...), d.prompted(msg)...)
}

// folded is the beginning of a text that is too long to be shown whole, and
// how much follows it. More is empty if the text is not long.
func folded(text string) (start, more string) {
	lines := strings.Count(text, "\n") + 1
	if lines <= foldedLines && len(text) <= foldedBytes {
		return text, ""
	}
	cut := 0
	for range min(shownLines, lines-1) {
		cut += strings.IndexByte(text[cut:], '\n') + 1
	}
	if lines <= shownLines || cut > foldedBytes { // few lines, but long ones
		for cut = shownBytes; !utf8.RuneStart(text[cut]); cut-- {
		}
		return text[:cut], compose.Size(len(text) - cut)
	}
	return text[:cut-1], harness.Count(lines-shownLines, "line")
}

// answer lays out the parts of an assistant message in their order.
func (d desk) answer(msg *harness.Message, at stage) []string {
	var out []string
	last, codes := harness.PartThinking, 0
	for i := 0; i < len(msg.Parts); {
		p := msg.Parts[i]
		var lines []string
		switch p.Kind {
		case harness.PartText, harness.PartThinking:
			var b strings.Builder
			for i < len(msg.Parts) && msg.Parts[i].Kind == p.Kind {
				b.WriteString(msg.Parts[i].Text)
				i++
			}
			lines = d.prose(p.Kind, b.String(), codes)
			if p.Kind == harness.PartText && i < len(msg.Parts) { // else nothing follows that counts on
				codes += len(render.CodeBlocks(b.String()))
			}
		case harness.PartCall:
			if p.Call != nil {
				lines = d.call(p.Call, at)
			}
			i++
		case harness.PartFile:
			if p.File != nil {
				lines = d.file(p)
			}
			i++
		case harness.PartResult:
			i++
		}
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && last != p.Kind && (d.l.thinking || last != harness.PartThinking) {
			out = append(out, "")
		}
		out, last = append(out, lines...), p.Kind
	}
	return out
}

// prose is text behind so many code blocks of the same message, or thinking.
func (d desk) prose(kind harness.PartKind, text string, codes int) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if kind == harness.PartThinking {
		return d.thought(text)
	}
	return d.m.deps.Markdown.MessageAfter(text, d.l.width, codes)
}

// thought is reasoning, folded to a line unless it is to be seen.
func (d desk) thought(text string) []string {
	o := d.l.theme.Ornaments
	if !d.l.thinking {
		return []string{d.fit(d.l.theme.Paints.Muted.On(fmt.Sprintf("%s thinking  %s", o.Closed, harness.Count(len(strings.Fields(text)), "word"))))}
	}
	out := []string{d.fit(d.l.theme.Paints.Muted.On(o.Open + " thinking"))}
	for _, l := range render.Wrap(render.Safe(strings.TrimSpace(text)), d.l.width) {
		out = append(out, d.l.theme.Paints.Muted.On(l))
	}
	return out
}

// changeWords says what a configuration record changed.
func changeWords(data []byte) string {
	var c harness.ConfigChange
	if err := json.Unmarshal(data, &c); err != nil || c.Key == "" {
		return "the configuration changed"
	}
	if c.Old == "" {
		return c.Key + " is now " + c.New
	}
	return c.Key + " changed from " + c.Old + " to " + c.New
}
