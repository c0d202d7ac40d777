package cli

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestTheReadmeNamesFlagsAndCommands keeps the README's tables complete, and free
// of flags and commands that are gone.
func TestTheReadmeNamesFlagsAndCommands(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	// Commands that need a part of the program are there with it.
	wire := Wire{
		CompactStore: func(context.Context, string, StoreOptions) (int64, int64, error) { return 0, 0, nil },
		EmptyTrash: func(context.Context, string, StoreOptions, func(StoreTrash) error) (StoreTrash, error) {
			return StoreTrash{}, nil
		},
		MigrateStore: func(context.Context, string, StoreOptions) (StoreMigration, error) { return StoreMigration{}, nil },
		RebuildStore: func(context.Context, string, StoreOptions) (StoreRebuilt, error) { return StoreRebuilt{}, nil },
		NewWorker:    func(context.Context, Setup, WorkerSetup) (Worker, error) { return nil, errors.New("only named") },
		NewCondenser: func(context.Context, ChatSetup) (Condenser, error) { return nil, errors.New("only named") },
	}
	root, _, err := (&app{wire: wire}).command(nil)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"help": true}
	each := func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		each(c)
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	_, table, _ := strings.Cut(text, "| flag | what it does |")
	table, _, _ = strings.Cut(table, "\n\n")
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !strings.Contains(table, "`--"+f.Name) && (f.Shorthand == "" || !strings.Contains(table, "`-"+f.Shorthand)) {
			t.Errorf("the table of flags lacks --%s", f.Name)
		}
	})
	for _, m := range regexp.MustCompile("`[^`\n]*--([a-z][a-z-]*)[^`\n]*`").FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("the README names --%s, which there is not: %s", m[1], m[0])
		}
	}
	for _, c := range root.Commands() {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" {
			continue
		}
		if !strings.Contains(text, "`"+c.Name()+"`") && !strings.Contains(text, "cairn "+c.Name()) {
			t.Errorf("the README does not name cairn %s", c.Name())
		}
	}
	for _, m := range regexp.MustCompile("(?:`|    )cairn ([a-z]+)( [a-z]+)?").FindAllStringSubmatch(text, -1) {
		if c, _, err := root.Find(strings.Fields(m[1] + m[2])); err != nil || c == root && m[1] != "help" {
			t.Errorf("the README names cairn %s, which there is not (%v)", m[1], err)
		}
	}
}
