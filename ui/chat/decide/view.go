package decide

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// leastBody is how many lines of the text must be on screen for the choices
	// to be written out; else they take a line or two.
	leastBody = 4
	// fieldRows is how many rows a text that is being written may take.
	fieldRows = 4
	// calmRows is the room from which there is a word about what a stop does.
	calmRows = 24
)

// Drawn is the dialog as lines, with the caret's place if Caret is set.
type Drawn struct {
	Lines []string
	X, Y  int
	Caret bool
}

// View draws the dialog in at most e.Height lines.
func (d Dialog) View(e Env) Drawn {
	l := d.layout(e)
	out := append([]string{l.title}, l.pinned...)
	out = append(out, l.lines[l.top:l.top+l.room]...)
	if l.scrolls {
		out = append(out, d.hidden(l, e))
	}
	drawn := Drawn{X: l.tail.x, Y: len(out) + l.tail.y, Caret: l.tail.caret && e.Awake}
	if d.whole { // the choices stay at the bottom
		for len(out) < e.Height-len(l.tail.lines) {
			out = append(out, "")
			drawn.Y++
		}
	}
	out = append(out, l.tail.lines...)
	for i := range out {
		out[i] = render.Truncate(out[i], e.Width, "")
	}
	drawn.Lines = out[:min(len(out), max(e.Height, 0))]
	return drawn
}

// key names the first key that an action has, whether it works now or not.
func (d Dialog) key(action string, e Env) string {
	for _, b := range d.table(e) {
		if b.Action == action && len(b.Keys) > 0 {
			return widget.KeyName(b.Keys[0])
		}
	}
	return ""
}

// title is the rule above the dialog.
func (d Dialog) title(e Env, sleeps bool) string {
	o := e.Theme.Ornaments
	words := "approval needed"
	switch {
	case d.p.Uncertain:
		words = "outcome unknown"
	case d.p.Question():
		words = "a question"
	}
	if d.of > 1 {
		words += fmt.Sprintf(" %s %d of %d", o.Dot, d.n, d.of)
	}
	if sleeps && !e.Awake {
		words += " " + o.Dot + " keys asleep"
	}
	line := strings.Repeat(o.Rule, 3) + " " + render.Truncate(words, max(e.Width-5, 1), "") + " "
	left := max((e.Width-render.Width(line))/max(render.Width(o.Rule), 1), 0)
	return e.Theme.Paints.Warning.On(line + strings.Repeat(o.Rule, left))
}

// tail draws the choices one below the other, or what is being written.
func (d Dialog) tail(e Env) tail {
	t := d.noted(e)
	p := e.Theme.Paints
	switch {
	case d.mode != choosing:
		d.write(&t, d.prompt(), e)
		return t
	default:
		for i, c := range d.choices(e.Draft) {
			if c.action == free {
				d.answer(&t, i, e)
				continue
			}
			t.lines = append(t.lines, d.choice(i, c, e)...)
		}
	}
	if e.Height >= calmRows && !d.p.Uncertain && !d.p.Question() {
		words := "Nothing has been done. If cairn stops now, this request is still here next time."
		if e.Ephemeral {
			words = "Nothing has been done. If cairn stops now, this request is gone with the chat."
		}
		t.lines = append(t.lines, "")
		for _, l := range render.Wrap(words, e.Width-1) {
			t.lines = append(t.lines, " "+p.Muted.On(l))
		}
	}
	t.lines = append(t.lines, p.Muted.On(" "+d.last(e)))
	return t
}

// last is the line below the choices: when keys count, or what later means.
func (d Dialog) last(e Env) string {
	if !e.Awake {
		const wakes = "keys wake up 0.6 s after you stop typing"
		return fitting(e.Width-1, wakes+" "+e.Theme.Ornaments.Dot+" your draft is kept", wakes, "keys asleep")
	}
	later := d.key(Later, e) + " decides later"
	if e.Ephemeral {
		return fitting(e.Width-1, later+": the run waits until cairn stops", later)
	}
	return fitting(e.Width-1, later+": the run waits, also after a restart", later)
}

// fitting is the first of the texts that fits, else the last.
func fitting(width int, texts ...string) string {
	for _, t := range texts {
		if render.Width(t) <= width {
			return t
		}
	}
	return texts[len(texts)-1]
}

// noted begins a tail with the sentence that is to be said.
func (d Dialog) noted(e Env) tail {
	var t tail
	if d.note != "" {
		for _, l := range render.Wrap(render.Safe(d.note), e.Width-1) {
			t.lines = append(t.lines, " "+e.Theme.Paints.Warning.On(l))
		}
	}
	return t
}

// choice draws a row: its key, what it does, and the rule it would make.
func (d Dialog) choice(i int, c choice, e Env) []string {
	p := e.Theme.Paints
	mark, text := "  ", c.text
	if i == d.at {
		mark = p.Accent.On(">") + " "
	}
	if c.rule != "" {
		text += "  " + c.rule
		if k := d.key(EditRule, e); k != "" && d.ruled() == c.scope {
			text += "   (edit: " + k + ")"
		}
	}
	key := d.label(c, e)
	indent := 1 + 2 + render.Width(key) + 2
	var out []string
	for n, l := range render.Wrap(render.SafeLine(text), max(e.Width-indent, 1)) {
		if i == d.at {
			l = p.Strong.On(l)
		}
		if n > 0 {
			out = append(out, strings.Repeat(" ", indent)+l)
			continue
		}
		out = append(out, " "+mark+p.Key.On(key)+"  "+l)
	}
	return out
}

// label is the key or number of a choice.
func (d Dialog) label(c choice, e Env) string {
	switch {
	case c.action == option:
		return strconv.Itoa(c.index + 1)
	case d.p.Question():
		return " "
	}
	return d.key(c.action, e)
}

// answer draws the row of a question in which one types.
func (d Dialog) answer(t *tail, i int, e Env) {
	p := e.Theme.Paints
	mark := "   "
	if i == d.at {
		mark = " " + p.Accent.On(">") + " "
	}
	lines, x, y := d.texts[choosing].Draw(max(e.Width-7, 2), fieldRows)
	if d.texts[choosing].Empty() {
		lines = []string{p.Placeholder.On(render.Truncate("type an answer", max(e.Width-7, 1), ""))}
	}
	t.x, t.y, t.caret = 6+x, len(t.lines)+y, true
	for n, l := range lines {
		if n > 0 {
			mark = "   "
		}
		t.lines = append(t.lines, mark+"   "+l)
	}
}

// prompt says what the text is for that is being written.
func (d Dialog) prompt() string {
	switch d.mode {
	case reasoning:
		if d.p.Question() {
			return "your reason (may be empty)"
		}
		return "your reason (may be empty)"
	case ruling:
		scope := "always"
		if d.editAt == harness.ScopeSession {
			scope = "for this session"
		}
		return "the rule to allow " + scope
	case resulting:
		return "what the call returned"
	case choosing, modes:
	}
	return ""
}

// write draws the field of the mode below a prompt.
func (d Dialog) write(t *tail, prompt string, e Env) {
	p := e.Theme.Paints
	for _, l := range render.Wrap(prompt+":", e.Width-1) {
		t.lines = append(t.lines, " "+p.Strong.On(l))
	}
	rows := 1
	if d.mode == resulting {
		rows = fieldRows
	}
	lines, x, y := d.texts[d.mode].Draw(max(e.Width-4, 2), rows)
	t.x, t.y, t.caret = 3+x, len(t.lines)+y, true
	for i, l := range lines {
		mark := "   "
		if i == 0 {
			mark = " " + p.Accent.On(">") + " "
		}
		t.lines = append(t.lines, mark+l)
	}
	done := map[mode]string{reasoning: "refuses", ruling: "keeps it", resulting: "gives it"}[d.mode]
	hint := fmt.Sprintf(" %s %s %s %s back", d.key(Choose, e), done, e.Theme.Ornaments.Dot, d.key(Later, e))
	if !e.Awake {
		hint = " keys wake up 0.6 s after you stop typing"
	}
	t.lines = append(t.lines, p.Muted.On(hint))
}

// spelt are the choices in full, for where they scroll with the text, and the
// lines at which the rules begin, counted from the first.
func (d Dialog) spelt(e Env, first int) ([]string, map[harness.GrantScope]int) {
	if d.mode != choosing {
		return nil, nil
	}
	var out []string
	rules := map[harness.GrantScope]int{}
	for i, c := range d.choices(e.Draft) {
		if c.rule != "" {
			rules[c.scope] = first + len(out)
		}
		if c.rule != "" || c.action == option {
			out = append(out, d.choice(i, c, e)...)
		}
	}
	return out, rules
}

// short draws the choices in as few lines as they need.
func (d Dialog) short(e Env) tail {
	t := d.noted(e)
	p := e.Theme.Paints
	list := d.choices(e.Draft)
	switch {
	case d.mode != choosing:
		d.write(&t, d.prompt(), e)
		return t
	case d.p.Question():
		at := list[min(d.at, len(list)-1)]
		if at.action == free {
			d.answer(&t, d.at, e)
			return t
		}
		line := " " + p.Accent.On(">") + " " + p.Key.On(d.label(at, e)) + " " + render.SafeLine(at.text)
		t.lines = append(t.lines, render.Truncate(line, e.Width, e.Theme.Ornaments.Ellipsis))
		return t
	}
	line := ""
	for i, c := range list {
		word := d.word(i, c, e, p)
		if line != "" && render.Width(line)+1+render.Width(word) > e.Width {
			t.lines = append(t.lines, line)
			line = ""
		}
		line += " " + word
	}
	t.lines = append(t.lines, line)
	return t
}

// word is a choice in a word, marked if it is the highlighted one.
func (d Dialog) word(i int, c choice, e Env, p themes.Paints) string {
	text := p.Key.On(d.key(c.action, e)) + " " + c.word
	if i == d.at {
		text = p.Accent.On(">") + text
	}
	return text
}
