package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// source is the file that the scenes are about.
const source = `package importer

import "errors"

// ErrBadRow is a row that cannot be read.
var ErrBadRow = errors.New("bad row")

// Row is a line of an invoice.
type Row struct {
	VAT     string
	Country string
	Total   int
}

func parseRow(rec []string) (*Row, error) {
	r := newRow(rec)
	if r.VAT == "" {
		return nil, ErrBadRow
	}
	return r, nil
}

func newRow(rec []string) *Row {
	return &Row{VAT: rec[0], Country: rec[1]}
}
`

// furnish puts files, sessions, facts and notes into a home: the files
// into its project, in which cairn is started.
func furnish(ctx context.Context, binary, dir string, env []string) error {
	if err := os.MkdirAll(filepath.Join(dir, "importer"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"importer/row.go": source, "importer/row_test.go": "package importer\n", "README.md": "# Invoices\n", "chart.png": string(chart())} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	day := func(n int) string { return time.Now().AddDate(0, 0, -n).UTC().Format(time.RFC3339) }
	var lines strings.Builder
	for i, s := range [][2]string{
		{"Parser for bank statements", "Write a parser for bank statements, please."},
		{"Trip to Bergen", "What is there to see in Bergen in May?"},
		{"Regex for postcodes", "A regex for British postcodes for the import, please."},
		{"Letter to the landlord", "Draft a letter to the landlord about the heating."},
	} {
		fmt.Fprintf(&lines, "{\"session\":{\"id\":\"s%d\",\"title\":%q,\"created_at\":%q}}\n", i, s[0], day(i+1))
		fmt.Fprintf(&lines, "{\"message\":{\"role\":\"user\",\"content\":%q,\"created_at\":%q}}\n", s[1], day(i+1))
		fmt.Fprintf(&lines, "{\"message\":{\"role\":\"assistant\",\"content\":\"Gladly. Here is a first draft.\",\"created_at\":%q}}\n", day(i+1))
	}
	for _, c := range []struct {
		in   string
		args []string
	}{
		{lines.String(), []string{"sessions", "import", "-"}},
		{"", []string{"facts", "add", "--category", "style", "--tag", "go", "Writes Go; tests first"}},
		{"", []string{"facts", "add", "--category", "style", "--pin", "Prefers short answers"}},
		{"", []string{"facts", "add", "--category", "work", "--tag", "invoices", "The importer lives in importer/row.go"}},
		{"", []string{"facts", "add", "--category", "person", "Lives in Hamburg"}},
		{"- rows come from the bank as CSV\n- `parseRow` refuses a row **without** a VAT id\n- credit notes have a negative total\n", []string{"notes", "add", "Importer", "-"}},
		{"", []string{"permissions", "allow", "run_command(go vet)"}},
		{"", []string{"permissions", "allow", "write_file(docs/**)"}},
	} {
		if err := command(ctx, binary, dir, env, c.in, c.args...); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command of cairn in a home.
func command(ctx context.Context, binary, dir string, env []string, in string, args ...string) error {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, dir, strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cairn %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
