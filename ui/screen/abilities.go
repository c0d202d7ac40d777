package screen

import (
	"slices"
	"strings"
)

// The questions asked once, in one write, before the first frame: nobody waits
// for an answer, and one that comes late is never taken for typed text. A
// terminal that does not know a question and prints it has it painted over by the
// first frame.
const (
	askKitty   = "\x1b[?u"  // the flags of the keys in the manner of kitty
	askName    = "\x1b[>q"  // what the terminal is called
	askModify  = "\x1b[?4m" // xterm's modifyOtherKeys
	askModes   = "\x1b[?2026$p\x1b[?2027$p\x1b[?2031$p"
	askCapable = "\x1bP+q4d73\x1b\\" // the terminfo capability Ms, that of the clipboard
	// askEnd is what every terminal answers. As answers come in the order of the
	// questions, nothing is owed any more after it.
	askEnd = "\x1b[c"
)

// The modes that are asked about, and what a terminal may say of one.
const (
	modeSync, modeGraphemes, modeScheme = 2026, 2027, 2031

	modeUnknown, modeNever = 0, 4
)

// clipboardAttribute is what a terminal counts among its attributes if it takes
// text for the clipboard.
const clipboardAttribute = 52

// nameMax bounds the name of a terminal, in bytes.
const nameMax = 40

// questions are what is asked of a terminal of the given TERM. The Linux console
// is asked nothing: it takes some of the questions for orders.
func questions(kind string, getenv func(string) string) string {
	switch {
	case kind == "linux", strings.HasPrefix(kind, "vt") && !strings.HasPrefix(kind, "vte"), strings.HasPrefix(kind, "cons"):
		return ""
	case getenv("TERM_PROGRAM") == "Apple_Terminal", strings.HasPrefix(kind, "eterm"):
		// They print the ends of questions that they do not know.
		return askEnd
	case strings.HasPrefix(kind, "screen") && getenv("TMUX") == "":
		// GNU screen hands device control strings to the terminal around it, whose
		// answer would be about another.
		return askKitty + askName + askModify + askModes + askEnd
	}
	return askKitty + askName + askModify + askModes + askCapable + askEnd
}

// answer is what a terminal says of itself.
type answer interface{ tell(a *Abilities) }

type (
	kittyAnswer      int
	modifyAnswer     int
	modeAnswer       struct{ mode, state int }
	nameAnswer       string
	capableAnswer    bool
	attributesAnswer []int
)

// keysFlag is the flag of keys that arrive unambiguously.
const keysFlag = 1

func (k kittyAnswer) tell(a *Abilities)   { a.KittyKeys = k&keysFlag != 0 }
func (n modifyAnswer) tell(a *Abilities)  { a.ModifyOther = n > 0 }
func (n nameAnswer) tell(a *Abilities)    { a.Name = string(n) }
func (c capableAnswer) tell(a *Abilities) { a.Clipboard = a.Clipboard || bool(c) }

func (l attributesAnswer) tell(a *Abilities) {
	a.Clipboard = a.Clipboard || slices.Contains(l, clipboardAttribute)
	a.Sixel = a.Sixel || slices.Contains(l, sixelAttribute)
}

func (m modeAnswer) tell(a *Abilities) {
	known := m.state != modeUnknown && m.state != modeNever
	switch m.mode {
	case modeSync:
		a.Synchronized = known
	case modeGraphemes:
		a.Graphemes = known
	case modeScheme:
		a.Scheme = known
	}
}

// controlAnswer reads a control sequence that is an answer or a report about the
// terminal itself; nil if it is none.
func controlAnswer(body string, final byte) any {
	if final == 't' {
		return sizeAnswer(body)
	}
	list, ok := strings.CutPrefix(body, "?")
	if !ok {
		level, found := strings.CutPrefix(body, ">4;")
		if n, whole := numbers(level); found && whole && len(n) == 1 && final == 'm' {
			return modifyAnswer(n[0])
		}
		return nil
	}
	list, mode := strings.CutSuffix(list, "$")
	n, ok := numbers(list)
	if !ok {
		return nil
	}
	switch {
	case mode && final == 'y' && len(n) == 2:
		return modeAnswer{n[0], n[1]}
	case mode:
		return nil
	case final == 'u' && len(n) == 1:
		return kittyAnswer(n[0])
	case final == 'c':
		return attributesAnswer(n)
	case final == 'n' && len(n) == 2 && n[0] == 997 && (n[1] == 1 || n[1] == 2):
		return scheme{dark: n[1] == 1}
	}
	return nil
}

// stringAnswer reads the text of a device control string.
func stringAnswer(body string) any {
	if name, ok := strings.CutPrefix(body, ">|"); ok {
		return nameAnswer(printable(name))
	}
	if _, ok := strings.CutPrefix(strings.ToLower(body), "1+r4d73"); ok {
		return capableAnswer(true)
	}
	return nil
}

// printable keeps of a name what can be shown, which is all that a name has.
func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, name)
	return strings.TrimSpace(name[:min(len(name), nameMax)])
}

// learn takes what the terminal said of itself.
func (s *Screen) learn(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.tell(&s.able)
	if area, ok := a.(areaAnswer); ok {
		s.measure(area.width, area.height)
	}
	s.able.Answered = true
	s.able.Images = s.images.protocol(s.able)
	s.paint.heed(!s.able.Graphemes)
	if s.line != nil {
		s.line.wary = !s.able.Graphemes
	}
	if _, last := a.(attributesAnswer); last {
		s.answered = true
	}
}

// tell passes on what was learned since the last time.
func (s *Screen) tell() {
	s.mu.Lock()
	able, news := s.able, s.able != s.told
	s.told = s.able
	s.mu.Unlock()
	if news {
		s.Send(AbilitiesMsg(able))
	}
}
