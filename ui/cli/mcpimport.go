package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// mcpImport is `cairn mcp import`.
func (a *app) mcpImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Take over the MCP servers of another client's JSON file, such as .mcp.json",
		Long: "Take over the MCP servers that another client has in a JSON file, below mcpServers or servers; - is standard input. " +
			"What is there already stays as it is. Nothing is started: look at what was taken with cairn mcp list, and try it with cairn mcp test.",
		Args: exactly(1, "a file, such as .mcp.json"),
		RunE: runner(func(ctx context.Context, args []string) error {
			data, err := a.readJSON(args[0])
			if err != nil {
				return err
			}
			found, err := foreignServers(args[0], data)
			if err != nil {
				return err
			}
			c, err := a.config()
			if err != nil {
				return err
			}
			for i, s := range found {
				same := func(mine MCPServer) bool { return strings.EqualFold(mine.Name, s.Name) }
				if s.Why == "" && slices.ContainsFunc(c.MCP, same) {
					found[i].Why = "a server of this name is configured already"
				}
			}
			return a.takeServers(ctx, found)
		}),
	}
}

// readJSON reads a file of at most the size of a configuration.
func (a *app) readJSON(path string) ([]byte, error) {
	from := a.s.In
	if path != "-" {
		f, err := os.Open(absolute(a.s, expand(a.s, path)))
		if err != nil {
			return nil, usage("read %s: %w", path, cause(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxConfig+1))
	switch {
	case err != nil:
		return nil, usage("read %s: %w", path, cause(err))
	case len(data) > maxConfig:
		return nil, usage("%s is larger than 1 MiB; that is no list of servers", path)
	}
	return data, nil
}

// foreignServer is a server of another client.
type foreignServer struct {
	Name string `json:"name"`
	// Was is what it was called there, if that cannot be a name here.
	Was string `json:"was,omitempty"`
	// Why it is not taken, empty if it is; Left are settings of it that are not.
	Why  string   `json:"refused,omitempty"`
	Left []string `json:"left,omitempty"`

	table mcpServerTable
}

// foreignServers reads the servers of another client's file, in the order of their
// names.
func foreignServers(path string, data []byte) ([]foreignServer, error) {
	var f struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &f); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, usage("%s has no MCP servers as other clients write them: below \"mcpServers\" or \"servers\" there must be an object, not a JSON %s", path, kind.Value)
		}
		return nil, usage("%s is no JSON file with MCP servers: %w", path, err)
	}
	all := f.MCPServers
	if all == nil {
		all = f.Servers
	}
	if len(all) == 0 {
		return nil, usage("%s has no MCP servers; they would be below \"mcpServers\" or \"servers\"", path)
	}
	var list []foreignServer
	taken := map[string]bool{}
	for _, name := range sortedKeys(all) {
		s := foreignOf(name, all[name])
		if same := strings.ToLower(s.Name); s.Why == "" && taken[same] {
			s.Why = "another one has that name here"
		} else if s.Why == "" {
			taken[same] = true
		}
		list = append(list, s)
	}
	return list, nil
}

// odd are the characters that names of servers cannot have here.
var odd = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// foreignOf reads one server.
func foreignOf(name string, raw json.RawMessage) foreignServer {
	s := foreignServer{Name: name}
	if odd.MatchString(name) {
		s.Name = strings.TrimRight(odd.ReplaceAllString(name, "-"), "-")
	}
	s.Name = strings.TrimLeft(s.Name, "-_0123456789")
	s.Name = s.Name[:min(len(s.Name), 32)]
	if s.Name != name {
		s.Was = name
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		s.Why = "it is no JSON object"
	}
	kind := ""
	for _, key := range sortedKeys(fields) {
		raw := fields[key]
		switch {
		case string(raw) == "null":
		case !s.field(key, raw, &kind):
			s.Left = append(s.Left, key)
		}
	}
	switch {
	case s.Why != "":
	case s.Name == "":
		s.Why = "no name here can be made of its name"
	case kind == "sse":
		s.Why = "it speaks the older transport SSE, which cairn does not; its maker may have an address for streamable HTTP"
	case strings.Contains(fmt.Sprint(s.table.Env, s.table.Headers, s.table.URL, s.table.Args), "${input:"):
		s.Why = "it asks for values with ${input:…}, which cairn does not; add it with cairn mcp add and a variable of the environment"
	default:
		if _, why := s.table.wrong(s.Name); why != "" {
			s.Why = why
		}
	}
	if text := strings.Join(append(s.table.Args, s.table.Command), " "); s.Why == "" && reference.MatchString(text) {
		s.Why = "its command has a ${NAME}, which cairn fills in in env, headers and url alone; give the value itself with cairn mcp add"
	}
	return s
}

// field takes one setting over, and reports whether there is such a one here.
func (s *foreignServer) field(key string, raw json.RawMessage, kind *string) bool {
	t := &s.table
	into := func(v any) bool {
		if err := json.Unmarshal(raw, v); err != nil {
			s.Why = fmt.Sprintf("its %q is not what it should be", key)
		}
		return true
	}
	switch key {
	case "command":
		return into(&t.Command)
	case "args":
		return into(&t.Args)
	case "cwd":
		into(&t.Dir)
		t.Dir = ownReferences(t.Dir)
		return true
	case "env":
		into(&t.Env)
		t.Env = ownValues(t.Env)
		return true
	case "headers":
		into(&t.Headers)
		t.Headers = ownValues(t.Headers)
		return true
	case "url", "serverUrl", "httpUrl":
		into(&t.URL)
		t.URL = ownReferences(t.URL)
		return true
	case "disabled":
		off := false
		if into(&off); off {
			t.Off = &off
		}
		return true
	case "enabled":
		on := true
		if into(&on); !on {
			off := true
			t.Off = &off
		}
		return true
	case "type", "transport":
		return into(kind)
	}
	return false
}

// ownReferences writes the references of other clients to variables as they are
// here.
func ownReferences(text string) string { return strings.ReplaceAll(text, "${env:", "${") }

func ownValues(values map[string]string) map[string]string {
	for k, v := range values {
		values[k] = ownReferences(v)
	}
	return values
}

// takeServers writes what can be taken into the configuration, and tells of each.
func (a *app) takeServers(ctx context.Context, found []foreignServer) error {
	good := slices.DeleteFunc(slices.Clone(found), func(s foreignServer) bool { return s.Why != "" })
	file, tightened, err := a.writeServers(ctx, func(data []byte) ([]byte, error) {
		for _, s := range good {
			data = addServer(data, s.Name, s.table)
		}
		return data, nil
	})
	if err != nil {
		return err
	}
	for _, s := range good {
		a.tellSecrets(s.Name, file, s.table, tightened)
		tightened = false
	}
	if a.flags.json {
		err = a.out.document(map[string]any{"file": file, "servers": found})
	} else {
		for _, s := range found {
			a.out.line("%s", render.SafeLine(s.line()))
		}
		switch count := harness.Count(len(good), "MCP server"); len(good) {
		case 0:
		case 1:
			a.out.line("%s written to %s; try it with: cairn mcp test %s", count, filepath.Clean(file), good[0].Name)
		default:
			a.out.line("%s written to %s; try them with: cairn mcp test", count, filepath.Clean(file))
		}
	}
	if err == nil && len(good) == 0 {
		return fail(ExitFailed, "nothing was taken")
	}
	return err
}

// line tells of a server in a line.
func (s foreignServer) line() string {
	name := s.Name
	if s.Was != "" {
		name = fmt.Sprintf("%s (there %q)", s.Name, s.Was)
	}
	if s.Why != "" {
		return name + " is left out: " + s.Why
	}
	text := name + ": " + reaches(MCPServer{Server: s.table.server(s.Name)})
	if s.table.Off != nil {
		text += ", off"
	}
	if len(s.Left) > 0 {
		text += "; not taken: " + strings.Join(s.Left, ", ")
	}
	return text
}
