//go:build unix

package screen

import "golang.org/x/sys/unix"

// cell is how large a cell is in pixels, zeros where the system does not know.
func (t *tty) cell() (width, height int) {
	w, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 || w.Xpixel < w.Col || w.Ypixel < w.Row {
		return 0, 0
	}
	return min(int(w.Xpixel/w.Col), cellMax), min(int(w.Ypixel/w.Row), cellMax)
}
