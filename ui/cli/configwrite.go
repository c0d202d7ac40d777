package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// writeSetting sets one key of the configuration file at path, which need not
// exist, and leaves all else in it as it is: order, comments, permissions, and a
// symbolic link that stands for it. A key is written as in the file, with dots
// between tables, such as "theme" or "chat.title"; a list may be given with commas.
// A file that is broken, an unknown key and a value that does not fit are errors,
// and so is what check says of the file as it would be; nothing is written then.
func writeSetting(path, key, value string, check func(data []byte) error) error {
	parts, err := settingPath(key)
	if err != nil {
		return err
	}
	text, err := settingText(parts, value)
	if err != nil {
		return err
	}
	real, err := realFile(path)
	if err != nil {
		return err
	}
	old, err := readSettings(real, path)
	if err != nil {
		return err
	}
	edited, err := editSettings(old, parts, text)
	if err != nil {
		var c *ConfigError
		if errors.As(err, &c) {
			c.File = path
		}
		return err
	}
	if err := check(edited); err != nil {
		return usage("%s cannot be %s: %s", key, value, reason(err))
	}
	if bytes.Equal(old, edited) {
		return nil
	}
	return replaceFile(real, old, edited)
}

// realFile is where the file is that a path stands for, through symbolic links.
func realFile(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return real, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", usage("change %s: %w", path, cause(err))
	}
	if to, err := os.Readlink(path); err == nil {
		return "", usage("%s points to %s, which does not exist; make that file, or remove the link", path, to)
	}
	return path, nil
}

// readSettings is what a configuration file holds, nothing if there is none. One
// that is wrong is told with its line: who writes into it makes it no better.
func readSettings(real, path string) ([]byte, error) {
	info, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, usage("%s is no ordinary file, so nothing is written to it", path)
	}
	if err == nil && info.Size() > maxConfig {
		return nil, &ConfigError{File: path, Text: "is larger than 1 MiB; that is no configuration"}
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return nil, configOpen(path, err)
	}
	if _, err := parseFile(path, data, false); err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	return data, nil
}

// checkEdited reads what is to be written for a key as the next start will.
func (a *app) checkEdited(ctx context.Context, path, key string, data []byte) error {
	f, err := parseFile(path, data, false)
	if err == nil && a.wire.Actions != nil && len(f.Keys) > 0 {
		err = f.checkActions(path, data, a.wire.Actions())
	}
	if err != nil {
		return err
	}
	next := Config{File: path, values: map[string]Value{}}
	if err := next.settle(a.s, f, a.flags.values); err != nil {
		return err
	}
	if err := next.known(a.wire.Tools); err != nil || key != keyFallback {
		return err
	}
	_, err = a.standins(ctx, next)
	return err
}

// reason is what is wrong, without the line of a file that is not written.
func reason(err error) string {
	var c *ConfigError
	if errors.As(err, &c) {
		return c.Text
	}
	return err.Error()
}

// replaceFile puts new content in the place of a file in one step, unless somebody
// has changed it meanwhile. It keeps who may read it; a new one is the person's
// alone.
func replaceFile(path string, old, data []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, cause(err))
	}
	f, err := os.CreateTemp(dir, ".config-*.toml")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil && runtime.GOOS != "windows" {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s was changed by somebody else just now; nothing was written: try again", path)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// saveSetting sets a key of the person's configuration. It refuses what would not
// count, since a stronger place sets it. Screens and `config set` call it.
func (a *app) saveSetting(ctx context.Context, key, value string) error {
	c := Config{}
	if _, err := c.readUser(a.s, a.flags.config, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if c.File == "" {
		_, err := configDir(a.s)
		return err
	}
	if err := a.overruled(key); err != nil {
		return err
	}
	return writeSetting(c.File, key, value, func(data []byte) error { return a.checkEdited(ctx, c.File, key, data) })
}

// overruled says which stronger place sets a key, so that writing it to the
// person's file would change nothing.
func (a *app) overruled(key string) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	switch v := c.values[key]; v.layer {
	case layerDefault, layerUser:
	case layerProject:
		return usage("%s is set by this project, in %s, which comes before your own file; change it there, or elsewhere", key, v.From)
	case layerEnv:
		return usage("%s is set by the environment, %s, which comes before the file; unset it first", key, v.From)
	case layerFlag:
		return usage("%s is set by the flag %s, which comes before the file; start cairn without it first", key, v.From)
	}
	return nil
}

// configSet is `cairn config set`.
func (a *app) configSet() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Set a value in the configuration file, and keep all else in it",
		Example: "  cairn config set theme high-contrast\n  cairn config set chat.title words\n  cairn config set keys.chat.details \"f4, alt+d\"",
		Args:    exactly(2, "a key and a value"), ValidArgsFunction: a.completeSetting,
		RunE: runner(func(ctx context.Context, args []string) error {
			key, value := strings.TrimSpace(args[0]), args[1]
			if err := a.checkSetting(ctx, key, value); err != nil {
				return err
			}
			if err := a.saveSetting(ctx, key, value); err != nil {
				return err
			}
			before := a.cfg.Warnings
			a.cfg = nil // it is another one now
			c, err := loadConfig(a.s, a.flags.config, a.flags.values, a.wire.Actions)
			if err == nil {
				err = c.known(a.wire.Tools)
			}
			if err != nil {
				return err
			}
			for _, w := range c.Warnings {
				if !slices.Contains(before, w) {
					a.notice("%s", w)
				}
			}
			if key == keyFallback {
				err = a.tellStandins(ctx, c)
			}
			if a.flags.json {
				return errors.Join(err, a.out.document(map[string]any{"file": c.File, "key": key, "value": value}))
			}
			a.out.line("%s is now %s in %s", key, a.safe(cmp.Or(value, `""`)), c.File)
			return err
		}),
	}
}

// checkSetting refuses names that the next start would refuse.
func (a *app) checkSetting(ctx context.Context, key, value string) error {
	if _, err := a.config(); err != nil {
		return err
	}
	switch key {
	case "theme":
		_, err := a.theme(Value{Key: key, Value: value, layer: layerUser}) // as the file will have it
		return err
	case "model":
		m, err := a.models(ctx)
		if err != nil {
			return err
		}
		if _, err := m.Validate(ctx, value); err != nil {
			return usage("%w", err)
		}
	case keyEmbedding:
		return a.checkEmbedder(value)
	}
	return nil
}
