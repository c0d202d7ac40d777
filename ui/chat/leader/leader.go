// Package leader is the menu of the keys that may follow the first of a sequence,
// shown to a person who stops to think after that. The one thing to know: it only
// draws. Which keys there are it is told by the key table, and any key goes on as
// if it were not there.
package leader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// leastColumn and mostColumn are how wide an entry may be, in cells.
	leastColumn, mostColumn = 19, 34
	gap                     = 2
	// mostRows is how many rows the menu has where there is room for columns.
	mostRows = 10
)

// Entry is a key that goes on, and what it does.
type Entry struct{ Key, Help string }

// Entries are the keys that work behind a first one, each action once, in the
// order of their letters; those with a modifier come last.
func Entries(bindings []render.Binding, first string) []Entry {
	var all []Entry
	for _, b := range bindings {
		if b.Off != "" {
			continue
		}
		for _, k := range b.Keys {
			if rest, ok := strings.CutPrefix(k, first+" "); ok {
				all = append(all, Entry{render.SafeLine(widget.KeyName(rest)), render.SafeLine(b.Help)})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(min(len(a.Key), 2), min(len(b.Key), 2)), cmp.Compare(strings.ToLower(a.Key), strings.ToLower(b.Key)), cmp.Compare(b.Key, a.Key))
	})
	return all
}

// Menu is the menu of a sequence. The zero value is not shown.
type Menu struct {
	// Shown says that it is.
	Shown bool
	// Serial counts the sequences begun: the timer of an older one is too late.
	Serial int
	top    int
}

// Begun is the menu of a new sequence, not shown yet.
func (m Menu) Begun() Menu { return Menu{Serial: m.Serial + 1} }

// Ended is the menu after a sequence.
func (m Menu) Ended() Menu { return Menu{Serial: m.Serial} }

// Scroll moves by a key, arrows and pages, if there is more than is shown; ok is false if that is no
// key for it.
func (m Menu) Scroll(key string, entries, width, most int) (next Menu, ok bool) {
	_, rows := columns(entries, width, most)
	by, known := map[string]int{"up": -1, "down": 1, "pgup": -most, "pgdown": most}[key]
	if !m.Shown || !known || rows <= most {
		return m, false
	}
	m.top = min(max(m.top+by, 0), rows-most)
	return m, true
}

// columns is how many columns entries are set in, and how many rows that takes: as
// few columns as do, so that the words have room.
func columns(entries, width, most int) (n, rows int) {
	for n = 1; ; n++ {
		rows = (entries + n - 1) / n
		if rows <= min(most, mostRows) || (n+1)*leastColumn > width {
			return n, rows
		}
	}
}

// View draws the entries in columns: at most so many rows of at most width cells.
// More says how many are above and below them.
func (m Menu) View(entries []Entry, t *themes.Theme, width, most int) (rows []string, more int) {
	if !m.Shown || len(entries) == 0 || most < 1 {
		return nil, 0
	}
	n, all := columns(len(entries), width, most)
	column := min(width/n, mostColumn)
	top := min(m.top, max(all-most, 0))
	for r := top; r < min(top+most, all); r++ {
		line := ""
		for c := range n {
			i := c*all + r
			if i >= len(entries) {
				break
			}
			e := entries[i]
			words := render.Truncate(" "+t.Paints.Key.On(e.Key)+" "+t.Paints.Muted.On(e.Help), column-gap, t.Ornaments.Ellipsis)
			line += render.Pad(words, column)
			more--
		}
		rows = append(rows, render.Truncate(strings.TrimRight(line, " "), width, ""))
	}
	return rows, more + len(entries)
}

// Hint is the line below the menu.
func Hint(first string, more int, t *themes.Theme) string {
	p, o := t.Paints, t.Ornaments
	line := " " + p.Key.On(widget.KeyName(first)) + " " + p.Muted.On("one of these")
	if more > 0 {
		line += "  " + p.Muted.On(fmt.Sprintf("%s%s %d more", o.Up, o.Down, more))
	}
	line += "  " + p.Key.On("esc") + " " + p.Muted.On("none")
	return line
}
