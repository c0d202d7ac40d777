package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// maxInput bounds what is read from standard input or one file, in bytes.
const maxInput = 16 << 20

// stdinPatience is how long a silent standard input is waited for before a
// notice says so.
const stdinPatience = 2 * time.Second

// prompt puts the prompt together: the words, then what comes through
// standard input if it is piped and may be taken or "-" asks for it, then the
// files. Empty means that there is none.
func (a *app) prompt(ctx context.Context, words, files []string, piped bool) (string, error) {
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
			return "", usage("the prompt is not UTF-8 text")
		}
		parts = append(parts, text)
	}
	if asked || piped && !a.s.InTTY && a.s.In != nil {
		text, err := a.readStdin(ctx)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(text) != "" {
			parts = append(parts, text)
		}
	}
	for _, name := range files {
		text, err := a.attach(name)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n"), nil
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

// attach is a text file as a fenced block with its name.
func (a *app) attach(name string) (string, error) {
	path := absolute(a.s, expand(a.s, name))
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fail(ExitNotFound, "there is no file %s", name)
	}
	if err != nil {
		return "", fmt.Errorf("attach %s: %w", name, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("attach %s: %w", name, err)
	case info.IsDir():
		return "", usage("%s is a directory; give the files in it", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("attach %s: %w", name, err)
	}
	if len(data) > maxInput {
		return "", usage("%s is larger than 16 MiB; give a part of it", name)
	}
	text, err := plainText(data)
	if err != nil {
		return "", usage("%s %w; only text can be attached", name, err)
	}
	return fenced(filepath.Base(path), text), nil
}

// fenced puts text into a Markdown code block whose fence is longer than any
// in the text, after a line with its name.
func fenced(name, text string) string {
	longest := 2
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		longest = max(longest, len(line)-len(strings.TrimLeft(line, "`")))
	}
	fence := strings.Repeat("`", longest+1)
	language := strings.TrimPrefix(filepath.Ext(name), ".")
	if strings.ContainsFunc(language, func(r rune) bool { return r < '0' || r > 'z' || r == '`' }) {
		language = ""
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("%s:\n%s%s\n%s%s", strings.Join(strings.Fields(name), " "), fence, language, text, fence)
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
