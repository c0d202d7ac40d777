package screen

// The modes a session sets, and their undoing in the opposite order. None of
// them asks a question, and terminals ignore the ones they do not know, but for the
// Linux console, which prints the ones for keys.
const (
	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	cursorShow = "\x1b[?25h"
	cursorHide = "\x1b[?25l"

	mouseOn   = "\x1b[?1000h\x1b[?1006h"
	mouseDrag = "\x1b[?1002h\x1b[?1006h"
	mouseOff  = "\x1b[?1006l\x1b[?1002l\x1b[?1000l"

	// Keys unambiguous, in the manner of xterm and of kitty, which keeps a
	// stack for each screen.
	keysOn  = "\x1b[>4;1m\x1b[>1u"
	keysOff = "\x1b[<u\x1b[>4;0m"
	// keysAgain is keysOn for a stack that has our entry already.
	keysAgain = "\x1b[>4;1m\x1b[=1u"

	// plain resets colours, margins and wrapping.
	plain = "\x1b[m\x1b[r\x1b[?7h"

	// Alternate screen, cleared; cursor hidden; pastes bracketed; focus
	// reported; widths by grapheme cluster; changes of the background told.
	enterModes = "\x1b[?1049h" + plain + "\x1b[H\x1b[2J" + cursorHide + reportModes

	reportModes   = "\x1b[?2004h\x1b[?1004h\x1b[?2027h\x1b[?2031h"
	unreportModes = "\x1b[?2031l\x1b[?2027l\x1b[?1004l\x1b[?2004l"

	// leaveModes ends a frame that was cut off and leaves the alternate screen
	// last.
	leaveModes = syncEnd + plain + unreportModes + cursorShow + "\x1b[?1049l"

	// What the background is; asked with the other questions.
	askBackground = "\x1b]11;?\x1b\\"
)
