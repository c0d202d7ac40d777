package screen

import (
	"strconv"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// control decodes a sequence `CSI parameters intermediates final`.
func (d *decoder) control(b []byte) (int, tea.Msg) {
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] < 0x40 {
		end++
	}
	if end == len(b) {
		if end > stringMax {
			return end, nil
		}
		return 0, nil
	}
	final, body := b[end], string(b[2:end])
	switch {
	case final < 0x40 || final > 0x7e: // cut off by something else
		return end, nil
	case final == '[' && body == "": // function keys of the Linux console
		if len(b) == 3 {
			return 0, nil
		}
		if c := b[3]; c >= 'A' && c <= 'E' {
			return 4, tea.KeyMsg{Type: tea.KeyF1 - tea.KeyType(c-'A')}
		}
		return 3, nil
	case final == 'M' && body == "": // a mouse report in the oldest manner
		if len(b) < 6 {
			return 0, nil
		}
		return 6, mouse(int(b[3])-32, int(b[4])-32, int(b[5])-32, false)
	}
	if final == '~' && body == "200" {
		d.pasting = true
		return end + 1, nil
	}
	return end + 1, controlKey(body, final)
}

// controlKey reads a whole control sequence. What is unknown gives nil.
func controlKey(body string, final byte) tea.Msg {
	switch {
	case body == "" && final == 'I':
		return FocusMsg{In: true}
	case body == "" && final == 'O':
		return FocusMsg{In: false}
	case strings.HasPrefix(body, "<") && (final == 'M' || final == 'm'):
		n, ok := numbers(body[1:])
		if !ok || len(n) != 3 {
			return nil
		}
		return mouse(n[0], n[1], n[2], final == 'm')
	}
	if told := controlAnswer(body, final); told != nil {
		return told
	}
	n, ok := numbers(body)
	if !ok {
		return nil
	}
	arg := func(i, unset int) int {
		if i < len(n) && n[i] > 0 {
			return n[i]
		}
		return unset
	}
	mods := arg(1, 1) - 1
	switch final {
	case 'u':
		if released(body) {
			return nil
		}
		return codeKey(arg(0, 0), mods)
	case '~':
		if arg(0, 0) == 27 {
			return codeKey(arg(2, 0), mods)
		}
		return familyKey(numberKeys[arg(0, 0)], mods)
	case '^': // rxvt's way to say ctrl, and ctrl with shift
		return familyKey(numberKeys[arg(0, 0)], modCtrl)
	case '@':
		return familyKey(numberKeys[arg(0, 0)], modCtrl|modShift)
	}
	if arg(0, 1) != 1 || final >= 'a' && body != "" { // a reply
		return nil
	}
	return familyKey(letterKeys[final], mods)
}

// familyKey picks the key that mods make, or nil for an unknown one.
func familyKey(f family, mods int) tea.Msg {
	if f == (family{}) {
		return nil
	}
	key := tea.KeyMsg{Type: f.plain, Alt: mods&(modAlt|modMeta) != 0}
	switch mods & (modShift | modCtrl) {
	case modShift:
		key.Type = f.shift
	case modCtrl:
		key.Type = f.ctrl
	case modShift | modCtrl:
		key.Type = f.ctrlShift
	}
	return key
}

// codeKey is the key with a Unicode code point and modifiers, as kitty and
// xterm's modifyOtherKeys report it, in the words that Bubble Tea has for it.
// Shift+enter becomes alt+enter and ctrl+enter ctrl+j: both have always meant
// a new line. Keys it has no words for give nil; they are never taken for the
// bare letter.
func codeKey(code, mods int) tea.Msg {
	if mods&(modSuper|modHyper) != 0 || code <= 0 || code > unicode.MaxRune {
		return nil
	}
	if f, ok := kittyMoves[code]; ok {
		return familyKey(f, mods)
	}
	if i := code - kittyPadFrom; i >= 0 && i < len(kittyPad) {
		code = int(kittyPad[i])
	}
	shift, ctrl := mods&modShift != 0, mods&modCtrl != 0
	key := tea.KeyMsg{Alt: mods&(modAlt|modMeta) != 0}
	switch code {
	case '\r':
		key.Type = tea.KeyEnter
		if ctrl {
			key.Type = tea.KeyCtrlJ
		}
		key.Alt = key.Alt || shift && !ctrl
		return key
	case '\t':
		key.Type = tea.KeyTab
		if shift {
			key.Type = tea.KeyShiftTab
		}
		return key
	case esc:
		key.Type = tea.KeyEscape
		return key
	case 0x7f, '\b':
		key.Type = tea.KeyBackspace
		key.Alt = key.Alt || ctrl // deletes a word either way
		return key
	}
	if ctrl {
		return ctrlKey(key, code)
	}
	if code >= 0xE000 && code <= 0xF8FF || unicode.IsControl(rune(code)) { // keys without text
		return nil
	}
	r := rune(code)
	if shift {
		r = unicode.ToUpper(r)
	}
	key.Type, key.Runes = tea.KeyRunes, []rune{r}
	if r == ' ' {
		key.Type = tea.KeySpace
	}
	return key
}

// ctrlKey completes a key that ctrl is held with.
func ctrlKey(key tea.KeyMsg, code int) tea.Msg {
	switch {
	case code >= 'a' && code <= 'z':
		key.Type = tea.KeyCtrlA + tea.KeyType(code-'a')
	case code >= 'A' && code <= 'Z':
		key.Type = tea.KeyCtrlA + tea.KeyType(code-'A')
	case code == ' ' || code == '@' || code == '2':
		key.Type = tea.KeyCtrlAt
	case code >= '[' && code <= '_':
		key.Type = tea.KeyCtrlOpenBracket + tea.KeyType(code-'[')
	case code == '/' || code == '-':
		key.Type = tea.KeyCtrlUnderscore
	default:
		return nil
	}
	return key
}

// singleShift decodes `ESC O x`.
func singleShift(b []byte) (int, tea.Msg) {
	c := b[2]
	if k, ok := shiftKeys[c]; ok {
		return 3, tea.KeyMsg{Type: k}
	}
	if i := int(c) - 'j'; i >= 0 && i < len(shiftPad) {
		return 3, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{rune(shiftPad[i])}}
	}
	return 2, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'O'}, Alt: true}
}

// mouse is a report of a button at a cell counted from 1.
func mouse(code, x, y int, release bool) tea.Msg {
	e := tea.MouseEvent{
		X: x - 1, Y: y - 1,
		Shift: code&4 != 0, Alt: code&8 != 0, Ctrl: code&16 != 0,
		Action: tea.MouseActionPress,
	}
	switch button := code & 3; {
	case code < 0 || x < 1 || y < 1 || code&128 != 0:
		return nil
	case code&64 != 0:
		e.Button = tea.MouseButtonWheelUp + tea.MouseButton(button)
	case button == 3:
		e.Action = tea.MouseActionRelease
	default:
		e.Button = tea.MouseButtonLeft + tea.MouseButton(button)
	}
	if code&32 != 0 {
		e.Action = tea.MouseActionMotion
	} else if release {
		e.Action = tea.MouseActionRelease
	}
	return tea.MouseMsg(e)
}

// numbers reads parameters parted by ';', of each the part before ':'. An
// empty one is 0.
func numbers(s string) ([]int, bool) {
	if s == "" {
		return nil, true
	}
	var out []int
	for part := range strings.SplitSeq(s, ";") {
		part, _, _ = strings.Cut(part, ":")
		if part == "" {
			out = append(out, 0)
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// released tells of a kitty report that a key was let go, `code;mods:3`.
func released(body string) bool {
	_, mods, _ := strings.Cut(body, ";")
	mods, _, _ = strings.Cut(mods, ";")
	_, event, _ := strings.Cut(mods, ":")
	return event == "3"
}

// isDark reads an X colour, `rgb:RRRR/GGGG/BBBB` with 1 to 4 digits each.
func isDark(value string) (dark, ok bool) {
	value, ok = strings.CutPrefix(value, "rgb:")
	if !ok {
		if value, ok = strings.CutPrefix(value, "rgba:"); !ok {
			return false, false
		}
	}
	parts := strings.Split(value, "/")
	if len(parts) < 3 {
		return false, false
	}
	var c [3]float64
	for i := range c {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return false, false
		}
		c[i] = float64(n) / float64(int(1)<<(4*len(parts[i]))-1)
	}
	return 0.299*c[0]+0.587*c[1]+0.114*c[2] < 0.5, true
}
