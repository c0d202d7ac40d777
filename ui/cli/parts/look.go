package parts

import (
	"cairn/themes"
	"cairn/ui/cli"
	"cairn/ui/overlay"
)

// Themes reads what themes a chat can be drawn in, for a list of them.
func Themes(c cli.ChatSetup) []overlay.ThemeChoice {
	if c.Designs == nil {
		return nil
	}
	var all []overlay.ThemeChoice
	for _, d := range c.Designs() {
		one := overlay.ThemeChoice{Name: d.Name, File: d.File}
		if d.Err != nil {
			one.Wrong = d.Err.Error()
			all = append(all, one)
			continue
		}
		one.Make = func(dark bool) *themes.Theme { return d.Design.Theme(dark, c.Look) }
		for _, f := range d.Design.Faint() {
			one.Faint = append(one.Faint, f.String())
		}
		all = append(all, one)
	}
	return all
}
