package shell

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxEnd is how much is kept of each end of a stream, in bytes.
const maxEnd = 256 << 10

// capture keeps the beginning and the end of a stream. It is safe for
// concurrent use, because a stream may still be read when its text is taken.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring goes on
	total int64
}

// Write implements [io.Writer]; it never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	room := min(maxEnd-len(c.head), len(p))
	c.head = append(c.head, p[:room]...)
	p = p[room:]
	if len(p) > maxEnd {
		p = p[len(p)-maxEnd:]
	}
	if room = min(maxEnd-len(c.tail), len(p)); room > 0 {
		c.tail = append(c.tail, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		done := copy(c.tail[c.at:], p)
		c.at = (c.at + done) % maxEnd
		p = p[done:]
	}
	return n, nil
}

// text returns what was kept, with a note of what was not, and whether all was.
func (c *capture) text() (text string, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.total - int64(len(c.head)+len(c.tail))
	if left == 0 {
		return settle(string(c.head) + string(c.tail)), true
	}
	first := wholeEnd(c.head)
	last := wholeStart(append(append([]byte(nil), c.tail[c.at:]...), c.tail[:c.at]...))
	left = c.total - int64(len(first)+len(last))
	return fmt.Sprintf("%s\n… (%d bytes left out) …\n%s", settle(string(first)), left, settle(string(last))), false
}

// wholeEnd cuts a character that is not complete off the end.
func wholeEnd(p []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(p)); i++ {
		if at := len(p) - i; utf8.RuneStart(p[at]) {
			if !utf8.FullRune(p[at:]) {
				return p[:at]
			}
			break
		}
	}
	return p
}

// wholeStart cuts the rest of a character off the start.
func wholeStart(p []byte) []byte {
	for i := range min(utf8.UTFMax, len(p)) {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	return p
}

// settle makes text of what a program wrote: what is no UTF-8 is replaced, and
// of a line that was written over, as progress bars are, the last state stays,
// with a note of how many are gone. Other control characters are data.
func settle(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	if !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	gone := 0
	for line := range strings.Lines(s) {
		text, end := strings.CutSuffix(line, "\n")
		text = strings.TrimRight(text, "\r")
		if at := strings.LastIndexByte(text, '\r'); at >= 0 {
			gone += strings.Count(text[:at+1], "\r")
			text = text[at+1:]
		}
		b.WriteString(text)
		if end {
			b.WriteByte('\n')
		}
	}
	if gone == 0 {
		return b.String()
	}
	return fmt.Sprintf("%s\n(%d earlier states of lines that were written over are left out)\n", strings.TrimRight(b.String(), "\n"), gone)
}

// report is the result of a command: its output, its errors, and how it ended. What
// is whole but long is kept apart by the set of tools, which says so itself.
func report(out, errs *capture, ending string) string {
	stdout, whole := out.text()
	stderr, all := errs.text()
	var b strings.Builder
	section := func(s string) {
		b.WriteString(s)
		if !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
	}
	if stdout != "" {
		section(stdout)
	}
	if stderr != "" {
		section("stderr:")
		section(stderr)
	}
	if b.Len() == 0 {
		section("(no output)")
	}
	b.WriteString(ending)
	if !whole || !all {
		b.WriteString("\n(This was more than is kept. For another part of it, write the output to a file and read that, or take it with grep, head or tail.)")
	}
	return b.String()
}
