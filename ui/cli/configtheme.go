package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"cairn/themes"
)

// maxTheme bounds the file of a theme, in bytes.
const maxTheme = 64 << 10

// ThemeChoice is a theme that can be chosen.
type ThemeChoice struct {
	// Name is what the setting says, such as "dark", or the path of a file.
	Name string
	// File is the person's own file, empty for a built-in theme.
	File string
	// Design is the theme, unless Err says what is wrong with its file.
	Design themes.Design
	Err    error
}

// themesDir is where the person's own themes are: beside the configuration. It is
// empty where there is no place for that.
func (a *app) themesDir() string {
	file, _ := userFile(a.s, a.flags.config)
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "themes")
}

// isPath tells a path from a name.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".toml") || strings.HasPrefix(name, "~")
}

// themeFile is where the file of a theme is that is not built in. A project
// names no paths: its files are anybody's.
func (a *app) themeFile(v Value) (string, error) {
	if !isPath(v.Value) {
		dir := a.themesDir()
		if dir == "" {
			return "", fs.ErrNotExist
		}
		return filepath.Join(dir, v.Value+".toml"), nil
	}
	path := expand(a.s, v.Value)
	switch {
	case v.layer == layerProject:
		return "", usage("the theme from %s is a path, which a project must not give; name a theme of yours, or a built-in one", v.From)
	case v.layer == layerUser && !filepath.IsAbs(path):
		return filepath.Join(filepath.Dir(a.themesDir()), path), nil
	}
	return absolute(a.s, path), nil
}

// theme is the theme that a setting names. One that does not exist is an error
// with exit code 2; a file that is wrong is in the choice.
func (a *app) theme(v Value) (ThemeChoice, error) {
	if slices.Contains(builtin(a.wire), v.Value) {
		d, err := themes.Builtin(v.Value)
		return ThemeChoice{Name: v.Value, Design: d}, err
	}
	path, err := a.themeFile(v)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ThemeChoice{}, err
	}
	if err == nil {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
		return readTheme(v.Value, path), nil
	case !errors.Is(err, fs.ErrNotExist):
		return ThemeChoice{}, usage("%s%w", themeFrom(v), cause(err))
	case isPath(v.Value):
		return ThemeChoice{}, usage("%sthere is no file %s; see: cairn themes new NAME", themeFrom(v), path)
	}
	return ThemeChoice{}, usage("%sthere is no theme %q%s", themeFrom(v), v.Value, suggest(v.Value, "", a.themeNames()))
}

// themeFrom begins a sentence about a theme that was set somewhere.
func themeFrom(v Value) string {
	if v.From == "" {
		return ""
	}
	return "the theme from " + v.From + ": "
}

// builtin are the names of the themes of the program.
func builtin(w Wire) []string {
	if w.Themes == nil {
		return nil
	}
	return w.Themes()
}

// readTheme reads the file of a theme.
func readTheme(name, path string) ThemeChoice {
	c := ThemeChoice{Name: name, File: path}
	data, err := themeBytes(path)
	if err != nil {
		c.Err = err
		return c
	}
	short := strings.TrimSuffix(filepath.Base(path), ".toml")
	if c.Design, err = themes.ParseDesign(short, data); err != nil {
		c.Err = fmt.Errorf("%s, %w", path, err)
	}
	return c
}

// themeBytes is what a file of a theme holds.
func themeBytes(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would wait
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no ordinary file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTheme+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	case len(data) > maxTheme:
		return nil, fmt.Errorf("%s is larger than 64 KiB; that is no theme", path)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s is not UTF-8 text", path)
	}
	return data, nil
}

// ownThemes are the names of the person's own themes.
func (a *app) ownThemes() []string {
	dir := a.themesDir()
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil { // most people have none
		return nil
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if ok && validThemeName(name) == nil && !slices.Contains(builtin(a.wire), name) {
			names = append(names, name)
		}
	}
	return names
}

// themeNames are all names that the setting may have.
func (a *app) themeNames() []string { return slices.Concat(builtin(a.wire), a.ownThemes()) }

// validThemeName refuses what makes no name of a file that can be typed.
func validThemeName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '-' && name[0] != '.'
	for _, r := range name {
		ok = ok && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > unicode.MaxASCII && unicode.IsLetter(r))
	}
	if !ok || strings.HasSuffix(name, ".toml") {
		return usage("%q is no name for a theme; take letters, digits, - and _", name)
	}
	return nil
}

// themeChoices are all themes as their files are now: the built-in ones, the
// person's own by name, and the one in force if it is neither.
func (a *app) themeChoices() []ThemeChoice {
	var all []ThemeChoice
	names := a.themeNames()
	if a.cfg != nil && !slices.Contains(names, a.cfg.Theme) {
		names = append(names, a.cfg.Theme)
	}
	for _, name := range names {
		v := Value{Key: "theme", Value: name, layer: layerFlag}
		if a.cfg != nil && name == a.cfg.Theme {
			v = a.cfg.values["theme"]
		}
		c, err := a.theme(v)
		if err != nil {
			c = ThemeChoice{Name: name, Err: err}
		}
		all = append(all, c)
	}
	return all
}

// checkTheme refuses a theme that does not exist.
func (a *app) checkTheme(c Config) error {
	_, err := a.theme(c.values["theme"])
	return err
}

// themeWarnings are the sentences about the theme of a configuration: what is
// hard to read in it. A file that is wrong is an error.
func (a *app) themeWarnings(c Config) ([]string, error) {
	choice, err := a.theme(c.values["theme"])
	if err != nil {
		return nil, err
	}
	if choice.Err != nil {
		return nil, usage("the theme from %s: %w", place(c.values["theme"]), choice.Err)
	}
	var all []string
	for _, f := range choice.Design.Faint() {
		all = append(all, choice.File+", "+f.String())
	}
	return all, nil
}

// chosenTheme is the theme that a chat opens in, and what to say of it: one whose
// file is wrong keeps nobody from their conversation, and neither does one that a
// project names and only others have.
func (a *app) chosenTheme(c Config) (themes.Design, []string, error) {
	v := c.values["theme"]
	choice, err := a.theme(v)
	if err != nil && v.layer != layerProject {
		return themes.Design{}, nil, err
	}
	wrong := cmp.Or(err, choice.Err)
	if wrong == nil {
		return choice.Design, nil, nil
	}
	d, err := themes.Builtin(themes.Auto)
	return d, []string{fmt.Sprintf("The theme %s is not used: %s.", c.Theme, wrong)}, err
}

// profile is how many colours the terminal is given.
func (a *app) profile() themes.Profile {
	if a.flags.noColor {
		return themes.NoColor
	}
	return themes.DetectProfile(a.s.Getenv, true)
}

// look is what the terminal shows of a theme.
func (a *app) look(c Config) themes.Options {
	return themes.Options{Profile: a.profile(), ASCII: c.ASCII}
}
