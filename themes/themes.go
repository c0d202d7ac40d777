// Package themes holds the colours and ornaments of the screens.
//
// The one thing to know: a theme never asks the terminal anything and never
// paints a background of its own except for selections and badges. The caller
// decides the colour profile and the lightness, and a theme is then a fixed
// table of styles that works on any terminal of that lightness. No style says
// something by colour alone: what matters also differs by weight, underline,
// reversal or an ornament.
package themes

import (
	"embed"
	"errors"
	"fmt"
	"strings"
)

// palettes are the built-in themes, one TOML file each.
//
//go:embed palettes/*.toml
var palettes embed.FS

// ErrUnknown is returned by Load for a name that is no built-in theme.
var ErrUnknown = errors.New("unknown theme")

// Auto is the name that follows the lightness of the terminal's background.
const Auto = "auto"

// Plain is the name of the theme without any escape sequence.
const Plain = "plain"

// Options say what the terminal can show; the zero value is truecolor with
// Unicode ornaments.
type Options struct {
	// Profile is the number of colours. With NoColor weight and underline stay.
	Profile Profile
	// ASCII replaces every ornament by its one-cell ASCII twin.
	ASCII bool
}

// variants maps a public name to the palette files for a dark and for a light
// background.
var variants = []struct{ name, dark, light string }{ //nolint:gochecknoglobals // a table
	{Auto, "dark", "light"},
	{"dark", "dark", "dark"},
	{"light", "light", "light"},
	{"granite", "granite-dark", "granite-light"},
	{"lichen", "lichen-dark", "lichen-light"},
	{"heather", "heather-dark", "heather-light"},
	{"tarn", "tarn-dark", "tarn-light"},
	{"ember", "ember-dark", "ember-light"},
	{"high-contrast", "high-contrast-dark", "high-contrast-light"},
	{"ansi", "ansi-dark", "ansi-light"},
	{Plain, "dark", "light"},
}

// Names lists the built-in themes in the order a picker shows them. "auto" is
// first; all from "granite" to "ansi" exist for both lightnesses.
func Names() []string {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.name
	}
	return names
}

// Load builds a built-in theme. An empty name means Auto. dark is the
// lightness of the terminal's background, which the caller has found out or
// assumed; themes that exist for one lightness only ignore it. An unknown name
// is ErrUnknown and the message offers the nearest one.
func Load(name string, dark bool, o Options) (*Theme, error) {
	d, err := Builtin(name)
	if err != nil {
		return nil, err
	}
	return d.Theme(dark, o), nil
}

// Source is the file of a built-in theme, to start one's own from.
func Source(name string, dark bool) ([]byte, error) {
	file, err := variant(name, dark)
	if err != nil {
		return nil, err
	}
	return palettes.ReadFile("palettes/" + file + ".toml")
}

// variant is the palette of a theme for one lightness.
func variant(name string, dark bool) (string, error) {
	for _, v := range variants {
		if v.name == name && dark {
			return v.dark, nil
		}
		if v.name == name {
			return v.light, nil
		}
	}
	return "", fmt.Errorf("load theme %q: %w; the nearest is %q of %s",
		name, ErrUnknown, nearest(name, Names()), strings.Join(Names(), ", "))
}

func embedded(file string) (*palette, error) {
	data, err := palettes.ReadFile("palettes/" + file + ".toml")
	if err != nil {
		return nil, fmt.Errorf("read theme %q: %w", file, err)
	}
	p, err := parsePalette(data)
	if err != nil {
		return nil, fmt.Errorf("read theme %q: %w", file, err)
	}
	return p, nil
}
