package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand is `cairn man`.
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page: cairn man | man -l -", Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.out.text(manual(cmd.Root()))
			return nil
		},
	}
}

// manual is the manual page of the whole program in roff, made from the
// command tree.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH CAIRN 1 \"\" \"cairn %s\"\n.SH NAME\ncairn \\- %s\n", roff(root.Version), roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B cairn\n[flags] [prompt]\n.br\n.B cairn\n[flags] command\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(root.Long))
	b.WriteString(".SH FLAGS\n")
	root.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	b.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		manPart(&b, c)
	}
	fmt.Fprintf(&b, ".SH RULES\n.nf\n%s\n.fi\n", roff(rulesText))
	b.WriteString(".SH EVENTS\nThe lines of \n.BR \"cairn \\-p \\-\\-json\" :\n")
	for _, e := range eventDocs() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(string(e.Type)), roff(e.Meaning))
	}
	fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(root.Example))
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

// paragraphs is prose for roff: blank lines begin paragraphs.
func paragraphs(text string) string {
	return strings.ReplaceAll(roff(text), "\n\n", "\n.PP\n")
}

// roff escapes text so that nothing in it is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
