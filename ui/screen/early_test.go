//go:build unix

package screen

import (
	"testing"
)

// A person who types ahead has sent a message, not begun a second line.
func TestEnterTypedBeforeRawModeIsEnter(t *testing.T) {
	t.Parallel()
	ptmx, tty := openPty(t)
	t.Cleanup(func() { _, _ = ptmx.Close(), tty.Close() })
	in, err := openTTY(tty, tty)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ptmx.WriteString("hello\r"); err != nil {
		t.Fatal(err)
	}
	// The echo comes after the line discipline has taken the bytes in.
	echo := make([]byte, 64)
	for n := 0; n < len("hello\r\n"); {
		m, err := ptmx.Read(echo[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if err := in.raw(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.cooked(); err != nil {
			t.Error(err)
		}
	})
	if _, err := ptmx.WriteString("x\ny"); err != nil {
		t.Fatal(err)
	}
	var got []byte
	buf := make([]byte, 64)
	for len(got) < len("hello\rx\ny") {
		n, err := tty.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, in.typed(buf[:n])...)
	}
	if string(got) != "hello\rx\ny" {
		t.Errorf("read %q", got)
	}
}
