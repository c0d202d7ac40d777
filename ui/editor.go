package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/screen"
)

// edit hands a text to the person's editor, and the terminal with it. Name
// tells the editor what kind of file it is.
func (m Model) edit(text, name string, done func(text string, err error) tea.Msg) tea.Cmd {
	ctx, getenv := m.ctx, m.deps.Getenv
	return func() tea.Msg {
		path, err := lent(text, name)
		if err != nil {
			return done("", err)
		}
		args := editor(getenv)
		cmd := exec.CommandContext(ctx, args[0], append(args[1:], path)...)
		return screen.Exec(cmd, func(err error) tea.Msg { return done(returned(path, args[0], err)) })()
	}
}

// lent writes a text to a file of its own, for an editor.
func lent(text, name string) (path string, err error) {
	dir, err := os.MkdirTemp("", "cairn-edit-")
	if err != nil {
		return "", fmt.Errorf("edit %s: %w", name, err)
	}
	path = filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", errors.Join(fmt.Errorf("edit %s: %w", name, err), os.RemoveAll(dir))
	}
	return path, nil
}

// returned reads back what the editor left, of which err says how it ended, and
// removes the file.
func returned(path, editor string, err error) (string, error) {
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err := errors.Join(err, os.RemoveAll(filepath.Dir(path))); err != nil {
		return "", fmt.Errorf("edit %s with %s: %w", filepath.Base(path), editor, err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil
}

// editor is the command of the person's editor with its arguments.
func editor(getenv func(string) string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if getenv == nil {
			break
		}
		if args := strings.Fields(getenv(name)); len(args) > 0 {
			return args
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}
	}
	return []string{"vi"}
}
