package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Shed gives back the parts of the program that only the start needed. The start
// runs through most of it once, to set up what each of its libraries may ever need,
// and the system has mapped whatever it came by, in large pieces: tens of megabytes
// that are not read again, or are read again from the file in next to no time. From
// then on it is mapped in small pieces. Call it when nobody waits.
func Shed() error {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	for _, m := range programParts(maps, exe) {
		// A kernel without huge pages refuses the first, which it does not need.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_NOHUGEPAGE)
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give memory back: %w", errno)
		}
	}
	return nil
}

// span is a stretch of addresses.
type span struct{ from, to uintptr }

// programParts finds in a process's smaps the parts of its program file that are as
// they are in the file: not writable, and no page of them was ever changed, as a
// debugger or a loader does. Only those come back when they are touched again.
func programParts(smaps []byte, exe string) []span {
	var out []span
	var at span
	ours := false
	for in := bufio.NewScanner(bytes.NewReader(smaps)); in.Scan(); {
		line := in.Text()
		name, value, _ := strings.Cut(line, ":")
		if !strings.Contains(name, " ") { // a figure of the part at hand
			if ours && name == "Anonymous" && strings.TrimSpace(value) == "0 kB" {
				out = append(out, at)
			}
			continue
		}
		fields := strings.SplitN(line, " ", 6)
		from, to, ok := strings.Cut(fields[0], "-")
		a, err := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		ours = ok && err == nil && err2 == nil && len(fields) == 6 && fields[1][:2] == "r-" && strings.TrimSpace(fields[5]) == exe
		at = span{uintptr(a), uintptr(b)}
	}
	return out
}
