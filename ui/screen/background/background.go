// Package background says whether the terminal's background is dark before
// anybody asks the terminal.
//
// The one thing to know: Bubble Tea asks at program start, waits up to five
// seconds for the answer and blocks even `--help` on a terminal that never
// answers. Packages whose imports are ready are initialised in the order of
// their import paths, so this one, which imports lipgloss alone and whose path
// sorts before `github.com`, answers first and the question is never sent.
// Importing it for its effect is enough.
package background

import (
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

func init() { //nolint:gochecknoinits // the query it answers is made by another package's init
	dark, known := FromEnv(os.Getenv("COLORFGBG"))
	lipgloss.SetHasDarkBackground(dark || !known)
}

// FromEnv reads a COLORFGBG value, "foreground;background" or
// "foreground;default;background", in palette numbers. Known is false if the
// value does not tell.
func FromEnv(value string) (dark, known bool) {
	at := strings.LastIndexByte(value, ';')
	if at < 0 {
		return false, false
	}
	n, err := strconv.Atoi(value[at+1:])
	if err != nil || n < 0 || n > 15 {
		return false, false
	}
	return n < 7 || n == 8, true
}
