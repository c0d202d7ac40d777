package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cairn/harness"
	"cairn/harness/model"
)

const (
	// header says what a note is.
	header = "Extract, made without a language model: the first sentence of each message."
	// maxSaid and maxAnswered bound what is taken of a message of the person and of
	// any other, in characters.
	maxSaid     = 160
	maxAnswered = 100
	// noteBytes bounds a note if the request does not, in bytes.
	noteBytes = 4_000
	// leastWord is the length from which a word of what is to be kept counts.
	leastWord = 4
)

// weight says which lines of a note stay when not all do.
type weight int

const (
	// wanted lines have a word of what the person asked to keep; the first one of
	// all is kept like them, since it says what the conversation is about.
	wanted weight = iota
	said
	answered
	returned
)

// extracted is one line of a note.
type extracted struct {
	text string
	weight
}

// marked finds the parts of a request to condense.
func marked(doc, name string) string {
	_, rest, ok := strings.Cut(doc, "<"+name+">\n")
	if !ok {
		return ""
	}
	text, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return text
}

// condense answers a request for what stands for old messages, honestly: it takes
// the first sentence of each and leaves out what is least needed. Nothing in it is
// a word of its own but the first line.
func condense(r model.Request) model.Reply {
	doc := ""
	if len(r.Messages) > 0 {
		doc = r.Messages[len(r.Messages)-1].Text()
	}
	focus := wordsOf(marked(doc, "focus"))
	lines := slices.Concat(earlier(marked(doc, "note")), extracts(marked(doc, "history")))
	for i := range lines {
		if i == 0 || slices.ContainsFunc(wordsOf(lines[i].text), func(w string) bool { return slices.Contains(focus, w) }) {
			lines[i].weight = wanted
		}
	}
	size := noteBytes
	if r.MaxOutput > 0 {
		// Half of it, as a token may be little more than two bytes.
		size = min(2*r.MaxOutput, noteBytes)
	}
	reply := model.Reply{Stop: harness.StopEnd, Model: ID}
	if len(lines) > 0 {
		reply.Parts = []harness.Part{{Kind: harness.PartText, Text: fitted(lines, size)}}
	}
	reply.Usage = usage(r, reply)
	return reply
}

// earlier are the lines of a note of before. One that a model wrote is kept by
// lines, too.
func earlier(note string) []extracted {
	var lines []extracted
	for line := range strings.Lines(note) {
		line = strings.TrimSpace(line)
		if line == "" || line == header || omission.MatchString(line) {
			continue
		}
		lines = append(lines, extracted{clipped(line, maxSaid+len("- assistant: ")), weigh(line)})
	}
	return lines
}

// omission is the line that says what was left out.
var omission = regexp.MustCompile(`^\(\d+ lines? (?:is|are) left out here\)$`)

// weigh tells by its beginning what a line of a note is.
func weigh(line string) weight {
	switch {
	case strings.HasPrefix(line, "- assistant: "):
		return answered
	case strings.HasPrefix(line, "- tool: "):
		return returned
	default:
		return said
	}
}

// extracts takes the first sentences of the messages in a history.
func extracts(history string) []extracted {
	var lines []extracted
	for block := range strings.SplitSeq(history, "</message>") {
		_, block, ok := strings.Cut(block, `<message from="`)
		if !ok {
			continue
		}
		who, body, ok := strings.Cut(block, "\">\n")
		if !ok || who == "program" {
			continue
		}
		most := maxAnswered
		if who == "user" {
			most = maxSaid
		}
		if s := clipped(opening(body), most); s != "" {
			line := "- " + who + ": " + s
			lines = append(lines, extracted{line, weigh(line)})
		}
	}
	return lines
}

// opening is the first sentence of a text that is one.
func opening(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0 {
			continue // a fence or a rule
		}
		for i, r := range line {
			rest := line[i+len(string(r)):]
			if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && strings.HasPrefix(rest, " ") {
				return line[:i+len(string(r))]
			}
		}
		return line
	}
	return ""
}

// clipped cuts a text to so many characters.
func clipped(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return strings.TrimSpace(string(r[:n])) + " …"
	}
	return text
}

// wordsOf are the words of a text that say something, in lower case.
func wordsOf(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return slices.DeleteFunc(all, func(w string) bool { return len([]rune(w)) < leastWord })
}

// fitted writes the lines that fit: of those that are least needed the oldest are
// left out first.
func fitted(lines []extracted, size int) string {
	total := len(header) + len("\n(9999 lines are left out here)")
	for _, l := range lines {
		total += 1 + len(l.text)
	}
	out := make([]bool, len(lines))
	for w := returned; w >= wanted && total > size; w-- {
		for i := 0; i < len(lines) && total > size; i++ {
			if lines[i].weight == w && (w != wanted || i > 0) {
				out[i] = true
				total -= 1 + len(lines[i].text)
			}
		}
	}
	var b strings.Builder
	b.WriteString(header)
	left := 0
	for i, l := range lines {
		if out[i] {
			left++
		} else {
			b.WriteString("\n" + l.text)
		}
	}
	if left == 1 {
		b.WriteString("\n(1 line is left out here)")
	} else if left > 1 {
		fmt.Fprintf(&b, "\n(%d lines are left out here)", left)
	}
	return b.String()
}
