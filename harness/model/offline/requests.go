package offline

import (
	"regexp"
	"slices"
	"strings"
)

const (
	// maxRequests bounds the requests of one message.
	maxRequests = 20
	// maxJoint is the length to which a text is looked through for several
	// requests, in bytes, and maxJoints in how many places.
	maxJoint  = 8_000
	maxJoints = 60
)

// requests returns what a text plainly asks for, in order; nothing if that is
// not plain. Several are joined by "and then" or stand on lines of their own.
func requests(text string) []intent {
	var all []intent
	for len(all) < maxRequests-1 && len(text) <= maxJoint {
		first, rest, ok := cut(text)
		if !ok {
			break
		}
		all, text = append(all, first), rest
	}
	if last, ok := request(text); ok {
		return append(all, last)
	}
	return nil
}

// cut returns the first request of a text and what follows it. Where it ends is
// plain only if another one begins there.
func cut(text string) (first intent, rest string, ok bool) {
	joints := compiled().joint.FindAllStringIndex(text, maxJoints)
	for i, at := range joints {
		left, right := text[:at[0]], text[at[1]:]
		if quoted := strings.Count(left, "`")%2 != 0 || strings.Count(left, `"`)%2 != 0; quoted {
			continue
		}
		first, ok = request(left)
		if !ok || first.whole || first.open && strings.Contains(text[at[0]:at[1]], "\n") {
			continue
		}
		next := right
		if i+1 < len(joints) {
			next = text[at[1]:joints[i+1][0]]
		}
		if _, ok := request(next); ok {
			return first, right, true
		}
		if _, ok := request(right); ok {
			return first, right, true
		}
	}
	return intent{}, text, false
}

// request returns what a text asks a tool for, if it does so plainly.
func request(text string) (intent, bool) {
	p := compiled()
	for _, one := range []struct {
		form *regexp.Regexp
		make func(m []string) (intent, bool)
	}{
		{p.todos, func(m []string) (intent, bool) { return planning(m[1]) }},
		{p.remember, func(m []string) (intent, bool) { return saving(m[1]), true }},
		{p.update, func(m []string) (intent, bool) { return updating(strings.ToLower(m[1]), m[2]), true }},
		{p.forget, func(m []string) (intent, bool) { return forgetting(strings.ToLower(m[1])), true }},
		{p.history, func(m []string) (intent, bool) { return lookingBack(m[1]), true }},
		{p.editFile, func(m []string) (intent, bool) {
			return editing(m[1], m[3]+m[4]+m[5], m[6]+m[7]+m[8], m[2] != ""), true
		}},
		{p.writeFile, func(m []string) (intent, bool) {
			return writing(m[2], unquoted(m[3]), strings.EqualFold(m[1], "overwrite")), true
		}},
		{p.fetch, func(m []string) (intent, bool) { return fetching(address(m[0], m[1])), strings.ContainsAny(m[1], ".:") }},
		{p.askMe, func(m []string) (intent, bool) { return asking(m[1]), true }},
		{p.listFiles, func(m []string) (intent, bool) { return listing(m[1] + m[2]), !kept(m[2]) }},
		{p.command, func(m []string) (intent, bool) { return running(m[1]), true }},
		{p.readFile, func(m []string) (intent, bool) { return reading(m[1]), true }},
		{p.glob, func(m []string) (intent, bool) { return finding(m[1]), true }},
		{p.grep, func(m []string) (intent, bool) { return searching(m[1]+m[2]+m[3], m[4]), true }},
	} {
		if m := one.form.FindStringSubmatch(text); m != nil {
			if in, ok := one.make(m); ok {
				return in, true
			}
		}
	}
	return intent{}, false
}

// kept reports whether a word names what cairn keeps, which is no directory.
func kept(word string) bool {
	return slices.Contains([]string{"facts", "notes", "memories", "sessions", "models", "tools", "runs"}, strings.ToLower(word))
}

// unquoted takes the quotes off a text that is quoted as a whole.
func unquoted(text string) string {
	for _, q := range []string{`"`, "`"} {
		inner, ok := strings.CutPrefix(strings.TrimSpace(text), q)
		if inner, end := strings.CutSuffix(inner, q); ok && end && !strings.Contains(inner, q) {
			return inner
		}
	}
	return text
}

// address is where a request to fetch leads. Without a scheme it is a secure
// one.
func address(request, matched string) string {
	lower := strings.ToLower(request)
	switch {
	case strings.Contains(matched, "://"):
		return matched
	case strings.Contains(lower, "http://"):
		return "http://" + matched
	default:
		return "https://" + matched
	}
}
