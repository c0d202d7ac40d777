package tool

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

const (
	// minSecret is the length from which a value counts as a secret, in
	// characters: a shorter one is found by chance in any text.
	minSecret = 8
	// minLine is the length from which one line of a secret of several lines
	// counts by itself.
	minLine = 16
	// formHead is how many bytes of a form are looked up at once.
	formHead = minSecret
)

// Redactor replaces secrets in text by their names. It finds each one as it is,
// escaped for a URL or for JSON, in hexadecimal, and in base64, also of something
// longer, and broken into lines. The zero value and nil know no
// secret. A Redactor is safe for concurrent use, also while it learns more.
type Redactor struct {
	mu      sync.Mutex
	secrets map[string]string
	now     atomic.Pointer[spelled]
}

// spelled are the secrets that a Redactor knows at some time.
type spelled struct {
	// forms are all spellings by their first bytes, the longest first.
	forms map[string][]form
	// pairs tells of two bytes, as a bit, whether some form begins with them.
	pairs [1 << 16 / 64]uint64
}

// form is one spelling of a secret.
type form struct{ text, name string }

// NewRedactor returns a Redactor for secrets by their names. Values of fewer
// than 8 characters, without the white space around them, are passed over.
func NewRedactor(secrets map[string]string) *Redactor {
	r := &Redactor{secrets: maps.Clone(secrets)}
	r.now.Store(spell(secrets))
	return r
}

// Add has one more secret found from now on, under a name. Another value that had
// the name is no longer found.
func (r *Redactor) Add(name, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.secrets)
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	r.secrets = all
	r.now.Store(spell(all))
}

// known are the secrets of now; none have no forms.
func (r *Redactor) known() *spelled {
	if r == nil {
		return &spelled{}
	}
	if s := r.now.Load(); s != nil {
		return s
	}
	return &spelled{}
}

// spell are all forms of secrets.
func spell(secrets map[string]string) *spelled {
	r := &spelled{forms: map[string][]form{}}
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		value := strings.TrimSpace(secrets[name])
		if utf8.RuneCountInString(value) < minSecret {
			continue
		}
		for _, text := range spellings(value) {
			if len(text) < formHead || known[text] {
				continue
			}
			known[text] = true
			head := text[:formHead]
			r.forms[head] = append(r.forms[head], form{text, name})
			pair := uint(text[0])<<8 | uint(text[1])
			r.pairs[pair/64] |= 1 << (pair % 64)
		}
	}
	for _, list := range r.forms {
		slices.SortStableFunc(list, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return r
}

// Redact returns text with "[redacted NAME]" in the place of each secret. Of
// secrets that overlap nothing is left, and the longest gives the name.
func (r *Redactor) Redact(text string) string {
	known := r.known()
	if len(known.forms) == 0 {
		return text
	}
	var out strings.Builder
	var name string
	// text[start:end] is the secret found last, text[:kept] is written.
	kept, start, end, longest := 0, 0, 0, 0
	flush := func() {
		if end > kept {
			out.WriteString(text[kept:start] + mark(name))
			kept = end
		}
	}
	for i := 0; i+formHead <= len(text); i++ {
		f, size, ok := known.at(text[i:])
		if !ok {
			continue
		}
		if i >= end {
			flush()
			start, longest = i, 0
		}
		if len(f.text) > longest {
			name, longest = f.name, len(f.text)
		}
		end = max(end, i+size)
	}
	flush()
	if kept == 0 {
		return text
	}
	return out.String() + text[kept:]
}

// mark is what stands in the place of a secret.
func mark(name string) string { return "[redacted " + name + "]" }

// Marked returns the name of a secret whose place in text is taken by the mark
// that [Redactor.Redact] leaves: who writes such a text down loses the secret.
func (r *Redactor) Marked(text string) (name string, found bool) {
	if !strings.Contains(text, "[redacted ") {
		return "", false
	}
	for _, list := range r.known().forms {
		for _, f := range list {
			if strings.Contains(text, mark(f.name)) {
				return f.name, true
			}
		}
	}
	return "", false
}

// Find returns the name of the first secret in text.
func (r *Redactor) Find(text string) (name string, found bool) {
	known := r.known()
	if len(known.forms) == 0 {
		return "", false
	}
	for i := 0; i+formHead <= len(text); i++ {
		if f, _, ok := known.at(text[i:]); ok {
			return f.name, true
		}
	}
	return "", false
}

// at returns the longest form that the text begins with, and how many bytes of
// the text it takes: a form that was broken into lines is found too.
func (r *spelled) at(text string) (f form, size int, ok bool) {
	next := 1
	for next < len(text) && newline(text[next]) {
		next++
	}
	if next == len(text) {
		return form{}, 0, false
	}
	pair := uint(text[0])<<8 | uint(text[next])
	if r.pairs[pair/64]&(1<<(pair%64)) == 0 {
		return form{}, 0, false
	}
	for _, f := range r.forms[text[:formHead]] {
		if strings.HasPrefix(text, f.text) {
			return f, len(f.text), true
		}
	}
	var head [formHead]byte
	n := 0
	for i := 0; i < len(text) && n < formHead; i++ {
		if !newline(text[i]) {
			head[n] = text[i]
			n++
		}
	}
	for _, f := range r.forms[string(head[:n])] {
		if size, ok := broken(text, f.text); ok {
			return f, size, true
		}
	}
	return form{}, 0, false
}

func newline(c byte) bool { return c == '\n' || c == '\r' }

// broken reports whether a text begins with a form whose lines end anywhere, and
// how many bytes that takes.
func broken(text, form string) (size int, ok bool) {
	for i := range len(form) {
		for size < len(text) && text[size] != form[i] && newline(text[size]) {
			size++
		}
		if size == len(text) || text[size] != form[i] {
			return 0, false
		}
		size++
	}
	return size, true
}

// spellings returns the ways in which a secret may be written.
func spellings(value string) []string {
	all := []string{value}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), component(value)} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	inner := []string{value}
	for range 2 { // JSON is often carried in JSON
		var quoted []string
		for _, v := range inner {
			quoted = append(quoted, jsonText(v, false), jsonText(v, true))
		}
		for _, v := range quoted {
			all = append(all, v, strings.ReplaceAll(v, "/", `\/`))
		}
		inner = quoted
	}
	// What encodes a file or the output of a command has a line feed behind it.
	for _, v := range []string{value, value + "\n"} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			all = append(all, e.EncodeToString([]byte(v)))
		}
	}
	all = append(all, within64(value)...)
	inHex := hex.EncodeToString([]byte(value))
	all = append(all, inHex, strings.ToUpper(inHex))
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	return all
}

// within64 returns how a value looks in the base64 of something longer: without
// the digits that also depend on what is around it, for each place where it may
// begin.
func within64(value string) []string {
	const digit = 6 // bits
	var all []string
	for before := range 3 {
		data := append(make([]byte, before), value...)
		from, to := (before*8+digit-1)/digit, len(data)*8/digit
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, e.EncodeToString(data)[from:to])
		}
	}
	return all
}

// component escapes a value as browsers do for a part of a URL.
func component(value string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(value))
}

// lowerEscapes writes the digits of percent escapes in lower case.
func lowerEscapes(escaped string) string {
	out := []byte(escaped)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return string(out)
}

// jsonText is a value as it stands in a JSON string.
func jsonText(value string, html bool) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(html)
	if enc.Encode(value) != nil {
		return value // never: every string can be encoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(buf.String(), "\n"), `"`), `"`)
}
