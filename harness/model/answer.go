package model

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Answer is a refusal as it came over the wire: a response that is no reply,
// or an error object inside a stream (Status 0).
type Answer struct {
	Provider string
	Status   int
	Header   http.Header
	// Body is its beginning; what is cut is only missing from the message.
	Body []byte
	// Secrets are taken out of every text.
	Secrets []string
	// Now turns a date in Retry-After into a wait.
	Now time.Time
}

// finalQuota are the words of refusals that no waiting mends, also with 429.
var finalQuota = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"insufficient_quota", "billing", "credit", "quota", "payment", "suspended", "spending limit",
	"usage limit", "insufficient balance", "insufficient_balance", "spend limit",
}

// passing are the words of refusals inside a stream that pass.
var passing = []string{"overloaded", "rate_limit", "rate limit", "too many requests", "resource_exhausted", "throttl"} //nolint:gochecknoglobals // a table that nobody changes

// perMinute says of a quota that it fills up again by itself.
var perMinute = regexp.MustCompile(`per[ _-]?(?:second|minute|min\b)`)

// perDay says of a quota that it does not, for as long as anybody waits.
var perDay = regexp.MustCompile(`per[ _-]?(?:day|month)`)

// Err sorts the refusal and turns it into a sentence.
func (a Answer) Err() *Error {
	e := &Error{Provider: a.Provider, Status: a.Status, RetryAfter: retryAfter(a.Header, a.Now)}
	if looksHTML(a.Header.Get("Content-Type"), a.Body) {
		return a.page(e)
	}
	p, ok := parsePayload(a.Body)
	if !ok {
		p.message = string(a.Body)
	}
	e.RetryAfter = max(e.RetryAfter, p.retryAfter)
	status := cmp.Or(a.Status, p.status)
	e.Message = cmp.Or(Sentence(p.message, a.Secrets...), Sentence(p.words, a.Secrets...), statusWords(status), "refused without a reason")
	text := strings.ToLower(p.message) + " " + p.words
	a.sort(e, p, text, status)
	return e
}

// page is the error of a web page in place of an answer.
func (a Answer) page(e *Error) *Error {
	title := Sentence(pageTitle(a.Body), a.Secrets...)
	if a.Status >= 400 {
		a.sort(e, payload{}, "", a.Status)
		e.Message = cmp.Or(title, statusWords(a.Status)) + " (a web page, not an answer of the service)"
		return e
	}
	e.Kind = KindProtocol
	e.Message = "a web page came instead of a reply"
	if title != "" {
		e.Message += fmt.Sprintf(", titled %q", title)
	}
	e.Message += "; is there a sign-in page in the network, or is the base URL wrong?"
	return e
}

// sort sets kind, limit and whether another attempt may succeed.
func (a Answer) sort(e *Error, p payload, text string, status int) {
	kind, limit, window := limitOf(text)
	quota := hasAny(text, finalQuota) && !passingQuota(p, text)
	switch {
	case kind != "":
		e.Kind, e.Limit, e.Once, e.Window = kind, max(limit, p.limit), window > 0, window
	case status == http.StatusRequestEntityTooLarge:
		e.Kind = KindOverflow
	case quota && (status == 0 || status == http.StatusPaymentRequired || status == http.StatusTooManyRequests ||
		status == http.StatusForbidden || status == http.StatusBadRequest):
		e.Kind = KindQuota
	case status != 0:
		e.Kind = kindOfStatus(status)
	default:
		e.Kind = kindOfWords(text)
	}
	e.Retry = Passes(e.Kind)
}

// passingQuota reports whether an exhausted quota is one of requests or tokens
// a minute.
func passingQuota(p payload, text string) bool {
	all := text + p.quotas
	return (perMinute.MatchString(all) || strings.Contains(p.quotas, "perminute")) &&
		!perDay.MatchString(all) && !strings.Contains(p.quotas, "perday")
}

// Passes reports whether failures of the kind pass by themselves.
func Passes(k ErrorKind) bool {
	switch k {
	case KindRateLimit, KindServer, KindNetwork, KindIncomplete, KindIdle:
		return true
	default:
		return false
	}
}

// Free reports whether err says that a provider turned a request down before it
// worked on it, or never got it, so that nothing was used.
func Free(err error) bool {
	e, ok := AsError(err)
	if !ok {
		return false
	}
	switch e.Kind {
	case KindAuth, KindNotFound, KindRateLimit, KindQuota, KindOverflow, KindReplyLimit, KindBadRequest, KindConfig:
		return true
	default:
		return e.Unsent
	}
}

// kindOfStatus sorts by HTTP status alone.
func kindOfStatus(status int) ErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return KindAuth
	case status == http.StatusPaymentRequired:
		return KindQuota
	case status == http.StatusNotFound, status == http.StatusGone:
		return KindNotFound
	case status == http.StatusTooManyRequests:
		return KindRateLimit
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status >= http.StatusInternalServerError:
		return KindServer
	case status >= http.StatusBadRequest:
		return KindBadRequest
	}
	return KindProtocol
}

// kindOfWords sorts an error object that came inside a stream, without a
// status. One that says nothing known is taken for the server's fault.
func kindOfWords(text string) ErrorKind {
	switch {
	case hasAny(text, passing):
		if strings.Contains(text, "overloaded") {
			return KindServer
		}
		return KindRateLimit
	case hasAny(text, []string{"authentication_error", "permission_error", "invalid_api_key", "unauthorized", "api key"}):
		return KindAuth
	case hasAny(text, []string{"not_found_error", "model_not_found"}):
		return KindNotFound
	case hasAny(text, []string{"invalid_request", "invalid_argument", "bad request", "badrequest"}):
		return KindBadRequest
	}
	return KindServer
}

func hasAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// statusWords returns the usual words for a status, empty for 0.
func statusWords(status int) string {
	if status == 529 {
		return "overloaded"
	}
	return strings.ToLower(http.StatusText(status))
}

// retryAfter returns the wait that a header asks for, in milliseconds, seconds
// or as a date; 0 if it asks for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(headerValue(h, "Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(headerValue(h, "Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// bounded turns a float of nanoseconds into a duration between 0 and a day.
func bounded(ns float64) time.Duration {
	if !(ns > 0) {
		return 0
	}
	return time.Duration(min(ns, float64(24*time.Hour)))
}

// headerValue looks a header up in whatever case it is stored.
func headerValue(h http.Header, name string) string {
	if v := h.Get(name); v != "" {
		return v
	}
	for k, v := range h {
		if strings.EqualFold(k, name) && len(v) > 0 {
			return v[len(v)-1]
		}
	}
	return ""
}

// AsError returns the *[Error] in err's chain.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
