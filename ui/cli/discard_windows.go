package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// discard throws away what a console holds that was not read yet.
func discard(f *os.File) error {
	return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd()))
}
