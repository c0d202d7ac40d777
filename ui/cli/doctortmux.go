package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	// tmuxLimit bounds one question to tmux.
	tmuxLimit = time.Second
	// maxEscape is how long tmux may keep an escape back, in milliseconds.
	maxEscape = 50
)

// tmuxOption asks the tmux around this terminal for the value of an option.
func tmuxOption(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "show-options", "-Agqv", name).Output()
	if err == nil && strings.TrimSpace(string(out)) == "" {
		out, err = exec.CommandContext(ctx, "tmux", "show-options", "-sqv", name).Output()
	}
	if err != nil {
		return "", fmt.Errorf("ask tmux for %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// examineTmux looks at the settings of tmux that cairn is better with.
func examineTmux(ctx context.Context, option func(ctx context.Context, name string) (string, error)) []finding {
	const about = "tmux"
	var list []finding
	for _, c := range []struct {
		name  string
		right func(value string) bool
		why   string
		line  string
	}{
		{"escape-time", func(v string) bool {
			n, err := strconv.Atoi(v)
			return err == nil && n <= maxEscape
		}, "esc comes late", "set -sg escape-time 10"},
		{"focus-events", on, "it is not told whether you look, so nothing tells that an answer is there", "set -g focus-events on"},
		{"extended-keys", on, "shift+enter cannot be told from enter", "set -s extended-keys on"},
		{"set-clipboard", func(v string) bool { return v == "on" }, "copied text does not reach the clipboard of your terminal", "set -s set-clipboard on"},
	} {
		value, err := option(ctx, c.name)
		if err != nil {
			return append(list, noted(about, "its settings cannot be read: "+cause(err).Error(), ""))
		}
		switch {
		case value == "": // this tmux does not know it
		case !c.right(value):
			list = append(list, noted(about, fmt.Sprintf("%s is %s: %s", c.name, value, c.why), "in ~/.tmux.conf: "+c.line))
		}
	}
	if list == nil {
		list = []finding{good(about, "escape-time, focus-events, extended-keys and set-clipboard are right")}
	}
	return list
}

// on reports whether an option is not off.
func on(value string) bool { return value != "off" }
