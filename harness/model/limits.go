package model

import (
	"regexp"
	"strconv"
	"strings"
)

// replyMargin is kept free when a reply budget is computed from what a
// refusal says is left of the window, in tokens.
const replyMargin = 1024

// number matches a count of tokens, with or without thousands separators.
const number = `(\d[\d,_]*)`

// windowLimits find the allowed number of tokens in the sentences with which
// providers refuse a request that is too long. The first group is the limit.
var windowLimits = []*regexp.Regexp{ //nolint:gochecknoglobals // a table that nobody changes
	regexp.MustCompile(`maximum context length (?:is|of) ` + number),
	regexp.MustCompile(`too long: ` + number + ` tokens > ` + number),
	regexp.MustCompile(`exceeds the maximum number of tokens allowed \(` + number),
	regexp.MustCompile(`exceeds the available context size \(` + number),
	regexp.MustCompile(`loaded with context length of only ` + number),
	regexp.MustCompile(`maximum prompt length is ` + number),
	regexp.MustCompile(`model with ` + number + ` maximum context length`),
	regexp.MustCompile(`input length should be \[\d+, ?` + number + `\]`),
	regexp.MustCompile(`limit is ` + number + ` tokens`),
	regexp.MustCompile(`input tokens, limit is ` + number),
	regexp.MustCompile(`context (?:window|length|size|limit)[^.\d]{0,40}` + number + ` tokens`),
	regexp.MustCompile(`tokens in the prompt cannot exceed ` + number),
}

// replyLimits find the allowed reply in the sentences with which providers
// refuse a reply budget. The first group is the limit.
var replyLimits = []*regexp.Regexp{ //nolint:gochecknoglobals // a table that nobody changes
	regexp.MustCompile(`supports at most ` + number + ` (?:completion|output) tokens`),
	regexp.MustCompile(`max_tokens: \d+ > ` + number),
	regexp.MustCompile(`valid range of max_tokens is \[\d+, ?` + number + `\]`),
	regexp.MustCompile(`max_?(?:output_?|completion_?)?tokens[^.]{0,60}(?:less than or equal to|<=|≤|at most|no more than|maximum(?: value)?(?: is)?) \W?` + number),
	regexp.MustCompile(`(?:less than or equal to|<=|≤|at most) \W?` + number + `[^.]{0,40}max_?(?:output_?|completion_?)?tokens`),
}

var (
	// exclusiveReply is Gemini's range, whose end is not allowed itself.
	exclusiveReply = regexp.MustCompile(`maxoutputtokens.*supported range is from \d+ \(inclusive\) to ` + number + ` \(exclusive\)`)
	// sum is "A + B > C": the request, the reply budget and the window.
	sum = regexp.MustCompile(number + ` \+ ` + number + ` > ` + number)
	// difference is "B > C - A", the same the other way round.
	difference = regexp.MustCompile(number + ` > ` + number + ` - ` + number)
	// parts is "(A in the messages, B in the completion)", or the same of a prompt.
	parts = regexp.MustCompile(`\(` + number + ` in (?:the messages|your prompt)[,;] ` + number + ` (?:in|for) the completion\)`)

	budgetWord = regexp.MustCompile(`max_?(?:output|completion|new)?_?tokens`)
)

// overflowWords are said of a request that does not fit, when no limit is.
var overflowWords = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"context_length_exceeded", "exceed_context_size", "context length", "maximum context",
	"context window", "context size", "too many tokens", "prompt is too long", "input is too long",
	"input too long", "reduce the length", "request_too_large", "number of tokens allowed",
	"maximum prompt length",
}

// limitOf reads a refusal, lower-cased, and returns what it refuses
// (KindOverflow, KindReplyLimit, or "" for neither), the allowed number of
// tokens, 0 if not named, and, if that number holds for this request only, the
// window that it is left of.
func limitOf(text string) (kind ErrorKind, limit, window int) {
	if strings.Contains(text, "rate limit") || strings.Contains(text, "per min") {
		return "", 0, 0
	}
	if budgetWord.MatchString(text) {
		if n := replyLimit(text); n > 0 {
			return KindReplyLimit, n, 0
		}
	}
	if strings.Contains(text, "context") {
		if asked, window, ok := split(text); ok {
			if left := window - asked - replyMargin; left > 0 {
				return KindReplyLimit, left, window
			}
			return KindOverflow, window, 0
		}
	}
	if n := firstNumber(windowLimits, text); n > 0 {
		return KindOverflow, n, 0
	}
	for _, w := range overflowWords {
		if strings.Contains(text, w) {
			return KindOverflow, 0, 0
		}
	}
	return "", 0, 0
}

// split finds the size of the request and of the window in a refusal of their
// sum with the reply budget.
func split(text string) (asked, window int, ok bool) {
	if m := sum.FindStringSubmatch(text); m != nil {
		return count(m[1]), count(m[3]), true
	}
	if m := difference.FindStringSubmatch(text); m != nil {
		return count(m[3]), count(m[2]), true
	}
	if m := parts.FindStringSubmatch(text); m != nil {
		if window := firstNumber(windowLimits, text); window > 0 {
			return count(m[1]), window, true
		}
	}
	return 0, 0, false
}

// replyLimit finds the allowed reply budget, 0 if the text names none.
func replyLimit(text string) int {
	if m := exclusiveReply.FindStringSubmatch(text); m != nil {
		return count(m[1]) - 1
	}
	return firstNumber(replyLimits, text)
}

// firstNumber returns the last group of the first pattern that matches, which
// is the limit in every pattern here.
func firstNumber(patterns []*regexp.Regexp, text string) int {
	for _, p := range patterns {
		if m := p.FindStringSubmatch(text); m != nil {
			return count(m[len(m)-1])
		}
	}
	return 0
}

// count parses digits with separators; a number beyond all windows counts as
// none.
func count(digits string) int {
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(digits))
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}
