package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/attach"
)

// file returns the bytes of a file that a conversation names, nil if the export does
// not have it, and its name.
func (a *Archive) file(id, name string, in *meter) (data []byte, called string, err error) {
	at := a.files[id]
	if called = name; called == "" {
		called = a.titles[id]
	}
	if called == "" {
		called = path.Base(at)
	}
	if at == "" || id == "" {
		return nil, called, nil
	}
	f, err := a.open(at)
	if err != nil {
		return nil, called, named(at, err)
	}
	data, err = io.ReadAll(io.LimitReader(f, attach.MaxDocument+1))
	*in.all -= int64(len(data))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, called, fmt.Errorf("%s: %w", path.Base(at), damagedFile(err))
	}
	if *in.all < 0 {
		return nil, called, tooMuch()
	}
	return data, called, nil
}

func tooMuch() error {
	return fmt.Errorf("%w: the files have more than %d bytes together", ErrSize, int64(maxExport))
}

// meter bounds what is read, for all files and for one conversation, and ends with
// its context.
type meter struct {
	ctx  context.Context //nolint:containedctx // a reader has no other way to one
	in   io.Reader
	head []byte
	all  *int64
	one  int64
}

// Read implements [io.Reader].
func (m *meter) Read(into []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	if len(m.head) > 0 {
		n := copy(into, m.head)
		m.head = m.head[n:]
		return n, nil
	}
	n, err := m.in.Read(into)
	*m.all -= int64(n)
	m.one -= int64(n)
	switch {
	case *m.all < 0:
		return 0, tooMuch()
	case m.one < 0:
		return 0, fmt.Errorf("%w: it has more than %d bytes", ErrSize, int64(maxTalk))
	}
	return n, err
}

// skipMark reads on to the first byte that is no mark of the byte order and no
// white space.
func (m *meter) skipMark() error {
	buf := make([]byte, 4096)
	n, err := io.ReadFull(m.in, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	m.head = []byte(strings.TrimLeft(strings.TrimPrefix(string(buf[:n]), "\ufeff"), " \t\r\n"))
	return nil
}

// first is the byte that is read next, 0 if that is not known.
func (m *meter) first() byte {
	if len(m.head) == 0 {
		return 0
	}
	return m.head[0]
}

// Attached is a file that somebody gave, as it goes into a message, or why it cannot.
func Attached(name string, data []byte) (harness.Part, error) {
	p, err := attach.Bytes(name, data)
	if err != nil {
		return Absent(name), err
	}
	return p, nil
}

// Absent stands for a file that is not here.
func Absent(name string) harness.Part {
	name = strings.Join(strings.Fields(valid(name)), " ")
	if name == "" {
		name = "a file"
	}
	return harness.Part{Kind: harness.PartText, Text: "(" + name + " is not here)", File: &harness.File{Name: name}}
}

// Given is the text of a file, of which no more goes into a message than may; cut
// says that it is not all.
func Given(name, text string) (p harness.Part, cut bool) {
	text = valid(text)
	if runes := []rune(text); len(runes) > attach.MaxText {
		text, cut = string(runes[:attach.MaxText]), true
	}
	if strings.TrimSpace(name) == "" {
		name = "pasted text"
	}
	name = strings.Join(strings.Fields(valid(name)), " ")
	return harness.Part{
		Kind: harness.PartText, Text: attach.Fenced(name, text),
		File: &harness.File{Name: name, MediaType: "text/plain", Size: int64(len(text))},
	}, cut
}

// Others names the files of an export that tell something and hold no conversations.
func (a *Archive) Others() []string { return a.others }

// HoldsArchive reports whether a directory is an export that was unpacked there.
func HoldsArchive(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Type().IsRegular() && holdsTalks(e.Name()) })
}
