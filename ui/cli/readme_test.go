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

// TestTheReadmeShowsEveryKeyOfTheConfiguration looks for the keys of the manual in
// the examples of the README, below their tables.
func TestTheReadmeShowsEveryKeyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, example := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		table := ""
		for _, line := range strings.Split(example[1], "\n") {
			if name, ok := strings.CutPrefix(line, "["); ok {
				table, _, _ = strings.Cut(name, "]")
				if server, ok := strings.CutPrefix(table, mcpServers+"."); ok {
					table = strings.TrimSuffix(table, "."+server) + "."
				} else {
					table, _, _ = strings.Cut(table, ".")
					table += "."
				}
			}
			if key, _, ok := strings.Cut(line, " = "); ok {
				shown[table+strings.TrimSpace(key)] = true
			}
			// What is in a remark counts, too: system = "…" instead of a file.
			_, remark, _ := strings.Cut(line, " # ")
			for _, m := range regexp.MustCompile(`([a-z_]+) = `).FindAllStringSubmatch(remark, -1) {
				shown[m[1]], shown[table+m[1]] = true, true
			}
		}
	}
	for _, d := range configDocs() {
		key := strings.Replace(d.key, ".NAME.", ".", 1)
		if key != "keys.ACTION" && !shown[key] {
			t.Errorf("the examples of the README lack %s", d.key)
		}
	}
}
