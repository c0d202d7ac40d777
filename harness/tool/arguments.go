package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	replacement = "\uFFFD"
	// maxFault bounds what a refusal says of bad arguments, in characters.
	maxFault = 400
)

// errArguments begins every refusal of a call's arguments.
var errArguments = errors.New("the arguments were not accepted")

// arguments returns a call's input as a JSON object that fits the schema.
// Nothing, or null, is {}; raw control characters inside strings, which some
// models write, are escaped. The error is one line for the model.
func arguments(raw json.RawMessage, schema *jsonschema.Resolved) (json.RawMessage, error) {
	input, value, err := parse(raw)
	if err != nil {
		return nil, err
	}
	err = validate(schema, value)
	if err == nil {
		return input, nil
	}
	if !dropNulls(value, schema.Schema().Required) || validate(schema, value) != nil {
		return nil, fmt.Errorf("%w: %s", errArguments, fault(err))
	}
	// The rest is kept as it was written: as values, large numbers would change.
	var written map[string]json.RawMessage
	if err := json.Unmarshal(input, &written); err != nil {
		return nil, fmt.Errorf("%w: %w", errArguments, err)
	}
	maps.DeleteFunc(written, func(k string, _ json.RawMessage) bool { _, ok := value[k]; return !ok })
	input, err = json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errArguments, err)
	}
	return input, nil
}

// validate checks a value. Schemas also come from servers, and one that breaks
// the validator must not end the program.
func validate(schema *jsonschema.Resolved, value any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool's schema cannot be checked: %v", p)
		}
	}()
	return schema.Validate(value)
}

// dropNulls takes out the optional arguments that are null, as some models
// write what they leave out. It reports whether there were any.
func dropNulls(value map[string]any, required []string) bool {
	before := len(value)
	maps.DeleteFunc(value, func(k string, v any) bool { return v == nil && !slices.Contains(required, k) })
	return len(value) < before
}

// fault writes a schema error as "path: what is wrong". The library's error
// nests one "validating <pointer into the schema>: " in the next.
func fault(err error) string {
	text, path := err.Error(), ""
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		pointer, tail, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		path, text = pointer, tail
	}
	text = strings.ReplaceAll(text, "<invalid reflect.Value>", "null")
	path = strings.ReplaceAll(strings.ReplaceAll(path, "/properties/", "/"), "/items", "/*")
	if path != "" && path != "root" {
		text = path + ": " + text
	}
	return Clip(oneLine(text), maxFault)
}

// parse reads a JSON object.
func parse(raw []byte) (json.RawMessage, map[string]any, error) {
	raw = bytes.TrimSpace(bytes.ToValidUTF8(raw, []byte(replacement)))
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), map[string]any{}, nil
	}
	if !json.Valid(raw) {
		raw = escapeControls(raw)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, nil, fmt.Errorf("%w: they are no JSON object: %s", errArguments, explain(err, raw))
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("%w: they must be a JSON object, not %s", errArguments, kindOf(value))
	}
	return json.RawMessage(raw), object, nil
}

// malformed says what is wrong with arguments that the wire could not read.
func malformed(text string) string {
	_, _, err := parse([]byte(text))
	if err == nil {
		return errArguments.Error() + ": they did not arrive whole"
	}
	return err.Error()
}

// explain says where JSON broke.
func explain(err error, raw []byte) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "they end too early"
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)) && strings.Contains(err.Error(), "unexpected end"):
		return fmt.Sprintf("they end too early, after %d bytes", len(raw))
	case errors.As(err, &syntax):
		return fmt.Sprintf("%v at byte %d", err, syntax.Offset)
	default:
		return err.Error()
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case []any:
		return "an array"
	case string:
		return "a string"
	case float64:
		return "a number"
	default:
		return "a boolean"
	}
}

// escapeControls escapes raw control characters inside the strings of a JSON
// text; outside of strings they are left alone.
func escapeControls(raw []byte) []byte {
	var out bytes.Buffer
	inside, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		}
		if inside && c < 0x20 {
			fmt.Fprintf(&out, `\u%04x`, c)
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}
