package screen

import tea "github.com/charmbracelet/bubbletea"

// Bits of a modifier parameter, which is one more than their sum.
const (
	modShift = 1 << iota
	modAlt
	modCtrl
	modSuper
	modHyper
	modMeta
)

// family is a key with what shift and ctrl make of it.
type family struct{ plain, shift, ctrl, ctrlShift tea.KeyType }

func alone(k tea.KeyType) family { return family{k, k, k, k} }

// letterKeys are the keys that end in a letter, `CSI A` or `CSI 1;5A`.
var letterKeys = map[byte]family{ //nolint:gochecknoglobals // a table, never written
	'A': {tea.KeyUp, tea.KeyShiftUp, tea.KeyCtrlUp, tea.KeyCtrlShiftUp},
	'B': {tea.KeyDown, tea.KeyShiftDown, tea.KeyCtrlDown, tea.KeyCtrlShiftDown},
	'C': {tea.KeyRight, tea.KeyShiftRight, tea.KeyCtrlRight, tea.KeyCtrlShiftRight},
	'D': {tea.KeyLeft, tea.KeyShiftLeft, tea.KeyCtrlLeft, tea.KeyCtrlShiftLeft},
	'H': {tea.KeyHome, tea.KeyShiftHome, tea.KeyCtrlHome, tea.KeyCtrlShiftHome},
	'F': {tea.KeyEnd, tea.KeyShiftEnd, tea.KeyCtrlEnd, tea.KeyCtrlShiftEnd},
	'P': {tea.KeyF1, tea.KeyF13, tea.KeyF1, tea.KeyF13},
	'Q': {tea.KeyF2, tea.KeyF14, tea.KeyF2, tea.KeyF14},
	'S': {tea.KeyF4, tea.KeyF16, tea.KeyF4, tea.KeyF16},
	'Z': alone(tea.KeyShiftTab),
	'a': alone(tea.KeyShiftUp), 'b': alone(tea.KeyShiftDown),
	'c': alone(tea.KeyShiftRight), 'd': alone(tea.KeyShiftLeft),
}

// numberKeys are the keys `CSI number ~`.
var numberKeys = map[int]family{ //nolint:gochecknoglobals // a table, never written
	1: letterKeys['H'], 7: letterKeys['H'], 4: letterKeys['F'], 8: letterKeys['F'],
	2: alone(tea.KeyInsert), 3: alone(tea.KeyDelete),
	5:  {tea.KeyPgUp, tea.KeyPgUp, tea.KeyCtrlPgUp, tea.KeyCtrlPgUp},
	6:  {tea.KeyPgDown, tea.KeyPgDown, tea.KeyCtrlPgDown, tea.KeyCtrlPgDown},
	11: letterKeys['P'], 12: letterKeys['Q'], 14: letterKeys['S'],
	13: {tea.KeyF3, tea.KeyF15, tea.KeyF3, tea.KeyF15},
	15: {tea.KeyF5, tea.KeyF17, tea.KeyF5, tea.KeyF17},
	17: {tea.KeyF6, tea.KeyF18, tea.KeyF6, tea.KeyF18},
	18: {tea.KeyF7, tea.KeyF19, tea.KeyF7, tea.KeyF19},
	19: {tea.KeyF8, tea.KeyF20, tea.KeyF8, tea.KeyF20},
	20: alone(tea.KeyF9), 21: alone(tea.KeyF10), 23: alone(tea.KeyF11), 24: alone(tea.KeyF12),
	25: alone(tea.KeyF13), 26: alone(tea.KeyF14), 28: alone(tea.KeyF15), 29: alone(tea.KeyF16),
	31: alone(tea.KeyF17), 32: alone(tea.KeyF18), 33: alone(tea.KeyF19), 34: alone(tea.KeyF20),
}

// shiftKeys are the keys `ESC O x`: cursor and function keys, and the keypad.
var shiftKeys = map[byte]tea.KeyType{ //nolint:gochecknoglobals // a table, never written
	'A': tea.KeyUp, 'B': tea.KeyDown, 'C': tea.KeyRight, 'D': tea.KeyLeft, 'H': tea.KeyHome, 'F': tea.KeyEnd,
	'P': tea.KeyF1, 'Q': tea.KeyF2, 'R': tea.KeyF3, 'S': tea.KeyF4, 'M': tea.KeyEnter,
	'a': tea.KeyCtrlUp, 'b': tea.KeyCtrlDown, 'c': tea.KeyCtrlRight, 'd': tea.KeyCtrlLeft,
}

// keypad is what the keypad sends after `ESC O` for '*' and up, and what
// kitty's code points from 57399 stand for.
const (
	shiftPad     = "*+,-./0123456789"
	kittyPad     = "0123456789./*-+\r=,"
	kittyPadFrom = 57399
)

// kittyMoves are the keypad's cursor keys in kitty's numbering.
var kittyMoves = map[int]family{ //nolint:gochecknoglobals // a table, never written
	57417: letterKeys['D'], 57418: letterKeys['C'], 57419: letterKeys['A'], 57420: letterKeys['B'],
	57421: numberKeys[5], 57422: numberKeys[6], 57423: letterKeys['H'], 57424: letterKeys['F'],
	57425: numberKeys[2], 57426: numberKeys[3],
}
