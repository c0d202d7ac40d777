package decide

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/themes"
	"cairn/ui/render"
)

// change is one line of a unified diff.
type change struct {
	sign byte // ' ', '-', '+', or 0 for a line that is no text of the file
	// old and now are its numbers before and after, 0 for none.
	old, now int
	text     string
}

// hunk reads the line that begins a hunk: where it starts in both files, and
// what follows the numbers.
func hunk(line string) (old, now int, rest string, ok bool) {
	line, ok = strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, 0, "", false
	}
	ranges, rest, ok := strings.Cut(line, " @@")
	a, b, both := strings.Cut(ranges, " +")
	if !ok || !both {
		return 0, 0, "", false
	}
	a, _, _ = strings.Cut(a, ",")
	b, _, _ = strings.Cut(b, ",")
	old, errA := strconv.Atoi(a)
	now, errB := strconv.Atoi(b)
	return old, now, strings.TrimSpace(rest), errA == nil && errB == nil
}

// changes reads a unified diff. Lines that it does not understand are kept as
// they are, so that none is hidden. The names of the files are left out: they
// are said above.
func changes(diff string) []change {
	var out []change
	old, now, inside := 0, 0, false
	for _, l := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		if a, b, rest, ok := hunk(l); ok {
			if inside || rest != "" {
				out = append(out, change{text: rest})
			}
			old, now, inside = a, b, true
			continue
		}
		switch {
		case !inside && (strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ")):
		case inside && strings.HasPrefix(l, "-"):
			out = append(out, change{'-', old, 0, l[1:]})
			old++
		case inside && strings.HasPrefix(l, "+"):
			out = append(out, change{'+', 0, now, l[1:]})
			now++
		case inside && (l == "" || l[0] == ' '):
			out = append(out, change{' ', old, now, strings.TrimPrefix(l, " ")})
			old++
			now++
		default:
			out = append(out, change{text: strings.TrimPrefix(l, `\ `)})
		}
	}
	return out
}

// diffLines lays out a unified diff: signs and numbers, so that it reads without
// colours too.
func diffLines(diff string, e Env, side bool) []string {
	all := changes(diff)
	digits := 1
	for _, c := range all {
		digits = max(digits, len(strconv.Itoa(max(c.old, c.now))))
	}
	digits = min(digits, maxNumber)
	if side {
		return sideBySide(all, e, digits)
	}
	var out []string
	for _, c := range all {
		n := c.now
		if c.sign == '-' {
			n = c.old
		}
		out = append(out, row(c, n, e.Width, digits, e.Theme.Paints)...)
	}
	return out
}

// row is one line of a diff with its number, on as many lines as it needs.
func row(c change, number, width, digits int, p themes.Paints) []string {
	if c.sign == 0 {
		var out []string
		for _, l := range render.HardWrap(visible(c.text), max(width-margin, 1)) {
			out = append(out, strings.Repeat(" ", margin)+p.Muted.On(l))
		}
		return out
	}
	paint := map[byte]themes.Paint{' ': "", '-': p.Deleted, '+': p.Inserted}[c.sign]
	gutter := fmt.Sprintf(" %c %*d ", c.sign, digits, number)
	var out []string
	for i, l := range render.HardWrap(visible(c.text), max(width-len(gutter)-1, 1)) {
		if i > 0 {
			gutter = fmt.Sprintf(" %c %*s ", c.sign, digits, "")
		}
		out = append(out, paint.On(gutter+" "+l))
	}
	return out
}

// sideBySide lays a diff out in two columns: before and after.
func sideBySide(all []change, e Env, digits int) []string {
	p := e.Theme.Paints
	bar := " " + e.Theme.Ornaments.Bar + " "
	left := (e.Width - render.Width(bar)) / 2
	right := e.Width - render.Width(bar) - left
	var out []string
	join := func(a, b []string) {
		for i := range max(len(a), len(b)) {
			l, r := "", ""
			if i < len(a) {
				l = a[i]
			}
			if i < len(b) {
				r = b[i]
			}
			out = append(out, l+strings.Repeat(" ", max(left-render.Width(l), 0))+p.Border.On(bar)+r)
		}
	}
	for i := 0; i < len(all); {
		c := all[i]
		switch c.sign {
		case 0:
			out = append(out, row(c, 0, e.Width, digits, p)...)
			i++
			continue
		case ' ':
			join(row(c, c.old, left, digits, p), row(c, c.now, right, digits, p))
			i++
			continue
		}
		var gone, come []change
		for ; i < len(all) && all[i].sign == '-'; i++ {
			gone = append(gone, all[i])
		}
		for ; i < len(all) && all[i].sign == '+'; i++ {
			come = append(come, all[i])
		}
		for k := range max(len(gone), len(come)) {
			var a, b []string
			if k < len(gone) {
				a = row(gone[k], gone[k].old, left, digits, p)
			}
			if k < len(come) {
				b = row(come[k], come[k].now, right, digits, p)
			}
			join(a, b)
		}
	}
	return out
}
