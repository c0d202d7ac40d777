package condense

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

const (
	// What is shown of a text, of a result and of the input of a call, in
	// characters; with a small window less of it.
	maxText   = 4_000
	maxResult = 2_000
	maxInput  = 200
	maxPinned = 200
	leastText = 40
	// maxName bounds the names of tools and files.
	maxName = 64
	// mostRead bounds what is read with one call, in tokens: what providers take as
	// the body of a request is bounded, too.
	mostRead = 120_000
	// leastRead is the least room for messages with which a call makes sense.
	leastRead = 100
)

// part is what one call reads.
type part struct {
	// to is the first item behind it.
	to       int
	text     string
	tokens   int // of the whole request, estimated
	messages int
}

// limits are what is shown of the pieces of a message, in characters.
type limits struct{ text, result, input int }

// room is how many tokens of messages fit into a request, by the estimate.
func (j *job) room() int {
	window := windowOf(j.o.Info)
	free := int(float64(window-j.reply()-window/20) / max(j.size.Ratio, 1))
	return min(free-j.overhead(), mostRead)
}

// overhead is what a request has beside the messages.
func (j *job) overhead() int {
	return memory.Estimate(harness.UserText(prompt + j.document("")))
}

// part takes as many items from an index on as fit into a request, up to a legal
// cut. A step that is larger alone is shortened until it fits.
func (j *job) part(from, to int) (part, error) {
	room := j.room()
	if room < leastRead {
		return part{}, fmt.Errorf("%w: the window of %d tokens is too small for it", ErrNothing, windowOf(j.o.Info))
	}
	l := limits{min(maxText, room), min(maxResult, room), maxInput}
	var b strings.Builder
	p := part{to: from}
	used := 0
	for i := from; i < to; {
		end := i + 1
		for end < to && !j.legal(end) {
			end++
		}
		text := j.write(i, end, l)
		n := memory.Estimate(harness.UserText(text))
		if used+n > room {
			if p.to > from {
				break
			}
			text = j.squeeze(i, end, l, room)
			n = memory.Estimate(harness.UserText(text))
		}
		b.WriteString(text)
		used += n
		for ; i < end; i++ {
			if !j.v.Items[i].Pinned {
				p.messages++
			}
		}
		p.to = end
	}
	p.text, p.tokens = b.String(), used+j.overhead()
	return p, nil
}

// squeeze writes items shorter and shorter until they fit.
func (j *job) squeeze(from, to int, l limits, room int) string {
	for {
		text := j.write(from, to, l)
		if memory.Estimate(harness.UserText(text)) <= room {
			return text
		}
		if l.text <= leastText {
			break
		}
		l = limits{max(l.text/2, leastText), max(l.result/2, leastText), max(l.input/2, leastText)}
	}
	// So many calls at once that even their names are too much.
	text := j.write(from, to, l)
	n := room // a character is a token at most, but for few
	for {
		cut := tool.Clip(text, n)
		if memory.Estimate(harness.UserText(cut)) <= room || n == 0 {
			return cut + "…\n</message>\n"
		}
		n /= 2
	}
}

// write writes items as data.
func (j *job) write(from, to int, l limits) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		it := &j.v.Items[i]
		m := it.Message
		l := l
		if it.Pinned {
			l.text, l.result = min(l.text, maxPinned), min(l.result, maxPinned)
		}
		lines := lines(m, l)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "<message from=%q>\n%s\n", who(m), strings.Join(lines, "\n"))
		if it.Pinned {
			b.WriteString("(This message stays in the conversation word for word; it need not be repeated.)\n")
		}
		b.WriteString("</message>\n")
	}
	return b.String()
}

func who(m *harness.Message) string {
	if m.Mark == harness.MarkNotice {
		return "program"
	}
	return string(m.Role)
}

// lines are what is shown of a message: no reasoning, and files by name.
func lines(m *harness.Message, l limits) []string {
	var out []string
	for _, p := range m.Parts {
		switch {
		case p.Kind == harness.PartCall && p.Call != nil:
			out = append(out, "called "+name(p.Call.Name)+" with "+short(memory.Neutral(string(p.Call.Input)), l.input))
		case p.Kind == harness.PartResult && p.Result != nil:
			kind := "result of "
			if p.Result.Failed {
				kind = "error of "
			}
			out = append(out, kind+name(p.Result.Name)+": "+short(memory.Neutral(p.Result.Text), l.result))
		case p.Kind == harness.PartFile && p.File != nil:
			out = append(out, "attached "+name(p.File.Name)+", "+name(p.File.MediaType))
		case p.Kind == harness.PartText && p.File != nil:
			out = append(out, "attached "+name(p.File.Name)+": "+short(memory.Neutral(p.Text), l.result))
		case p.Kind == harness.PartText && strings.TrimSpace(p.Text) != "":
			out = append(out, short(memory.Neutral(p.Text), l.text))
		}
	}
	return out
}

func name(s string) string { return tool.Clip(recall.Inert(s), maxName) }

// short cuts a text in its middle, as its beginning and its end say most.
func short(text string, n int) string {
	text = strings.TrimSpace(text)
	if len(text) <= n {
		return text
	}
	head := tool.Clip(text, n*7/10)
	tail := strings.ToValidUTF8(text[max(len(text)-n*3/10, len(head)):], "")
	return head + " … " + tail
}
