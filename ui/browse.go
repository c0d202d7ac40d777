package ui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// opener is how an address is opened on the display before the person, nil where
// there is none: over ssh, without a desktop, or without the program that opens
// addresses there. The address is one argument of that program and never passes a
// shell.
func opener(getenv func(string) string, system string, find func(string) (string, error)) func(ctx context.Context, address string) error {
	if getenv == nil || getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" {
		return nil
	}
	name, args := "", []string(nil)
	switch system {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
			return nil
		}
		name = "xdg-open"
	}
	path, err := find(name)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, address string) error {
		// What is opened outlives the chat that asked for it.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), path, append(args, address)...)
		if err := cmd.Run(); err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return fmt.Errorf("%s cannot open it (exit code %d)", name, exit.ExitCode())
			}
			return fmt.Errorf("run %s: %w", name, err)
		}
		return nil
	}
}

// Browser is how an address is opened on the display before the person on this machine,
// nil where there is none.
func Browser(getenv func(string) string) func(ctx context.Context, address string) error {
	return opener(getenv, runtime.GOOS, exec.LookPath)
}
