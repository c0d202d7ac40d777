package screen

// The modes a session sets, and their undoing in the opposite order. None asks
// a question, and a terminal that does not know one ignores it.
const (
	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	cursorShow = "\x1b[?25h"
	cursorHide = "\x1b[?25l"

	mouseOn  = "\x1b[?1000h\x1b[?1006h"
	mouseOff = "\x1b[?1006l\x1b[?1000l"

	// Alternate screen, cleared; cursor hidden; pastes bracketed; focus
	// reported; widths by grapheme cluster; keys unambiguous, in the manner of
	// kitty (a stack, one for each screen, so after the switch) and of xterm.
	enterModes = "\x1b[?1049h\x1b[H\x1b[2J" + cursorHide + "\x1b[?2004h\x1b[?1004h\x1b[?2027h\x1b[>4;1m\x1b[>1u"

	// Ends a frame that was cut off, resets colours, margins and wrapping, and
	// leaves the alternate screen last.
	leaveModes = syncEnd + "\x1b[m\x1b[r\x1b[?7h\x1b[<u\x1b[>4;0m\x1b[?2027l\x1b[?1004l\x1b[?2004l" + cursorShow + "\x1b[?1049l"

	// The only question ever asked, once, before the first frame.
	askBackground = "\x1b]11;?\x1b\\"
)
