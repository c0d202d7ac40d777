package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"cairn/harness"
)

// The keys of the table of spending, and the key of the models that stand in.
const (
	keySpendSession = "spending.session"
	keySpendDay     = "spending.day"
	keyFallback     = "fallback"
)

// maxLimit is a limit in USD that nobody needs; infinity is above it.
const maxLimit = 1e9

// limitText is what a limit must be, in words.
const limitText = "an amount in USD such as 5.0, 0 for no limit"

// spendingTable is what a file says of limits.
type spendingTable struct {
	Session *float64 `toml:"session"`
	Day     *float64 `toml:"day"`
}

// plainValues adds the keys that are set to those of the file.
func (t *spendingTable) plainValues(plain map[string]string) {
	if t == nil {
		return
	}
	for key, v := range map[string]*float64{keySpendSession: t.Session, keySpendDay: t.Day} {
		if v != nil {
			plain[key] = strconv.FormatFloat(*v, 'f', -1, 64)
		}
	}
}

// checkSpending refuses amounts that limit nothing, and models that are none.
func (f file) checkSpending(path string, data []byte) error {
	var all []error
	wrong := func(key, text string) {
		all = append(all, &ConfigError{File: path, Line: lineOfKey(data, key), Text: fmt.Sprintf("%q must be %s", key, text)})
	}
	if t := f.Spending; t != nil {
		if t.Session != nil && !limits(*t.Session) {
			wrong(keySpendSession, limitText)
		}
		if t.Day != nil && !limits(*t.Day) {
			wrong(keySpendDay, limitText)
		}
	}
	for _, name := range f.Fallback {
		if strings.TrimSpace(name) == "" || strings.Contains(name, ",") {
			wrong(keyFallback, fallbackText+fmt.Sprintf(", not %q", name))
		}
	}
	return errors.Join(all...)
}

// fallbackText is what the models that stand in are, in words.
const fallbackText = `a list of models such as ["openai/gpt-5", "gemini"]`

// limits reports whether an amount can be a limit.
func limits(amount float64) bool {
	return !math.IsNaN(amount) && amount >= 0 && amount <= maxLimit
}

// settleSpending fills in the limits and the models that stand in. What files say
// is checked already, with their lines.
func (c *Config) settleSpending() error {
	for key, to := range map[string]*float64{keySpendSession: &c.Spending.Session, keySpendDay: &c.Spending.Day} {
		v := c.values[key]
		amount, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(v.Value), "$"), 64)
		if err != nil || !limits(amount) {
			return usage("%s must be %s, not %q", v.From, limitText, v.Value)
		}
		*to = amount
		v.Value = strconv.FormatFloat(amount, 'f', -1, 64)
		c.values[key] = v
	}
	for name := range strings.SplitSeq(c.values[keyFallback].Value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.Fallback = append(c.Fallback, name)
		}
	}
	return nil
}

// spendingWords are the limits in words, "none" if there is none.
func spendingWords(l harness.SpendingLimits) string {
	var parts []string
	if l.Session > 0 {
		parts = append(parts, harness.Dollars(l.Session)+" a session")
	}
	if l.Day > 0 {
		parts = append(parts, harness.Dollars(l.Day)+" a day")
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
