package plain

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/render"
)

const (
	// callMax and resultMax bound what is said of a call that runs and of its
	// result, in cells: what needed consent was shown whole before.
	callMax   = 120
	resultMax = 100
	// lastMax bounds the last line of a result that is said too.
	lastMax = 60
)

// callWords says what a call does, in few words.
func callWords(c harness.ToolCall) string {
	return render.SafeLine(c.Name) + " " + render.Truncate(render.SafeLine(string(c.Input)), callMax, "...")
}

// toolStart says that a call runs. A plan is told item by item.
func (p *plain) toolStart(c harness.ToolCall) {
	m := harness.Message{Parts: []harness.Part{{Kind: harness.PartCall, Call: &c}}}
	lines := chat.Plan(harness.Record{Message: &m})
	if lines == nil {
		p.say("tool " + callWords(c))
		return
	}
	p.say("tool " + render.SafeLine(c.Name) + ":")
	for _, line := range lines {
		p.out.line("  " + line)
	}
}

// resultWords is a tool's result in few words: its first line, and its last
// one if that is short, such as an exit code.
func resultWords(r harness.ToolResult) string {
	if r.Unknown {
		return "outcome unknown"
	}
	text := strings.TrimSpace(r.Text)
	first, rest, _ := strings.Cut(text, "\n")
	words := render.Truncate(render.SafeLine(first), resultMax, "...")
	if rest != "" {
		last := render.SafeLine(rest[strings.LastIndexByte(rest, '\n')+1:])
		if strings.Contains(rest, "\n") {
			words += " ..."
		}
		words += " " + render.Truncate(last, lastMax, "...")
	}
	if r.Failed {
		return "failed: " + words
	}
	return words
}

// tools lists what the model may be offered.
func (p *plain) tools() {
	var list []chat.ToolLine
	if p.Chat.Tools != nil {
		list = p.Chat.Tools()
	}
	if len(list) == 0 {
		p.say("the model has no tools here")
		return
	}
	for _, t := range list {
		p.out.line(fmt.Sprintf("  %s, %s: %s", render.SafeLine(t.Name), t.Permission, render.SafeLine(t.Help)))
	}
	p.say("/permissions shows the rules that may change these")
}

// todos writes the last list of what is to be done.
func (p *plain) todos() {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, 0)
	if err != nil {
		p.trouble(err)
		return
	}
	lines := chat.Plan(records...)
	if lines == nil {
		p.say("nothing was planned in this conversation yet")
		return
	}
	for _, line := range lines {
		p.out.line("  " + line)
	}
}
