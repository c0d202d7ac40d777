package harness

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
)

// ErrSecret means that a fact or note was refused because it holds a key or a
// password. The error around it says of which kind and what to do instead, and
// never repeats the text.
var ErrSecret = errors.New("memory keeps no keys or passwords")

// secrets are the forms of keys and passwords that memory refuses.
var secrets = []struct { //nolint:gochecknoglobals // a table that nobody changes
	kind string
	form *regexp.Regexp
}{
	{"an API key", regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])?[A-Za-z0-9_-]{16,}`)},
	{"a GitHub token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`)},
	{"an AWS key", regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}\b`)},
	{"a Google key", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}|\bGOCSPX-[A-Za-z0-9_-]{16,}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[a-z]-[A-Za-z0-9-]{10,}`)},
	{"an access token", regexp.MustCompile(`\b(?:hf|npm|dop_v1|shpat|lin_api)_[A-Za-z0-9]{16,}`)},
	{"a signed token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`)},
	{"an authorization header", regexp.MustCompile(`(?i)\bauthorization\s*[:=]\s*["']?(?:bearer|basic|token)\s+\S{6,}`)},
	{"a bearer token", regexp.MustCompile(`(?i)\bbearer\s+[A-Za-z._~+/=-]*[0-9][A-Za-z0-9._~+/=-]{7,}`)},
	{"a password in an address", regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@`)},
	{"a password", regexp.MustCompile(`(?i)\b(?:password|passwd|passphrase|api[ _-]?key|secret[ _-]?key|access[ _-]?token|auth[ _-]?token)["']?\s*[:=]\s*["']?[^\s"']{6,}`)},
}

// Secret reports whether text holds a key or a password, and of which kind, in
// words. It knows forms, not meanings: what it finds is one, what it does not
// find may be one. Hashes in hexadecimal are none.
func Secret(text string) (kind string, found bool) {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1 // joiners do not hide a key
		}
		return r
	}, text)
	for _, s := range secrets {
		if s.form.MatchString(text) {
			return s.kind, true
		}
	}
	return "", false
}
