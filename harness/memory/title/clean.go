package title

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

// Lengths in characters.
const (
	// maxTitle is how long a title is at most; what is longer is cut, at the end of
	// a word if there is one among the last maxWord characters.
	maxTitle = 60
	maxWord  = 24
	// maxAnswer is how long an answer is at most that can be a title.
	maxAnswer = 200
)

// What is wrong with an answer.
var (
	errEmpty   = errors.New("it says nothing")
	errCut     = errors.New("it was cut off")
	errRefusal = errors.New("it is a sentence to the user")
	errObject  = errors.New("it is an object without a title")
)

// clean makes a title of an answer: one line of at most 60 characters that names
// something, and can neither hide nor draw anything. Its errors do not repeat it.
func clean(a answer) (string, error) {
	text, err := afterThoughts(a.text)
	if err != nil {
		return "", err
	}
	if text, err = unpacked(text); err != nil {
		return "", err
	}
	if n := utf8.RuneCountInString(text); n > maxAnswer {
		return "", fmt.Errorf("it has %d characters", n)
	}
	line := bare(firstLine(text))
	kind, secret := harness.Secret(line)
	switch {
	case strings.IndexFunc(line, says) < 0:
		return "", errEmpty
	case a.cut:
		return "", errCut
	case secret:
		return "", fmt.Errorf("it holds %s", kind)
	case refuses(line):
		return "", errRefusal
	}
	if line = fitting(line); strings.IndexFunc(line, says) < 0 {
		return "", errEmpty // one letter with hundreds of accents
	}
	return line, nil
}

// says reports whether a character can be read.
func says(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// afterThoughts returns what follows the reasoning that some models write as text.
func afterThoughts(text string) (string, error) {
	const begin, end = `(?i)<(?:think|thinking|thought|reasoning)>`, `(?i)</(?:think|thinking|thought|reasoning)>`
	if all := regexp.MustCompile(end).FindAllStringIndex(text, -1); len(all) > 0 {
		text = text[all[len(all)-1][1]:]
	}
	text = strings.TrimSpace(text)
	if at := regexp.MustCompile(begin).FindStringIndex(text); at != nil && at[0] == 0 {
		return "", errEmpty // it never came to an end
	}
	return text, nil
}

// unpacked returns the title of an answer that is JSON or in a fence.
func unpacked(text string) (string, error) {
	if fenced := regexp.MustCompile("(?s)^```[a-zA-Z]*\n(.*?)\n?```$").FindStringSubmatch(text); fenced != nil {
		text = strings.TrimSpace(fenced[1])
	}
	if !strings.HasPrefix(text, "{") {
		var quoted string
		if json.Unmarshal([]byte(text), &quoted) == nil {
			return quoted, nil
		}
		return text, nil
	}
	var object struct {
		Title string `json:"title"`
	}
	if json.Unmarshal([]byte(text), &object) != nil || object.Title == "" {
		return "", errObject
	}
	return object.Title, nil
}

// firstLine returns the first line that is not empty, or the one behind it if it
// only announces that.
func firstLine(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if line = inert(line); line != "" {
			lines = append(lines, line)
		}
	}
	switch {
	case len(lines) == 0:
		return ""
	case len(lines) > 1 && strings.HasSuffix(strings.TrimRight(lines[0], "*_ "), ":"), len(lines) > 1 && strings.HasSuffix(lines[0], "："):
		return lines[1]
	}
	return lines[0]
}

// inert takes out what drives terminals, reorders or hides text, and makes white
// space single. The joiners that emoji and some scripts need stay.
func inert(text string) string {
	const joiner, nonJoiner = '\u200d', '\u200c'
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == joiner, r == nonJoiner:
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), blank(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// blank reports whether a letter is drawn as nothing.
func blank(r rune) bool {
	return slices.Contains([]rune{'\u115f', '\u1160', '\u3164', '\uffa0', '\u2800'}, r)
}

// bare takes off what is around a title: headings, list marks, labels, emphasis,
// quotation marks, links and the full stop.
func bare(line string) string {
	lead := regexp.MustCompile(`(?i)^(?:#{1,6}\s+|[-*+•>]\s+|1[.)]\s+|(?:\*\*|__)?(?:title|titel|titre|título|titulo|titolo|название|заголовок|标题|標題|タイトル|제목)(?:\*\*|__)?\s*[:：](?:\*\*|__)?)`)
	marked := regexp.MustCompile("\\*\\*([^*]+)\\*\\*|`([^`]+)`|!?\\[([^\\]]+)\\]\\([^)]*\\)")
	for {
		was := line
		line = strings.TrimSpace(lead.ReplaceAllString(line, ""))
		line = marked.ReplaceAllString(line, "$1$2$3")
		line = strings.TrimRight(unwrapped(line), " .。．｡:：")
		if line == was {
			return line
		}
	}
}

// unwrapped takes off one pair of marks that stands around a whole text.
func unwrapped(text string) string {
	for _, pair := range [][2]string{
		{`"`, `"`},
		{"'", "'"},
		{"“", "”"},
		{"„", "“"},
		{"”", "”"},
		{"‘", "’"},
		{"«", "»"},
		{"‹", "›"},
		{"「", "」"},
		{"『", "』"},
		{"《", "》"},
		{"__", "__"},
		{"~~", "~~"},
		{"*", "*"},
		{"_", "_"},
	} {
		inner, opened := strings.CutPrefix(text, pair[0])
		inner, closed := strings.CutSuffix(inner, pair[1])
		if opened && closed && !strings.Contains(inner, pair[0]) && !strings.Contains(inner, pair[1]) {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// refuses reports whether a line speaks to the user, or names nothing.
func refuses(line string) bool {
	line = strings.ToLower(strings.ReplaceAll(line, "’", "'"))
	if slices.Contains([]string{
		"untitled", "untitled conversation", "new conversation", "new chat", "conversation", "chat", "title", "no title", "none", "null", "n/a",
	}, line) {
		return true
	}
	return slices.ContainsFunc([]string{
		"i'm sorry", "i am sorry", "sorry,", "i cannot ", "i can't ", "i'm unable", "i am unable", "i'm not able", "i am not able", "i won't ",
		"as an ai", "unfortunately,", "i apologize", "there is no conversation", "please provide",
		"es tut mir leid", "tut mir leid", "ich kann nicht", "je suis désolé", "désolé,", "je ne peux pas", "lo siento", "mi dispiace", "извините", "к сожалению",
		"抱歉", "对不起", "對不起", "很抱歉", "我无法", "我無法", "申し訳", "すみません", "죄송",
	}, func(start string) bool { return strings.HasPrefix(line, start) })
}

// fitting cuts a line to the length of a title.
func fitting(line string) string {
	short := tool.Clip(line, maxTitle)
	if short == line {
		return line
	}
	if at := strings.LastIndexByte(short, ' '); at > 0 && line[len(short)] != ' ' && utf8.RuneCountInString(short[at:]) <= maxWord {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:.-–—、，")
}
