package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// call is a tool call on one line, and its input and result below it when
// details are on.
func (d desk) call(c *harness.ToolCall, running bool) []string {
	res := d.m.results[c.ID]
	mark, o := d.l.theme.Ornaments.Closed, d.l.theme.Paints
	if d.l.details {
		mark = d.l.theme.Ornaments.Open
	}
	state, paint := "no result", o.Warning
	switch {
	case res == nil && running:
		state, paint = "running"+d.l.theme.Ornaments.Ellipsis, o.Muted
	case res == nil:
	case res.Unknown:
		state, paint = "outcome unknown", o.Warning
	case res.Failed:
		state, paint = "failed: "+firstLine(res.Text), o.Error
	default:
		state, paint = summary(res.Text), o.Muted
	}
	line := o.Muted.On(mark+" tool  ") + o.Strong.On(render.SafeLine(c.Name))
	if arg := inputWords(c); arg != "" {
		line += "  " + render.Truncate(render.SafeLine(arg), argWidth, d.l.theme.Ornaments.Ellipsis)
	}
	out := []string{d.fit(line + "  " + paint.On(render.SafeLine(state)))}
	if !d.l.details {
		return out
	}
	out = append(out, d.indent(inputText(c), resultLines)...)
	if res != nil {
		out = append(out, d.indent(res.Text, resultLines)...)
	}
	return out
}

// indent sets text off by four cells, at most limit lines of it.
func (d desk) indent(text string, limit int) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	lines := render.HardWrap(render.Safe(strings.TrimRight(text, "\n")), max(d.l.width-4, 1))
	rest := len(lines) - limit
	var out []string
	for _, l := range lines[:min(len(lines), limit)] {
		out = append(out, d.fit("    "+d.l.theme.Paints.Muted.On(l)))
	}
	if rest > 0 {
		out = append(out, d.fit(d.l.theme.Paints.Muted.On(fmt.Sprintf("    %s %d more lines", d.l.theme.Ornaments.Ellipsis, rest))))
	}
	return out
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
				return strconv.Quote(firstLine(s))
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
		return count(n, "line")
	case render.Width(text) > argWidth:
		return count(len([]rune(text)), "character")
	}
	return text
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
