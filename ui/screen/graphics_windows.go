package screen

// cell is how large a cell is in pixels, which the console does not tell.
func (*tty) cell() (width, height int) { return 0, 0 }
