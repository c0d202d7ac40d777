package screen

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	esc = 0x1b

	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"

	// escWait is how long an escape character waits for the rest of a
	// sequence. Terminals send sequences whole; only a slow link parts them.
	escWait = 25 * time.Millisecond
	// restWait is how long a sequence that has clearly begun waits for its
	// end before it is dropped.
	restWait = 500 * time.Millisecond
	// typedMax is the longest run of ASCII letters taken for single keys.
	typedMax = 32
	// stringMax bounds what is kept of a reply that does not end.
	stringMax = 64 << 10
)

// decoder turns what the terminal sends into messages: keys and wheel as
// Bubble Tea's, pastes whole, focus, and the answers to our questions. All other
// replies vanish. None is ever taken for typed text. Bytes may come in any
// portions.
type decoder struct {
	held    []byte // the beginning of something whose end has not come
	paste   []byte // the paste being collected
	pasting bool
	scanned int  // how much of paste is known not to hold its end
	bare    bool // an escape key was just reported for want of a rest
	// note, if it is set, is told of the bytes of each message but a paste, before
	// the message is emitted; of what means nothing, too.
	note func(b []byte, msg tea.Msg)
}

// reply is the answer to the question for the background, and scheme what a
// terminal tells when its background changes.
type (
	reply  struct{ dark bool }
	scheme struct{ dark bool }
)

// feed takes the next bytes and emits what they complete.
func (d *decoder) feed(b []byte, emit func(tea.Msg)) {
	if d.bare && bytes.HasPrefix(b, []byte(pasteBegin[1:])) {
		// The escape of a paste came so long before its rest that it passed for
		// a key. What follows must not be typed.
		b = append([]byte{esc}, b...)
	}
	d.bare = false
	if len(d.held) > 0 {
		b = append(d.held, b...)
		d.held = nil
	}
	if d.pasting && (string(b) == "\x03" || string(b) == "\x1b[99;5u") {
		// Ctrl+c, alone in a read: the end of the paste got lost. It must not
		// lock the keyboard out.
		d.deliver(d.paste, emit)
	}
	for len(b) > 0 {
		if d.pasting {
			b = d.collect(b, emit)
			continue
		}
		n, msg := d.next(b)
		if n == 0 {
			d.held = bytes.Clone(b)
			return
		}
		if d.note != nil && !d.pasting {
			d.note(b[:n], msg)
		}
		b = b[n:]
		if msg != nil {
			emit(msg)
		}
	}
}

// wait is how long to wait for more input before expire is due; zero means
// that nothing is held.
func (d *decoder) wait() time.Duration {
	switch {
	case len(d.held) == 0:
		return 0
	case len(d.held) <= 2:
		return escWait
	}
	return restWait
}

// expire settles what is held when its rest has not come in time: an escape
// was the key, an escape and one more were that key with alt, and the rest of
// a longer sequence is dropped.
func (d *decoder) expire(emit func(tea.Msg)) {
	b := d.held
	d.held = nil
	key := func(b []byte, k tea.KeyMsg) {
		if d.note != nil {
			d.note(b, k)
		}
		emit(k)
	}
	switch {
	case len(b) == 0 || b[0] != esc:
		return
	case len(b) == 1:
		d.bare = true
		key(b, tea.KeyMsg{Type: tea.KeyEscape})
	case len(b) == 2 && b[1] == esc:
		key(b[:1], tea.KeyMsg{Type: tea.KeyEscape})
		key(b[1:], tea.KeyMsg{Type: tea.KeyEscape})
	case len(b) == 2:
		key(b, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{rune(b[1])}, Alt: true})
	}
}

// collect adds b to the paste and returns what follows it. A paste has no
// bound and no time limit.
func (d *decoder) collect(b []byte, emit func(tea.Msg)) []byte {
	d.paste = append(d.paste, b...)
	from := max(d.scanned-len(pasteEnd)+1, 0)
	at := bytes.Index(d.paste[from:], []byte(pasteEnd))
	if at < 0 {
		d.scanned = len(d.paste)
		return nil
	}
	rest := bytes.Clone(d.paste[from+at+len(pasteEnd):])
	d.deliver(d.paste[:from+at], emit)
	return rest
}

// deliver emits a paste and goes back to keys.
func (d *decoder) deliver(text []byte, emit func(tea.Msg)) {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	d.paste, d.pasting, d.scanned = nil, false, 0
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	emit(PasteMsg(s))
}

// next decodes the first message of b. It returns the bytes used and a message
// or nil; no bytes means that the end of the first one has not come.
func (d *decoder) next(b []byte) (int, tea.Msg) {
	if b[0] != esc {
		return plainKeys(b)
	}
	if len(b) == 1 {
		return 0, nil
	}
	switch b[1] {
	case '[':
		return d.control(b)
	case 'O':
		if len(b) == 2 {
			return 0, nil
		}
		return singleShift(b)
	case ']', 'P', '_':
		if len(b) == 2 || beginsReply(b[1], b[2]) {
			return stringReply(b)
		}
	case esc:
		if len(b) == 2 {
			return 0, nil
		}
		if b[2] != '[' && b[2] != 'O' { // two keys in one go
			return 1, tea.KeyMsg{Type: tea.KeyEscape}
		}
	}
	n, msg := d.next(b[1:])
	if n == 0 {
		return 0, nil
	}
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return n + 1, msg
	}
	if key.Type == tea.KeyRunes && len(key.Runes) > 1 { // alt belongs to the first alone
		n, key.Runes = utf8.RuneLen(key.Runes[0]), key.Runes[:1]
	}
	key.Alt = true
	return n + 1, key
}

// plainKeys decodes a run of text, or one control character. Keys that came
// together are told one by one, as bindings expect them; a run that nobody
// types, and what an input method wrote at once, stay together.
func plainKeys(b []byte) (int, tea.Msg) {
	switch c := b[0]; {
	case c == ' ':
		return 1, tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	case c < ' ' || c == 0x7f:
		return 1, tea.KeyMsg{Type: tea.KeyType(c)}
	}
	var runes []rune
	at := 0
	for at < len(b) && b[at] > ' ' && b[at] != 0x7f {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			if !utf8.FullRune(b[at:]) {
				break // the rest may come
			}
			if at > 0 {
				break
			}
			return 1, nil // not text in any encoding we know
		}
		if r >= 0x80 && r < 0xa0 {
			if at > 0 {
				break
			}
			return n, nil
		}
		runes, at = append(runes, r), at+n
	}
	switch {
	case at == 0:
		return 0, nil
	case at == len(runes) && at <= typedMax:
		return 1, tea.KeyMsg{Type: tea.KeyRunes, Runes: runes[:1]}
	}
	return at, tea.KeyMsg{Type: tea.KeyRunes, Runes: runes}
}

// beginsReply tells a reply, which has a number or one of a few letters after
// its introducer, from a key with alt and the next key.
func beginsReply(kind, next byte) bool {
	switch {
	case next >= '0' && next <= '9':
		return kind != '_'
	case kind == ']':
		return next == 'l' || next == 'L'
	case kind == 'P':
		return strings.IndexByte(">!+$|", next) >= 0
	}
	return next == 'G'
}

// stringReply takes a reply that ends with BEL or ST, and reads those that we
// asked for.
func stringReply(b []byte) (int, tea.Msg) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c == 7:
			return i + 1, readReply(b[2:i], b[1])
		case c == esc && i+1 < len(b) && b[i+1] == '\\':
			return i + 2, readReply(b[2:i], b[1])
		case c == esc && i+1 == len(b):
			return 0, nil
		case c < ' ' || c == 0x7f: // no reply holds these: it was cut off
			return i, nil
		}
	}
	if len(b) > stringMax {
		return len(b), nil
	}
	return 0, nil
}

// readReply reads the answer `11;rgb:RRRR/GGGG/BBBB` to OSC 11, and what device
// control strings tell.
func readReply(body []byte, kind byte) tea.Msg {
	if kind == 'P' {
		return stringAnswer(string(body))
	}
	if kind == '_' {
		return graphicsReply(string(body))
	}
	value, ok := strings.CutPrefix(string(body), "11;")
	if kind != ']' || !ok {
		return nil
	}
	dark, ok := isDark(value)
	if !ok {
		return nil
	}
	return reply{dark}
}
