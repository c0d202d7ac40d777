package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/themes"
)

// themesCommand is `cairn themes`, which lists them.
func (a *app) themesCommand() *cobra.Command {
	cmd := group("themes", "List, show, check and begin themes", a.themesList("list"), a.themesShow(), a.themesCheck(), a.themesNew())
	list := a.themesList("themes")
	cmd.Flags().AddFlagSet(list.Flags())
	other := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 0 {
			return other(cmd, words)
		}
		return list.RunE(cmd, words)
	}
	return cmd
}

func (a *app) themesList(use string) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{Use: use, Short: "List the themes, built in and your own", Args: exactly(0, "")}
	limitFlag(cmd, &limit)
	cmd.RunE = runner(func(context.Context, []string) error {
		c, err := a.config()
		if err != nil {
			return err
		}
		type theme struct {
			Name   string `json:"name"`
			Chosen bool   `json:"chosen"`
			File   string `json:"file,omitempty"`
			Error  string `json:"error,omitempty"`
		}
		list := []theme{}
		var t table
		for _, choice := range a.themeChoices() {
			if limit > 0 && len(list) == limit {
				break
			}
			one := theme{Name: choice.Name, Chosen: choice.Name == c.Theme, File: choice.File}
			mark := ""
			if one.Chosen {
				mark = "chosen"
			}
			about := choice.File
			if choice.Err != nil {
				one.Error = choice.Err.Error()
				about = "wrong: " + one.Error
			}
			list = append(list, one)
			t.add(a.safe(one.Name), mark, a.safe(about))
		}
		if a.flags.json {
			return a.out.document(list)
		}
		t.write(a.out, a.s.Width)
		return nil
	})
	return cmd
}

func (a *app) themesShow() *cobra.Command {
	light := false
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Print the file of a theme", Args: exactly(1, "a theme"), ValidArgsFunction: a.completeThemes,
		RunE: runner(func(_ context.Context, args []string) error {
			name := args[0]
			if slices.Contains(builtin(a.wire), name) {
				data, err := themes.Source(name, !light)
				if err != nil {
					return fmt.Errorf("show theme %s: %w", name, err)
				}
				a.out.text(string(data))
				return nil
			}
			choice, err := a.theme(Value{Key: "theme", Value: name, layer: layerFlag})
			if err != nil {
				return &failure{code: ExitNotFound, err: err}
			}
			data, err := themeBytes(choice.File)
			if err != nil {
				return err
			}
			a.out.text(a.safe(string(data)))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&light, "light", false, "that for a light background, of a theme that has two")
	return cmd
}

func (a *app) themesCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check NAME|FILE", Short: "Check the file of a theme and the contrast of its colours", Args: exactly(1, "a theme or a file"), ValidArgsFunction: a.completeThemes,
		RunE: runner(func(_ context.Context, args []string) error {
			choice, err := a.theme(Value{Key: "theme", Value: args[0], layer: layerFlag})
			if err != nil {
				if path := absolute(a.s, args[0]); isFile(path) { // a file without the ending of one
					choice, err = readTheme(args[0], path), nil
				}
			}
			if err != nil {
				return &failure{code: ExitNotFound, err: err}
			}
			if choice.Err != nil {
				return usage("%w", choice.Err)
			}
			warnings := []string{}
			for _, f := range choice.Design.Faint() {
				warnings = append(warnings, f.String())
			}
			if a.flags.json {
				return a.out.document(map[string]any{"name": choice.Name, "file": choice.File, "warnings": warnings})
			}
			for _, w := range warnings {
				a.out.line("warning: %s", w)
			}
			switch {
			case choice.File == "":
				a.out.line("%s is built in, and right", choice.Name)
			case len(warnings) == 0:
				a.out.line("%s is right", choice.File)
			default:
				a.out.line("%s can be used", choice.File)
			}
			return nil
		}),
	}
}

func (a *app) themesNew() *cobra.Command {
	base := ""
	light := false
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Begin a theme of your own: write a file to change", Args: exactly(1, "a name"),
		Example: "  cairn themes new mine --base light\n  cairn config set theme mine",
		RunE: runner(func(_ context.Context, args []string) error {
			name := args[0]
			if err := validThemeName(name); err != nil {
				return err
			}
			if slices.Contains(builtin(a.wire), name) {
				return usage("%s is a built-in theme; take another name", name)
			}
			data, err := themes.Starter(name, base, base != "light" && !light)
			if err != nil {
				return usage("%w", err)
			}
			dir := a.themesDir()
			if dir == "" {
				_, err := configDir(a.s)
				return err
			}
			path := filepath.Join(dir, name+".toml")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("make %s: %w", dir, cause(err))
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return usage("there is %s already; take another name, or change that file", path)
			}
			if err != nil {
				return fmt.Errorf("make %s: %w", path, cause(err))
			}
			_, err = f.Write(data)
			if err = errors.Join(err, f.Close()); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			if a.flags.json {
				return a.out.document(map[string]any{"name": name, "file": path})
			}
			a.out.line("%s", path)
			a.notice("to use it: cairn config set theme %s, or /theme in a chat; to check it: cairn themes check %s", name, name)
			return nil
		}),
	}
	cmd.Flags().StringVar(&base, "base", "dark", "build it on the built-in theme `NAME`, any but auto and plain")
	cmd.Flags().BoolVar(&light, "light", false, "for a light background")
	return cmd
}

// completeThemes completes the name of a theme.
func (a *app) completeThemes(_ *cobra.Command, words []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var fit []string
	for _, name := range a.themeNames() {
		if strings.HasPrefix(name, start) {
			fit = append(fit, name)
		}
	}
	return fit, cobra.ShellCompDirectiveDefault
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
