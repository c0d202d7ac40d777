package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/model/catalogue"
	"cairn/ui/browser"
	"cairn/ui/chat"
	"cairn/ui/picker"
)

// home is a person's surroundings with a configuration and a project.
func home(t *testing.T, user, project string, env map[string]string) Streams {
	t.Helper()
	s := Streams{Dir: t.TempDir()}
	all := map[string]string{"HOME": t.TempDir()}
	for k, v := range env {
		all[k] = v
	}
	s.Getenv = func(k string) string { return all[k] }
	if user != "" {
		write(t, filepath.Join(all["HOME"], ".config", "cairn", "config.toml"), user, 0o600)
	}
	if project != "" {
		write(t, filepath.Join(s.Dir, ".cairn", "config.toml"), project, 0o644)
	}
	return s
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A fault in a configuration is told with its line and what would be right.
func TestConfigErrorsNameLineAndRemedy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		project bool
		want    []string
	}{
		"unknown key":         {text: "mouse = true\n\nmodxl = \"a/b\"\n", want: []string{`:3: unknown key "modxl"; did you mean model?`}},
		"far from every key":  {text: "zzzzzzzzzz = 1\n", want: []string{`:1: unknown key "zzzzzzzzzz"; see: cairn config show`}},
		"two unknown keys":    {text: "modxl = \"a\"\nthem = \"b\"\n", want: []string{":1: ", ":2: ", "did you mean theme?"}},
		"key of a provider":   {text: "[providers.openai]\nbase_ulr = \"x\"\n", want: []string{`:2: unknown key "providers.openai.base_ulr"; did you mean base_url?`}},
		"key of a model":      {text: "[models.\"openai/x\"]\nwin = 3\n", want: []string{`:2: unknown key`, `window`}},
		"no such key":         {text: "[keys]\n\n\"chat.send\" = \"ctrl+zz\"\n", want: []string{`:3: the binding of "chat.send": no terminal sends the key "ctrl+zz"`}},
		"no such key in list": {text: "[keys.chat]\nsend = [\"ctrl+s\", \"Ctrl+S\"]\n", want: []string{`:2: `, "did you mean ctrl+s?"}},
		"key sent as another": {text: "[keys]\n\"chat.send\" = \"ctrl+m\"\n", want: []string{`:2: `, "send ctrl+m as enter"}},
		"address":             {text: "[providers.openai]\nbase_url = \"localhost:1\"\n", want: []string{`:2: "providers.openai.base_url" must be an address such as "https://example.com/v1"`}},
		"address, no host":    {text: "[providers.openai]\nkind = \"openai\"\nbase_url = \"http://:80/v1\"\n", want: []string{`:3: `}},
		"window beyond all":   {text: "[models.\"openai/x.5\"]\nwindow = 9223372036854775807\nmax_output = 1000000001\n", want: []string{`:2: "models.openai/x.5.window" must be a whole number of tokens, at most 1,000,000,000`, ":3: "}},
		"window of zero":      {text: "[models.\"openai/x.5\"]\n\nwindow = 0\n", want: []string{`:3: "models.openai/x.5.window" must be a whole number of tokens, at least 1`}},
		"negative values":     {text: "[models.\"a/b\"]\nmax_output = -1\ninput_price = -0.5\noutput_price = nan\n", want: []string{`:2: `, ":3: ", ":4: ", "0 if it is free"}},
		"infinite price":      {text: "[models.\"a/b\"]\ninput_price = inf\n", want: []string{`:2: `}},
		"wrong kind of value": {text: "model = \"a/b\"\nmouse = \"yes\"\n", want: []string{`:2: "mouse" must be true or false`}},
		"number for text":     {text: "model = 3\n", want: []string{`:1: "model" must be a text in quotes`}},
		"text for yes or no":  {text: "[models.\"a/b\"]\nimages = \"yes\"\n", want: []string{`:2: `, `true or false`}},
		"text for number":     {text: "[models.\"a/b\"]\nwindow = \"big\"\n", want: []string{`:2: `, `a whole number of tokens`}},
		"value for table":     {text: "providers = 3\n", want: []string{`:1: "providers" must be a table, such as [providers.NAME]`}},
		"not TOML":            {text: "model = \n", want: []string{`:1: `}},
		"twice":               {text: "model = \"a\"\nmodel = \"b\"\n", want: []string{`:2: `, "model"}},
		"not text":            {text: "model = \"\xff\"\n", want: []string{"is not UTF-8 text"}},
		"key binding":         {text: "[keys]\n\"chat.send\" = 3\n", want: []string{`:2: the binding of "chat.send" must be a key`}},
		"project with a key":  {text: "[providers.openai]\napi_key = \"k\"\n", project: true, want: []string{`:1: "providers" cannot be set by a project`}},
		"project with dir":    {text: "model = \"a/b\"\ndir = \"/x\"\n", project: true, want: []string{`:2: "dir" cannot be set by a project`}},
		"project with file":   {text: "system_file = \"/etc/passwd\"\n", project: true, want: []string{`:1: "system_file" cannot be set by a project`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseFile("/c/config", []byte(c.text), c.project)
			if err == nil {
				t.Fatal("no error")
			}
			if exitCode(err) != ExitUsage {
				t.Errorf("exit code %d", exitCode(err))
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "/c/config:") {
					t.Errorf("%q does not begin with the file", line)
				}
			}
			for _, inner := range []string{"cli.", "toml", "struct"} {
				if strings.Contains(err.Error(), inner) {
					t.Errorf("%q speaks of %q", err, inner)
				}
			}
		})
	}
}

// The strongest place wins, and the value says which it was.
func TestConfigOrder(t *testing.T) {
	t.Parallel()
	const user, project = "model = \"user/m\"\ntheme = \"dark\"\n", "model = \"project/m\"\n"
	for name, c := range map[string]struct {
		user, project string
		env, flags    map[string]string
		want, from    string
	}{
		"default":     {from: "default"},
		"user":        {user: user, want: "user/m", from: "config.toml"},
		"project":     {user: user, project: project, want: "project/m", from: filepath.Join(".cairn", "config.toml")},
		"environment": {user: user, project: project, env: map[string]string{"CAIRN_MODEL": "env/m"}, want: "env/m", from: "CAIRN_MODEL"},
		"flag":        {user: user, project: project, env: map[string]string{"CAIRN_MODEL": "env/m"}, flags: map[string]string{"model": "flag/m"}, want: "flag/m", from: "--model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := loadConfig(home(t, c.user, c.project, c.env), "", c.flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			from, _ := got.From("model")
			if got.Model != c.want || !strings.HasSuffix(from, c.from) {
				t.Errorf("model %q from %q, not %q from %q", got.Model, from, c.want, c.from)
			}
		})
	}
}

// What was set for a session beats every place but a flag.
func TestSessionBeatsAllButFlag(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env, flags    map[string]string
		session, want string
	}{
		"nothing":     {},
		"environment": {env: map[string]string{"CAIRN_MODEL": "env/m"}, want: "env/m"},
		"session":     {env: map[string]string{"CAIRN_MODEL": "env/m"}, session: "session/m", want: "session/m"},
		"flag":        {env: map[string]string{"CAIRN_MODEL": "env/m"}, session: "session/m", flags: map[string]string{"model": "flag/m"}, want: "flag/m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := loadConfig(home(t, "", "", c.env), "", c.flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.modelFor(harness.Session{Model: c.session}); got.Value != c.want {
				t.Errorf("%q, not %q", got.Value, c.want)
			}
		})
	}
}

// A system prompt comes from the stronger place, whichever way it is given.
func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	s := home(t, "system_file = \"prompt.md\"\n", "", nil)
	write(t, filepath.Join(s.Getenv("HOME"), ".config", "cairn", "prompt.md"), "from the file", 0o600)
	for name, c := range map[string]struct {
		flags map[string]string
		want  string
	}{
		"file beside the configuration": {want: "from the file"},
		"flag beats it":                 {flags: map[string]string{"system": "from the flag"}, want: "from the flag"},
	} {
		got, err := loadConfig(s, "", c.flags, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.System != c.want {
			t.Errorf("%s: %q, not %q", name, got.System, c.want)
		}
	}
	both := home(t, "system = \"a\"\nsystem_file = \"b\"\n", "", nil)
	if _, err := loadConfig(both, "", nil, nil); err == nil || !strings.Contains(err.Error(), "keep one of them") {
		t.Errorf("both in one place: %v", err)
	}
	missing := home(t, "", "", nil)
	if _, err := loadConfig(missing, "", map[string]string{"system_file": "nosuch.md"}, nil); exitCode(err) != ExitUsage {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A key in a file that others can read is not used, and that is said; the
// rest of the file holds.
func TestSecretsOfOpenFilesAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode for others here")
	}
	const text = "[providers.openai]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"sk-secret\"\n"
	for mode, used := range map[os.FileMode]bool{0o600: true, 0o644: false, 0o640: false} {
		s := home(t, "", "", nil)
		path := filepath.Join(s.Getenv("HOME"), ".config", "cairn", "config.toml")
		write(t, path, text, mode)
		c, err := loadConfig(s, "", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Providers["openai"]; (p.APIKey != "") != used || p.BaseURL == "" {
			t.Errorf("mode %o: %+v", mode, p)
		}
		if warned := strings.Contains(strings.Join(c.Warnings, "\n"), "chmod 600 "+path); warned == used {
			t.Errorf("mode %o: warnings %q", mode, c.Warnings)
		}
		for _, v := range c.Values() {
			if strings.Contains(v.Value, "sk-secret") {
				t.Errorf("%s shows the key", v.Key)
			}
		}
	}
}

// Addresses are shown without the keys that people put into them.
func TestAddressesAreShownWithoutKeys(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://u:secret@h/v1?key=secret#secret": "https://h/v1",
		"http://127.0.0.1:11434":                  "http://127.0.0.1:11434",
		"http://[::1":                             "(not an address)",
	} {
		if got := withoutUser(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// Without a home there is a sentence that names the way out.
func TestNoHome(t *testing.T) {
	t.Parallel()
	s := Streams{Getenv: func(string) string { return "" }}
	c, err := loadConfig(s, "", nil, nil)
	if err != nil || c.Dir != "" {
		t.Fatalf("%q, %v", c.Dir, err)
	}
	if _, err := dataDir(s); err == nil || !strings.Contains(err.Error(), "--dir DIR or CAIRN_DIR") {
		t.Errorf("%v", err)
	}
	c, err = loadConfig(s, "", map[string]string{"dir": "/data"}, nil)
	if err != nil || c.Dir != "/data" {
		t.Errorf("%q, %v", c.Dir, err)
	}
}

// A base directory that is relative counts as unset.
func TestBaseDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ home, xdg, want string }{
		"home":     {home: "/h", want: "/h/.local/share/cairn"},
		"xdg":      {home: "/h", xdg: "/x", want: "/x/cairn"},
		"relative": {home: "/h", xdg: "x", want: "/h/.local/share/cairn"},
	} {
		s := Streams{Getenv: func(k string) string {
			return map[string]string{"HOME": c.home, "XDG_DATA_HOME": c.xdg}[k]
		}}
		if got, err := dataDir(s); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A configuration that was asked for must be there; the usual one need not.
func TestMissingConfig(t *testing.T) {
	t.Parallel()
	s := home(t, "", "", map[string]string{"CAIRN_CONFIG": "nosuch.toml"})
	if _, err := loadConfig(s, "", nil, nil); !errors.Is(err, os.ErrNotExist) || exitCode(err) != ExitUsage {
		t.Errorf("%v", err)
	}
	if _, err := loadConfig(home(t, "", "", nil), "", nil, nil); err != nil {
		t.Error(err)
	}
}

// Key bindings are one key or several.
func TestKeyBindings(t *testing.T) {
	t.Parallel()
	f, err := parseFile("c", []byte("[keys]\n\"chat.send\" = \"ctrl+s\"\n\"chat.stop\" = [\"esc\", \"ctrl+c\"]\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]KeyList{"chat.send": {"ctrl+s"}, "chat.stop": {"esc", "ctrl+c"}}
	if diff := cmp.Diff(want, f.Keys); diff != "" {
		t.Error(diff)
	}
}

// A binding that would do nothing is told, wherever it is written.
func TestUnknownActions(t *testing.T) {
	t.Parallel()
	known := func() []string { return []string{"chat.send", "chat.stop", "picker.open"} }
	for text, want := range map[string]string{
		"mouse = true\n[keys]\n\"chat.send\" = \"x\"\n\"chat.sedn\" = \"y\"\n": `:4: unknown action "chat.sedn"; did you mean chat.send?`,
		"[keys]\nchat.stopp = \"x\"\n":                                         `:2: unknown action "chat.stopp"; did you mean chat.stop?`,
		"[keys.picker]\nopne = [\"x\"]\n":                                      `:2: unknown action "picker.opne"; did you mean picker.open?`,
		"keys.\"zzzzzzzzzzzz\" = \"x\"\n":                                      `:1: unknown action "zzzzzzzzzzzz"; the help of each screen (F1) lists its keys`,
		"[keys.chat]\nsend = 'x'\nstop = []\n":                                 "",
		"[keys]\n\"chat.send\" = 'x'\n\"chat.stop\" = []\n":                    "",
		"[keys]\n\"chat.send\" = 'x'\n\"chat.stop\" = 'none'\n":                "",
		"[keys.chat]\nsend = ['x']\nstop = ['none']\n":                         "",
	} {
		s := home(t, text, "", nil)
		c, err := loadConfig(s, "", nil, known)
		if want == "" {
			if diff := cmp.Diff(map[string]KeyList{"chat.send": {"x"}, "chat.stop": {}}, c.Keys); err != nil || diff != "" {
				t.Errorf("%q: %v\n%s", text, err, diff)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != ExitUsage {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Whatever is in a configuration file, reading it is an error or not, and
// every error names the file.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("model = \"a/b\"\n[providers.x]\nbase_url = \"y\"\n"), false)
	f.Add([]byte("[keys]\na = [1]\n"), false)
	f.Add([]byte("dir = \"x\"\n"), true)
	f.Add([]byte("[models]\nx = 3\n[[providers]]\n"), false)
	f.Add([]byte("[permissions]\nallow = [\"run_command(\"]\napprove = \"x\"\n[tools]\nenv = [\"A=b\"]\nroots = [\"\"]\noff = [\"\"]\ncommand_timeout = \"1\"\n"), false)
	f.Add([]byte("[permissions]\ndeny = [\"\\u202e\"]\n[tools]\n"), true)
	f.Add([]byte("\xff\x00"), true)
	f.Fuzz(func(t *testing.T, data []byte, project bool) {
		if _, err := parseFile("/c/config", data, project); err != nil && !strings.HasPrefix(err.Error(), "/c/config:") {
			t.Errorf("%q does not begin with the file", err)
		}
	})
}

// The keys that the screens have by default are spelt as keys are.
func TestKeysOfTheScreensAreKnown(t *testing.T) {
	t.Parallel()
	all := append(chat.Actions(), picker.Actions()...)
	for _, b := range append(all, browser.Actions()...) {
		for _, key := range b.Keys {
			if text := wrongKey(key); text != "" {
				t.Errorf("%s: %s", b.Action, text)
			}
		}
	}
	for _, key := range []string{"alt+é", "?", "ctrl+x L", "alt+f3", " "} {
		if text := wrongKey(key); text != "" {
			t.Errorf("%s: %s", key, text)
		}
	}
}

// An address in the environment that is none ends every command that would use
// it, with the variable's name and without its value.
func TestAddressesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range catalogue.New(catalogue.Overrides{}).Providers() {
		if p.BaseVar != "" && !slices.Contains(addressVars(), p.BaseVar) {
			t.Errorf("%s is not looked at", p.BaseVar)
		}
	}
	for _, name := range addressVars() {
		for _, args := range [][]string{{"-p", "text x"}, {"config", "check"}, {"models"}} {
			w, s, _, errs := world1(t)
			env := s.Getenv
			s.Getenv = func(k string) string {
				if k == name {
					return "ftp://key@[x"
				}
				return env(k)
			}
			code := Main(context.Background(), s, args, w.wire())
			if code != ExitUsage || !strings.Contains(errs.String(), name+" is no address") || strings.Contains(errs.String(), "key") {
				t.Errorf("%s, %v: exit code %d: %s", name, args, code, errs)
			}
		}
	}
	for _, host := range []string{":11434", "0.0.0.0", "gpu.local:8080", "[::]:1", "http://gpu/v1"} {
		getenv := func(k string) string { return map[string]string{"OLLAMA_HOST": host}[k] }
		if err := checkAddresses(getenv); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
