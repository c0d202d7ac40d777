package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cairn/ui/render"
)

// manCommand is `cairn man`.
func manCommand(a *app) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use: "man", Short: "Print the manual page, or write all pages", Args: exactly(0, ""),
		Long: "Print the manual page of cairn, for: cairn man | man -l -\n\nWith --dir all pages are written to a directory: cairn(1), one for each command such as " +
			"cairn-sessions(1), cairn.toml(5) with every key of the configuration, and cairn-keys(7) with the keys of the screens as they are bound now. " +
			"Files of these names are written over.",
		Example: "  cairn man | man -l -\n  cairn man --dir ~/.local/share/man",
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write all pages below `DIR`, to man1, man5 and man7 in it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if dir == "" {
			a.out.text(manual(cmd.Root()))
			return nil
		}
		return a.writeManual(cmd.Root(), absolute(a.s, expand(a.s, dir)))
	}
	return cmd
}

// manPage is one page of the manual.
type manPage struct {
	name    string
	section int
	text    string
}

// file is where the page is below a directory of manuals.
func (p manPage) file() string {
	return filepath.Join(fmt.Sprintf("man%d", p.section), fmt.Sprintf("%s.%d", p.name, p.section))
}

// manPages are all pages.
func (a *app) manPages(root *cobra.Command) []manPage {
	pages := []manPage{{"cairn", 1, manual(root)}}
	for _, c := range root.Commands() {
		if !c.Hidden && !c.IsAdditionalHelpTopicCommand() && c.Name() != "help" {
			pages = append(pages, manPage{"cairn-" + c.Name(), 1, manOf(root, c)})
		}
	}
	return append(pages, manPage{"cairn.toml", 5, manConfig(root)}, manPage{"cairn-keys", 7, a.manKeys(root)})
}

// writeManual writes all pages below a directory.
func (a *app) writeManual(root *cobra.Command, dir string) error {
	pages := a.manPages(root)
	for _, p := range pages {
		path := filepath.Join(dir, p.file())
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write the manual: %w", err)
		}
		if err := os.WriteFile(path, []byte(p.text), 0o644); err != nil { //nolint:gosec // manuals are for everybody
			return fmt.Errorf("write the manual: %w", err)
		}
	}
	if a.flags.json {
		var files []string
		for _, p := range pages {
			files = append(files, filepath.Join(dir, p.file()))
		}
		return a.out.document(map[string]any{"files": files})
	}
	a.out.line("wrote %d pages below %s; read them with: man -M %s cairn", len(pages), dir, dir)
	return nil
}

// manHead is the beginning of a page.
func manHead(root *cobra.Command, title string, section int, name, about string) string {
	return fmt.Sprintf(".TH %s %d \"\" \"cairn %s\" \"cairn\"\n.SH NAME\n%s \\- %s\n",
		roff(strings.ToUpper(title)), section, roff(root.Version), roff(name), roff(lowerFirst(about)))
}

// lowerFirst is text as it goes on behind a dash.
func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// manual is the manual page of the whole program in roff, made from the
// command tree.
func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead(root, "cairn", 1, "cairn", root.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B cairn\n[flags] [prompt]\n.br\n.B cairn\n[flags] command\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(root.Long))
	b.WriteString(".SH FLAGS\n")
	root.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	b.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		manPart(&b, c)
	}
	fmt.Fprintf(&b, ".SH RULES\n%s", literal(rulesText))
	b.WriteString(".SH EVENTS\nThe lines of \n.BR \"cairn \\-p \\-\\-json\" :\n")
	for _, e := range eventDocs() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(string(e.Type)), roff(e.Meaning))
	}
	b.WriteString(".SH FILES\n")
	for _, f := range fileDocs() {
		fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(f[0]), roff(f[1]))
	}
	fmt.Fprintf(&b, ".SH EXAMPLES\n%s", literal(root.Example))
	also := ""
	for _, c := range root.Commands() {
		if !c.Hidden && !c.IsAdditionalHelpTopicCommand() && c.Name() != "help" {
			also += "cairn-" + c.Name() + "(1), "
		}
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(also+"cairn.toml(5), cairn-keys(7)"))
	return b.String()
}

// manOf is the page of one command and those below it.
func manOf(root, c *cobra.Command) string {
	var b strings.Builder
	name := "cairn-" + c.Name()
	b.WriteString(manHead(root, name, 1, name, c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(about(c)))
	flags := false
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !flags && !f.Hidden && f.Name != "help" {
			b.WriteString(".SH FLAGS\n")
			flags = true
		}
		manFlag(&b, f)
	})
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, below := range c.Commands() {
			manPart(&b, below)
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", literal(c.Example))
	}
	b.WriteString(".SH SEE ALSO\ncairn(1): the flags of every command and the exit codes\n")
	return b.String()
}

// manConfig is the page of the configuration, made from its keys.
func manConfig(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead(root, "cairn.toml", 5, "cairn.toml", "the configuration of cairn"))
	b.WriteString(".SH DESCRIPTION\n" + paragraphs("The configuration is one TOML file, config.toml in $XDG_CONFIG_HOME/cairn or ~/.config/cairn, or what CAIRN_CONFIG or --config name. None is needed.\n\n"+
		"A flag wins over the environment, that over the file .cairn/config.toml of the working directory, and that over the person's own file. "+
		"A project's file may hold only what does no harm; such keys are marked. cairn config show prints each value and where it is from, cairn config check what is wrong.") + "\n.SH KEYS\n")
	plain := map[string]setting{}
	for _, s := range settings() {
		plain[s.key] = s
	}
	for _, d := range configDocs() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s; %s.", roff(d.key), roff(upperFirst(d.text)), roff(d.value))
		s, ok := plain[d.key]
		if ok && s.def != "" {
			fmt.Fprintf(&b, " Default: %s.", roff(s.def))
		}
		if ok && s.env != "" {
			fmt.Fprintf(&b, " Variable: %s.", roff(s.env))
		}
		if ok && s.project {
			b.WriteString(" A project may set it.")
		}
		b.WriteString("\n")
	}
	b.WriteString(".SH EXAMPLE\n" + literal(`model = "anthropic/claude-sonnet-4-5"
theme = "auto"

[permissions]
allow = ["run_command(go test)"]

[keys]
"chat.sessions" = ["ctrl+s", "f2"]`))
	b.WriteString(".SH SEE ALSO\ncairn(1), cairn\\-keys(7)\n")
	return b.String()
}

// upperFirst is text as a sentence begins.
func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// manKeys is the page of the keys as they are bound now.
func (a *app) manKeys(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead(root, "cairn-keys", 7, "cairn-keys", "the keys of the screens of cairn"))
	b.WriteString(".SH DESCRIPTION\n" + paragraphs("These are the keys as they are bound now. Each is an action that other keys can be given to:") + "\n" +
		literal("[keys]\n\"chat.sessions\" = [\"ctrl+s\", \"f2\"]"))
	if a.wire.Bindings == nil {
		return b.String()
	}
	// The keys of a configuration that is wrong are not known; those of the program
	// still are.
	c, _ := a.config()
	own := c.Bindings()
	var order []string
	by := map[string][]render.Binding{}
	for _, k := range a.wire.Bindings() {
		if keys, ok := own[k.Action]; ok {
			k.Keys = keys
		}
		screen, _, _ := strings.Cut(k.Action, ".")
		if !slices.Contains(order, screen) {
			order = append(order, screen)
		}
		by[screen] = append(by[screen], k)
	}
	for _, screen := range order {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(screen)))
		group := ""
		for _, k := range by[screen] {
			if k.Group != group {
				group = k.Group
				fmt.Fprintf(&b, ".SS %s\n", roff(group))
			}
			keys := "(no key)"
			if len(k.Keys) > 0 {
				named := slices.Clone(k.Keys)
				if i := slices.Index(named, " "); i >= 0 {
					named[i] = "space"
				}
				keys = strings.Join(named, ", ")
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s (%s)\n", roff(keys), roff(k.Help), roff(k.Action))
		}
	}
	b.WriteString(".SH SEE ALSO\ncairn(1), cairn.toml(5)\n")
	return b.String()
}

// manPart writes a command and those below it.
func manPart(b *strings.Builder, c *cobra.Command) {
	if c.Hidden || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" {
		return
	}
	fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimPrefix(c.UseLine(), "cairn ")), paragraphs(about(c)))
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { manFlag(b, f) })
	for _, below := range c.Commands() {
		manPart(b, below)
	}
}

// about is the longer text about a command.
func about(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

// manFlag writes one flag.
func manFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden || f.Name == "help" {
		return
	}
	value, text := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + value
	}
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(text))
}

// literal is text whose lines stay as they are.
func literal(text string) string {
	return ".nf\n" + roff(strings.Trim(text, "\n")) + "\n.fi\n"
}

// paragraphs is prose for roff: blank lines begin paragraphs, and lines that are
// indented stay as they are.
func paragraphs(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains("\n"+part, "\n  ") {
			b.WriteString(".nf\n" + roff(part) + "\n.fi\n")
			continue
		}
		b.WriteString(roff(strings.TrimSpace(part)) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// roff escapes text so that nothing in it is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l = strings.TrimRight(l, " \t"); strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}
