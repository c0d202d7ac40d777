package cli

import (
	"path/filepath"
	"strings"
)

// Places says in a line where what is chatted, set and logged is kept.
func (c ChatSetup) Places() []string {
	get := c.Setup.Getenv
	parts := []string{"Saved in " + homely(get, c.Setup.Config.Dir)}
	if c.Setup.Ephemeral {
		parts[0] = "Nothing of this chat is saved"
	}
	if file := c.Setup.Config.File; file != "" {
		parts = append(parts, "config "+homely(get, file))
	}
	if dir, err := stateDir(Streams{Getenv: get}); err == nil {
		parts = append(parts, "log "+homely(get, filepath.Join(dir, "cairn.log")))
	}
	return []string{strings.Join(parts, ", ")}
}

// homely is a path with a tilde for the person's home.
func homely(getenv func(string) string, path string) string {
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok {
		return filepath.Join("~", rest)
	}
	return path
}
