package cli

import (
	"testing"

	"cairn/themes"
)

func TestALocaleThatIsNotUnicodeMeansASCII(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		user string
		env  map[string]string
		flag string
		want bool
		from string
	}{
		"nothing is known":   {want: false, from: "default"},
		"C":                  {env: map[string]string{"LANG": "C"}, want: true, from: "LANG, which is not UTF-8"},
		"C.UTF-8":            {env: map[string]string{"LANG": "C.UTF-8"}, want: false, from: "default"},
		"utf8":               {env: map[string]string{"LC_ALL": "de_DE.utf8", "LANG": "C"}, want: false, from: "default"},
		"the strongest":      {env: map[string]string{"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, want: true, from: "LC_ALL, which is not UTF-8"},
		"characters alone":   {env: map[string]string{"LC_CTYPE": "ja_JP.eucJP", "LANG": "de_DE.UTF-8"}, want: true, from: "LC_CTYPE, which is not UTF-8"},
		"it was set":         {user: "ascii = false\n", env: map[string]string{"LANG": "C"}, want: false},
		"it was set to true": {user: "ascii = true\n", env: map[string]string{"LANG": "C.UTF-8"}, want: true},
		"by flag":            {flag: "true", env: map[string]string{"LANG": "C.UTF-8"}, want: true, from: "--ascii"},
		"by the environment": {env: map[string]string{"LANG": "C.UTF-8", "CAIRN_ASCII": "1"}, want: true, from: "CAIRN_ASCII"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := map[string]string{}
			if c.flag != "" {
				flags["ascii"] = c.flag
			}
			got, err := loadConfig(home(t, c.user, "", c.env), "", flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			if from, _ := got.From("ascii"); got.ASCII != c.want || c.from != "" && from != c.from {
				t.Errorf("ASCII %v from %q, want %v from %q", got.ASCII, from, c.want, c.from)
			}
		})
	}
}

func TestColoursAreAskedForByFlagAndEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env     map[string]string
		noColor bool
		want    themes.Profile
	}{
		"many":              {env: map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, want: themes.TrueColor},
		"NO_COLOR":          {env: map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}, want: themes.NoColor},
		"the flag":          {env: map[string]string{"TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}, noColor: true, want: themes.NoColor},
		"forced":            {env: map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, want: themes.ANSI256},
		"a terminal of old": {env: map[string]string{"TERM": "vt220"}, want: themes.NoColor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(home(t, "", "", c.env), Wire{})
			a.flags.noColor = c.noColor
			if got := a.profile(); got != c.want || a.color() != (c.want != themes.NoColor) {
				t.Errorf("profile %d, colour %v, want %d", got, a.color(), c.want)
			}
		})
	}
}
