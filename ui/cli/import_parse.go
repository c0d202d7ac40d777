package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// maxImportLine bounds one line of an import, in bytes.
const maxImportLine = 64 << 20

// imported is one conversation on its way into the store.
type imported struct {
	// ID is as written in the file; Line is where, in JSON Lines.
	ID   string
	Line int
	// Meta describes it, without an id.
	Meta    harness.Session
	Records []harness.Record
	// Artifacts are the files and long results that the messages name.
	Artifacts [][]byte
	// Learned is what refusals taught about models.
	Learned map[string]snapshot.Learned
	// Own says that it was a session of this program: its id is one already.
	Own bool
	// Source says what it was read from; empty means JSON Lines. Left is what of
	// it has no place in the store.
	Source string
	Left   []string
	// Archive, if not nil, is what all this is still to be read from, for each of its
	// conversations.
	Archive *importArchive
	// told counts what is left out of several conversations, to be told at the end;
	// nil where each says it for itself.
	told map[string]int
}

// importLine is one line of the format: exactly one of the two is set.
type importLine struct {
	Session *importSession `json:"session"`
	Message *importMessage `json:"message"`
}

type importSession struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Created time.Time `json:"created_at"`
}

type importMessage struct {
	Role    string    `json:"role"`
	Content *string   `json:"content"`
	Created time.Time `json:"created_at"`
	Name    string    `json:"name"`
}

// parseImport reads JSON Lines: a session object, then its message objects,
// then the next session. Errors name the line. Nothing is returned unless all
// of it is right, so that a fault in the middle imports nothing.
func parseImport(r io.Reader) ([]imported, error) {
	var all []imported
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if parseErr := addLine(&all, text, n); parseErr != nil {
				return nil, fmt.Errorf("line %d: %w", n, parseErr)
			}
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
	}
}

// readLine reads up to the next newline. The line before the end of the input
// comes with [io.EOF].
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxImportLine {
			return nil, errors.New("is longer than 64 MiB")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// addLine adds what one line says.
func addLine(all *[]imported, text []byte, n int) error {
	if n == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if !utf8.Valid(text) {
		return errors.New("is not UTF-8 text")
	}
	var l importLine
	if err := decodeLine(text, &l); err != nil {
		return err
	}
	switch {
	case l.Session != nil && l.Message != nil:
		return errors.New("has both a session and a message; give each its own line")
	case l.Session != nil:
		if strings.TrimSpace(l.Session.ID) == "" {
			return errors.New("the session has no id")
		}
		*all = append(*all, imported{
			ID: l.Session.ID, Line: n, Meta: harness.Session{Title: l.Session.Title, Created: l.Session.Created},
		})
		return nil
	case l.Message == nil:
		return errors.New(`has neither a "session" nor a "message"`)
	case len(*all) == 0:
		return errors.New("a message comes before the first session")
	}
	m, err := l.Message.message()
	if err != nil {
		return err
	}
	last := &(*all)[len(*all)-1]
	last.Records = append(last.Records, harness.Record{Kind: harness.RecordMessage, At: l.Message.Created, Message: &m})
	return nil
}

// decodeLine reads one line strictly.
func decodeLine(text []byte, l *importLine) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(l) == nil && strict.InputOffset() == int64(len(text)) {
		return nil
	}
	// What is wrong is told by those that read all of it.
	*l = importLine{}
	if err := json.Unmarshal(text, l); err != nil {
		return fmt.Errorf("is not of the import format: %w", jsonWords(err))
	}
	return knownKeys(text)
}

// knownKeys refuses keys that the format does not have: what they say would be
// lost without a word.
func knownKeys(text []byte) error {
	var line map[string]json.RawMessage
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("is not of the import format: %w", jsonWords(err))
	}
	parts := map[string][]string{
		"":        {"session", "message"},
		"session": {"id", "title", "created_at"},
		"message": {"role", "content", "created_at", "name"},
	}
	if err := only(line, "", parts[""]); err != nil {
		return err
	}
	for _, part := range sortedKeys(line) {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(line[part], &keys); err != nil {
			return fmt.Errorf("is not of the import format: %w", jsonWords(err))
		}
		// The decoder takes keys in any case.
		if err := only(keys, part+".", parts[strings.ToLower(part)]); err != nil {
			return err
		}
	}
	return nil
}

// only is an error if an object has a key that is not one of known.
func only(object map[string]json.RawMessage, prefix string, known []string) error {
	for _, key := range sortedKeys(object) {
		if !slices.Contains(known, strings.ToLower(key)) {
			return fmt.Errorf("unknown key %q%s", prefix+key, suggest(key, "", known))
		}
	}
	return nil
}

// message checks a message of the file.
func (m importMessage) message() (harness.Message, error) {
	role := harness.Role(m.Role)
	if role != harness.RoleUser && role != harness.RoleAssistant {
		return harness.Message{}, fmt.Errorf("the role %q cannot be imported; roles are user and assistant", m.Role)
	}
	if m.Content == nil {
		return harness.Message{}, errors.New("the message has no content")
	}
	return harness.Message{
		Role: role, Name: m.Name,
		Parts: []harness.Part{{Kind: harness.PartText, Text: *m.Content}},
	}, nil
}

// jsonWords takes Go's type names out of an error of the decoder.
func jsonWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return fmt.Errorf("it is a %s, not an object", wrong.Value)
		}
		return fmt.Errorf("%s is a %s", wrong.Field, wrong.Value)
	}
	var at *time.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf("created_at %s is no time such as \"2026-03-04T05:06:07Z\"", at.Value)
	}
	return err
}
