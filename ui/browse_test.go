package ui

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALinkIsOneArgumentOfTheProgramOfTheDesktop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, told := filepath.Join(dir, "xdg-open"), filepath.Join(dir, "told")
	script := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > '" + told + "'\n[ \"$1\" != https://bad.example ]\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(string) (string, error) { return program, nil }
	env := func(set map[string]string) func(string) string { return func(name string) string { return set[name] } }
	open := opener(env(map[string]string{"DISPLAY": ":0"}), "linux", find)
	const address = "https://example.org/?a=1&b=$(touch%20x);`id`'\""
	if err := open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(told); err != nil || string(got) != "1\n"+address+"\n" {
		t.Errorf("it was given %q, %v", got, err)
	}
	if err := open(t.Context(), "https://bad.example"); err == nil {
		t.Error("what could not be opened is not told")
	}
	missing := func(string) (string, error) { return "", errors.New("none") }
	for name, none := range map[string]bool{
		"no display":  opener(env(nil), "linux", find) == nil,
		"over ssh":    opener(env(map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "1"}), "linux", find) == nil,
		"no program":  opener(env(map[string]string{"DISPLAY": ":0"}), "linux", missing) == nil,
		"no settings": opener(nil, "linux", find) == nil,
	} {
		if !none {
			t.Errorf("%s: links are opened all the same", name)
		}
	}
	if opener(env(nil), "darwin", find) == nil || opener(env(nil), "windows", find) == nil {
		t.Error("a desktop needs no DISPLAY elsewhere")
	}
}
