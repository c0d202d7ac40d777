package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxSpec bounds what one tool says of its arguments, and maxSpecs what all tools
	// of a server say of themselves, in bytes: a model is told all of it in each turn.
	maxSpec  = 256 << 10
	maxSpecs = 2 << 20
	// maxArguments bounds the arguments of a prompt.
	maxArguments = 50
)

// tooLarge stands for a schema that was not kept, of so many bytes.
type tooLarge int

// slim is what is kept of a tool until all parts of the list are there: a server may
// send a hundred of them, and each may be as long as a message. left is how much of
// schemas may still be kept, in bytes.
func slim(t *sdk.Tool, left *int) *sdk.Tool {
	if t == nil {
		return nil
	}
	out := &sdk.Tool{
		Name: head(t.Name, maxToolName+1), Title: head(t.Title, 8*maxLine), Description: head(t.Description, 4*maxWords+8), InputSchema: t.InputSchema,
	}
	if raw, err := json.Marshal(t.InputSchema); err == nil {
		if *left -= len(raw); *left < 0 || len(raw) > maxSpec {
			out.InputSchema = tooLarge(len(raw))
		}
	}
	if a := t.Annotations; a != nil {
		kept := *a
		kept.Title = head(a.Title, 8*maxLine)
		out.Annotations = &kept
	}
	return out
}

// head is the beginning of a text, without the rest of it in memory.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.Clone(s[:most])
}

// room takes what a tool says of itself from what all of them may say.
func room(left *int, o offered) error {
	size := len(o.help) + len(o.title) + len(o.schema)
	if size > *left {
		return fmt.Errorf("the tools of this server say more of themselves than the %d MiB that a model is told", maxSpecs>>20)
	}
	*left -= size
	return nil
}

// errHidden is a schema with what nobody sees where it cannot be made visible.
var errHidden = errors.New("its arguments have names or values with characters that cannot be seen")

// seen is a schema in which what it says in words has no hidden characters: a model
// would obey what a person does not see. Names and values stay as they are.
func seen(schema any, within string) (any, error) {
	switch x := schema.(type) {
	case string:
		switch within {
		case "description", "title", "$comment":
			return words(x, maxSpec), nil
		}
		if strings.ContainsFunc(x, disguised) {
			return nil, errHidden
		}
	case []any:
		out := make([]any, len(x))
		for i, value := range x {
			var err error
			if out[i], err = seen(value, ""); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(x))
		for key, value := range x {
			if strings.ContainsFunc(key, disguised) {
				return nil, errHidden
			}
			var err error
			if out[key], err = seen(value, key); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return schema, nil
}

// disguised reports whether a character is hidden and no plain control: a value may
// be the end of a line.
func disguised(r rune) bool { return hidden(r) && !unicode.IsControl(r) }
