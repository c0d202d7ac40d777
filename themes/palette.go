package themes

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// palette is a theme file. Colours are "#rrggbb", or "0" to "15" for the
// terminal's own sixteen, or "16" to "255" for those of the fixed table, which
// cost half the bytes of a free one, or empty for the default foreground.
type palette struct {
	Name string `toml:"name"`
	// Base is the built-in theme that has what the file leaves out.
	Base string `toml:"base"`
	Dark bool   `toml:"dark"`
	// Background is assumed, never painted: contrast is judged against it.
	Background string       `toml:"background"`
	Colors     colours      `toml:"colors"`
	Syntax     syntaxColour `toml:"syntax"`
}

type colours struct {
	Text         string `toml:"text"`
	Muted        string `toml:"muted"`
	Accent       string `toml:"accent"`
	User         string `toml:"user"`
	Assistant    string `toml:"assistant"`
	Heading      string `toml:"heading"`
	Link         string `toml:"link"`
	Code         string `toml:"code"`
	Quote        string `toml:"quote"`
	Border       string `toml:"border"`
	Success      string `toml:"success"`
	Warning      string `toml:"warning"`
	Error        string `toml:"error"`
	SelectedText string `toml:"selected_text"`
	SelectedBack string `toml:"selected_back"`
	BadgeText    string `toml:"badge_text"`
	BadgeBack    string `toml:"badge_back"`
}

type syntaxColour struct {
	Text     string `toml:"text"`
	Comment  string `toml:"comment"`
	Keyword  string `toml:"keyword"`
	Type     string `toml:"type"`
	Function string `toml:"function"`
	Builtin  string `toml:"builtin"`
	String   string `toml:"string"`
	Escape   string `toml:"escape"`
	Number   string `toml:"number"`
	Operator string `toml:"operator"`
	Tag      string `toml:"tag"`
	Inserted string `toml:"inserted"`
	Deleted  string `toml:"deleted"`
	Error    string `toml:"error"`
}

// parsePalette reads a theme file strictly: every key must be known, every
// colour must be one, and all must be there unless there is a base that has them.
func parsePalette(data []byte) (*palette, error) {
	var p palette
	if err := decode(data, &p); err != nil {
		return nil, err
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		return nil, explain(err)
	}
	if present(raw, []string{"base"}) {
		dark := !present(raw, []string{"dark"}) || p.Dark
		base, err := baseOf(p.Base, dark)
		if err != nil {
			return nil, fmt.Errorf("%s%w", onLine(lineOf(data, "base")), err)
		}
		p = *base
		if err := decode(data, &p); err != nil {
			return nil, err
		}
	} else if err := complete(raw); err != nil {
		return nil, err
	}
	return &p, p.check(data)
}

func decode(data []byte, p *palette) error {
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(p); err != nil {
		return explain(err)
	}
	return nil
}

// bases are the themes that a file may be built on: those that are a palette.
func bases() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == Auto || name == Plain })
}

// baseOf is the palette that a file is built on.
func baseOf(name string, dark bool) (*palette, error) {
	if !slices.Contains(bases(), name) {
		return nil, fmt.Errorf("key \"base\": there is no theme %q to build on; the nearest is %q of %s", name, nearest(name, bases()), strings.Join(bases(), ", "))
	}
	file, err := variant(name, dark)
	if err != nil {
		return nil, err
	}
	return embedded(file)
}

// explain turns the decoder's errors into one sentence with a line and, for an
// unknown key, the nearest known one.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, _ := e.Position()
		key := strings.Join(e.Key(), ".")
		return fmt.Errorf("line %d: unknown key %q; the nearest is %q", line, key, nearest(key, keys()))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, col := de.Position()
		why := strings.TrimPrefix(de.Error(), "toml: ")
		switch key := strings.Join(de.Key(), "."); {
		case key == "dark":
			return fmt.Errorf("line %d, column %d: key %q must be true or false", line, col, key)
		case key == "colors" || key == "syntax":
			return fmt.Errorf("line %d, column %d: key %q must be a table, [%s]", line, col, key, key)
		case key != "" && strings.HasPrefix(why, "cannot "):
			return fmt.Errorf("line %d, column %d: key %q must be a text in quotes", line, col, key)
		case key != "":
			return fmt.Errorf("line %d, column %d: key %q: %s", line, col, key, why)
		}
		return fmt.Errorf("line %d, column %d: %s", line, col, why)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "toml: "))
}

// complete verifies that all keys are there, but for the name, which is that of
// the file if it has none, and the base.
func complete(raw map[string]any) error {
	for _, key := range keys() {
		if key != "name" && key != "base" && !present(raw, strings.Split(key, ".")) {
			return fmt.Errorf("key %q is missing; set it, or have a theme that has it as the base, such as base = \"dark\"", key)
		}
	}
	return nil
}

// check verifies the colours in the order of the known keys.
func (p *palette) check(data []byte) error {
	all := p.all()
	for _, key := range keys() {
		if c, ok := all[key]; ok && !validColour(c) {
			return fmt.Errorf(`%skey %q: %q is no colour; write "#rrggbb", "0" to "255", or "" for the terminal's own`,
				onLine(lineOf(data, key)), key, c)
		}
	}
	return nil
}

// all is every colour by its key.
func (p *palette) all() map[string]string {
	m := map[string]string{"background": p.Background}
	for table, v := range map[string]reflect.Value{
		"colors": reflect.ValueOf(p.Colors), "syntax": reflect.ValueOf(p.Syntax),
	} {
		for i := range v.NumField() {
			m[table+"."+v.Type().Field(i).Tag.Get("toml")] = v.Field(i).String()
		}
	}
	return m
}

// keys lists every key of a theme file, tables dotted.
func keys() []string {
	var out []string
	var walk func(prefix string, t reflect.Type)
	walk = func(prefix string, t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			name := prefix + f.Tag.Get("toml")
			if f.Type.Kind() == reflect.Struct {
				walk(name+".", f.Type)
				continue
			}
			out = append(out, name)
		}
	}
	walk("", reflect.TypeFor[palette]())
	return out
}

func present(raw map[string]any, path []string) bool {
	v, ok := raw[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	sub, ok := v.(map[string]any)
	return ok && present(sub, path[1:])
}

// onLine begins a sentence with the number of a line; 0 is one that is not known.
func onLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", n)
}

// lineOf is the number of the line on which a dotted key is; 0 if the key is
// written in a way that only a parser would find.
func lineOf(data []byte, key string) int {
	table, name, dotted := strings.Cut(key, ".")
	if !dotted {
		table, name = "", key
	}
	current := ""
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			current = strings.Trim(line, "[] ")
			continue
		}
		k, _, ok := strings.Cut(line, "=")
		if ok && current == table && strings.TrimSpace(k) == name {
			return i + 1
		}
	}
	return 0
}

func validColour(c string) bool {
	if c == "" {
		return true
	}
	if hex, ok := strings.CutPrefix(c, "#"); ok {
		_, err := strconv.ParseUint(hex, 16, 32)
		return err == nil && len(hex) == 6
	}
	n, err := strconv.Atoi(c)
	return err == nil && n >= 0 && n <= 255 && itoa(n) == c
}

func itoa(n int) string { return strconv.Itoa(n) }

// nearest is the candidate with the smallest edit distance.
func nearest(s string, candidates []string) string {
	best, bestD := "", 1<<30
	for _, c := range candidates {
		if d := distance(s, c); d < bestD {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes: keys are ASCII, and for
// anything else an approximate answer is good enough for a suggestion.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
