package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A key is set where it is, or where it belongs, and nothing else changes.
func TestASettingIsWrittenWhereItBelongs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, key, value, want string }{
		"no file":              {"", "theme", "dark", "theme = \"dark\"\n"},
		"a table in no file":   {"", "chat.title", "words", "[chat]\ntitle = \"words\"\n"},
		"in place":             {"# mine\ntheme = 'light'  # by day\nmouse = true\n", "theme", "dark", "# mine\ntheme = \"dark\"  # by day\nmouse = true\n"},
		"the mouse":            {"", "mouse", "off", "mouse = false\n"},
		"of the mouse":         {"", "mouse.wheel", "off", "[mouse]\nwheel = false\n"},
		"a switch":             {"mouse = true # the wheel\n", "plain", "on", "mouse = true # the wheel\nplain = true\n"},
		"below the last":       {"model = \"a/b\"\n# about the chat\n\n[chat]\ntitle = \"words\"\n", "theme", "dark", "model = \"a/b\"\ntheme = \"dark\"\n# about the chat\n\n[chat]\ntitle = \"words\"\n"},
		"above a table":        {"# head\n\n# of the chat\n[chat]\ntitle = \"words\"\n", "theme", "dark", "# head\n\ntheme = \"dark\"\n# of the chat\n[chat]\ntitle = \"words\"\n"},
		"at the very top":      {"[chat]\ntitle = \"words\"\n", "theme", "dark", "theme = \"dark\"\n\n[chat]\ntitle = \"words\"\n"},
		"in its table":         {"[memory]\ndistill = \"ask\"\n\n[chat]\ntitle = \"words\"\n", "memory.recall_tokens", "900", "[memory]\ndistill = \"ask\"\nrecall_tokens = 900\n\n[chat]\ntitle = \"words\"\n"},
		"in an empty table":    {"[spending]\n[chat]\n", "spending.day", "5", "[spending]\nday = 5.0\n[chat]\n"},
		"dotted at the top":    {"memory.distill = \"ask\"\n", "memory.recall_tokens", "900", "memory.distill = \"ask\"\nmemory.recall_tokens = 900\n"},
		"in braces":            {"chat = { title = \"model\" }\n", "chat.title", "words", "chat = { title = \"words\" }\n"},
		"no newline at end":    {"mouse = true", "theme", "dark", "mouse = true\ntheme = \"dark\"\n"},
		"CRLF":                 {"mouse = true\r\n", "chat.title", "words", "mouse = true\r\n\r\n[chat]\r\ntitle = \"words\"\r\n"},
		"a text of many lines": {"system = \"\"\"\ntheme = 'no'\n[chat]\n\"\"\"\n", "theme", "dark", "system = \"\"\"\ntheme = 'no'\n[chat]\n\"\"\"\ntheme = \"dark\"\n"},
		"a text to escape":     {"", "system", "a \"b\" \\ c\n\x01é", "system = \"a \\\"b\\\" \\\\ c\\n\\u0001é\"\n"},
		"a list":               {"fallback = [\n  \"a/b\", # first\n]\n", "fallback", "c/d, e/f", "fallback = [\"c/d\", \"e/f\"]\n"},
		"a key":                {"", "keys.chat.details", "f4", "[keys]\n\"chat.details\" = \"f4\"\n"},
		"keys by table":        {"[keys.chat]\nsend = \"enter\"\n", "keys.chat.details", "f4, alt+d", "[keys.chat]\nsend = \"enter\"\ndetails = [\"f4\", \"alt+d\"]\n"},
		"a quoted key":         {"[keys]\n\"chat.details\" = \"f4\"\n", "keys.chat.details", "f5", "[keys]\n\"chat.details\" = \"f5\"\n"},
		"of a model":           {"[models.\"openai/x.5\"]\nwindow = 1\n", `models."openai/x.5".max_output`, "9", "[models.\"openai/x.5\"]\nwindow = 1\nmax_output = 9\n"},
		"of a new model":       {"", `models."openai/x.5".window`, "9", "[models.\"openai/x.5\"]\nwindow = 9\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "cairn", "config.toml")
			if c.old != "" {
				write(t, path, c.old, 0o600)
			}
			if err := writeSetting(path, c.key, c.value, fits(path)); err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, path); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if err := writeSetting(path, c.key, c.value, fits(path)); err != nil {
				t.Fatalf("once more: %v", err)
			}
			if got := textOf(t, path); got != c.want {
				t.Errorf("written twice it is\n%s", got)
			}
		})
	}
}

// fits reads what is to be written as a file, and nothing more.
func fits(path string) func(data []byte) error {
	return func(data []byte) error {
		_, err := parseFile(path, data, false)
		return err
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What does not fit, or would go into a file that is wrong, changes nothing.
func TestASettingThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, key, value, want string }{
		"broken file":            {"mouse = true\nmodxl = 1\n", "theme", "dark", `config.toml:2: unknown key "modxl"; did you mean model?`},
		"no TOML":                {"mouse = \n", "theme", "dark", "config.toml:1: "},
		"unknown key":            {"", "them", "dark", `unknown key "them"; did you mean theme?`},
		"unknown in one":         {"", "chat.titel", "words", `unknown key "chat.titel"; did you mean title?`},
		"a table":                {"", "chat", "words", `"chat" is a table; name a key in it: title`},
		"no key":                 {"", "a b", "x", "is no key of the configuration"},
		"two lines":              {"", "theme = 1\nmouse", "x", "is no key of the configuration"},
		"wrong switch":           {"", "plain", "perhaps", `"plain" must be true or false, not "perhaps"`},
		"no amount":              {"", "spending.day", "nan", `"spending.day" must be an amount`},
		"wrong number":           {"", "memory.recall_tokens", "many", "must be a whole number of tokens"},
		"wrong mode":             {"", "chat.title", "none", `chat.title cannot be none: "chat.title" must be "model" or "words"`},
		"wrong key":              {"", "keys.chat.send", "ctrl+zz", `no terminal sends the key "ctrl+zz"`},
		"a secret":               {"", "providers.openai.api_key", "sk-1", "is a secret"},
		"braces":                 {"chat = {}\n", "chat.title", "words", `config.toml:1: "chat" is set as a whole here`},
		"a list that is no list": {"", "fallback", "[1", "fallback cannot be [1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config.toml")
			if c.old != "" {
				write(t, path, c.old, 0o600)
			}
			err := writeSetting(path, c.key, c.value, fits(path))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "sk-1") {
				t.Errorf("the secret is in %q", err)
			}
			if c.old == "" {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("there is a file: %q", textOf(t, path))
				}
			} else if got := textOf(t, path); got != c.old {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

func TestASettingKeepsModeAndLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.toml"), filepath.Join(dir, "cairn", "config.toml")
	write(t, real, "mouse = true\n", 0o640)
	if err := os.Mkdir(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := writeSetting(link, "theme", "dark", fits(link)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if got := textOf(t, real); got != "mouse = true\ntheme = \"dark\"\n" {
		t.Errorf("got %q", got)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	gone := filepath.Join(dir, "gone.toml")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), gone); err != nil {
		t.Fatal(err)
	}
	if err := writeSetting(gone, "theme", "dark", fits(gone)); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v", err)
	}
}

// What a stronger place sets cannot be changed by the file.
func TestASettingThatWouldNotCountIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project string
		env     map[string]string
		flags   map[string]string
		want    string
	}{
		"project":     {project: "theme = \"light\"\n", want: "theme is set by this project"},
		"environment": {env: map[string]string{"CAIRN_THEME": "light"}, want: "CAIRN_THEME"},
		"flag":        {flags: map[string]string{"theme": "light"}, want: "--theme"},
		"nobody":      {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(home(t, "mouse = true\n", c.project, c.env), Wire{})
			a.flags.values = c.flags
			err := a.saveSetting(context.Background(), "theme", "dark")
			path := filepath.Join(a.s.Getenv("HOME"), ".config", "cairn", "config.toml")
			if c.want == "" {
				if err != nil || !strings.Contains(textOf(t, path), "theme = \"dark\"") {
					t.Fatalf("got %v and %q", err, textOf(t, path))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if got := textOf(t, path); got != "mouse = true\n" {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

// FuzzSetting checks that whatever a file holds, setting a key keeps every other
// value of it.
func FuzzSetting(f *testing.F) {
	f.Add("mouse = true\n[chat]\ntitle = \"words\"\n", "theme", "dark")
	f.Add("chat.title = 'words'\n", "memory.distill", "off")
	f.Add("[keys]\n\"chat.send\" = [\"enter\"]\n", "keys.chat.details", "f4")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		old, err := parseFile("c", []byte(text), false)
		if err != nil {
			return
		}
		parts, err := settingPath(key)
		if err != nil {
			return
		}
		v, err := settingText(parts, value)
		if err != nil {
			return
		}
		edited, err := editSettings([]byte(text), parts, v)
		if err != nil {
			return
		}
		now, err := parseFile("c", edited, false)
		if err != nil {
			return
		}
		for k, was := range old.plain {
			if got, ok := now.plain[k]; k != strings.Join(parts, ".") && (!ok || got != was) {
				t.Errorf("%s was %q and is %q in\n%s", k, was, got, edited)
			}
		}
	})
}

// What the next start would refuse is not written, though the file itself is right.
func TestASettingThatNoStartTakesIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, want string }{
		{"tools.off", "nonsense", `there is no tool "nonsense"`},
		{"dir", "somewhere", "give the whole path"},
		{"system_file", "nowhere.md", "cannot be read"},
		{"fallback", "text/x, nobody/y", "nobody"},
		{"theme", "nobody", `there is no theme "nobody"`},
		{"theme", "dark", "CAIRN_THEME"},
	} {
		w, s, out, errs := world1(t)
		wire := w.wire()
		wire.Tools = func() []string { return []string{"grep"} }
		getenv := s.Getenv
		s.Getenv = func(name string) string {
			if name == "CAIRN_THEME" {
				return "light"
			}
			return getenv(name)
		}
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, "plain = true\n", 0o600)
		code := Main(t.Context(), s, []string{"--config", path, "config", "set", c.key, c.value}, wire)
		if code != ExitUsage || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s %s: exit code %d: %s%s", c.key, c.value, code, out, errs)
		}
		if got := textOf(t, path); got != "plain = true\n" {
			t.Errorf("%s: the file is now %q", c.key, got)
		}
	}
}

// What was set is told, and so is what is odd about it, but no control character.
func TestASettingIsToldAsItIs(t *testing.T) {
	t.Parallel()
	w, s, out, errs := world1(t)
	wire := w.wire()
	wire.Tools = func() []string { return []string{"grep"} }
	s.OutTTY = true
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, "", 0o600)
	for _, args := range [][]string{{"system", "be \x1b[31m brief"}, {"permissions.deny", "grop(x)"}} {
		if code := Main(t.Context(), s, append([]string{"--config", path, "config", "set"}, args...), wire); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
	}
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(errs.String(), "did you mean grep?") {
		t.Errorf("said %q and %q", out, errs)
	}
}

// What somebody else wrote meanwhile is not written over.
func TestASettingYieldsToAnEditor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, "plain = true\n", 0o600)
	err := writeSetting(path, "theme", "dark", func([]byte) error {
		write(t, path, "plain = false\n", 0o600)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "changed by somebody else") || textOf(t, path) != "plain = false\n" {
		t.Errorf("got %v and %q", err, textOf(t, path))
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
