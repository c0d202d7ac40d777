package tool

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// maxSchema bounds a schema in bytes, maxChecks the schemas that apply to
	// one value.
	maxSchema = 1 << 20
	maxChecks = 10_000
)

// resolve reads a schema, which must describe an object. Schemas also come
// from servers, so what would make checking endless is refused.
func resolve(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("%w: its schema has %d bytes", ErrInvalid, len(raw))
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("%w: read schema: %w", ErrInvalid, err)
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("%w: its schema is not of type object", ErrInvalid)
	}
	if err := finite(raw); err != nil {
		return nil, fmt.Errorf("%w: its schema %w", ErrInvalid, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("%w: resolve schema: %w", ErrInvalid, err)
	}
	return resolved, nil
}

// graph follows the keywords of a schema that apply other schemas to the same
// value. A cycle of them would never end: the validator recurses until the
// program's stack is gone, which nothing can recover from.
type graph struct {
	root any
	// cost is how many schemas one value is checked against, by the pointer
	// of the first; 0 is one that is being counted.
	cost map[string]int
}

// finite reports whether checking a value against the schema ends soon.
func finite(raw json.RawMessage) error {
	g := graph{cost: map[string]int{}}
	if err := json.Unmarshal(raw, &g.root); err != nil {
		return err
	}
	return g.walk("", g.root)
}

// walk counts from each object, since any of them may be a schema.
func (g graph) walk(at string, node any) error {
	switch node := node.(type) {
	case map[string]any:
		if _, named := node["$id"].(string); named && at != "" {
			return fmt.Errorf("has a $id at %s, which is not supported", at)
		}
		if _, err := g.count(at, node); err != nil {
			return err
		}
		for key, child := range node {
			if err := g.walk(at+"/"+escapePointer(key), child); err != nil {
				return err
			}
		}
	case []any:
		for i, child := range node {
			if err := g.walk(at+"/"+strconv.Itoa(i), child); err != nil {
				return err
			}
		}
	}
	return nil
}

// count returns how many schemas a value at this one is checked against.
func (g graph) count(at string, node map[string]any) (int, error) {
	if n, ok := g.cost[at]; ok {
		if n == 0 {
			return 0, fmt.Errorf("refers to itself at %q", at)
		}
		return n, nil
	}
	g.cost[at] = 0
	next, err := g.next(at, node)
	if err != nil {
		return 0, err
	}
	total := 1
	for _, p := range next {
		child, ok := g.find(p).(map[string]any)
		if !ok {
			continue // true, false, or what resolving refuses
		}
		n, err := g.count(p, child)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxChecks {
			return 0, fmt.Errorf("is too intricate at %q", at)
		}
	}
	g.cost[at] = total
	return total, nil
}

// next lists the pointers of the schemas that node applies to its own value.
func (g graph) next(at string, node map[string]any) ([]string, error) {
	var out []string
	for _, key := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := node[key].(string); ok {
			return nil, fmt.Errorf("has a %s at %q, which is not supported", key, at)
		}
	}
	if ref, ok := node["$ref"].(string); ok {
		pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
		if err != nil || !strings.HasPrefix(ref, "#") || pointer != "" && pointer[0] != '/' {
			return nil, fmt.Errorf("has a reference at %q that is not of the form #/…", at)
		}
		out = append(out, pointer)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := node[key].([]any)
		for i := range list {
			out = append(out, at+"/"+key+"/"+strconv.Itoa(i))
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if _, ok := node[key].(map[string]any); ok {
			out = append(out, at+"/"+key)
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		deps, _ := node[key].(map[string]any)
		for name := range deps {
			out = append(out, at+"/"+key+"/"+escapePointer(name))
		}
	}
	slices.Sort(out)
	return out, nil
}

// find returns what a pointer into the schema points at, nil if nothing.
func (g graph) find(pointer string) any {
	node := g.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch at := node.(type) {
		case map[string]any:
			node = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			node = at[i]
		default:
			return nil
		}
	}
	return node
}

func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
