package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/ui/render"
)

// manuals writes all pages and returns where.
func manuals(t *testing.T, env map[string]string) string {
	t.Helper()
	w, s, _, errs := world1(t)
	dir := t.TempDir()
	wire := w.wire()
	wire.Bindings = func() []render.Binding {
		return []render.Binding{
			{Action: "chat.send", Keys: []string{"enter"}, Help: "send", Group: "Writing"},
			{Action: "chat.odd", Keys: []string{`\`, "-", "'"}, Help: ".do", Group: "Writing"},
			{Action: "chat.editor", Keys: []string{"ctrl+g", "ctrl+x e"}, Help: "edit", Group: "Writing"},
			{Action: "pager.close", Keys: []string{" "}, Help: "close", Group: "Pager"},
		}
	}
	get := s.Getenv
	s.Getenv = func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return get(name)
	}
	if code := Main(t.Context(), s, []string{"man", "--dir", dir}, wire); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	return dir
}

// pages are the paths of all pages below a directory.
func pages(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "man*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestThereIsAPageForEachCommandTheConfigurationAndTheKeys(t *testing.T) {
	t.Parallel()
	dir := manuals(t, nil)
	var names []string
	for _, p := range pages(t, dir) {
		names = append(names, filepath.Base(p))
	}
	for _, want := range []string{"cairn.1", "cairn-sessions.1", "cairn-doctor.1", "cairn-man.1", "cairn.toml.5", "cairn-keys.7"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s, only %v", want, names)
		}
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, want := range []string{".I ~/.config/cairn/config.toml\n", `cairn\-mcp(1), `, "cairn.toml(5), cairn\\-keys(7)"} {
		if !strings.Contains(read("man1/cairn.1"), want) {
			t.Errorf("cairn(1) does not have %q", want)
		}
	}
	for _, s := range settings() {
		if !strings.Contains(read("man5/cairn.toml.5"), "\n.B "+roff(s.key)+"\n") {
			t.Errorf("cairn.toml(5) does not have %s", s.key)
		}
	}
	if keys := read("man7/cairn-keys.7"); !strings.Contains(keys, ".B enter\nsend (chat.send)") || !strings.Contains(keys, ".B space\n") ||
		!strings.Contains(keys, ".B ctrl+g, ctrl+x e\n") || !strings.Contains(keys, "\n.nf\n[keys]\n") {
		t.Error(keys)
	}
}

func TestEveryKeyOfTheConfigurationIsDocumented(t *testing.T) {
	t.Parallel()
	var known []string
	for table, keys := range tables() {
		for _, k := range keys {
			switch {
			case table == "providers", table == "models", table == mcpServers:
				k = table + ".NAME." + k
			case table != "":
				k = table + "." + k
			}
			known = append(known, k)
		}
	}
	for _, d := range configDocs() {
		if d.key != "keys.ACTION" && !slices.Contains(known, d.key) {
			t.Errorf("%s is documented, but is no key", d.key)
		}
	}
	for _, k := range known {
		if _, table := tables()[k]; table && k != "mouse" || k == "keys" {
			continue // its own keys are told
		}
		if !slices.ContainsFunc(configDocs(), func(d keyDoc) bool { return d.key == k }) {
			t.Errorf("%s is a key, but is not documented", k)
		}
	}
}

func TestTheManualTellsTheKeysOfTheConfiguration(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(own, []byte("[keys]\n\"chat.send\" = \"ctrl+s\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(manuals(t, map[string]string{"CAIRN_CONFIG": own}), "man7", "cairn-keys.7"))
	if err != nil || !strings.Contains(string(data), ".B ctrl+s\nsend (chat.send)") {
		t.Errorf("%v: %s", err, data)
	}
}

// The pages are read by the programs that people read them with, if those are here.
func TestThePagesHaveNoFaults(t *testing.T) {
	t.Parallel()
	dir := manuals(t, nil)
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not here")
	}
	for _, p := range pages(t, dir) {
		// Faults are in the output; what is made of a program has no date.
		out, _ := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "warning", p).CombinedOutput()
		for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if l != "" && !strings.Contains(l, "missing date") {
				t.Error(l)
			}
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	for _, p := range pages(t, dir) {
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", p)
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil || errs.Len() > 0 {
			t.Errorf("%s: %v: %s", filepath.Base(p), err, errs.String())
		}
	}
}

// The scripts for completion are right for the shells that are here.
func TestCompletionScriptsAreRight(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		w, s, out, errs := world1(t)
		if code := Main(t.Context(), s, []string{"completion", shell}, w.wire()); code != ExitDone {
			t.Fatalf("%s: exit code %d: %s", shell, code, errs)
		}
		cmd := exec.CommandContext(t.Context(), path, "-n")
		cmd.Stdin = strings.NewReader(out.String())
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v: %s", shell, err, said)
		}
	}
}
