package files

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness/tool"
)

const (
	// mark is the byte order mark that some editors put in front of a text.
	mark = "\uFEFF"
	// maxNamed bounds the lines that a refusal names.
	maxNamed = 10
	// maxCounted bounds how often a text that should be there once is counted,
	// maxCompared how many lines are compared without their white space.
	maxCounted  = 100
	maxCompared = 100
)

type editIn struct {
	Path string `json:"path" jsonschema:"the file, relative to the working directory"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it is in the file, with enough around it to occur once"`
	New  string `json:"new" jsonschema:"the text to put in its place"`
	All  bool   `json:"all,omitempty" jsonschema:"true to replace every occurrence"`
	Why  string `json:"why,omitempty" jsonschema:"one sentence for the person who is asked: what this is for"`
}

// editFile makes the tool edit_file.
func (f family) editFile() (tool.Tool, error) {
	return changing(f, "edit_file",
		"Replace a text in a file of the working directory. The old text must occur exactly once, or all must be true. Line ends and byte order mark of the file are kept.",
		planEdit, func(in editIn) (path, why string) { return in.Path, in.Why })
}

// planEdit makes the change that edit_file asks for.
func planEdit(s space, in editIn, agreed string) (change, error) {
	ch, err := s.load(in.Path, agreed)
	if err != nil {
		return change{}, err
	}
	switch {
	case ch.info == nil:
		err = plainly(in.Path, fs.ErrNotExist)
	case !utf8.ValidString(ch.old):
		err = fmt.Errorf("%q is not UTF-8 text and would not survive an edit: it %w", in.Path, ErrKind)
	default:
		ch.new, err = edit(ch.old, in)
	}
	if err == nil {
		err = checkText("the file", ch.new)
	}
	if err != nil {
		return change{}, errors.Join(err, ch.close())
	}
	return ch, nil
}

// edit returns the text with in.Old replaced by in.New. Line ends do not count
// in the comparison; what is put in gets those of what it replaces.
func edit(text string, in editIn) (string, error) {
	from, to := unixEnds(in.Old), unixEnds(in.New)
	body, bom := strings.CutPrefix(text, mark)
	if bom {
		from, to = strings.TrimPrefix(from, mark), strings.TrimPrefix(to, mark)
	}
	switch from {
	case "":
		return "", errors.New("old is empty; it must be the text to replace")
	case to:
		return "", errors.New("old and new are the same, so the edit would change nothing")
	}
	flat, at := flatten(body)
	found := occurrences(flat, from, in.All)
	switch {
	case len(found) == 0:
		return "", missing(flat, from)
	case len(found) > 1 && !in.All:
		return "", fmt.Errorf("old occurs %s, beginning on %s; add more of the text around it, or set all", times(len(found)), onLines(flat, found))
	}
	var b strings.Builder
	if bom {
		b.WriteString(mark)
	}
	windows := crlf(body)
	end := 0
	for _, start := range found {
		a, z := at(start), at(start+len(from))
		b.WriteString(body[end:a])
		b.WriteString(withEnds(to, body[a:z], windows))
		end = z
	}
	b.WriteString(body[end:])
	if b.String() == text {
		return "", errors.New("the edit would change nothing")
	}
	return b.String(), nil
}

// unixEnds writes line ends as a line feed alone.
func unixEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// flatten returns the text with line feeds alone, and what maps an offset in
// it to one in the text.
func flatten(text string) (string, func(int) int) {
	if !strings.Contains(text, "\r\n") {
		return text, func(i int) int { return i }
	}
	flat := make([]byte, 0, len(text))
	offsets := make([]int32, 0, len(text)+1) // a text has at most maxWrite bytes
	for i := 0; i < len(text); i++ {
		offsets = append(offsets, int32(i))
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		flat = append(flat, text[i])
	}
	offsets = append(offsets, int32(len(text)))
	return string(flat), func(i int) int { return int(offsets[i]) }
}

// occurrences returns where part begins in text: all that can be replaced one
// after the other, or, to tell whether there is just one, also overlapping ones.
func occurrences(text, part string, apart bool) []int {
	stride := 1
	if apart {
		stride = len(part)
	}
	var found []int
	for from := 0; from <= len(text)-len(part) && (apart || len(found) < maxCounted); {
		i := strings.Index(text[from:], part)
		if i < 0 {
			break
		}
		found = append(found, from+i)
		from += i + stride
	}
	return found
}

func times(n int) string {
	if n == maxCounted {
		return fmt.Sprintf("%d times or more", n)
	}
	return fmt.Sprintf("%d times", n)
}

// onLines names the lines of offsets.
func onLines(text string, offsets []int) string {
	names := make([]string, 0, maxNamed)
	line, from, rest := 1, 0, 0
	for _, at := range offsets {
		line += strings.Count(text[from:at], "\n")
		from = at
		switch n := strconv.Itoa(line); {
		case len(names) > 0 && names[len(names)-1] == n:
		case len(names) == maxNamed:
			rest++
		default:
			names = append(names, n)
		}
	}
	word := "lines "
	if len(names) == 1 {
		word = "line "
	}
	if rest > 0 {
		return word + strings.Join(names, ", ") + " and further ones"
	}
	return word + strings.Join(names, ", ")
}

// missing says that a text is not there, and where one is that differs in
// white space only.
func missing(text, part string) error {
	want := strings.Split(strings.TrimSpace(part), "\n")
	have := strings.Split(text, "\n")
	if want[0] != "" && len(want) <= maxCompared {
		squeeze(want)
		squeeze(have)
		for n := 0; n+len(want) <= len(have); n++ {
			if alike(have[n:n+len(want)], want) {
				return fmt.Errorf("old does not occur in the file; the text from line %d on differs from it in white space only: read it and copy it exactly", n+1)
			}
		}
	}
	return errors.New("old does not occur in the file; read it again and copy the text exactly")
}

// squeeze makes all white space of each line one blank.
func squeeze(lines []string) {
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
}

// alike reports whether lines hold the wanted text: the first may begin with
// more than it, and the last may go on.
func alike(have, want []string) bool {
	last := len(want) - 1
	if last == 0 {
		return strings.Contains(have[0], want[0])
	}
	return strings.HasSuffix(have[0], want[0]) && strings.HasPrefix(have[last], want[last]) && slices.Equal(have[1:last], want[1:last])
}

// withEnds gives text the line ends of what it replaces, or, if that has none,
// those of the whole.
func withEnds(text, replaced string, windows bool) string {
	if strings.Contains(replaced, "\n") {
		windows = crlf(replaced)
	}
	if windows {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// crlf reports whether most lines of the text end as on Windows.
func crlf(text string) bool {
	n := strings.Count(text, "\r\n")
	return n > strings.Count(text, "\n")-n
}

// ends names the line ends of a text.
func ends(text string) string {
	if crlf(text) {
		return "CRLF"
	}
	return "LF"
}
