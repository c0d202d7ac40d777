package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestHowImagesAreShownIsChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, env, want, wrong string }{
		{"", "", "auto", ""},
		{"images = \"sixel\"\n", "", "sixel", ""},
		{"images = \"sixel\"\n", "off", "off", ""},
		{"images = \"pretty\"\n", "", "", `"images" must be "auto", "off", "kitty", "iterm" or "sixel", not "pretty"`},
		{"images = true\n", "", "", `"auto", "off", "kitty", "iterm" or "sixel"`},
		{"", "all", "", `CAIRN_IMAGES must be "auto"`},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, c.file, 0o600)
		getenv := func(name string) string {
			if name == "CAIRN_IMAGES" {
				return c.env
			}
			return ""
		}
		got, err := loadConfig(Streams{Getenv: getenv, Dir: t.TempDir()}, path, nil, nil)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q and %q: %v", c.file, c.env, err)
			}
		case err != nil || got.Images != c.want:
			t.Errorf("%q and %q: %q, %v", c.file, c.env, got.Images, err)
		}
	}
}

func TestTheDoctorTellsHowImagesAreShown(t *testing.T) {
	t.Parallel()
	const kitty, graphics = "\x1bP>|kitty(0.36.1)\x1b\\", "\x1b_Gi=31;OK\x1b\\"
	for _, c := range []struct {
		answer, want string
		env          map[string]string
	}{
		{kitty + graphics + "\x1b[?62c", "shown in the conversation", nil},
		{kitty + "\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\\x1b[?62c", "named only", nil},
		{"\x1bP>|odd 1\x1b\\" + graphics + "\x1b[?62c", "named only", nil},
		{"\x1bP>|foot(1.2)\x1b\\\x1b[?62;4;22c", "as sixel", nil},
		{"\x1bP>|iTerm2 3.5\x1b\\\x1b[?62;4c", "in the manner of iTerm2", nil},
		{"\x1b[?1;2c", "allow-passthrough", map[string]string{"TMUX": "/tmp/x,1,0"}},
		{kitty + graphics + "\x1b[?62c", "by the configuration", map[string]string{"CAIRN_IMAGES": "off"}},
	} {
		env := map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}
		for k, v := range c.env {
			env[k] = v
		}
		said, _ := examined(t, env, c.answer)
		_, line, _ := strings.Cut(strings.Join(strings.Fields(said), " "), " images ")
		if line, _, _ = strings.Cut(line, " clipboard "); !strings.Contains(line, c.want) {
			t.Errorf("of %q it says %q, not %q", c.answer, line, c.want)
		}
	}
}

func TestOnlyATerminalThatKeepsImagesIsToldToForgetThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		term, tmux string
		want       bool
	}{{"xterm-kitty", "", true}, {"xterm-ghostty", "", true}, {"xterm-kitty", "/tmp/x,1,0", false}, {"xterm-256color", "", false}, {"linux", "", false}} {
		got := resetImages(func(name string) string { return map[string]string{"TERM": c.term, "TMUX": c.tmux}[name] })
		if (got != "") != c.want {
			t.Errorf("%s in %q: %q", c.term, c.tmux, got)
		}
	}
}
