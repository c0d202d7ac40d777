package cli

import (
	"os"
	"path/filepath"
	"strings"

	"cairn/harness/tool"
	"cairn/ui/cli/keyring"
)

// keepKeys finds the keys that the person gave to cairn itself: beside the
// configuration, and in the keyring of the system. No key is asked for here.
func (a *app) keepKeys(c *Config) {
	o := keyring.Options{}
	if c.File != "" {
		o.File = filepath.Join(filepath.Dir(c.File), keyring.FileName)
	}
	if a.wire.Keyring != nil {
		o.Ring = a.wire.Keyring(a.s.Getenv)
	}
	a.keys = keyring.New(o)
	if fault := a.keys.Fault(); fault != "" {
		c.Warnings = append(c.Warnings, fault)
	}
}

// Redactor knows the keys and passwords of a start, and those that it gets to know
// later.
func (s Setup) Redactor() *tool.Redactor {
	r := tool.NewRedactor(s.Secrets(os.Environ()))
	s.Keys.Tell(func(of, key string) {
		if !strings.HasPrefix(of, "MCP server ") {
			of = "key of " + of
		}
		r.Add(of, key)
	})
	return r
}
