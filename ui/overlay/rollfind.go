package overlay

import "strings"

// findStep is how much is searched at a time where letters of both cases are
// the same.
const findStep = 64 << 10

// exact reports whether a query has capital letters, which are then told from
// small ones.
func exact(query string) bool {
	return strings.ContainsFunc(query, func(c rune) bool { return c >= 'A' && c <= 'Z' })
}

// find is the first place from on and before end at which the query begins, -1
// if there is none.
func (r *roll) find(query string, from, end int) int {
	end = min(end+len(query)-1, len(r.text))
	if query == "" || from < 0 || from >= end {
		return -1
	}
	if exact(query) {
		if i := strings.Index(r.text[from:end], query); i >= 0 {
			return from + i
		}
		return -1
	}
	low := make([]byte, 0, min(findStep+len(query), end-from))
	for at := from; at < end; at += findStep {
		low = lower(low[:0], r.text[at:min(at+findStep+len(query)-1, end)])
		if i := strings.Index(string(low), query); i >= 0 {
			return at + i
		}
	}
	return -1
}

// findLast is the last place before end at which the query begins, -1 if there
// is none.
func (r *roll) findLast(query string, end int) int {
	if query == "" {
		return -1
	}
	end = min(end, len(r.text))
	var low []byte
	for end > 0 {
		at := max(end-findStep, 0)
		part := r.text[at:min(end+len(query)-1, len(r.text))]
		if !exact(query) {
			low = lower(low[:0], part)
			part = string(low)
		}
		if i := strings.LastIndex(part, query); i >= 0 {
			return at + i
		}
		end = at
	}
	return -1
}

// lower appends s with the capital letters of ASCII made small: its length
// stays the same.
func lower(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
