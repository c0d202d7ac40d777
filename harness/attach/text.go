package attach

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// textOf makes a part of a file of text, fenced so that it is told from what the
// person wrote.
func textOf(named string, file *harness.File, data []byte) (harness.Part, error) {
	text, err := plain(named, data)
	if err != nil {
		return harness.Part{}, err
	}
	if n := utf8.RuneCountInString(text); n > MaxText {
		return harness.Part{}, &Error{named, fmt.Sprintf("has %d characters and at most %d can be attached; give a part of it, or have it read with read_file", n, MaxText), nil}
	}
	file.MediaType = "text/plain"
	return harness.Part{Kind: harness.PartText, Text: Fenced(file.Name, text), File: file}, nil
}

// plain returns bytes as text.
func plain(named string, data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "", &Error{named, "is UTF-16 text; save it as UTF-8", nil}
	case bytes.IndexByte(data, 0) >= 0:
		return "", &Error{named, "is not text" + like(data) + "; text, PNG, JPEG, GIF and WebP images and PDF can be attached", nil}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return "", &Error{named, fmt.Sprintf("is not UTF-8 text: the byte at offset %d belongs to no character%s; only UTF-8 text, PNG, JPEG, GIF and WebP images and PDF can be attached", i, like(data)), nil}
		}
		i += n
	}
	return string(data), nil
}

// like says what other bytes look like, empty if nobody knows.
func like(data []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(data[:min(len(data), sniffed)]), ";")
	if media == "application/octet-stream" || strings.HasPrefix(media, "text/") {
		return ""
	}
	return " but " + media
}

// Fenced puts text into a Markdown code block whose fence is longer than any in
// the text, after a line with its name.
func Fenced(name, text string) string {
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
