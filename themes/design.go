package themes

import (
	"fmt"
	"strings"
)

// Design is a theme before it is made for a terminal. The zero value is none.
type Design struct {
	// Name is what it is called by.
	Name        string
	dark, light *palette
	plain       bool
	faint       []Faint
}

// Builtin is the design of a built-in theme. An empty name means Auto; an unknown
// one is ErrUnknown, and the message offers the nearest.
func Builtin(name string) (Design, error) {
	if name == "" {
		name = Auto
	}
	d := Design{Name: name, plain: name == Plain}
	for dark, to := range map[bool]**palette{true: &d.dark, false: &d.light} {
		file, err := variant(name, dark)
		if err != nil {
			return Design{}, err
		}
		if *to, err = embedded(file); err != nil {
			return Design{}, err
		}
	}
	return d, nil
}

// ParseDesign reads a user's TOML file, which is called name unless it says
// otherwise itself. It has the keys of the built-in files; those that are missing
// are taken from the theme that base names. A misspelt key, a missing one without
// a base, or a value that is no colour is an error that names the line and the
// nearest key.
func ParseDesign(name string, data []byte) (Design, error) {
	p, err := parsePalette(data)
	if err != nil {
		return Design{}, err
	}
	if name == "" {
		name = p.Name
	}
	return Design{Name: name, dark: p, light: p, faint: p.faint(data)}, nil
}

// Theme makes the theme for a terminal with a dark or a light background.
func (d Design) Theme(dark bool, o Options) *Theme {
	p := d.light
	if dark {
		p = d.dark
	}
	if d.plain {
		o.Profile = noStyle
	}
	t := p.build(o)
	if d.Name != Auto && d.Name != "" {
		t.Name = d.Name
	}
	return t
}

// Faint are the colours of a user's theme that are hard to read.
func (d Design) Faint() []Faint { return d.faint }

// Starter is a file to begin a theme of one's own with, built on a built-in theme
// for a dark or light background. All that may be set is in it, as comments.
func Starter(name, base string, dark bool) ([]byte, error) {
	p, err := baseOf(base, dark)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# The theme %s: what is not set here is that of %[2]s.
# A colour is "#rrggbb", "0" to "15" for the sixteen of the terminal, "16" to "255"
# for those of the fixed table, or "" for the terminal's own text colour.
# To see it: /theme in a chat. To check it: cairn themes check %[1]s
base = %[2]q
dark = %[3]t
# background = %[4]q # assumed, never painted: contrast is judged against it
`, name, base, dark, p.Background)
	all, table := p.all(), ""
	for _, key := range keys() {
		head, short, below := strings.Cut(key, ".")
		if !below {
			continue
		}
		if head != table {
			table = head
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		fmt.Fprintf(&b, "# %s = %q\n", short, all[key])
	}
	return []byte(b.String()), nil
}
