package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/tool/shell"
)

// probePatience bounds how long local servers are looked for.
const probePatience = 2 * time.Second

// finding is one line of `cairn doctor`.
type finding struct {
	About string `json:"about"`
	// State is ok, note or bad.
	State string `json:"state"`
	Text  string `json:"text"`
}

// doctorCommand is `cairn doctor`.
func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look at terminal, keys, local servers, store and paths",
		Long: "Look at what cairn finds here. Keys are reported as set or not, never shown. It ends with exit code 1 if something is bad.",
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error {
			list := a.examine(ctx)
			bad := 0
			var t table
			for _, f := range list {
				if f.State == "bad" {
					bad++
				}
				t.add(f.State, f.About, f.Text)
			}
			if a.flags.json {
				if err := a.out.document(list); err != nil {
					return err
				}
			} else {
				t.write(a.out, a.s.Width)
			}
			if bad > 0 {
				return fail(ExitFailed, "%d of these need attention", bad)
			}
			return nil
		}),
	}
}

// examine makes all findings. It goes on after a bad one.
func (a *app) examine(ctx context.Context) []finding {
	list := []finding{
		{"version", "ok", fmt.Sprintf("cairn %s, %s, %s/%s", a.wire.version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
	}
	list = append(list, a.examineTerminal()...)
	c, err := a.config()
	if err != nil {
		return append(list, finding{"configuration", "bad", a.words(err)})
	}
	list = append(list, a.examinePaths(c)...)
	list = append(list, examineTools(c)...)
	if from, _ := c.From("model"); c.Model != "" {
		list = append(list, finding{"model", "ok", c.Model + " (from " + from + ")"})
	}
	list = append(list, examineLimits(c))
	list = append(list, a.examineStore(ctx)...)
	list = append(list, a.examineEngine(ctx, c))
	list = append(list, a.examineModels(ctx)...)
	return append(list, a.examineStandins(ctx, c)...)
}

func (a *app) examineTerminal() []finding {
	get := a.s.Getenv
	name := get("TERM")
	if name == "" {
		name = "(TERM is not set)"
	}
	parts := []string{name}
	for _, v := range []string{"COLORTERM", "TERM_PROGRAM", "TMUX", "SSH_TTY"} {
		if get(v) != "" {
			parts = append(parts, v+"="+get(v))
		}
	}
	if a.s.Width > 0 {
		parts = append(parts, fmt.Sprintf("%d columns", a.s.Width))
	}
	list := []finding{{"terminal", "ok", strings.Join(parts, ", ")}}
	switch {
	case !a.s.OutTTY:
		list[0].State, list[0].Text = "note", "standard output is no terminal"
	case name == "dumb":
		list[0].State = "note"
		list[0].Text += "; the plain chat is used"
	}
	locale := get("LC_ALL")
	for _, v := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = get(v)
		}
	}
	switch upper := strings.ToUpper(locale); {
	case strings.Contains(upper, "UTF-8"), strings.Contains(upper, "UTF8"), runtime.GOOS == "windows":
		list = append(list, finding{"locale", "ok", locale})
	default:
		list = append(list, finding{"locale", "note", fmt.Sprintf("%q does not say UTF-8; characters beyond ASCII may look wrong", locale)})
	}
	return list
}

// examinePaths looks at the places that cairn reads and writes.
func (a *app) examinePaths(c Config) []finding {
	list := []finding{{"configuration", "ok", c.File}}
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		list[0].Text += " (none, and none is needed)"
	}
	if c.Project != "" {
		list = append(list, finding{"project file", "ok", c.Project})
	}
	for _, w := range c.Warnings {
		list = append(list, finding{"configuration", "bad", w})
	}
	if err := a.checkTheme(c); err != nil {
		list = append(list, finding{"theme", "bad", err.Error()})
	}
	if dir, err := stateDir(a.s); err == nil {
		list = append(list, finding{"log", "ok", dir + string(os.PathSeparator) + "cairn.log"})
	}
	return list
}

// examineLimits tells what model calls may cost.
func examineLimits(c Config) finding {
	if !c.Spending.Any() {
		return finding{"limits", "ok", "none; [spending] session and day in the configuration would set them, in USD"}
	}
	return finding{"limits", "ok", spendingWords(c.Spending) + "; see: cairn usage"}
}

// examineTools tells what stands between the model and this machine.
func examineTools(c Config) []finding {
	p := c.Permissions
	rules := finding{"rules", "ok", fmt.Sprintf("%d deny, %d ask, %d allow; what no rule speaks of: %s; see: cairn permissions list",
		len(p.Deny), len(p.Ask), len(p.Allow), p.Mode)}
	if p.Mode == policy.ModeAll {
		rules.State = "note"
		rules.Text += "; nothing is asked, by " + p.ModeFrom
	}
	commands := finding{"shell", "ok", shell.Program()}
	if commands.Text == "" {
		commands.State, commands.Text = "note", "neither bash nor sh is found, so no command can run"
	}
	list := []finding{rules, commands}
	if len(c.Tools.Off) > 0 {
		list = append(list, finding{"tools off", "note", strings.Join(c.Tools.Off, ", ")})
	}
	return list
}

// examineStore checks the store and who may read it.
func (a *app) examineStore(ctx context.Context) []finding {
	dir, err := a.dataPath()
	if err != nil {
		return []finding{{"store", "bad", a.words(err)}}
	}
	var list []finding
	if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		list = append(list, finding{"store", "bad", fmt.Sprintf("%s can be read by others; run: chmod 700 %s", dir, dir)})
	}
	r, err := a.wire.CheckStore(ctx, dir)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		list = append(list, finding{"store", "ok", a.wire.StorePath(dir) + " (none yet)"})
	case err != nil:
		list = append(list, finding{"store", "bad", a.words(fmt.Errorf("check the store in %s: %w", dir, err))})
	default:
		list = append(list, finding{"store", "ok", r.Path + ": " + contents(r)})
		list = append(list, a.examineInbox(ctx)...)
	}
	return list
}

// examineInbox tells how many suggestions wait, if any do.
func (a *app) examineInbox(ctx context.Context) []finding {
	st, err := a.inbox(ctx)
	if err != nil {
		return []finding{{"inbox", "bad", a.words(err)}}
	}
	list, err := suggestions(ctx, st, harness.InboxFilter{})
	switch {
	case err != nil:
		return []finding{{"inbox", "bad", a.words(err)}}
	case len(list) == 0:
		return nil
	}
	return []finding{{"inbox", "note", harness.Count(len(list), "suggestion") + " to decide; see: cairn memory inbox"}}
}

// examineModels looks for keys and local servers, and says what would answer.
func (a *app) examineModels(ctx context.Context) []finding {
	m, err := a.models(ctx)
	if err != nil {
		return []finding{{"models", "bad", a.words(err)}}
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	var list []finding
	keys, err := m.Keys(ctx)
	if err != nil {
		list = append(list, finding{"keys", "bad", a.words(err)})
	}
	for _, k := range keys {
		list = append(list, keyFinding(k))
	}
	servers, err := m.Servers(ctx)
	switch {
	case err != nil:
		list = append(list, finding{"local servers", "note", a.words(err)})
	case len(servers) == 0:
		list = append(list, finding{"local servers", "ok", "none answers"})
	}
	for _, s := range servers {
		list = append(list, finding{"local server", "ok", fmt.Sprintf("%s at %s, %s", s.Name, withoutUser(s.Address), harness.Count(len(s.Models), "model"))})
	}
	name, why, err := m.Default(ctx)
	if err != nil {
		return append(list, finding{"default model", "bad", a.words(err)})
	}
	state := "ok"
	if offline(name) {
		state = "note"
	}
	return append(list, finding{"default model", state, name + " (" + why + ")"})
}

// examineStandins tells which models stand in for none.
func (a *app) examineStandins(ctx context.Context, c Config) []finding {
	out, err := a.standins(ctx, c)
	if err != nil {
		return []finding{{"fallback", "bad", a.words(err)}}
	}
	var list []finding
	for _, text := range out {
		list = append(list, finding{"fallback", "note", text})
	}
	return list
}

// keyFinding says whether a key is there.
func keyFinding(k KeyState) finding {
	f := finding{About: "key of " + k.Provider, State: "ok", Text: "set in " + k.From}
	if k.From == "" {
		f.State, f.Text = "note", "not set"
		if k.Wanted != "" {
			f.Text += "; it would be in " + k.Wanted
		}
	}
	if k.Address != "" {
		f.Text += ", address " + withoutUser(k.Address)
	}
	return f
}
