package markdown

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// front is a mapping of front matter.
type front struct {
	// keys are in the order of the file.
	keys   []string
	values map[string]*yaml.Node
	used   map[string]bool
}

// frontLine is the line of a file on which front matter begins, behind the fence.
const frontLine = 2

// parseFront reads the text between the fences. It follows no alias, so that a
// small text stays small.
func parseFront(text string) (*front, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return &front{}, nil
	} else if err != nil {
		return nil, yamlFault(err)
	}
	if err := d.Decode(&more); err == nil {
		return nil, fault(fileLine(&more), "the front matter is more than one YAML document")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlFault(err)
	}
	if err := refuseAliases(&doc); err != nil {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return &front{}, nil
	}
	return newFront(root, "the front matter")
}

// yamlLine finds the line in an error of the library.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?line (\d+): `)

// counted0 are the faults for which the library counts lines from 0.
var counted0 = regexp.MustCompile(`^did not find expected (?:',' or|key|node content|'-' indicator|<)`)

// yamlFault words what the library says.
func yamlFault(err error) error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), frontLine
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n + frontLine - 1
		}
		text = err.Error()[len(m[0]):]
		if counted0.MatchString(text) {
			line++
		}
	}
	return fault(line, "the front matter is not YAML: %s", text)
}

func fileLine(n *yaml.Node) int { return max(n.Line, 1) + frontLine - 1 }

func refuseAliases(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fault(fileLine(n), "anchors and aliases are not read; write the value out")
	}
	for _, c := range n.Content {
		if err := refuseAliases(c); err != nil {
			return err
		}
	}
	return nil
}

func newFront(n *yaml.Node, what string) (*front, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fault(fileLine(n), "%s is no list of keys and values", what)
	}
	f := &front{values: map[string]*yaml.Node{}, used: map[string]bool{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, fault(fileLine(key), "%s has a key that is no word", what)
		}
		if f.values[key.Value] != nil {
			return nil, fault(fileLine(key), "%s has the key %q twice", what, key.Value)
		}
		f.keys = append(f.keys, key.Value)
		f.values[key.Value] = n.Content[i+1]
	}
	return f, nil
}

// unused are the keys that nobody asked for.
func (f *front) unused() []string {
	var keys []string
	for _, k := range f.keys {
		if !f.used[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// take returns a value, nil if there is none.
func (f *front) take(key string) *yaml.Node {
	n := f.values[key]
	if n == nil {
		return nil
	}
	f.used[key] = true
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

func (f *front) line(key string) int {
	if n := f.values[key]; n != nil {
		return fileLine(n)
	}
	return 1
}

func (f *front) text(key string) (string, error) {
	n := f.take(key)
	if n == nil {
		return "", nil
	}
	if n.Kind != yaml.ScalarNode {
		return "", fault(fileLine(n), "%s wants one text", key)
	}
	return n.Value, nil
}

func (f *front) number(key string) (int, error) {
	s, err := f.text(key)
	if err != nil || s == "" {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fault(f.line(key), "%s wants a whole number, not %q", key, s)
	}
	return n, nil
}

func (f *front) truth(key string) (bool, error) {
	s, err := f.text(key)
	switch {
	case err != nil:
		return false, err
	case s == "true":
		return true, nil
	case s == "", s == "false":
		return false, nil
	}
	return false, fault(f.line(key), "%s wants true or false, not %q", key, s)
}

func (f *front) time(key string) (time.Time, error) {
	s, err := f.text(key)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	t, ok := parseTime(s)
	if !ok {
		return time.Time{}, fault(f.line(key), "%s wants a time such as 2026-01-31T15:04:05Z, not %q", key, s)
	}
	return t, nil
}

// parseTime reads a time as programs and people write it. Without a zone it is in
// UTC.
func parseTime(s string) (time.Time, bool) {
	for _, form := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// list reads a list of texts; one text is a list of one.
func (f *front) list(key string) ([]string, error) {
	n := f.take(key)
	if n == nil {
		return nil, nil
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, fault(fileLine(n), "%s wants a list", key)
	}
	var list []string
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			return nil, fault(fileLine(c), "%s wants a list of texts", key)
		}
		list = append(list, c.Value)
	}
	return list, nil
}

// mapping reads keys and values below a key; none are an empty mapping.
func (f *front) mapping(key string) (*front, error) {
	n := f.take(key)
	if n == nil {
		return &front{}, nil
	}
	return newFront(n, fmt.Sprintf("%q", key))
}

// reader reads several values and keeps the first fault.
type reader struct {
	*front
	err error
}

// read returns what get finds, unless there was a fault before.
func read[T any](r *reader, get func(string) (T, error), key string) T {
	var zero T
	if r.err != nil {
		return zero
	}
	v, err := get(key)
	r.err = err
	return v
}
