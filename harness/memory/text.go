package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

const (
	// maxName bounds call ids and tool names at every provider.
	maxName     = 64
	replacement = "\uFFFD"
)

// valid returns s with each run of bytes that is not UTF-8 replaced.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, replacement)
}

// usable reports whether a provider can be given o back.
func usable(o *harness.Opaque) bool { return o != nil && json.Valid(o.Data) }

func opaque(o *harness.Opaque) *harness.Opaque {
	if usable(o) {
		return o
	}
	return nil
}

// plainName reports whether every provider accepts s as an id or a name.
func plainName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// toolName makes the name that a model called fit to be sent back; models
// invent names that no provider accepts in a history.
func toolName(s string) string {
	if plainName(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxName; i++ {
		if nameByte(s[i]) {
			b.WriteByte(s[i])
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "unknown"
	}
	return b.String()
}

// ids gives each call of a request a unique id that every provider accepts.
type ids struct {
	taken map[string]bool
	// next is the suffix to try first when an id comes again.
	next map[string]int
}

func newIDs() *ids { return &ids{taken: map[string]bool{}, next: map[string]int{}} }

// assign keeps a good id. Another one is derived from it alone, so it is the
// same in later requests as long as nothing before it repeats it.
func (t *ids) assign(id string) string {
	if !plainName(id) {
		sum := sha256.Sum256([]byte(id))
		id = "call_" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15])
	}
	free := id
	for n := max(2, t.next[id]); t.taken[free]; n++ {
		suffix := "-" + strconv.Itoa(n)
		free = id[:min(len(id), maxName-len(suffix))] + suffix
		t.next[id] = n + 1
	}
	t.taken[free] = true
	return free
}

// object returns a call's input as a JSON object of valid UTF-8 without
// unpaired surrogate escapes; what is no object becomes {}.
func object(in json.RawMessage) json.RawMessage {
	in = bytes.ToValidUTF8(bytes.TrimSpace(in), []byte(replacement))
	if len(in) == 0 || in[0] != '{' || !json.Valid(in) {
		return json.RawMessage("{}")
	}
	return pairSurrogates(in)
}

// pairSurrogates replaces each \u escape of half a surrogate pair by \ufffd.
// Go's own decoder does so silently; strict servers refuse the whole request.
func pairSurrogates(in []byte) []byte {
	if !bytes.Contains(in, []byte(`\u`)) {
		return in
	}
	out := bytes.Clone(in)
	for i := 0; i < len(out); i++ {
		if out[i] != '\\' {
			continue
		}
		u, ok := escape(out, i)
		if !ok {
			i++ // a short escape: the next byte belongs to it
			continue
		}
		low, paired := escape(out, i+6)
		switch {
		case u < 0xD800 || u > 0xDFFF:
		case u < 0xDC00 && paired && low >= 0xDC00 && low <= 0xDFFF:
			i += 6
		default:
			copy(out[i+2:], "fffd")
		}
		i += 5
	}
	return out
}

// escape reads a \uXXXX escape at i.
func escape(b []byte, i int) (uint64, bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
	return u, err == nil
}

// runes counts characters.
func runes(s string) int { return utf8.RuneCountInString(s) }
