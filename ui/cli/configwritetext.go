package cli

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// settingPath is the way to a key through the tables. The name of an action of
// [keys] is one part, dots and all.
func settingPath(key string) ([]string, error) {
	var p unstable.Parser
	p.Reset([]byte(key + " = 0\n"))
	if !p.NextExpression() || p.Expression().Kind != unstable.KeyValue || strings.ContainsAny(key, "\n#") {
		return nil, usage("%q is no key of the configuration; see: cairn config show", key)
	}
	parts := keyParts(p.Expression())
	if parts[0] == "keys" && len(parts) > 2 {
		parts = []string{"keys", strings.Join(parts[1:], ".")}
	}
	return parts, nil
}

func keyParts(n *unstable.Node) []string {
	var parts []string
	for it := n.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return parts
}

// settingText is a value as the file has it, for the key at the end of a way.
func settingText(parts []string, value string) (string, error) {
	key := strings.Join(parts, ".")
	if parts[len(parts)-1] == "api_key" {
		return "", usage("%s is a secret, which a command line would leave in the history of the shell; put it into the environment, or into the file by hand", key)
	}
	if parts[0] == keyMCP && (len(parts) > 4 || parts[len(parts)-1] == "client_secret") && !refersOnly(value) {
		return "", usage("%s may be a secret, which a command line would leave in the history of the shell; give '${NAME}' for a variable of the environment, or put it into the file by hand", key)
	}
	kind, err := settingKind(parts)
	if err != nil {
		return "", err
	}
	if parts[0] == keyMouse {
		kind = reflect.Bool // the key itself, which can be a table, too
	}
	wrong := usage("%q must be %s, not %q", key, wanted(parts), value)
	bare := strings.TrimSpace(value)
	switch kind {
	case reflect.Bool:
		switch strings.ToLower(bare) {
		case "true", "on", "yes":
			return "true", nil
		case "false", "off", "no":
			return "false", nil
		}
		return "", wrong
	case reflect.Int:
		if _, err := strconv.Atoi(bare); err != nil {
			return "", wrong
		}
		return bare, nil
	case reflect.Float64:
		f, err := strconv.ParseFloat(bare, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return "", wrong
		}
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text, nil
	case reflect.Slice:
		return listText(bare), nil
	case reflect.Interface:
		if strings.HasPrefix(bare, "[") || strings.Contains(bare, ", ") { // several keys
			return listText(bare), nil
		}
	default: // a text
	}
	return quotedTOML(value), nil
}

// settingKind is what a key holds, by the shape of the file.
func settingKind(parts []string) (reflect.Kind, error) {
	t := reflect.TypeFor[file]()
	for i, part := range parts {
		if t.Kind() == reflect.Map {
			t = pointed(t.Elem())
			continue
		}
		if t.Kind() == reflect.Interface && slices.Contains(tables()[parts[0]], part) {
			continue
		}
		f, ok := fieldOf(t, part)
		if !ok {
			return 0, usage("%s", unknownKey(parts[:i+1]))
		}
		t = pointed(f.Type)
	}
	if t.Kind() == reflect.Struct || t.Kind() == reflect.Map {
		return 0, usage("%q is a table; name a key in it: %s", strings.Join(parts, "."), strings.Join(tables()[parts[0]], ", "))
	}
	return t.Kind(), nil
}

func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldOf is the field that a key goes to.
func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("toml") == key && key != "-" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// listText is a list as the file has it: given so, or parted by commas.
func listText(value string) string {
	if strings.HasPrefix(value, "[") {
		return value
	}
	var all []string
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, quotedTOML(one))
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// quotedTOML is a text in quotes. Go's quotes escape in ways that TOML does not
// know.
func quotedTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// statement is a key with its value, or the head of a table, of a file.
type statement struct {
	// path is the whole way, with that of the table it is in.
	path []string
	// head says that it begins a table, in that it is in an inline table.
	head, in bool
	// from and to are its bytes, value where what it is set to begins.
	from, to, value int
}

func (s statement) key() string { return strings.Join(s.path, ".") }

// statements are those of a file that parses, in order.
func statements(data []byte) []statement {
	var all []statement
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			table = keyParts(e)
			s := statement{path: table, head: true}
			for it := e.Key(); it.Next(); {
				s.from = int(it.Node().Raw.Offset)
				s.to = s.from + int(it.Node().Raw.Length)
			}
			all = append(all, s)
			continue
		}
		all = append(all, pairs(data, table, e, false)...)
	}
	return all
}

// pairs are a key with its value, and those in it if that is an inline table.
func pairs(data []byte, table []string, e *unstable.Node, in bool) []statement {
	s := statement{
		path: append(slices.Clone(table), keyParts(e)...), in: in,
		from: int(e.Raw.Offset), to: int(e.Raw.Offset) + int(e.Raw.Length),
	}
	for it := e.Key(); it.Next(); {
		s.value = int(it.Node().Raw.Offset) + int(it.Node().Raw.Length)
	}
	s.value += bytes.IndexByte(data[s.value:], '=') + 1
	for data[s.value] == ' ' || data[s.value] == '\t' {
		s.value++
	}
	s.to = s.value + len(bytes.TrimRight(data[s.value:s.to], " \t"))
	all := []statement{s}
	if v := e.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.KeyValue {
				all = append(all, pairs(data, s.path, n, true)...)
			}
		}
	}
	return all
}

// editSettings sets a key in the text of a file that parses.
func editSettings(data []byte, parts []string, text string) ([]byte, error) {
	all, key := statements(data), strings.Join(parts, ".")
	for _, s := range all {
		if !s.head && s.key() == key {
			return slices.Concat(data[:s.value], []byte(text), data[s.to:]), nil
		}
	}
	for _, s := range all {
		if !s.head && strings.HasPrefix(key, s.key()+".") {
			line := 1 + bytes.Count(data[:s.from], []byte("\n"))
			return nil, &ConfigError{Line: line, Text: fmt.Sprintf("%q is set as a whole here, so there is no place for %s; change that line by hand", s.key(), key)}
		}
	}
	at, line := placeFor(data, all, parts)
	return insertLine(data, at, line+" = "+text), nil
}

// placeFor is where a key that is not there yet belongs, and how it is written
// there: behind its neighbours of the same table, else in a new one at the end.
func placeFor(data []byte, all []statement, parts []string) (at int, line string) {
	key := strings.Join(parts, ".")
	best, bestLen := -1, -1
	inside := "" // the table that a statement is below
	for i, s := range all {
		if s.head {
			inside = s.key()
		}
		if inside != "" && strings.HasPrefix(key, inside+".") && len(inside) >= bestLen {
			best, bestLen = i, len(inside)
		}
	}
	if best >= 0 {
		return lineEnd(data, all[best].to), bareKey(key[bestLen+1:], parts)
	}
	// A table that is written with dots at the top cannot have a head, too.
	top := -1
	for i, s := range all {
		if s.head {
			break
		}
		if !s.in && (len(parts) == 1 || s.path[0] == parts[0]) {
			top = i
		}
	}
	switch {
	case top >= 0:
		return lineEnd(data, all[top].to), dotted(parts)
	case len(parts) > 1:
		return len(data), "\n[" + dotted(parts[:len(parts)-1]) + "]\n" + dotted(parts[len(parts)-1:])
	}
	for _, s := range all {
		if s.head {
			return aboveHead(data, s.from), dotted(parts)
		}
	}
	return len(data), dotted(parts)
}

// bareKey is the rest of a key below a table.
func bareKey(rest string, parts []string) string {
	if parts[0] == "keys" { // the name of an action is one
		return quotedKey(rest)
	}
	for i := range parts {
		if strings.Join(parts[i:], ".") == rest {
			return dotted(parts[i:])
		}
	}
	return quotedKey(rest)
}

func dotted(parts []string) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = quotedKey(p)
	}
	return strings.Join(all, ".")
}

// quotedKey is a part of a key, in quotes if it needs them.
func quotedKey(part string) string {
	plain := part != ""
	for _, r := range part {
		plain = plain && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if plain {
		return part
	}
	return quotedTOML(part)
}

// lineEnd is where the line of a byte ends, behind its newline.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// aboveHead is the place above a table's head and the comments that belong to it.
func aboveHead(data []byte, at int) int {
	at = bytes.LastIndexByte(data[:at], '\n') + 1
	for at > 0 {
		above := bytes.LastIndexByte(data[:at-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimLeft(data[above:at], " \t"), []byte("#")) {
			break
		}
		at = above
	}
	return at
}

// insertLine puts a line into a text. One at the very beginning is set off from
// what follows.
func insertLine(data []byte, at int, line string) []byte {
	nl := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		nl = "\r\n"
	}
	line = strings.ReplaceAll(line, "\n", nl)
	before := data[:at]
	if at > 0 && data[at-1] != '\n' {
		before = append(slices.Clone(before), nl...)
	}
	if at == 0 {
		line = strings.TrimPrefix(line, nl)
	}
	tail := data[at:]
	if at == 0 && len(tail) > 0 {
		line += nl
	}
	return slices.Concat(before, []byte(line), []byte(nl), tail)
}
