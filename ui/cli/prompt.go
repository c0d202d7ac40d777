package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/attach"
	"cairn/harness/memory"
	chatfiles "cairn/ui/chat/attach"
)

// maxInput bounds what is read from standard input, in bytes.
const maxInput = 16 << 20

// stdinPatience is how long a silent standard input is waited for before a
// notice says so.
const stdinPatience = 2 * time.Second

// sent is what a start is to send.
type sent struct {
	text string
	// typed is what of it the person gave as words.
	typed string
	// files are what was attached.
	files []attached
}

// attached is a file that goes with a prompt.
type attached struct {
	// name is as it was typed; path is absolute, empty for what can be read only
	// once.
	name, path string
	part       harness.Part
}

// empty reports whether there is nothing to send.
func (s sent) empty() bool { return s.text == "" && len(s.files) == 0 }

// message is what is sent, with the bytes of the files.
func (s sent) message() harness.Message {
	m := harness.Message{Role: harness.RoleUser}
	if s.text != "" {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartText, Text: s.text})
	}
	for _, f := range s.files {
		m.Parts = append(m.Parts, f.part)
	}
	return m
}

// mentions is what is sent as one text, for a chat: it names the files, and the
// chat reads them when it sends it. What can be read only once is in it.
func (s sent) mentions() (string, error) {
	var parts []string
	if s.text != "" {
		parts = append(parts, s.text)
	}
	for _, f := range s.files {
		mention, ok := chatfiles.Write(f.path)
		switch {
		case ok:
			parts = append(parts, mention)
		case f.part.Kind == harness.PartText:
			parts = append(parts, f.part.Text)
		default:
			return "", usage("%s cannot be attached to a chat by this name; give it another one", f.name)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// acceptable refuses files that a model does not read, or not so many at once.
func (s sent) acceptable(ctx context.Context, m Models, model string) error {
	var images, size int64
	for _, f := range s.files {
		if f.part.Kind != harness.PartFile {
			continue
		}
		if size += f.part.File.Size; f.part.File.Width > 0 {
			images++
		}
		if err := m.Accepts(ctx, model, f.part.File.MediaType); err != nil {
			return usage("%s is not sent: %w", f.name, err)
		}
	}
	switch {
	case images > memory.MaxImages:
		return usage("these are %d images and a request has room for %d; give fewer of them", images, memory.MaxImages)
	case size > memory.MaxFileBytes:
		return usage("these files have %.1f MB and a request has room for %d MB; give fewer of them", float64(size)/(1<<20), memory.MaxFileBytes>>20)
	}
	return nil
}

// prompt puts the prompt together: the words, then what comes through
// standard input if it is piped and may be taken or "-" asks for it, and the
// files.
func (a *app) prompt(ctx context.Context, words, names []string, piped bool) (sent, error) {
	var parts []string
	asked := false
	var typed []string
	for _, w := range words {
		if w == "-" {
			asked = true
			continue
		}
		typed = append(typed, w)
	}
	if text := strings.Join(typed, " "); strings.TrimSpace(text) != "" {
		if !utf8.ValidString(text) {
			return sent{}, usage("the prompt is not UTF-8 text")
		}
		parts = append(parts, text)
	}
	if asked || piped && !a.s.InTTY && a.s.In != nil {
		text, err := a.readStdin(ctx)
		if err != nil {
			return sent{}, err
		}
		if strings.TrimSpace(text) != "" {
			parts = append(parts, text)
		}
	}
	out := sent{text: strings.Join(parts, "\n\n"), typed: strings.Join(typed, " ")}
	for _, name := range names {
		f, err := a.attach(ctx, name)
		if err != nil {
			return sent{}, err
		}
		out.files = append(out.files, f)
	}
	return out, nil
}

// readStdin reads standard input to its end.
func (a *app) readStdin(ctx context.Context) (string, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.s.In, maxInput+1))
		done <- read{data, err}
	}()
	patience := time.NewTimer(stdinPatience)
	defer patience.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-patience.C:
			a.notice("reading standard input to its end; give </dev/null if there is nothing to read")
		case r := <-done:
			switch {
			case r.err != nil:
				return "", fmt.Errorf("read standard input: %w", r.err)
			case len(r.data) > maxInput:
				return "", usage("standard input is larger than 16 MiB; give a part of it")
			}
			text, err := plainText(r.data)
			if err != nil {
				return "", usage("standard input %w", err)
			}
			return text, nil
		}
	}
}

// attach reads a file that a flag names.
func (a *app) attach(ctx context.Context, name string) (attached, error) {
	if open, ok := handed(name); ok {
		part, err := readHanded(ctx, open, name)
		return attached{name: name, part: part}, unattached(name, err)
	}
	f := attach.Files{Dir: a.s.Dir, Home: a.s.Getenv("HOME")}
	part, err := f.Read(ctx, name)
	return attached{name: name, path: f.Path(name), part: part}, unattached(name, err)
}

// handed reports whether a path is that of something which a shell opened for
// this process, as it does for <(command), and that is read to its end.
func handed(name string) (path string, ok bool) {
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if n, ok := strings.CutPrefix(name, dir); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return name, true
		}
	}
	return "", false
}

// readHanded reads what a shell opened, as long as the person waits for it.
func readHanded(ctx context.Context, path, name string) (harness.Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return harness.Part{}, err
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(f, attach.MaxDocument+1))
		done <- read{data, errors.Join(err, f.Close())}
	}()
	var r read
	select {
	case <-ctx.Done():
		return harness.Part{}, ctx.Err()
	case r = <-done:
	}
	if r.err != nil {
		return harness.Part{}, r.err
	}
	part, err := attach.Bytes("input", r.data)
	var refused *attach.Error
	if errors.As(err, &refused) {
		refused.Name = name
	}
	return part, err
}

// unattached words why a file is not attached.
func unattached(name string, err error) error {
	var refused *attach.Error
	missing := errors.Is(err, fs.ErrNotExist) && !errors.Is(err, attach.ErrDirectory)
	switch errors.As(err, &refused); {
	case err == nil:
		return nil
	case missing && (refused == nil || refused.Reason == attach.Missing):
		return fail(ExitNotFound, "there is no file %s", name)
	case missing:
		return fail(ExitNotFound, "%w", refused)
	case refused != nil:
		return usage("%w", err)
	}
	return fmt.Errorf("attach %s: %w", name, err)
}

// validText refuses text that is not UTF-8; what names it.
func validText(what string, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return usage("%s is not UTF-8 text", what)
		}
	}
	return nil
}

// plainText returns the bytes as text. The error's text follows the name of
// the thing.
func plainText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", fmt.Errorf("is not text: it has a zero byte at offset %d", i)
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return "", fmt.Errorf("is not UTF-8 text: the byte at offset %d belongs to no character", i)
		}
		i += n
	}
	return string(data), nil
}
