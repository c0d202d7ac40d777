package ui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/ui"
	"cairn/ui/browser"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/picker"
	"cairn/ui/render"
	"cairn/ui/runs"
)

// TestTheReadmeListsTheLiveKeys compares the README's tables of keys with the
// bindings of the screens; -update writes them.
func TestTheReadmeListsTheLiveKeys(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- keys -->\n", "<!-- /keys -->"
	path := filepath.Join("..", "README.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(data), begin)
	listed, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no place for the keys between %q and %q", path, begin, end)
	}
	live := "\n" + keyTable("Chat", chat.Actions()) + keyTable("Marked text", ui.MouseActions()) + keyTable("Selecting messages", chat.SelectActions()) + keyTable("Sessions", picker.Actions()) + keyTable("Memory", browser.Model{}.Bindings()) +
		keyTable("Runs", runs.Actions()) + keyTable("Palette", overlay.PaletteActions()) + keyTable("Models", overlay.ModelsActions()) + keyTable("Permissions", overlay.PermissionActions()) + keyTable("Usage", overlay.UsageActions()) +
		keyTable("Context", overlay.ContextActions()) + keyTable("Pager", overlay.PagerActions()) + keyTable("Welcome", overlay.WelcomeActions())
	switch {
	case listed == live:
	case !*update:
		t.Errorf("the keys in %s are not those of the program; write them with: go test ./ui/ -run Readme -update\n%s", path, live)
	default:
		if err := os.WriteFile(path, []byte(before+begin+live+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keyTable is the Markdown table of a screen's keys, those of one help text in
// one row.
func keyTable(screen string, bindings []render.Binding) string {
	var b strings.Builder
	b.WriteString("| " + screen + " | what it does |\n| --- | --- |\n")
	var order []string
	keys := map[string][]string{}
	for _, k := range bindings {
		if len(k.Keys) == 0 {
			continue
		}
		if _, known := keys[k.Help]; !known {
			order = append(order, k.Help)
		}
		for _, name := range k.Keys {
			keys[k.Help] = append(keys[k.Help], cell(name))
		}
	}
	for _, help := range order {
		b.WriteString("| " + strings.Join(keys[help], ", ") + " | " + strings.ReplaceAll(help, "|", `\|`) + " |\n")
	}
	return b.String() + "\n"
}

// cell is a key as code in a table.
func cell(name string) string {
	switch name {
	case " ":
		name = "space"
	case "`":
		return "`` ` ``"
	}
	return "`" + strings.ReplaceAll(name, "|", `\|`) + "`"
}
