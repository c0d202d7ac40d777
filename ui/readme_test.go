package ui_test

import (
	"os"
	"path/filepath"
	"slices"
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
	live := "\n" + keyTable("Chat", chat.Actions()) + keyTable("Marked text", ui.MouseActions()) + keyTable("Reading", chat.SelectActions()) + keyTable("Sessions", picker.Actions()) + keyTable("Memory", browser.Model{}.Bindings()) +
		keyTable("Runs", runs.Actions()) + keyTable("Palette", overlay.PaletteActions()) + keyTable("Models", overlay.ModelsActions()) + keyTable("Themes", overlay.ThemeActions()) + keyTable("Permissions", overlay.PermissionActions()) + keyTable("Usage", overlay.UsageActions()) +
		keyTable("Context", overlay.ContextActions()) + keyTable("Image", overlay.ImageActions()) + keyTable("Pager", overlay.PagerActions()) + keyTable("MCP servers", overlay.ServersActions()) + keyTable("Form", overlay.FormActions()) +
		keyTable("Welcome", overlay.WelcomeActions())
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

// keyTable is the Markdown tables of a screen's keys, one for each group of the
// help, with those of one help text in one row.
func keyTable(screen string, bindings []render.Binding) string {
	var groups []string
	of := map[string][]render.Binding{}
	for _, k := range bindings {
		if len(k.Keys) == 0 {
			continue
		}
		if _, known := of[k.Group]; !known {
			groups = append(groups, k.Group)
		}
		of[k.Group] = append(of[k.Group], k)
	}
	var b strings.Builder
	for _, group := range groups {
		title := screen
		if len(groups) > 1 && !strings.EqualFold(group, screen) {
			title += ": " + strings.ToLower(group)
		}
		b.WriteString("| " + title + " | what it does |\n| --- | --- |\n" + keyRows(of[group]) + "\n")
	}
	return b.String()
}

// keyRows are the rows of a table of keys.
func keyRows(bindings []render.Binding) string {
	var order []string
	keys := map[string][]string{}
	for _, k := range bindings {
		if _, known := keys[k.Help]; !known {
			order = append(order, k.Help)
		}
		for _, name := range k.Keys {
			if !slices.Contains(keys[k.Help], cell(name)) {
				keys[k.Help] = append(keys[k.Help], cell(name))
			}
		}
	}
	var b strings.Builder
	for _, help := range order {
		b.WriteString("| " + strings.Join(keys[help], ", ") + " | " + strings.ReplaceAll(help, "|", `\|`) + " |\n")
	}
	return b.String()
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
