package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"cairn/themes"
	"cairn/ui/render"
)

// Key is a binding as bubbles has them, named as footers name it. One that is
// off is disabled.
func Key(b render.Binding) key.Binding {
	name := ""
	if len(b.Keys) > 0 {
		name = render.SafeLine(KeyName(b.Keys[0]))
	}
	k := key.NewBinding(key.WithKeys(b.Keys...), key.WithHelp(name, b.Help))
	k.SetEnabled(b.Off == "")
	return k
}

// Match is the action of the first binding that has the key and works. If only
// bindings that are off have it, off says why. A paste is never a key, whatever
// its text is.
func Match(bindings []render.Binding, k tea.KeyMsg) (action, off string) {
	if k.Paste {
		return "", ""
	}
	for _, b := range bindings {
		bound := Key(b)
		if key.Matches(k, bound) {
			return b.Action, ""
		}
		if bound.SetEnabled(true); key.Matches(k, bound) {
			off = b.Off
		}
	}
	return "", off
}

// Rebind gives bindings the keys that a person chose, by action, in the place of the
// usual ones.
func Rebind(bindings []render.Binding, own map[string][]string) []render.Binding {
	for i, b := range bindings {
		if keys, ok := own[b.Action]; ok {
			bindings[i].Keys = slices.Clone(keys)
		}
	}
	return bindings
}

// KeyName is a key as footers show it: ^R for ctrl+r, ^X f for ctrl+x f.
func KeyName(name string) string {
	if first, second, ok := strings.Cut(name, " "); ok && first != "" {
		return KeyName(first) + " " + KeyName(second)
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok && len(c) == 1 {
		return "^" + strings.ToUpper(c)
	}
	switch name {
	case "pgdown":
		return "pgdn"
	case " ":
		return "space"
	default:
		return name
	}
}

// KeyFor is the key of an action as a sentence names it: the usual one unless
// the configuration has another.
func KeyFor(keys map[string][]string, action, usual string) string {
	own, ok := keys[action]
	switch {
	case !ok:
		return KeyName(usual)
	case len(own) == 0:
		return "(no key)"
	default:
		return render.SafeLine(KeyName(own[0]))
	}
}

// Footer is the line of the keys that work now, the most useful first, as many
// as fit.
func Footer(bindings []render.Binding, t *themes.Theme, width int) string {
	return Footers(bindings, t, width, 1)[0]
}

// Footers is Footer on n lines.
func Footers(bindings []render.Binding, t *themes.Theme, width, n int) []string {
	const edge, gap = " ", "  "
	shown := slices.DeleteFunc(slices.Clone(bindings), func(b render.Binding) bool {
		return b.Rank <= 0 || len(b.Keys) == 0 || b.Off != ""
	})
	slices.SortStableFunc(shown, func(a, b render.Binding) int { return a.Rank - b.Rank })
	// The keys are dealt out here because the component ends a line at the
	// first key that does not fit, or draws beyond its width.
	dealt, used := make([][]key.Binding, n), make([]int, n)
	for _, b := range shown {
		k := Key(b)
		if b.Foot != "" {
			k.SetHelp(k.Help().Key, b.Foot)
		}
		w := render.Width(k.Help().Key) + 1 + render.Width(k.Help().Desc)
		for i := range dealt {
			before := len(edge)
			if used[i] > 0 {
				before = len(gap)
			}
			if used[i]+before+w <= width {
				dealt[i] = append(dealt[i], k)
				used[i] += before + w
				break
			}
		}
	}
	line := help.Model{ShortSeparator: gap, Styles: help.Styles{
		ShortKey:  lipgloss.NewStyle().Transform(t.Paints.Key.On),
		ShortDesc: lipgloss.NewStyle().Transform(t.Paints.Muted.On),
	}}
	lines := make([]string, n)
	for i, keys := range dealt {
		if len(keys) > 0 {
			lines[i] = edge + line.ShortHelpView(keys)
		}
	}
	return lines
}
