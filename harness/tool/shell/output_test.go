package shell

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness/tool"
)

func TestCaptureKeepsBothEnds(t *testing.T) {
	t.Parallel()
	whole := make([]byte, 5*maxEnd/2)
	for i := range whole {
		whole[i] = 'a' + byte(i%26)
	}
	for _, size := range []int{1, 7, 4096, maxEnd - 1, maxEnd, maxEnd + 1, len(whole)} {
		for _, total := range []int{0, 1, maxEnd, maxEnd + 1, 2*maxEnd - 1, 2 * maxEnd, 2*maxEnd + 1, len(whole)} {
			if size == 1 && total > 2*maxEnd+1 {
				continue // slow, and the same as the one before
			}
			var c capture
			for at := 0; at < total; at += size {
				if n, err := c.Write(whole[at:min(at+size, total)]); err != nil || n != min(size, total-at) {
					t.Fatalf("wrote %d, %v", n, err)
				}
			}
			got, _ := c.text()
			if total <= 2*maxEnd {
				if got != string(whole[:total]) {
					t.Errorf("%d bytes in pieces of %d are not whole", total, size)
				}
				continue
			}
			if !strings.HasPrefix(got, string(whole[:maxEnd])) || !strings.HasSuffix(got, string(whole[total-maxEnd:total])) {
				t.Errorf("%d bytes in pieces of %d: the ends are wrong", total, size)
			}
		}
	}
}

func TestCaptureCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for pad := range 4 {
		var c capture
		if _, err := c.Write([]byte(strings.Repeat("a", pad) + strings.Repeat("😀", maxEnd))); err != nil {
			t.Fatal(err)
		}
		if got, _ := c.text(); strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("with %d before: a character is cut", pad)
		}
	}
}

func TestLinesThatAreWrittenOver(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\n":           "plain\n",
		"a\r\nb\r\n":        "a\nb\n",
		"a\r":               "a",
		"a\r\r\n":           "a\n",
		"1\r2\r3":           "3\n(2 earlier states of lines that were written over are left out)\n",
		"x\n1\r2\r\ny":      "x\n2\ny\n(1 earlier states of lines that were written over are left out)\n",
		"\xff\xfe":          "\uFFFD",
		"\x1b[2K\x07\x00ok": "\x1b[2K\x07\x00ok",
	} {
		if got := settle(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\xff\n"), 3)
	f.Add([]byte("\r\r\r\n\n"), 1)
	f.Add(bytes.Repeat([]byte("€"), 100), 2)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 {
			size = 1
		}
		var c capture
		for at := 0; at < len(data); at += size {
			if _, err := c.Write(data[at : min(len(data)-at, size)+at]); err != nil {
				t.Fatal(err)
			}
		}
		got := report(&c, &c, "exit code 0")
		if !utf8.ValidString(got) || strings.Contains(got, "\r") || !strings.HasSuffix(got, "\nexit code 0") {
			t.Errorf("%q becomes %q", data, got)
		}
	})
}

// What is only too long for a conversation is told of by the set of tools.
func TestOutputTooLongToBeKeptSaysHowToGetTheRest(t *testing.T) {
	t.Parallel()
	r := result(t, Options{}, "seq 1 200000")
	if n := utf8.RuneCountInString(r.Text); n > tool.MaxResult || !strings.Contains(r.Text, "\n1\n2\n") || !strings.Contains(r.Text, "\n199999\n200000\nexit code 0\n(This was more than is kept.") {
		t.Errorf("%d characters: %.100q … %q", n, r.Text, r.Text[max(0, len(r.Text)-300):])
	}
	if r := result(t, Options{}, "seq 1 20000"); !strings.HasSuffix(r.Text, "\n20000\nexit code 0") {
		t.Errorf("what is kept whole ends with %q", r.Text[max(0, len(r.Text)-300):])
	}
}
