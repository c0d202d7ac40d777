package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/render"
)

const (
	// pageLines and pageBytes bound what is written of a result before it is asked
	// whether to go on.
	pageLines = 40
	pageBytes = 4 << 10
)

// toolResult writes the n-th last result of a tool whole, page by page.
func (p *plain) toolResult(arg string) {
	n, ok := chat.Which(arg)
	if !ok {
		p.say(chat.WhichWords("result"))
		return
	}
	r, found, err := p.nthResult(n)
	switch {
	case err != nil:
		p.trouble(err)
		return
	case r == nil && found == 0:
		p.say("no tool returned anything in this chat yet")
		return
	case r == nil:
		p.say("tool results in this chat: " + strconv.Itoa(found))
		return
	}
	text := r.Text
	if r.Artifact != "" && p.Chat.Artifact != nil {
		data, err := p.Chat.Artifact(p.ctx, p.session.ID, r.Artifact)
		if err != nil {
			p.trouble(fmt.Errorf("read the whole result of %s: %w", r.Name, err))
			return
		}
		text = string(data)
	}
	p.say(fmt.Sprintf("tool %s returned %s characters:", render.SafeLine(r.Name), harness.Grouped(utf8.RuneCountInString(text))))
	p.page(text)
}

// nthResult is the n-th last result on the branch, nil if there are only found.
func (p *plain) nthResult(n int) (r *harness.ToolResult, found int, err error) {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, 0)
	if err != nil {
		return nil, 0, err
	}
	for _, rec := range slices.Backward(records) {
		if rec.Message == nil {
			continue
		}
		for _, part := range slices.Backward(rec.Message.Parts) {
			if part.Result == nil {
				continue
			}
			if found++; found == n {
				return part.Result, found, nil
			}
		}
	}
	return nil, found, nil
}

// page writes a text and asks now and then whether to go on.
func (p *plain) page(text string) {
	text = strings.TrimRight(text, "\n")
	for at := 0; ; {
		end := pageEnd(text, at)
		p.out.line(render.Safe(strings.TrimSuffix(text[at:end], "\n")))
		if at = end; at >= len(text) {
			return
		}
		p.say(fmt.Sprintf("%d%% of it. More? An empty line goes on; anything else ends it.", at*100/len(text)))
		line, ok := p.ask()
		if !ok {
			return
		}
		if word := strings.TrimSpace(line); word != "" {
			if word != "q" && word != "n" && word != "no" {
				p.line(line)
			}
			return
		}
	}
}

// pageEnd is where a page ends that begins at a byte: behind a line, or within
// one that is too long, behind a whole character.
func pageEnd(text string, at int) int {
	most := min(at+pageBytes, len(text))
	end := at
	for range pageLines {
		i := strings.IndexByte(text[end:most], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	switch {
	case most == len(text) && strings.Count(text[at:], "\n") < pageLines:
		return len(text)
	case end > at:
		return end
	}
	for end = most; end > at+1 && end < len(text) && !utf8.RuneStart(text[end]); end-- {
	}
	return end
}
