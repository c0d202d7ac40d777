package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/tool/shell"
)

// probePatience bounds how long local servers are looked for.
const probePatience = 2 * time.Second

// examinePaths looks at the places that cairn reads and writes.
func (a *app) examinePaths(c Config) []finding {
	list := []finding{good("configuration", c.File)}
	if _, err := os.Stat(c.File); c.File == "" {
		list[0] = noted("configuration", "there is none, because HOME is not set", "set HOME or XDG_CONFIG_HOME, or give --config FILE")
	} else if errors.Is(err, fs.ErrNotExist) {
		list[0].Text += " (none, and none is needed)"
	}
	if c.Project != "" {
		list = append(list, good("project file", c.Project))
	}
	for _, w := range c.Warnings {
		list = append(list, wrong("configuration", w, ""))
	}
	faint, err := a.themeWarnings(c)
	if err != nil {
		list = append(list, wrong("theme", a.words(err), "choose another: cairn config set theme auto"))
	}
	for _, f := range faint {
		list = append(list, noted("theme", f, ""))
	}
	return append(list, a.examineLog()...)
}

// examineLog tells where the log is.
func (a *app) examineLog() []finding {
	path := a.flags.log
	if path == "" {
		path = a.s.Getenv("CAIRN_LOG")
	}
	if path == "" {
		dir, err := stateDir(a.s)
		if err != nil {
			return []finding{noted("log", "there is none, because HOME is not set", "set HOME, or give --log FILE")}
		}
		path = filepath.Join(dir, "cairn.log")
	}
	path = absolute(a.s, expand(a.s, path))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{good("log", path+" (none yet)")}
	case err != nil:
		return []finding{noted("log", path+" cannot be looked at: "+cause(err).Error(), "choose another with --log FILE or CAIRN_LOG")}
	}
	return []finding{good("log", fmt.Sprintf("%s, %s", path, sizeText(info.Size())))}
}

// examineLimits tells what model calls may cost.
func examineLimits(c Config) finding {
	if !c.Spending.Any() {
		return good("limits", "none; [spending] session and day in the configuration would set them, in USD")
	}
	return good("limits", spendingWords(c.Spending)+"; see: cairn usage")
}

// examineTools tells what stands between the model and this machine.
func examineTools(c Config) []finding {
	p := c.Permissions
	rules := good("rules", fmt.Sprintf("%d deny, %d ask, %d allow; what no rule speaks of: %s; see: cairn permissions list",
		len(p.Deny), len(p.Ask), len(p.Allow), p.Mode))
	if p.Mode == policy.ModeAll {
		rules.State = stateNote
		rules.Text += "; nothing is asked, by " + p.ModeFrom
	}
	commands := good("shell", shell.Program())
	if commands.Text == "" {
		commands = noted("shell", "neither bash nor sh is found, so no command can run", "install one, or set PATH")
	}
	list := []finding{rules, commands}
	if len(c.Tools.Off) > 0 {
		list = append(list, noted("tools off", strings.Join(c.Tools.Off, ", "), ""))
	}
	return list
}

// examineModels looks for keys and local servers, and says what would answer.
func (a *app) examineModels(ctx context.Context) []finding {
	m, err := a.models(ctx)
	if err != nil {
		return []finding{wrong("models", a.words(err), "")}
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	var list []finding
	keys, err := m.Keys(ctx)
	if err != nil {
		list = append(list, wrong("keys", a.words(err), ""))
	}
	for _, k := range keys {
		list = append(list, keyFinding(k))
	}
	servers, err := m.Servers(ctx)
	switch {
	case err != nil:
		list = append(list, noted("local servers", a.words(err), ""))
	case len(servers) == 0:
		list = append(list, good("local servers", "none answers"))
	}
	for _, s := range servers {
		list = append(list, good("local server", fmt.Sprintf("%s at %s, %s", s.Name, withoutUser(s.Address), harness.Count(len(s.Models), "model"))))
	}
	name, why, err := m.Default(ctx)
	if err != nil {
		return append(list, wrong("default model", a.words(err), ""))
	}
	f := good("default model", name+" ("+why+")")
	if offline(name) {
		f.State, f.Do = stateNote, "set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server"
	}
	return append(list, f)
}

// examineStandins tells which models stand in for none.
func (a *app) examineStandins(ctx context.Context, c Config) []finding {
	out, err := a.standins(ctx, c)
	if err != nil {
		return []finding{wrong("fallback", a.words(err), "")}
	}
	var list []finding
	for _, text := range out {
		list = append(list, noted("fallback", text, ""))
	}
	return list
}

// keyFinding says whether a key is there.
func keyFinding(k KeyState) finding {
	f := good("key of "+k.Provider, "set in "+k.From)
	if k.From == "" {
		f.State, f.Text = stateNote, "not set"
		if k.Wanted != "" {
			f.Text += "; it would be in " + k.Wanted
		}
	}
	if k.Address != "" {
		f.Text += ", address " + withoutUser(k.Address)
	}
	return f
}
