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
	// defaultLines is how many lines are read without a limit; maxLines is
	// the highest limit.
	defaultLines = 400
	maxLines     = 2_000
	// maxLine and maxText bound one line and the whole text, in characters.
	// The text stays below what would become an artifact.
	maxLine = 2_000
	maxText = tool.MaxResult - 500
	// sniff is how much of a file is looked at to tell text from other data.
	sniff = 8_192
)

type readIn struct {
	Path   string `json:"path" jsonschema:"the file, relative to the working directory"`
	Offset int    `json:"offset,omitempty" jsonschema:"the first line to read, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to read, 400 if left out, at most 2000"`
}

// readFile makes the tool read_file.
func (f family) readFile() (tool.Tool, error) {
	return tool.New("read_file", "Read a text file of the working directory, by lines.",
		func(ctx context.Context, c tool.Call, in readIn) (string, error) {
			s, err := f.space(c)
			if err != nil {
				return "", err
			}
			return read(ctx, s, in)
		}, reading(f, func(in readIn) string { return in.Path })...)
}

func read(ctx context.Context, s space, in readIn) (text string, err error) {
	if in.Offset < 0 || in.Limit < 0 {
		return "", errors.New("offset and limit must not be negative")
	}
	p, err := s.existing(in.Path)
	if err != nil {
		return "", err
	}
	defer closing(&err, p.close)
	if err := p.regular(); err != nil {
		return "", err
	}
	f, err := p.open()
	if err != nil {
		return "", err
	}
	defer closing(&err, f.Close)
	return readLines(ctx, f, in)
}

// readLines copies the asked-for lines and says where to go on.
func readLines(ctx context.Context, f *os.File, in readIn) (string, error) {
	src := bufio.NewReaderSize(f, sniff)
	head, err := src.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", plainly(in.Path, err)
	}
	if binary(head) {
		return "", fmt.Errorf("%q holds binary data, not text: it %w", in.Path, ErrKind)
	}
	first := max(in.Offset, 1)
	limit := in.Limit
	if limit == 0 {
		limit = defaultLines
	}
	limit = min(limit, maxLines)
	var b strings.Builder
	size, n := 0, 0
	for n < first-1+limit && size < maxText {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, err := nextLine(src)
		if errors.Is(err, io.EOF) {
			return ending(in.Path, b.String(), first, n), nil
		}
		if err != nil {
			return "", plainly(in.Path, err)
		}
		n++
		if n < first {
			continue
		}
		count := utf8.RuneCountInString(line) + 1
		if size+count > maxText && size > 0 {
			n--
			break
		}
		size += count
		b.WriteString(line)
		b.WriteByte('\n')
	}
	if _, err := src.Peek(1); errors.Is(err, io.EOF) {
		return ending(in.Path, b.String(), first, n), nil
	}
	return fmt.Sprintf("%s(lines %d to %d; more follow from offset %d)", b.String(), first, n, n+1), nil
}

// ending is the result when the file's end was reached after n lines.
func ending(name, text string, first, n int) string {
	switch {
	case n == 0:
		return fmt.Sprintf("(%q is empty)", name)
	case first > n:
		return fmt.Sprintf("(%q has only %d lines)", name, n)
	case first > 1:
		return fmt.Sprintf("%s(lines %d to %d, the end)", text, first, n)
	}
	return text
}

// nextLine reads one line without its end. Of an endless one it keeps the
// start and says how much it left out.
func nextLine(src *bufio.Reader) (string, error) {
	var kept []byte
	total := 0
	for {
		piece, err := src.ReadSlice('\n')
		total += len(piece)
		if room := 4*maxLine - len(kept); room > 0 {
			kept = append(kept, piece[:min(room, len(piece))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || total == 0) {
			return "", err
		}
		break
	}
	whole := total == len(kept)
	line := strings.ToValidUTF8(strings.TrimRight(string(kept), "\r\n"), "\uFFFD")
	cut := tool.Clip(line, maxLine)
	if whole && cut == line {
		return line, nil
	}
	return fmt.Sprintf("%s … (the line has %d bytes; the rest is left out)", cut, total), nil
}

// binary reports whether data is no text: it has NUL bytes or is mostly not
// UTF-8. The last bytes may be the start of a character.
func binary(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 && len(data)-i >= utf8.UTFMax {
			bad++
		}
		i += size
	}
	return bad*10 > len(data)
}
