package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// themesCommand is `cairn themes`.
func (a *app) themesCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{Use: "themes", Short: "List the themes", Args: exactly(0, "")}
	limitFlag(cmd, &limit)
	cmd.RunE = runner(func(context.Context, []string) error {
		c, err := a.config()
		if err != nil {
			return err
		}
		type theme struct {
			Name   string `json:"name"`
			Chosen bool   `json:"chosen"`
		}
		list := []theme{}
		var t table
		for _, name := range a.wire.Themes() {
			if limit > 0 && len(list) == limit {
				break
			}
			mark := ""
			if name == c.Theme {
				mark = "chosen"
			}
			list = append(list, theme{name, mark != ""})
			t.add(name, mark)
		}
		if a.flags.json {
			return a.out.document(list)
		}
		t.write(a.out, a.s.Width)
		return nil
	})
	return cmd
}
