package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"cairn/harness/tool"
)

const (
	// maxShown bounds a line that is shown, in characters; before is how many
	// bytes in front of a match in a longer line are shown.
	maxShown = 300
	before   = 100
	// maxMatched is how much of one line is searched, in bytes.
	maxMatched = 64 << 10
)

// file searches one file of an open directory. What cannot be read is counted
// and left out.
func (g *search) file(ctx context.Context, dir *os.Root, name, shown string) (err error) {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		g.walk.unreadable++
		return nil // it is counted and told
	}
	if info.Size() > maxSearched {
		g.toolarge++
		return nil
	}
	f, err := openSame(dir, name, info)
	if err != nil {
		g.walk.unreadable++
		return nil // it is counted and told
	}
	defer closing(&err, f.Close)
	// What grows while it is read has an end too.
	g.src.Reset(io.LimitReader(f, maxSearched))
	head, err := g.src.Peek(sniff)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		g.walk.unreadable++
		return nil // it is counted and told
	case binary(head):
		g.binary++
		return nil
	}
	g.looked++
	return g.lines(ctx, shown)
}

// lines searches line by line and writes what matches, with the lines around.
func (g *search) lines(ctx context.Context, shown string) error {
	var behind []string // the lines in front that were not written yet
	after, last := 0, 0
	for n := 1; ; n++ {
		if n%1_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := matchLine(g.src)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			g.walk.unreadable++
			return nil //nolint:nilerr // it is counted and told
		}
		at := g.re.FindIndex(line)
		switch {
		case at != nil && g.found < g.limit:
			g.gap(last, n-len(behind))
			for i, text := range behind {
				g.put(shown, '-', n-len(behind)+i, text)
			}
			g.put(shown, ':', n, around(line, at[0]))
			g.found++
			behind, after, last = nil, g.around, n
		case after > 0:
			g.put(shown, '-', n, around(line, 0))
			after--
			last = n
		case g.found >= g.limit:
			return errEnough
		case g.around > 0:
			if len(behind) == g.around {
				behind = behind[1:]
			}
			behind = append(behind, around(line, 0))
		}
	}
}

// gap marks that lines are left out between two pieces that have lines around.
func (g *search) gap(last, next int) {
	if g.around > 0 && g.found > 0 && next != last+1 {
		g.out.WriteString("--\n")
	}
}

func (g *search) put(shown string, sign byte, n int, text string) {
	fmt.Fprintf(&g.out, "%s%c%d%c %s\n", shown, sign, n, sign, text)
}

// matchLine reads one line without its end, and of a very long one the start.
// The result counts until the next call.
func matchLine(src *bufio.Reader) ([]byte, error) {
	line, err := src.ReadSlice('\n')
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && len(line) > 0:
	case errors.Is(err, bufio.ErrBufferFull):
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = src.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	default:
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// around is a line as it is shown: cut, with marks where, so that the match at
// the offset is in it.
func around(line []byte, at int) string {
	from := 0
	if len(line) > maxShown && at > maxShown-before {
		for from = at - before; from < at && !utf8.RuneStart(line[from]); from++ {
			continue
		}
	}
	text := strings.ToValidUTF8(string(line[from:min(len(line), from+utf8.UTFMax*maxShown)]), "\uFFFD")
	shown := tool.Clip(text, maxShown)
	if len(shown) < len(text) || from+utf8.UTFMax*maxShown < len(line) {
		shown += " …"
	}
	if from > 0 {
		shown = "… " + shown
	}
	return shown
}
