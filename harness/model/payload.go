package model

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// payload is what the many shapes of JSON errors have in common.
type payload struct {
	// message is the provider's sentence.
	message string
	// words are the type, code and status, lower-cased and joined.
	words string
	// status is an HTTP status given inside the payload, 0 if none.
	status int
	// retryAfter is a wait asked for inside the payload.
	retryAfter time.Duration
	// quotas are the names of exhausted quotas, lower-cased.
	quotas string
	// limit is a window named in a field of its own.
	limit int
}

// parsePayload reads an error object in any of the usual shapes; ok is false
// if body holds none.
func parsePayload(body []byte) (p payload, ok bool) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return payload{}, false
	}
	if list, isList := v.([]any); isList && len(list) > 0 {
		v = list[0]
	}
	top, isMap := v.(map[string]any)
	if !isMap {
		return payload{}, false
	}
	switch e := top["error"].(type) {
	case map[string]any:
		p.read(e)
	case string:
		p.read(top)
		p.message = e
	default:
		p.read(top)
	}
	return p, p.message != "" || p.words != ""
}

// read takes the fields of one error object.
func (p *payload) read(e map[string]any) {
	p.message = firstText(e["message"], e["detail"], e["msg"], e["error_description"])
	var words []string
	for _, key := range []string{"type", "code", "status", "param"} {
		switch x := e[key].(type) {
		case string:
			words = append(words, strings.ToLower(x))
			if n, err := strconv.Atoi(x); err == nil && key == "code" {
				p.status = httpStatus(n)
			}
		case float64:
			if key == "code" || key == "status" {
				p.status = httpStatus(int(x))
			}
		}
	}
	p.words = strings.Join(words, " ")
	if n, ok := e["n_ctx"].(float64); ok {
		p.limit = int(n)
	}
	p.readDetails(e["details"])
	p.readUpstream(e["metadata"])
}

// readDetails takes the wait and the quotas of Google's detail list.
func (p *payload) readDetails(v any) {
	list, _ := v.([]any)
	for _, item := range list {
		d, _ := item.(map[string]any)
		if s, ok := d["retryDelay"].(string); ok {
			if wait, err := time.ParseDuration(s); err == nil && wait > 0 {
				p.retryAfter = wait
			}
		}
		violations, _ := d["violations"].([]any)
		for _, item := range violations {
			v, _ := item.(map[string]any)
			p.quotas += " " + strings.ToLower(firstText(v["quotaId"])+" "+firstText(v["quotaMetric"]))
		}
	}
}

// readUpstream adds what a router says of the provider behind it.
func (p *payload) readUpstream(v any) {
	meta, _ := v.(map[string]any)
	raw, _ := meta["raw"].(string)
	if raw == "" {
		return
	}
	if inner, ok := parsePayload([]byte(raw)); ok && inner.message != "" {
		raw = inner.message
		p.words += " " + inner.words
		p.limit = max(p.limit, inner.limit)
	}
	if !strings.Contains(p.message, raw) {
		p.message = strings.TrimSpace(p.message + ": " + raw)
	}
}

// firstText returns the first of the values that is or holds a text.
func firstText(values ...any) string {
	for _, v := range values {
		switch x := v.(type) {
		case string:
			if x != "" {
				return x
			}
		case []any:
			// The shape of validation errors: [{"msg": …}].
			if len(x) > 0 {
				if m, ok := x[0].(map[string]any); ok {
					return firstText(m["msg"], m["message"])
				}
			}
		}
	}
	return ""
}

// httpStatus returns n if it can be an HTTP error status, else 0.
func httpStatus(n int) int {
	if n >= 400 && n <= 599 {
		return n
	}
	return 0
}
