package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOnlyUnchangedPartsOfTheProgramAreGivenBack(t *testing.T) {
	t.Parallel()
	part := func(head, anonymous string) string {
		return head + "\nSize:  8 kB\nRss:   4 kB\nAnonymous:   " + anonymous + " kB\nVmFlags: rd ex mr mw me\n"
	}
	maps := part("00400000-00500000 r-xp 00000000 fe:00 7   /home/ada/bin/a cairn", "0") +
		part("00500000-00600000 r--p 00100000 fe:00 7   /home/ada/bin/a cairn", "0") +
		part("00600000-00700000 rw-p 00200000 fe:00 7   /home/ada/bin/a cairn", "0") + // writable
		part("00700000-00800000 r--p 00300000 fe:00 7   /home/ada/bin/a cairn", "16") + // changed by a loader
		part("7f0000000000-7f0000001000 r-xp 00000000 fe:00 9   /lib/libc.so.6", "0") +
		part("7f0000002000-7f0000003000 r--p 00000000 00:00 0", "0")
	got := programParts([]byte(maps), "/home/ada/bin/a cairn")
	if want := []span{{0x400000, 0x500000}, {0x500000, 0x600000}}; !slices.Equal(got, want) {
		t.Fatalf("%x instead of %x", got, want)
	}
}

// resident is how much of the program file is in memory, in kB.
func resident(t *testing.T) (kb int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(maps)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.Contains(name, " ") {
			ours = strings.HasSuffix(strings.TrimSpace(line), exe) && !strings.Contains(line, " rw")
		}
		if ours && name == "Rss" {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			kb += n
		}
	}
	return kb
}

func TestShedGivesBackWhatTheStartMapped(t *testing.T) {
	before := resident(t)
	if err := Shed(); err != nil {
		t.Fatal(err)
	}
	if after := resident(t); after >= before*3/4 {
		t.Fatalf("%d kB of the program in memory before, %d after", before, after)
	}
}
