package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxMarks is how many marks of cached prefixes Anthropic takes in a request.
const MaxMarks = 4

// fileTokens is what an image or a document is taken for, in tokens.
const fileTokens = 1_600

// A Checker returns what a provider would refuse in the body of a request, or
// what servers of its kind are known to stumble over; nil if there is nothing.
// If window is not 0, request and reply budget must fit into that many tokens,
// the request taken for a token every four bytes.
type Checker func(body []byte, window int) error

// maxFaults bounds what one check reports.
const maxFaults = 20

// faults collects what is wrong with a request.
type faults struct{ list []error }

func (f *faults) add(format string, args ...any) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, fmt.Errorf(format, args...))
	}
}

func (f *faults) err() error { return errors.Join(f.list...) }

// checked decodes a body into a request and checks what every provider wants of
// bytes; it reports whether there is anything to go on with.
func (f *faults) checked(body []byte, into any) bool {
	if !utf8.Valid(body) {
		f.add("the body is not valid UTF-8")
	}
	if at := loneSurrogate(body); at >= 0 {
		f.add("the body has half a surrogate pair at byte %d", at)
	}
	if err := json.Unmarshal(body, into); err != nil {
		f.add("the body is not a request: %w", err)
		return false
	}
	return true
}

// loneSurrogate returns where an escape of one half of a surrogate pair stands
// without the other, -1 if nowhere.
func loneSurrogate(raw []byte) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := unitAt(raw, i)
		if !ok {
			i++
			continue
		}
		low, paired := unitAt(raw, i+6)
		switch {
		case unit >= 0xd800 && unit <= 0xdbff && paired && low >= 0xdc00 && low <= 0xdfff:
			i += 11
		case unit >= 0xd800 && unit <= 0xdfff:
			return i
		default:
			i += 5
		}
	}
	return -1
}

// unitAt reads a \uXXXX escape.
func unitAt(raw []byte, at int) (unit int, ok bool) {
	if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
		return 0, false
	}
	n, err := fmt.Sscanf(string(raw[at+2:at+6]), "%x", &unit)
	return unit, n == 1 && err == nil
}

// text checks a text that a person or a model is to read.
func (f *faults) text(where, s string) {
	if strings.TrimSpace(s) == "" {
		f.add("%s: an empty text", where)
	}
}

// object checks that raw is a JSON object.
func (f *faults) object(where string, raw []byte) {
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		f.add("%s: %q is not a JSON object", where, short(string(raw)))
	}
	if loneSurrogate(raw) >= 0 {
		f.add("%s: half a surrogate pair", where)
	}
}

// media checks the bytes of a file and its type.
func (f *faults) media(where, kind, data string, legal ...string) {
	if !slices.Contains(legal, kind) {
		f.add("%s: files of the type %q are not taken", where, kind)
	}
	if raw, err := base64.StdEncoding.DecodeString(data); err != nil || len(raw) == 0 {
		f.add("%s: a file without bytes in base64", where)
	}
}

// dataURL checks a file in an address.
func (f *faults) dataURL(where, address string, legal ...string) {
	rest, ok := strings.CutPrefix(address, "data:")
	kind, data, encoded := strings.Cut(rest, ";base64,")
	if !ok || !encoded {
		f.add("%s: the address of a file holds no bytes", where)
		return
	}
	f.media(where, kind, data, legal...)
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// tools checks names and schemas.
func (f *faults) tools(names []string, schemas []json.RawMessage) {
	for i, name := range names {
		if !toolName.MatchString(name) || slices.Contains(names[:i], name) {
			f.add("tool %d: the name %q is not legal or not unique", i, name)
		}
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(schemas[i], &schema) != nil || schema.Type != "object" {
			f.add("tool %q: the schema describes no object", name)
		}
	}
}

// size checks that everything fits.
func (f *faults) size(bytes, files, reply, window int) {
	if tokens := (bytes+3)/4 + files*fileTokens; window > 0 && tokens+reply > window {
		f.add("about %d tokens and a reply of %d do not fit into a window of %d", tokens, reply, window)
	}
}

// message is one message of a request as far as the order of things goes.
// Results are in messages of the role "tool", whatever the interface calls it.
type message struct {
	role string
	// calls are the ids of calls and called the tools, results the ids of the
	// calls that are answered and named the tools, empty where none is named.
	calls, called  []string
	results, named []string
}

// order checks the order of a conversation: it begins and ends with the person or
// with results, speakers take turns, and each call is answered once, directly.
func (f *faults) order(list []message, maxID int) {
	if len(list) == 0 {
		f.add("there is no message")
		return
	}
	if list[0].role != "user" {
		f.add("message 0: a conversation begins with the person, not with %q", list[0].role)
	}
	if list[len(list)-1].role == "assistant" {
		f.add("message %d: the model spoke last", len(list)-1)
	}
	used := map[string]bool{}
	for i, m := range list {
		where := fmt.Sprintf("message %d", i)
		if i > 0 && list[i-1].role == m.role {
			f.add("%s: two messages of %q in a row", where, m.role)
		}
		for _, id := range m.calls {
			if len(id) > maxID || !legalID.MatchString(id) || used[id] {
				f.add("%s: the id %q of a call is not legal or not unique", where, id)
			}
			used[id] = true
		}
		if m.role == "tool" {
			f.answers(where, list, i)
		}
		if len(m.calls) > 0 && (i+1 == len(list) || list[i+1].role != "tool") {
			f.add("%s: no results follow the calls %q", where, m.calls)
		}
	}
}

// answers checks the results in message i against the calls before it.
func (f *faults) answers(where string, list []message, i int) {
	m := list[i]
	var before message
	if i > 0 {
		before = list[i-1]
	}
	open := slices.Clone(before.calls)
	for n, id := range m.results {
		at := slices.Index(open, id)
		if at < 0 {
			f.add("%s: the result %q answers no call, or one that is answered", where, id)
			continue
		}
		called := slices.Index(before.calls, id)
		if m.named[n] != "" && m.named[n] != before.called[called] {
			f.add("%s: the result %q is of %q, and %q was called", where, id, m.named[n], before.called[called])
		}
		open = slices.Delete(open, at, at+1)
	}
	if len(open) > 0 {
		f.add("%s: the calls %q have no result", where, open)
	}
}
