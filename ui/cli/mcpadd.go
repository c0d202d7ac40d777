package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// added are the flags of `cairn mcp add`.
type added struct {
	env, headers                []string
	dir, prefix, timeout, start string
	tools, without, repeatable  []string
	off                         bool
}

// mcpAdd is `cairn mcp add`.
func (a *app) mcpAdd() *cobra.Command {
	var given added
	cmd := &cobra.Command{
		Use: "add NAME URL | NAME [--] COMMAND [ARGUMENT...]", Short: "Put an MCP server into the configuration",
		Long: "Put an MCP server into the configuration: a program, or an address that is reached over streamable HTTP. It is not started; cairn mcp test does that.\n\n" +
			"A server that wants you to sign in gets no header: cairn mcp login NAME does that.\n\n" +
			"A value of --env and --header may be '${NAME}' for the variable NAME of cairn's own environment, which keeps secrets out of the file and out of the history of the shell; --env NAME alone is short for --env NAME='${NAME}'.",
		Example: "  cairn mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/papers\n" +
			"  cairn mcp add tickets https://mcp.example.com/mcp --header 'Authorization: Bearer ${TICKETS_TOKEN}'",
		Args: atLeastOne("a name and a command or an address"),
	}
	f := cmd.Flags()
	f.StringArrayVar(&given.env, "env", nil, "give the program the variable `NAME=VALUE` (repeatable)")
	f.StringArrayVar(&given.headers, "header", nil, "send the header `NAME:VALUE` with each request (repeatable)")
	f.StringVar(&given.dir, "in", "", "run the program in `DIR`")
	f.StringVar(&given.prefix, "prefix", "", "begin the names of its tools with `TEXT` instead of its name")
	f.StringArrayVar(&given.tools, "tools", nil, "offer only tools that match `PATTERN` (repeatable)")
	f.StringArrayVar(&given.without, "without", nil, "leave out tools that match `PATTERN` (repeatable)")
	f.StringArrayVar(&given.repeatable, "repeatable", nil, "tools that match `PATTERN` may run again after a crash (repeatable)")
	f.StringVar(&given.timeout, "timeout", "", "a call may take `TIME`, such as 30s")
	f.StringVar(&given.start, "start", "", "connecting may take `TIME`")
	f.BoolVar(&given.off, "off", false, "do not connect to it yet")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
			return usage("%w; what the program itself is given goes behind --, as in: cairn mcp add files -- npx -y server-files", flagError(cmd, err))
		}
		return flagError(cmd, err)
	})
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		t, err := a.wantedServer(args, given)
		if err != nil {
			return err
		}
		c, err := a.config()
		if err != nil {
			return err
		}
		for _, s := range c.MCP {
			if strings.EqualFold(s.Name, args[0]) {
				return usage("there is an MCP server %s already; take it out with: cairn mcp remove %s", s.Name, s.Name)
			}
		}
		file, tightened, err := a.writeServers(ctx, func(data []byte) ([]byte, error) { return addServer(data, args[0], t), nil })
		if err != nil {
			return err
		}
		a.tellSecrets(args[0], file, t, tightened)
		if a.flags.json {
			return a.out.document(map[string]any{"file": file, "added": args[0]})
		}
		a.out.line("MCP server %s is in %s; try it with: cairn mcp test %s", args[0], file, args[0])
		return nil
	})
	return cmd
}

// wantedServer is the server that arguments and flags describe.
func (a *app) wantedServer(args []string, given added) (mcpServerTable, error) {
	t := mcpServerTable{
		Prefix: given.prefix, Tools: given.tools, Without: given.without, Repeatable: given.repeatable, Timeout: given.timeout, Start: given.start,
	}
	name := args[0]
	if len(args) < 2 {
		return t, usage("what is MCP server %q? Give the command that starts it, or its address; see: cairn mcp add --help", name)
	}
	if webAddress(args[1]) || strings.Contains(args[1], "://") {
		t.URL = args[1]
		if len(args) > 2 {
			return t, usage("an address takes no arguments, but was given %q", args[2])
		}
	} else {
		t.Command, t.Args = a.program(args[1]), args[2:]
	}
	if given.off {
		t.Off = &given.off
	}
	if given.dir != "" {
		t.Dir = absolute(a.s, expand(a.s, given.dir))
	}
	for _, text := range given.env {
		k, v, ok := strings.Cut(text, "=")
		if !ok {
			v = "${" + k + "}"
		}
		if !variable(k) {
			return t, usage("--env wants NAME=VALUE, and %q is no name of a variable", k)
		}
		t.Env = with(t.Env, k, v)
	}
	for _, text := range given.headers {
		k, v, ok := strings.Cut(text, ":")
		if !ok {
			return t, usage("--header wants NAME:VALUE, such as 'Authorization: Bearer ${TOKEN}'")
		}
		t.Headers = with(t.Headers, strings.TrimSpace(k), strings.TrimSpace(v))
	}
	switch key, text := t.wrong(name); {
	case text == "":
	case key == "timeout", key == "start":
		return t, usage("--%s %s", key, text)
	default:
		return t, usage("MCP server %q: %s", name, text)
	}
	return t, nil
}

// program is a command as the file is to have it: what a person names from their
// working directory has its whole path there.
func (a *app) program(command string) string {
	if strings.HasPrefix(command, "./") || strings.HasPrefix(command, "../") {
		return absolute(a.s, command)
	}
	return command
}

func with(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}

// tellSecrets says where secrets of a server stand now, and where they would be better.
func (a *app) tellSecrets(name, file string, t mcpServerTable, tightened bool) {
	var secrets, given []string // the second are arguments
	for _, s := range slices.Sorted(slices.Values(t.literal())) {
		if strings.HasPrefix(s, "args ") {
			given = append(given, s)
		} else {
			secrets = append(secrets, s)
		}
	}
	if len(secrets) > 0 {
		a.notice("the secrets of %s stand in %s now (%s); '${NAME}' for a variable of the environment keeps them out of it", name, file, strings.Join(secrets, ", "))
	}
	switch {
	case reference.MatchString(strings.Join(t.Args, " ")):
		a.notice("%s is given its arguments as they are: ${NAME} is filled in in env, headers and url alone", name)
	case len(given) > 0:
		a.notice("the secrets of %s stand in %s now (%s), and whoever lists the programs of this machine sees them; if it takes them from its environment, give them with --env", name, file, strings.Join(given, ", "))
	}
	if tightened {
		a.notice("others could read %s; it is yours alone now", file)
	}
}
