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
		dir, err := os.MkdirTemp("", "cairn-edit-")
		if err != nil {
			return done("", fmt.Errorf("edit: %w", err))
		}
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return done("", errors.Join(fmt.Errorf("edit: %w", err), os.RemoveAll(dir)))
		}
		args := editor(getenv)
		cmd := exec.CommandContext(ctx, args[0], append(args[1:], path)...)
		return screen.Exec(cmd, func(err error) tea.Msg { return edited(path, err, done) })()
	}
}

// edited reads back what the editor left.
func edited(path string, err error, done func(string, error) tea.Msg) tea.Msg {
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	err = errors.Join(err, os.RemoveAll(filepath.Dir(path)))
	if err != nil {
		return done("", fmt.Errorf("edit with $EDITOR: %w", err))
	}
	return done(strings.ReplaceAll(string(text), "\r\n", "\n"), nil)
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
