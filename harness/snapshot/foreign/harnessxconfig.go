package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// harnessXConfig is the configuration in a snapshot. Its keys that say what this
// program has no setting for are left out here and told.
type harnessXConfig struct {
	Model     string         `json:"model"`
	Provider  string         `json:"provider"`
	System    string         `json:"system_prompt"`
	MaxTokens *float64       `json:"max_tokens"`
	Limits    harnessXLimits `json:"limits"`
	Retry     harnessXRetry  `json:"retry"`
	flat
}

type harnessXLimits struct {
	Steps  *float64 `json:"max_iterations"`
	Window *float64 `json:"max_context_tokens"`
	Result *float64 `json:"max_result_chars"`
	Cost   *float64 `json:"max_cost_dollars"`
	Input  *float64 `json:"input_cost_per_m"`
	Output *float64 `json:"output_cost_per_m"`
}

type harnessXRetry struct {
	Attempts *float64 `json:"attempts"`
	Backoff  *float64 `json:"backoff_seconds"`
	Timeout  *float64 `json:"call_timeout_seconds"`
}

// flat are the nine keys of version 0.3, which had them beside the model. They win
// over the same values further in.
type flat struct {
	harnessXLimits

	Attempts *float64 `json:"llm_max_attempts"`
	Backoff  *float64 `json:"llm_retry_backoff_seconds"`
	Timeout  *float64 `json:"model_timeout_seconds"`
}

// unset are the keys that change nothing here.
func unset() []string {
	return []string{
		"model", "provider", "system_prompt", "max_tokens", "limits", "retry",
		"max_iterations", "max_context_tokens", "max_result_chars", "max_cost_dollars", "input_cost_per_m", "output_cost_per_m",
		"llm_max_attempts", "llm_retry_backoff_seconds", "model_timeout_seconds",
		// How requests are sent, not what a session is.
		"planning", "prompt_cache", "progress", "tools",
	}
}

// config reads the configuration and returns the provider.
func (r *harnessXReader) config(raw json.RawMessage, into *snapshot.Config) (provider string, err error) {
	const fallback = "anthropic"
	if isEmpty(raw) {
		return fallback, nil
	}
	var keys map[string]json.RawMessage
	if err := decode(raw, &keys); err != nil {
		return "", err
	}
	var c harnessXConfig
	if err := decode(raw, &c); err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(unset(), key) && !isEmpty(keys[key]) {
			r.omit("config." + valid(key))
		}
	}
	provider = strings.TrimSpace(valid(c.Provider))
	if provider == "" {
		provider = fallback
	}
	into.System = valid(c.System)
	if model := strings.TrimSpace(valid(c.Model)); model != "" {
		into.Model = provider + "/" + model
	}
	into.Limits, err = c.all()
	return provider, err
}

// setting is one number of the configuration and where it goes: into one that is
// whole, or into the other. The first value that is there counts.
type setting struct {
	name  string
	from  []*float64
	whole *int
	other *float64
}

// all are the limits, those of version 0.3 before the others.
func (c harnessXConfig) all() (snapshot.Limits, error) {
	var l snapshot.Limits
	for _, s := range []setting{
		{"max_iterations", []*float64{c.Steps, c.Limits.Steps}, &l.Steps, nil},
		{"max_context_tokens", []*float64{c.Window, c.Limits.Window}, &l.Window, nil},
		{"max_result_chars", []*float64{c.Result, c.Limits.Result}, &l.Result, nil},
		{"max_tokens", []*float64{c.MaxTokens}, &l.Reply, nil},
		{"attempts", []*float64{c.Attempts, c.Retry.Attempts}, &l.Attempts, nil},
		{"max_cost_dollars", []*float64{c.Cost, c.Limits.Cost}, nil, &l.Cost},
		{"input_cost_per_m", []*float64{c.Input, c.Limits.Input}, nil, &l.InputPrice},
		{"output_cost_per_m", []*float64{c.Output, c.Limits.Output}, nil, &l.OutputPrice},
		{"backoff", []*float64{c.Backoff, c.Retry.Backoff}, nil, &l.Backoff},
		{"timeout", []*float64{c.Timeout, c.Retry.Timeout}, nil, &l.Timeout},
	} {
		if err := s.settle(); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (s setting) settle() error {
	for _, from := range s.from {
		switch {
		case from == nil:
			continue
		case *from < 0, s.whole != nil && (*from != math.Trunc(*from) || *from > math.MaxInt32):
			return fmt.Errorf("%w: %s is %v", harness.ErrDamaged, s.name, *from)
		case s.whole != nil:
			*s.whole = int(*from)
		default:
			*s.other = *from
		}
		return nil
	}
	return nil
}
