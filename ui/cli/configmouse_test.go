package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheMouseAndNoticesAreSetInTheFile(t *testing.T) {
	t.Parallel()
	usual := MouseUse{Wheel: true, Select: true}
	for text, want := range map[string]struct {
		on    bool
		use   MouseUse
		how   Notify
		after time.Duration
	}{
		"":                             {true, usual, NotifyAuto, 10 * time.Second},
		"mouse = true\n":               {true, usual, NotifyAuto, 10 * time.Second},
		"mouse = false\n":              {false, usual, NotifyAuto, 10 * time.Second},
		"[mouse]\nselect = false\n":    {true, MouseUse{Wheel: true}, NotifyAuto, 10 * time.Second},
		"mouse.copy = true\n":          {true, MouseUse{Wheel: true, Select: true, Copy: true}, NotifyAuto, 10 * time.Second},
		"[mouse]\nwheel = false\n":     {true, MouseUse{Select: true}, NotifyAuto, 10 * time.Second},
		"notify = \"osc9\"\n":          {true, usual, NotifyOSC9, 10 * time.Second},
		"notify_after = \"1m30s\"\n":   {true, usual, NotifyAuto, 90 * time.Second},
		"mouse = { wheel = false }\n#": {true, MouseUse{Select: true}, NotifyAuto, 10 * time.Second},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, text, 0o600)
		c, err := loadConfig(home(t, "", "", nil), path, nil, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if c.Mouse != want.on || c.MouseUse != want.use || c.Notify != want.how || c.NotifyAfter != want.after {
			t.Errorf("%q gives %t %+v %s %s", text, c.Mouse, c.MouseUse, c.Notify, c.NotifyAfter)
		}
	}
}

func TestWhatTheMouseAndNoticesCannotBeIsToldByLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[mouse]\nwheel = 3\n":                 `:2: "mouse.wheel" must be true or false`,
		"[mouse]\nwhel = true\n":               `:2: unknown key "mouse.whel"; did you mean wheel?`,
		"mouse = 3\n":                          `:1: "mouse" must be true or false, or a table [mouse]`,
		"notify = \"loud\"\n":                  `:1: "notify" must be "auto", "bell", "osc9", "osc777" or "off", not "loud"`,
		"\nnotify_after = \"soon\"\n":          `:2: "notify_after" must be a time of at most a day with its unit, such as "10s", not "soon"`,
		"notify_after = \"-1s\"\n":             `:1: `,
		"notify_after = \"25h\"\n":             `:1: "notify_after" must be a time of at most a day`,
		"notify_after = 3\n":                   `:1: "notify_after" must be a time`,
		"notify = true\n":                      `:1: "notify" must be "auto"`,
		"[mouse]\nwheel = true\n[mouse]\n#x\n": `:3: `,
	} {
		if _, err := parseFile("/c/config", []byte(text), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, not %s", text, err, want)
		}
	}
	for _, text := range []string{"mouse = false\n", "[mouse]\nwheel = false\n", "notify = \"bell\"\n"} {
		if _, err := parseFile("/c/config", []byte(text), true); err == nil || !strings.Contains(err.Error(), "cannot be set by a project") {
			t.Errorf("a project may set %q: %v", text, err)
		}
	}
}
