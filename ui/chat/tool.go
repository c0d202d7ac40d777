package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat/compose"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// The tools whose calls are shown in a way of their own.
const (
	toolCommand = "run_command"
	toolWrite   = "write_file"
	toolEdit    = "edit_file"
	toolTodos   = "write_todos"
	toolAsk     = "ask_user"
	toolFetch   = "fetch_url"
)

// What the loop says in place of a result, as these lines begin.
const (
	saidDeclined = "permission denied by the person"
	saidDenied   = "permission denied: "
	saidNotRun   = "not run: "
	saidLong     = "(The result was too long: "
)

// stage is where a run stands, as far as its calls without a result tell it.
type stage int

const (
	stageOver stage = iota
	stageRunning
	// stageWaiting is a run that rests for a person.
	stageWaiting
	// stageBroken is one that was interrupted and can be gone on with.
	stageBroken
	stages
)

// stage says where a run stands.
func (m Model) stage(run harness.RunID) stage {
	switch waiting := m.waiting(); {
	case m.turn.runs(run):
		return stageRunning
	case waiting != nil && waiting.ID == run:
		return stageWaiting
	case m.open != nil && m.open.ID == run:
		return stageBroken
	case m.own.state == accessReader && m.own.run != nil && m.own.run.ID == run:
		if m.own.run.Status == harness.RunRunning && !m.own.run.Interrupted {
			return stageRunning
		}
		return stageBroken
	}
	return stageOver
}

// call is a tool call on one line, and its input and result below it when
// details are on.
func (d desk) call(c *harness.ToolCall, at stage) []string {
	res := d.m.results[c.ID]
	mark, o := d.l.theme.Ornaments.Closed, d.l.theme.Paints
	if d.l.details {
		mark = d.l.theme.Ornaments.Open
	}
	state, paint := d.state(c, res, at)
	if state = render.SafeLine(state); d.l.times && res != nil {
		if t := span(d.ran(c.ID)); t != "" {
			state += " " + d.l.theme.Ornaments.Dot + " " + t
		}
	}
	line := o.Muted.On(mark+" tool  ") + o.Strong.On(render.SafeLine(c.Name))
	if arg := d.argument(c); arg != "" {
		// Where the call stands is worth more than the end of what it was given.
		room := d.l.width - render.Width(line) - 4 - min(render.Width(state), max(d.l.width/3, stateWidth))
		line += "  " + render.Truncate(render.SafeLine(arg), min(max(room, leastArg), argWidth), d.l.theme.Ornaments.Ellipsis)
	}
	out := []string{d.fit(line + "  " + paint.On(state))}
	out = append(out, d.below(c, res)...)
	if res != nil && res.Artifact != "" {
		out = append(out, d.fit("    "+o.Muted.On("only its ends are in the conversation"+d.wholeWords())))
	}
	if !d.l.details {
		return out
	}
	out = append(out, d.input(c)...)
	if res != nil {
		out = append(out, d.indent(res.Text, resultLines, d.wholeWords())...)
	}
	return out
}

// state says in words where a call stands.
func (d desk) state(c *harness.ToolCall, res *harness.ToolResult, at stage) (string, themes.Paint) {
	o := d.l.theme.Paints
	switch p := d.m.pending(c.ID); {
	case res == nil && p != nil && p.Uncertain:
		return "outcome unknown, waits for a decision", o.Warning
	case res == nil && p != nil && p.Question():
		return "waits for an answer", o.Warning
	case res == nil && p != nil:
		return "waits for approval", o.Warning
	case res == nil && at == stageWaiting:
		return "not run yet", o.Muted
	case res == nil && at == stageBroken:
		return "interrupted", o.Warning
	case res == nil && at == stageRunning:
		return d.running(c.ID), o.Muted
	case res == nil:
		return "no result", o.Warning
	case res.Unknown:
		return "outcome unknown", o.Warning
	}
	if !res.Failed {
		if res.Artifact != "" {
			return largeWords(res.Text), o.Muted
		}
		return resultWords(c.Name, res.Text), o.Muted
	}
	first := firstLine(res.Text)
	if why, ok := strings.CutPrefix(first, saidDeclined); ok {
		return "declined" + why, o.Warning
	}
	if why, ok := strings.CutPrefix(first, saidDenied); ok {
		return "denied: " + why, o.Warning
	}
	if strings.HasPrefix(first, saidNotRun) {
		return first, o.Warning
	}
	return "failed: " + first, o.Error
}

// resultWords is a result in few words.
func resultWords(name, text string) string {
	switch name {
	case toolCommand:
		return commandWords(text)
	case toolWrite, toolEdit:
		return changeCount(text)
	case toolAsk:
		return "answered"
	case toolTodos:
		if at := strings.LastIndexByte(text, '('); at >= 0 && strings.HasSuffix(text, ")") {
			return text[at+1 : len(text)-1]
		}
	}
	return summary(text)
}

// commandWords is how a command ended, which is the last line of its result but
// for a remark or two, and how much it said. A result without one is what a
// person gave.
func commandWords(text string) string {
	const last = 3 // it may be a very long text
	said := strings.TrimRight(text, "\n")
	for range last {
		at := strings.LastIndexByte(said, '\n')
		ending, _, _ := strings.Cut(said[at+1:], ": ")
		said = said[:max(at, 0)]
		switch {
		case isEnding(ending) && (at < 0 || said == "(no output)"):
			return ending
		case isEnding(ending):
			return ending + ", " + harness.Count(strings.Count(said, "\n")+1, "line")
		case at < 0:
			return summary(text)
		}
	}
	return summary(text)
}

// isEnding reports whether a line says how a command ended.
func isEnding(line string) bool {
	for _, start := range []string{"exit code ", "ended by signal ", "timed out after ", "stopped before its end"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// changeCount makes "+14 -0" of the numbers in a result such as "changed
// row.go: 900 bytes, 14 lines added, 0 lines removed".
func changeCount(text string) string {
	line := firstLine(text)
	verb, _, _ := strings.Cut(line, " ")
	numbers := map[string]string{}
	for _, part := range strings.Split(line, ", ") {
		f := strings.Fields(part)
		if len(f) == 3 && (f[1] == "line" || f[1] == "lines") {
			numbers[f[2]] = f[0]
		}
	}
	if numbers["added"] == "" || numbers["removed"] == "" {
		return summary(text)
	}
	return verb + " +" + numbers["added"] + " -" + numbers["removed"]
}

// waiting is the session's run that waits for a decision, here or in another
// window; nil if none does.
func (m Model) waiting() *harness.Run {
	if m.waits() {
		return m.open
	}
	return m.own.waits
}

// pending is what waits for a decision about a call, nil if nothing does.
func (m Model) pending(call string) *harness.Pending {
	run := m.waiting()
	if run == nil {
		return nil
	}
	i := slices.IndexFunc(run.Pending, func(p harness.Pending) bool { return p.Call.ID == call })
	if i < 0 {
		return nil
	}
	return &run.Pending[i]
}

// fields are the arguments of a call by name, nil if they are no object.
func fields(c *harness.ToolCall) map[string]any {
	var f map[string]any
	if c.Malformed != "" || json.Unmarshal(c.Input, &f) != nil {
		return nil
	}
	return f
}

// argument is a call's input in few words: what tells most of it.
func (d desk) argument(c *harness.ToolCall) string {
	key := map[string]string{
		toolCommand: "command", toolWrite: "path", toolEdit: "path", toolAsk: "question", toolFetch: "url",
	}[c.Name]
	if c.Name == toolTodos && len(todos(c)) > 0 {
		return ""
	}
	text, ok := fields(c)[key].(string)
	if !ok {
		return inputWords(c)
	}
	text = strings.TrimSpace(text)
	if first := firstLine(text); first != text {
		return first + d.l.theme.Ornaments.Ellipsis
	}
	return text
}

// below is what is always shown of a call: the list of what is to be done, a
// question and its answer, images.
func (d desk) below(c *harness.ToolCall, res *harness.ToolResult) []string {
	switch c.Name {
	case toolTodos:
		return d.checklist(todos(c))
	case toolAsk:
		if res == nil || res.Failed || res.Unknown {
			return nil
		}
		var out []string
		question, _ := fields(c)["question"].(string)
		if question = strings.TrimSpace(question); strings.Contains(question, "\n") || render.Width(question) > argWidth {
			out = append(out, d.wrapped(question, d.l.theme.Paints.Muted)...)
		}
		return append(out, d.wrapped(d.l.theme.Ornaments.Right+" "+strings.TrimSpace(res.Text), "")...)
	}
	return d.resultImages(res)
}

// wrapped sets text off by four cells.
func (d desk) wrapped(text string, paint themes.Paint) []string {
	lines := render.Wrap(render.Safe(text), max(d.l.width-4, 1))
	for i, l := range lines {
		lines[i] = d.fit("    " + paint.On(l))
	}
	return lines
}

// input is a call's input as the details show it: a command as it is, a change
// with signs, everything else as JSON.
func (d desk) input(c *harness.ToolCall) []string {
	f := fields(c)
	text := func(key string) string { s, _ := f[key].(string); return s }
	p := d.l.theme.Paints
	switch {
	case c.Name == toolCommand && text("command") != "":
		return d.signed("$ ", text("command"), p.Muted)
	case c.Name == toolEdit && text("old") != "":
		return append(d.signed("- ", text("old"), p.Deleted), d.signed("+ ", text("new"), p.Inserted)...)
	case c.Name == toolWrite && text("content") != "":
		return d.signed("+ ", text("content"), p.Inserted)
	case c.Name == toolTodos && len(todos(c)) > 0:
		return nil
	}
	return d.indent(inputText(c), resultLines, "")
}

// signed is indented text with a sign before each of its lines.
func (d desk) signed(sign, text string, paint themes.Paint) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	rest := len(lines) - resultLines
	var out []string
	for _, l := range lines[:min(len(lines), resultLines)] {
		for i, row := range render.HardWrap(render.Safe(l), max(d.l.width-4-len(sign), 1)) {
			if i > 0 {
				row = strings.Repeat(" ", len(sign)) + row
			} else {
				row = sign + row
			}
			out = append(out, d.fit("    "+paint.On(row)))
		}
	}
	return append(out, d.cut(rest)...)
}

// cut says how many lines are left out.
func (d desk) cut(rest int) []string {
	if rest <= 0 {
		return nil
	}
	return []string{d.fit(d.l.theme.Paints.Muted.On(fmt.Sprintf("    %s %d more lines", d.l.theme.Ornaments.Ellipsis, rest)))}
}

// indent sets text off by four cells, at most limit rows of it. It looks at no
// more of the text than it needs for them. Whole says how all of it is read.
func (d desk) indent(text string, limit int, whole string) []string {
	text = strings.TrimRight(text, "\n")
	width := max(d.l.width-4, 1)
	head := widget.Head(text, 4*(width+1)*(limit+1))
	if strings.TrimSpace(head) == "" && len(head) == len(text) {
		return nil
	}
	lines := render.HardWrap(render.Safe(head), width)
	rest := len(lines) - limit
	var out []string
	for _, l := range lines[:min(len(lines), limit)] {
		out = append(out, d.fit("    "+d.l.theme.Paints.Muted.On(l)))
	}
	var more string
	switch {
	case len(head) < len(text) && !strings.Contains(text[len(head):], "\n"):
		more = compose.Size(len(text)-len(head)) + " more"
	case len(head) < len(text):
		more = harness.Count(max(rest, 0)+strings.Count(text[len(head):], "\n"), "more line")
	case rest > 0:
		more = harness.Count(rest, "more line")
	default:
		return out
	}
	return append(out, d.fit("    "+d.l.theme.Paints.Muted.On(d.l.theme.Ornaments.Ellipsis+" "+more+whole)))
}

// largeWords say how large a result is of which only the ends are here.
func largeWords(text string) string {
	size, _ := strings.CutPrefix(firstLine(text), saidLong)
	size, _, _ = strings.Cut(size, " ")
	if n, err := strconv.ParseInt(size, 10, 64); err == nil {
		return harness.Grouped(n) + " characters"
	}
	return "a large result"
}

// wholeWords say which key opens a result.
func (d desk) wholeWords() string {
	if k := d.m.usual(actResult); k != "" {
		return " " + d.l.theme.Ornaments.Dot + " " + k + " opens all of it"
	}
	return " " + d.l.theme.Ornaments.Dot + " /result opens all of it"
}

// inputWords is a call's input in few words: the value of a single text, or
// names and values.
func inputWords(c *harness.ToolCall) string {
	if c.Malformed != "" {
		return "malformed: " + firstLine(c.Malformed)
	}
	var fields map[string]any
	if err := json.Unmarshal(c.Input, &fields); err != nil {
		return firstLine(string(c.Input))
	}
	if len(fields) == 1 {
		for _, v := range fields {
			if s, ok := v.(string); ok {
				return render.Quote(firstLine(s))
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, c.Input); err != nil {
		return firstLine(string(c.Input))
	}
	return strings.Trim(b.String(), "{}")
}

// inputText is a call's whole input.
func inputText(c *harness.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	var b bytes.Buffer
	if err := json.Indent(&b, c.Input, "", "  "); err != nil {
		return string(c.Input)
	}
	return b.String()
}

// summary is a tool's result in few words.
func summary(text string) string {
	text = strings.TrimRight(text, "\n")
	switch n := strings.Count(text, "\n") + 1; {
	case text == "":
		return "done"
	case n > 1:
		return harness.Count(n, "line")
	case len(text) > longLine:
		return compose.Size(len(text))
	case render.Width(text) > argWidth:
		return harness.Count(len([]rune(text)), "character")
	}
	return text
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
