package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The keys of what is told to a person who looks elsewhere.
const (
	keyNotify      = "notify"
	keyNotifyAfter = "notify_after"
)

// Notify says how somebody who looks elsewhere is told that a turn ended or waits
// for them.
type Notify string

// The ways to tell.
const (
	// NotifyAuto picks the way that the terminal is known to have, or the bell.
	NotifyAuto   Notify = "auto"
	NotifyBell   Notify = "bell"
	NotifyOSC9   Notify = "osc9"
	NotifyOSC777 Notify = "osc777"
	NotifyOff    Notify = "off"
)

// notifiesText is what it can be, in words.
const notifiesText = `"auto", "bell", "osc9", "osc777" or "off"`

// notifies are the values of the key, for completion.
func notifies() []string {
	return []string{string(NotifyAuto), string(NotifyBell), string(NotifyOSC9), string(NotifyOSC777), string(NotifyOff)}
}

// defaultNotifyAfter is how long a turn takes that is worth telling of, and
// maxNotifyAfter the longest that may be set.
const (
	defaultNotifyAfter = 10 * time.Second
	maxNotifyAfter     = 24 * time.Hour
)

// notifyAfterText is what the time can be, in words.
const notifyAfterText = `a time of at most a day with its unit, such as "10s"`

// notifyAfter reads the time of a turn that is worth telling of.
func notifyAfter(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return d, err == nil && d >= 0 && d <= maxNotifyAfter
}

// checkNotify refuses values that mean nothing.
func (f file) checkNotify(path string, data []byte) error {
	var all []error
	wrong := func(key, text, not string) {
		all = append(all, &ConfigError{File: path, Line: lineOfKey(data, key), Text: fmt.Sprintf("%q must be %s, not %q", key, text, not)})
	}
	if f.Notify != nil && !slices.Contains(notifies(), *f.Notify) {
		wrong(keyNotify, notifiesText, *f.Notify)
	}
	if f.NotifyAfter != nil {
		if _, ok := notifyAfter(*f.NotifyAfter); !ok {
			wrong(keyNotifyAfter, notifyAfterText, *f.NotifyAfter)
		}
	}
	return errors.Join(all...)
}

// settleNotify fills in what is told. What files say is checked already.
func (c *Config) settleNotify() error {
	c.Notify = Notify(c.values[keyNotify].Value)
	after := c.values[keyNotifyAfter]
	d, ok := notifyAfter(after.Value)
	if !ok {
		return usage("%s must be %s, not %q", placeOf(after, keyNotifyAfter), notifyAfterText, after.Value)
	}
	c.NotifyAfter = d
	return nil
}
