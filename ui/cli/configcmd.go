package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// configCommand is `cairn config`.
func (a *app) configCommand() *cobra.Command {
	return group("config", "Show and check the configuration", a.configPath(), a.configCheck(), a.configShow(), a.configSet())
}

func (a *app) configPath() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where the configuration file is", Args: exactly(0, ""),
		RunE: runner(func(context.Context, []string) error {
			file, _ := userFile(a.s, a.flags.config)
			if file == "" {
				_, err := configDir(a.s)
				return err
			}
			if a.flags.json {
				_, err := os.Stat(file)
				return a.out.document(map[string]any{"path": file, "exists": err == nil})
			}
			a.out.line("%s", file)
			return nil
		}),
	}
}

func (a *app) configCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Check the configuration and the names in it", Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			look, err := a.themeWarnings(c)
			if err != nil {
				return err
			}
			c.Warnings = append(c.Warnings, look...)
			if err := checkAddresses(a.s.Getenv); err != nil {
				return err
			}
			if err := a.checkModels(ctx, c); err != nil {
				return err
			}
			_, err = os.Stat(c.File)
			exists := err == nil
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("look at %s: %w", c.File, cause(err))
			}
			if a.flags.json {
				return a.out.document(map[string]any{"file": c.File, "exists": exists, "project": c.Project, "warnings": orEmpty(c.Warnings)})
			}
			for _, w := range look {
				a.out.line("warning: %s", w)
			}
			switch {
			case exists && c.Project != "":
				a.out.line("%s and %s are right", c.File, c.Project)
			case exists:
				a.out.line("%s is right", c.File)
			case c.Project != "":
				a.out.line("%s is right", c.Project)
			default:
				a.out.line("there is no configuration, and none is needed; it would be %s", c.File)
			}
			return nil
		}),
	}
}

// checkModels refuses models that are misspelt.
func (a *app) checkModels(ctx context.Context, c Config) error {
	if c.Model == "" && len(c.Fallback) == 0 {
		return nil
	}
	m, err := a.models(ctx)
	if err != nil {
		return err
	}
	if from, _ := c.From("model"); c.Model != "" {
		if _, err := m.Validate(ctx, c.Model); err != nil {
			return usage("the model from %s: %w", from, err)
		}
	}
	return a.tellStandins(ctx, c)
}

func (a *app) configShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show each value and where it is from; never a key", Args: exactly(0, ""),
		RunE: runner(func(context.Context, []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.out.document(c.Values())
			}
			var t table
			for _, v := range c.Values() {
				value := v.Value
				if value == "" {
					value = "-"
				}
				t.add(v.Key, value, v.From)
			}
			t.write(a.out, a.s.Width)
			return nil
		}),
	}
}
