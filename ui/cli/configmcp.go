package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness/mcp"
)

// keyMCP is the table of MCP, and mcpServers that of the servers.
const keyMCP, mcpServers = "mcp", "mcp.servers"

// minMCPTime and maxMCPTime bound the times of a server.
const minMCPTime, maxMCPTime = time.Second, 24 * time.Hour

// mcpTimeText is what they can be, in words.
const mcpTimeText = `a time of at least a second and at most a day with its unit, such as "30s" or "5m"`

// mcpTable is [mcp] as written.
type mcpTable struct {
	Servers map[string]mcpServerTable `toml:"servers"`
}

// mcpServerTable is [mcp.servers.NAME] as written.
type mcpServerTable struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Dir     string            `toml:"dir"`
	Env     map[string]string `toml:"env"`
	URL     string            `toml:"url"`
	Headers map[string]string `toml:"headers"`
	// Who cairn is where one signs in to it, for servers that register no programs.
	ClientID     string   `toml:"client_id"`
	ClientSecret string   `toml:"client_secret"`
	Scopes       []string `toml:"scopes"`
	CallbackPort int      `toml:"callback_port"`

	Off        *bool    `toml:"off"`
	Prefix     string   `toml:"prefix"`
	Tools      []string `toml:"tools"`
	Without    []string `toml:"without"`
	Repeatable []string `toml:"repeatable"`
	Timeout    string   `toml:"timeout"`
	Start      string   `toml:"start"`

	// exposed says that the file holds secrets of it that others can read.
	exposed bool
}

// mcpServerKeys are the keys of a server, in the order in which they are shown.
func mcpServerKeys() []string {
	return []string{"command", "args", "dir", "env", "url", "headers", "client_id", "client_secret", "scopes", "callback_port", "off", "prefix", "tools", "without", "repeatable", "timeout", "start"}
}

// MCPServer is an MCP server of the configuration.
type MCPServer struct {
	mcp.Server
	// secrets are the values that nobody may see, by what they are called.
	secrets map[string]string
	// shown are the settings as `cairn config show` tells them.
	shown []Value
}

// Remote returns what the server itself would call a tool that the model knows by a
// name, as a pattern of [path.Match]; ok is false if it cannot be one of its tools.
// Which ones there are nobody knows before it is connected.
func (s MCPServer) Remote(tool string) (pattern string, ok bool) {
	rest, ok := strings.CutPrefix(tool, s.toolPrefix())
	return rest, ok && rest != ""
}

// toolPrefix is what the names of its tools begin with.
func (s MCPServer) toolPrefix() string {
	if s.Prefix != "" {
		return s.Prefix + "_"
	}
	return s.Name + "_"
}

// wantedMCP says what kind of value a key below [mcp] takes.
func wantedMCP(key []string) string {
	if len(key) < 4 {
		return "a table, such as [mcp.servers.NAME]"
	}
	switch key[3] {
	case "callback_port":
		return "a number from 1 to 65535"
	case "args", "tools", "without", "repeatable", "scopes":
		return "a list of texts in quotes"
	case "env", "headers":
		if len(key) > 4 {
			return "a text in quotes, such as \"${NAME}\" for the value of a variable"
		}
		return "a table of texts in quotes, such as { NAME = \"value\" }"
	case "off":
		return "true or false"
	case "timeout", "start":
		return mcpTimeText
	}
	return "a text in quotes"
}

// reference is a variable of the environment in a value, with what stands for it
// where it is not set.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// portReference is one in the place of a port.
var portReference = regexp.MustCompile(`(:[0-9]*)` + reference.String())

// refersOnly reports whether a value is nothing but one reference, and so no secret.
func refersOnly(value string) bool { return reference.FindString(value) == value && value != "" }

// refer puts the values of variables in the place of the references to them, and
// returns the name of one that is not set.
func refer(value string, getenv func(string) string) (text, unset string) {
	text = reference.ReplaceAllStringFunc(value, func(all string) string {
		m := reference.FindStringSubmatch(all)
		v := getenv(m[1])
		if v == "" && strings.Contains(all, ":-") {
			v = m[2]
		} else if v == "" {
			unset = m[1]
		}
		return v
	})
	return text, unset
}

// anyAddress is an address with something that can be in the place of each reference:
// the whole of it or its beginning, a host, a port or a part of its path.
func anyAddress(address string) string {
	if at := reference.FindStringIndex(address); at != nil && at[0] == 0 {
		begin := "http://x"
		if strings.HasPrefix(address[at[1]:], "://") {
			begin = "http"
		}
		address = begin + address[at[1]:]
	}
	// A port is a number.
	address = portReference.ReplaceAllString(address, "${1}1")
	return reference.ReplaceAllString(address, "x")
}

// checkMCP refuses servers that cannot be, by the lines where they are.
func (f file) checkMCP(path string, data []byte) error {
	if f.MCP == nil {
		return nil
	}
	var all []error
	names := map[string]string{}
	for _, name := range sortedKeys(f.MCP.Servers) {
		key, text := f.MCP.Servers[name].wrong(name)
		if same, ok := names[strings.ToLower(name)]; ok && text == "" {
			text = fmt.Sprintf("there is %s, too, and the names of two servers must differ in more than capitals", same)
		}
		names[strings.ToLower(name)] = name
		if text == "" {
			continue
		}
		parts := []string{keyMCP, "servers", name}
		if key != "" {
			parts = append(parts, strings.Split(key, "\x00")...)
		}
		all = append(all, &ConfigError{File: path, Line: lineOfSetting(data, parts), Text: fmt.Sprintf("%q: %s", strings.Join(parts, "."), text)})
	}
	return errors.Join(all...)
}

// wrong says what is wrong with a server, and at which of its keys; parts of one are
// parted by a NUL. No value of its environment and headers is in the text.
func (t mcpServerTable) wrong(name string) (key, text string) {
	for _, of := range []struct{ key, value string }{{"timeout", t.Timeout}, {"start", t.Start}} {
		if _, ok := mcpTime(of.value); !ok {
			return of.key, fmt.Sprintf("must be %s, not %q", mcpTimeText, of.value)
		}
	}
	if strings.ContainsAny(t.Command, `/\`) && !filepath.IsAbs(t.Command) && !strings.HasPrefix(t.Command, "~/") {
		// Which program it is would depend on where cairn is started.
		return "command", fmt.Sprintf("%q is relative; give the whole path, one below ~/, or the name of a program on PATH", t.Command)
	}
	if t.Dir != "" && !filepath.IsAbs(t.Dir) && !strings.HasPrefix(t.Dir, "~/") {
		return "dir", fmt.Sprintf("%q is relative; give the whole path, or one below ~/", t.Dir)
	}
	for _, of := range []struct {
		key    string
		values map[string]string
	}{{"env", t.Env}, {"headers", t.Headers}, {"", map[string]string{"url": t.URL, "client_id": t.ClientID, "client_secret": t.ClientSecret}}} {
		for _, k := range sortedKeys(of.values) {
			if strings.Contains(reference.ReplaceAllString(of.values[k], ""), "${") {
				return strings.TrimPrefix(of.key+"\x00"+k, "\x00"), "has a ${ that is no reference; write ${NAME}, or ${NAME:-text} for a text where NAME is not set"
			}
		}
	}
	plain := t.server(name)
	plain.URL = anyAddress(t.URL)
	if err := mcp.Check(plain); err != nil {
		_, why, _ := strings.Cut(err.Error(), mcp.ErrConfig.Error()+": ")
		return "", why
	}
	return "", ""
}

// mcpTime reads a time of a server; an empty one is that of the default.
func mcpTime(text string) (time.Duration, bool) {
	if text == "" {
		return 0, true
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return d, err == nil && d >= minMCPTime && d <= maxMCPTime
}

// server is the server as written, with references and all.
func (t mcpServerTable) server(name string) mcp.Server {
	s := mcp.Server{
		Name: name, Command: t.Command, Args: t.Args, Dir: t.Dir, Env: t.Env, URL: t.URL, Headers: t.Headers,
		OAuth: mcp.OAuth{Client: t.ClientID, Secret: t.ClientSecret, Scopes: t.Scopes, Port: t.CallbackPort},
		Off:   t.Off != nil && *t.Off, Prefix: t.Prefix, Tools: t.Tools, Without: t.Without, Repeatable: t.Repeatable,
	}
	s.Timeout, _ = mcpTime(t.Timeout) // checked before
	s.Start, _ = mcpTime(t.Start)
	return s
}

// settle fills in what the environment says of a server. What is missing there is its
// fault alone.
func (t mcpServerTable) settle(s Streams, name, file string) MCPServer {
	out := MCPServer{Server: t.server(name), shown: t.values(name, file)}
	out.Command, out.Dir = expand(s, t.Command), expand(s, t.Dir)
	fill := func(what, value string) string {
		text, unset := refer(value, s.Getenv)
		if unset != "" && out.Fault == "" {
			out.Fault = fmt.Sprintf("%s of MCP server %s needs the variable %s, which is not set", what, name, unset)
		}
		return text
	}
	each := func(what string, values map[string]string) map[string]string {
		values = maps.Clone(values)
		for _, k := range sortedKeys(values) {
			values[k] = fill(what+k, values[k])
		}
		return values
	}
	out.URL, out.Env, out.Headers = fill("the url", t.URL), each("env.", t.Env), each("headers.", t.Headers)
	out.OAuth.Client, out.OAuth.Secret = fill("client_id", t.ClientID), fill("client_secret", t.ClientSecret)
	if out.Fault == "" {
		if err := mcp.Check(out.Server); err != nil {
			_, why, _ := strings.Cut(err.Error(), mcp.ErrConfig.Error()+": ")
			out.Fault = fmt.Sprintf("MCP server %s cannot be used with this environment: %s", name, why)
		}
	}
	out.secrets = secretsOfServer(out.Server)
	if t.exposed {
		out.Fault = fmt.Sprintf("MCP server %s is not used: its secrets are in %s, which others can read; run: chmod 600 %s", name, file, file)
	}
	if out.Fault != "" { // as written: it is shown, and never connected to
		out.URL, out.Env, out.Headers = anyAddress(t.URL), t.Env, t.Headers
		out.OAuth = t.server(name).OAuth
	}
	return out
}

// mcpOf are the servers of the user's file, in the order of their names.
func mcpOf(s Streams, path string, t *mcpTable) []MCPServer {
	if t == nil {
		return nil
	}
	var all []MCPServer
	for _, name := range sortedKeys(t.Servers) {
		all = append(all, t.Servers[name].settle(s, name, path))
	}
	return all
}

// guardMCP marks the servers whose secrets are in a file that others can read, and
// says so.
func (f *file) guardMCP(path string) []string {
	if f.MCP == nil {
		return nil
	}
	var warnings []string
	for _, name := range sortedKeys(f.MCP.Servers) {
		t := f.MCP.Servers[name]
		if len(t.literal()) == 0 {
			continue
		}
		t.exposed = true
		f.MCP.Servers[name] = t
		warnings = append(warnings, fmt.Sprintf("MCP server %s is not used, because %s holds its secrets and others can read the file; run: chmod 600 %s", name, path, path))
	}
	return warnings
}

// values are the settings of a server as they may be shown. What its environment and
// headers hold is not, but for the names of variables.
func (t mcpServerTable) values(name, from string) []Value {
	var all []Value
	add := func(key, value string) {
		if value != "" {
			all = append(all, Value{Key: keyMCP + ".servers." + name + "." + key, Value: value, From: from, layer: layerUser})
		}
	}
	set := func(key string, values map[string]string) {
		for _, k := range sortedKeys(values) {
			value := "(set)"
			if refersOnly(values[k]) && !strings.Contains(values[k], ":-") {
				value = values[k]
			}
			add(key+"."+quotedKey(k), value)
		}
	}
	add("command", t.Command)
	add("args", strings.Join(shownArgs(t.Args), " "))
	add("dir", t.Dir)
	set("env", t.Env)
	add("url", shownURL(t.URL))
	set("headers", t.Headers)
	add("client_id", t.ClientID)
	switch {
	case refersOnly(t.ClientSecret) && !strings.Contains(t.ClientSecret, ":-"):
		add("client_secret", t.ClientSecret)
	case t.ClientSecret != "":
		add("client_secret", "(set)")
	}
	add("scopes", strings.Join(t.Scopes, " "))
	if t.CallbackPort != 0 {
		add("callback_port", strconv.Itoa(t.CallbackPort))
	}
	if t.Off != nil && *t.Off {
		add("off", "true")
	}
	add("prefix", t.Prefix)
	for _, list := range []struct {
		key   string
		names []string
	}{{"tools", t.Tools}, {"without", t.Without}, {"repeatable", t.Repeatable}} {
		add(list.key, strings.Join(list.names, " "))
	}
	add("timeout", t.Timeout)
	add("start", t.Start)
	return all
}

// offered reports whether a name could be that of a tool of an MCP server.
func (c Config) offered(tool string) bool {
	return slices.ContainsFunc(c.MCP, func(s MCPServer) bool { _, ok := s.Remote(tool); return ok })
}

// server finds a server by its name.
func (c Config) server(name string) (MCPServer, bool) {
	i := slices.IndexFunc(c.MCP, func(s MCPServer) bool { return s.Name == name })
	if i < 0 {
		return MCPServer{}, false
	}
	return c.MCP[i], true
}

// lineOfSetting is the line that sets a key, or the nearest table around it; 0 if
// there is none.
func lineOfSetting(data []byte, parts []string) int {
	best, line := 0, 0
	for _, s := range statements(data) {
		n := len(s.path)
		if n <= len(parts) && n > best && slices.Equal(s.path, parts[:n]) {
			best, line = n, 1+strings.Count(string(data[:s.from]), "\n")
		}
	}
	if line == 0 { // a table that only has tables
		for _, s := range statements(data) {
			if len(s.path) > len(parts) && slices.Equal(s.path[:len(parts)], parts) {
				return 1 + strings.Count(string(data[:s.from]), "\n")
			}
		}
	}
	return line
}
