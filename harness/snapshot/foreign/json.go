package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
)

// decode reads one JSON value. The error has the byte at which it is wrong.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	var shape *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &shape) && shape.Field != "":
		return fmt.Errorf("%w: at byte %d: %s is of the wrong kind (%s)", harness.ErrDamaged, shape.Offset, field(shape), shape.Value)
	case errors.As(err, &shape):
		return fmt.Errorf("%w: at byte %d: it is of the wrong kind (%s)", harness.ErrDamaged, shape.Offset, shape.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: at byte %d: %w", harness.ErrDamaged, syntax.Offset, err)
	}
	return fmt.Errorf("%w: %w", harness.ErrDamaged, err)
}

// field is the name of a field in the file. In the path before it embedded structs
// stand as if they were fields.
func field(wrong *json.UnmarshalTypeError) string {
	return wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
}

// mended returns data with U+FFFD in the place of each escape of half a surrogate
// pair. What is escaped stays as long as it was, so that places keep their numbers.
func mended(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	out := bytes.Clone(data)
	for i := 0; i+1 < len(out); {
		if out[i] != '\\' {
			i++
			continue
		}
		unit, ok := escaped(out[i:])
		switch {
		case !ok:
			i += 2
			continue
		case unit>>10 == 0xd800>>10:
			if low, ok := escaped(out[i+6:]); ok && low>>10 == 0xdc00>>10 {
				i += 12
				continue
			}
			copy(out[i+2:], "fffd")
		case unit>>10 == 0xdc00>>10:
			copy(out[i+2:], "fffd")
		}
		i += 6
	}
	return out
}

// escaped reads the escape of a UTF-16 unit at the start of data.
func escaped(data []byte) (unit uint32, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	for _, c := range data[2:6] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if c >= '0' && c <= '9' {
			digit = int(c - '0')
		}
		if digit < 0 {
			return 0, false
		}
		unit = unit<<4 | uint32(digit)
	}
	return unit, true
}

// object is a tool's input: a JSON object, or else the text that is none.
func object(raw json.RawMessage) (input json.RawMessage, malformed string) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage("{}"), ""
	case raw[0] != '{':
		return nil, valid(string(raw))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, valid(string(raw))
	}
	return json.RawMessage(valid(b.String())), ""
}

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// isText reports whether raw is a JSON string.
func isText(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '"'
}

// isNull reports whether there is nothing.
func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// isEmpty reports whether raw is nothing, an empty object or an empty list.
func isEmpty(raw json.RawMessage) bool {
	text := strings.Join(strings.Fields(string(raw)), "")
	return text == "" || text == "null" || text == "{}" || text == "[]"
}

// moment reads a time as Python and JavaScript write it. One that cannot be read
// is no time: they are only shown.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
