package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flags are the values of the flags. The global ones work with every command.
type flags struct {
	config  string
	log     string
	quiet   bool
	verbose bool
	json    bool
	noColor bool
	// values are the configuration keys that were set by flags.
	values map[string]string

	print     bool
	cont      bool
	fork      bool
	resume    string
	session   string
	title     string
	files     []string
	ephemeral bool
	noMouse   bool

	// allow and deny are rules, approve is what becomes of calls that need
	// consent, and approveFrom the flag that said so.
	allow, deny          []string
	approve, approveFrom string
	yolo                 bool

	// The rest only tells whether a flag was given.
	resumeGiven, sessionGiven, engineGiven, titleGiven bool
}

const rootLong = `cairn is a terminal chat with a language-model agent in which nothing is lost.

Without a command it opens the chat; a prompt is sent at once. With -p, or with
input from a pipe and output to one, it prints the answer and nothing else.

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 provider, 5 approval
needed, 6 busy elsewhere, 130 interrupted.`

// command builds the command tree for these arguments and returns the
// arguments to parse. With --print in front there are no subcommands: what
// follows is the prompt.
func (a *app) command(args []string) (*cobra.Command, []string, error) {
	root := &cobra.Command{
		Use:   "cairn [prompt]",
		Short: "A terminal chat with a language-model agent in which nothing is lost",
		Long:  rootLong,
		Example: `  cairn "explain this directory"
  cairn -c
  git diff | cairn -p "write a commit message"`,
		Args:              cobra.ArbitraryArgs,
		Version:           a.wire.version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetVersionTemplate("cairn {{.Version}}\n")
	root.PersistentFlags().SortFlags, root.Flags().SortFlags = false, false
	a.globalFlags(root.PersistentFlags())
	a.chatFlags(root.Flags())
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.given(cmd) }
	root.RunE = func(cmd *cobra.Command, words []string) error {
		return a.start(cmd.Context(), cmd, words)
	}
	all := pflag.NewFlagSet("all", pflag.ContinueOnError)
	all.AddFlagSet(root.PersistentFlags())
	all.AddFlagSet(root.Flags())
	args, print := scan(all, args)
	if !print {
		root.AddCommand(a.subcommands()...)
		root.SetHelpCommand(helpCommand())
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return root, args, a.completeFlags(root)
	}
	return root, args, nil
}

// globalFlags defines the flags of every command.
func (a *app) globalFlags(f *pflag.FlagSet) {
	f.String("dir", "", "keep everything in `DIR` (CAIRN_DIR)")
	f.StringVar(&a.flags.config, "config", "", "read the configuration from `FILE` (CAIRN_CONFIG)")
	f.BoolVar(&a.flags.json, "json", false, "machine-readable output")
	f.StringVar(&a.flags.log, "log", "", "write the log to `FILE` (CAIRN_LOG)")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no notices, only errors")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "say more, and log details")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours (NO_COLOR)")
}

// chatFlags defines the flags of a conversation.
func (a *app) chatFlags(f *pflag.FlagSet) {
	f.BoolVarP(&a.flags.print, "print", "p", false, "print the answer to standard output and leave")
	f.BoolVarP(&a.flags.cont, "continue", "c", false, "continue the last session")
	f.StringVarP(&a.flags.resume, "resume", "r", "", "resume the session with this `ID`, start of an id, or title; without a value: choose")
	f.StringVarP(&a.flags.session, "session", "s", "", "open the session `ID`, making it if need be")
	f.BoolVar(&a.flags.fork, "fork", false, "with -c, -r or -s: leave that session as it is and go on in a fork of it")
	f.StringVar(&a.flags.title, "title", "", "call the session `TITLE`, in any script")
	f.StringP("model", "m", "", "use the model `PROVIDER/NAME` (CAIRN_MODEL)")
	f.StringArrayVarP(&a.flags.files, "file", "f", nil, "add `FILE`, a text, image or PDF, to the prompt (repeatable)")
	f.String("system", "", "use `TEXT` as the system prompt")
	f.String("system-file", "", "use the text of `FILE` as the system prompt")
	f.BoolVar(&a.flags.ephemeral, "ephemeral", false, "keep nothing of the conversation")
	f.Bool("no-memory", false, "neither read nor write facts and notes")
	f.String(distillFlag, "", "what the model finds worth keeping after a turn: `MODE` auto, ask or off (CAIRN_DISTILL)")
	engineFlags(f)
	a.permissionFlags(f)
	f.String("theme", "", "use the theme `NAME` (CAIRN_THEME)")
	f.Bool("plain", false, "linear output for screen readers (ACCESSIBLE=1)")
	f.Bool("ascii", false, "draw with ASCII alone (CAIRN_ASCII); so it is where the locale is not UTF-8")
	f.Bool(keyInline, false, "write the conversation into the terminal's own scrollback (CAIRN_INLINE)")
	f.BoolVar(&a.flags.noMouse, "no-mouse", false, "leave the mouse to the terminal")
}

// engineFlags defines what keeps and drives runs.
func engineFlags(f *pflag.FlagSet) {
	f.String(keyEngine, "", "keep runs in `URL`: bbolt, sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE (CAIRN_ENGINE)")
	f.String(keyDrive, "", "who drives runs that are kept elsewhere: `WHO` here or workers (CAIRN_DRIVE)")
	leaseFlags(f)
}

// leaseFlags defines how long a run is its driver's.
func leaseFlags(f *pflag.FlagSet) {
	f.String(leaseFlag, "", "a driver that is silent for `TIME` has lost its run to others: 30s, or 10s on Temporal, unless set (CAIRN_LEASE)")
}

// given notes which flags were given, after parsing and before the command.
func (a *app) given(cmd *cobra.Command) error {
	a.flags.values = map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		switch f.Name {
		case "dir", "model", "system", "system-file", "theme", "plain", "ascii", keyInline, "no-memory":
			a.flags.values[key] = f.Value.String()
		case distillFlag:
			a.flags.values[keyDistill] = f.Value.String()
		case "no-mouse":
			a.flags.values["mouse"] = truth(map[string]string{"true": "0", "false": "1"}[f.Value.String()])
		case "resume":
			a.flags.resumeGiven = true
		case "session":
			a.flags.sessionGiven = true
		case "title":
			a.flags.titleGiven = true
		case keyEngine:
			a.flags.engineGiven = true
			a.flags.values[keyEngine] = f.Value.String()
		case keyDrive:
			a.flags.values[keyDrive] = f.Value.String()
		case anyHostFlag:
			a.flags.values[keyAnyHost] = f.Value.String()
		case leaseFlag:
			a.flags.values[keyLease] = f.Value.String()
		}
	})
	for _, name := range []string{"dir", "model", "config", "log", "theme", keyEngine, keyDrive, leaseFlag} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usage("--%s needs a value", name)
		}
	}
	if a.flags.quiet && a.flags.verbose {
		return usage("--quiet and --verbose contradict each other; give one of them")
	}
	if err := a.checkPermissionFlags(cmd.Flags()); err != nil {
		return err
	}
	if cmd.HasParent() {
		a.purpose = strings.TrimPrefix(cmd.CommandPath(), "cairn ")
		return nil
	}
	a.asked = asks(cmd.Flags())
	return a.checkFlags()
}

// checkFlags refuses flags that contradict each other.
func (a *app) checkFlags() error {
	f := &a.flags
	conversation := []struct {
		name  string
		given bool
	}{{"--continue", f.cont}, {"--resume", f.resumeGiven}, {"--session", f.sessionGiven}}
	chosen := ""
	for _, c := range conversation {
		switch {
		case !c.given:
		case f.ephemeral:
			return usage("--ephemeral keeps nothing, so it cannot go with %s; leave one of them out", c.name)
		case chosen != "":
			return usage("%s and %s each name a session; give one of them", chosen, c.name)
		default:
			chosen = c.name
		}
	}
	switch {
	case !f.fork:
	case f.ephemeral:
		return usage("--ephemeral keeps nothing, so it cannot go with --fork; leave one of them out")
	case chosen == "":
		return usage("--fork needs the session to fork; name it with -c, -r or -s")
	case chosen == "--resume" && strings.TrimSpace(f.resume) == "":
		return usage("--fork needs the session to fork; give its id or title after -r")
	}
	if f.engineGiven && f.ephemeral {
		return usage("--ephemeral keeps nothing, so it cannot go with --engine; leave one of them out")
	}
	if f.titleGiven && strings.TrimSpace(f.title) == "" {
		return usage("--title needs a value")
	}
	for _, given := range []struct{ name, value string }{{"--title", f.title}, {"--session", f.session}, {"--system", f.values["system"]}} {
		if err := validText(given.name, given.value); err != nil {
			return err
		}
	}
	if f.values["system"] != "" && f.values["system_file"] != "" {
		return usage("--system and --system-file each give the system prompt; give one of them")
	}
	return nil
}

// flagError words what the parser says, with the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usage("--%s %s; see: %s --help", invalid.GetFlag().Name, wantedOf(invalid.GetFlag().Value.Type(), invalid.GetValue()), cmd.CommandPath())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage("%w; see: %s --help", err, cmd.CommandPath())
	}
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		return usage("%s has no flag -%s; see: %s --help", cmd.CommandPath(), unknown.GetSpecifiedName(), cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	text := "; see: " + cmd.CommandPath() + " --help"
	if best, ok := nearest(name, names); ok {
		text = "; did you mean --" + best + "?"
	}
	return usage("%s has no flag --%s%s", cmd.CommandPath(), name, text)
}

// wantedOf says what a flag of a type takes and was not given.
func wantedOf(kind, value string) string {
	switch kind {
	case "int":
		return fmt.Sprintf("wants a whole number, not %q", value)
	case "bool":
		return fmt.Sprintf("is on or off: give it alone, or with =false, not with %q", value)
	}
	return fmt.Sprintf("cannot be %q", value)
}

// group is a command that has only subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(commands...)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) == 0 {
			return usage("%s needs a command%s", cmd.CommandPath(), suggest("", cmd.CommandPath()+" ", names(cmd)))
		}
		return usage("%s has no command %q%s", cmd.CommandPath(), words[0], suggest(words[0], cmd.CommandPath()+" ", names(cmd)))
	}
	return cmd
}

// names are the names of a command's subcommands.
func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			all = append(all, c.Name())
		}
	}
	return all
}

// exactly wants n arguments and names them if they are not there.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return usage("%s takes no argument, but was given %q", cmd.CommandPath(), args[0])
		}
		return usage("%s needs %s; see: %s --help", cmd.CommandPath(), what, cmd.CommandPath())
	}
}

// atMostOne takes one argument or none.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return usage("%s takes one argument, but was also given %q", cmd.CommandPath(), args[1])
}

// atLeastOne wants arguments.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return usage("%s needs %s; see: %s --help", cmd.CommandPath(), what, cmd.CommandPath())
	}
}

// start opens the chat or prints an answer.
func (a *app) start(ctx context.Context, cmd *cobra.Command, words []string) error {
	a.conversing = true
	if err := mistyped(cmd, words, a.flags.print); err != nil {
		return err
	}
	linear, err := a.linear(words)
	if err != nil {
		return err
	}
	printing := a.flags.print || a.flags.json || !linear && !a.s.OutTTY && (!a.s.InTTY || len(words) > 0)
	if !printing && !linear && !a.s.OutTTY {
		return usage("standard output is no terminal; give a prompt and -p to print an answer")
	}
	if printing {
		a.purpose = "print"
		return a.printAnswer(ctx, words)
	}
	a.purpose = "chat"
	return a.openChat(ctx, words, linear)
}

// linear reports whether the linear chat was asked for at this start, and not
// only configured: it opens also between pipes. ACCESSIBLE, which people set
// once for all programs, does not turn one question in a pipe into a chat.
func (a *app) linear(words []string) (bool, error) {
	c, err := a.config()
	if err != nil || !c.Plain {
		return false, err
	}
	l := c.values["plain"].layer
	return l == layerFlag || l == layerEnv && len(words) == 0, nil
}

// mistyped takes a word close to a command's name for a slip, because sending
// it to a model helps nobody. Several words are a prompt unless the second one
// continues the command.
func mistyped(cmd *cobra.Command, words []string, print bool) error {
	if print || len(words) == 0 || cmd.ArgsLenAtDash() >= 0 || strings.ContainsAny(words[0], " \t\n") {
		return nil
	}
	best, ok := nearest(words[0], names(cmd))
	if !ok || len(best) < 4 {
		return nil
	}
	if len(words) > 1 {
		if meant, _, err := cmd.Find([]string{best, words[1]}); err != nil || meant.Name() == best && best != "search" {
			return nil //nolint:nilerr // no such command: it is a prompt
		}
	}
	return usage("there is no command %q; did you mean %s? To send it as a prompt: cairn -- %s", words[0], best, words[0])
}
