package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// serverText is a server as the file has it, from its head on. Values of env and
// headers are one line each if there are several.
func serverText(name string, t mcpServerTable) string {
	var b strings.Builder
	b.WriteString("[" + dotted([]string{keyMCP, "servers", name}) + "]\n")
	text := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, quotedTOML(value))
		}
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = quotedTOML(v)
		}
		fmt.Fprintf(&b, "%s = [%s]\n", key, strings.Join(quoted, ", "))
	}
	pairs := func(key string, values map[string]string) {
		var all []string
		for _, k := range sortedKeys(values) {
			all = append(all, quotedKey(k)+" = "+quotedTOML(values[k]))
		}
		if len(all) > 0 {
			fmt.Fprintf(&b, "%s = { %s }\n", key, strings.Join(all, ", "))
		}
	}
	text("command", t.Command)
	list("args", t.Args)
	text("dir", t.Dir)
	pairs("env", t.Env)
	text("url", t.URL)
	pairs("headers", t.Headers)
	text("client_id", t.ClientID)
	text("client_secret", t.ClientSecret)
	list("scopes", t.Scopes)
	if t.CallbackPort != 0 {
		fmt.Fprintf(&b, "callback_port = %d\n", t.CallbackPort)
	}
	if t.Off != nil && *t.Off {
		b.WriteString("off = true\n")
	}
	text("prefix", t.Prefix)
	list("tools", t.Tools)
	list("without", t.Without)
	list("repeatable", t.Repeatable)
	text("timeout", t.Timeout)
	text("start", t.Start)
	return b.String()
}

// addServer puts a server at the end of the text of a file that parses.
func addServer(data []byte, name string, t mcpServerTable) []byte {
	text := strings.TrimSuffix(serverText(name, t), "\n")
	if len(bytes.TrimSpace(data)) > 0 {
		text = "\n" + text
	}
	return insertLine(data, len(data), text)
}

// removeServer takes a server out of the text of a file that parses, with the comments
// right above its table. It reports whether there was one.
func removeServer(data []byte, name string) ([]byte, bool) {
	of := []string{keyMCP, "servers", name}
	within := func(s statement) bool { return len(s.path) >= len(of) && slices.Equal(s.path[:len(of)], of) }
	type span struct{ from, to int }
	var gone []span
	all := statements(data)
	for i, s := range all {
		switch {
		case !within(s) || s.in || len(gone) > 0 && s.from < gone[len(gone)-1].to:
		case s.head:
			// A table ends where the next one begins, with the comments of that.
			to := len(data)
			for _, next := range all[i+1:] {
				if next.head {
					to = aboveHead(data, next.from)
					break
				}
			}
			gone = append(gone, span{aboveHead(data, s.from), to})
		default:
			gone = append(gone, span{bytes.LastIndexByte(data[:s.from], '\n') + 1, lineEnd(data, s.to)})
		}
	}
	out := slices.Clone(data)
	for _, g := range slices.Backward(gone) {
		out = slices.Concat(out[:g.from], out[g.to:])
	}
	return out, len(gone) > 0
}

// writeServers changes the servers of the person's configuration file: edit returns the
// text as it is to be. A file that would then hold secrets is made the person's alone;
// tightened says that it was not.
func (a *app) writeServers(ctx context.Context, edit func(data []byte) ([]byte, error)) (path string, tightened bool, err error) {
	path, _ = userFile(a.s, a.flags.config)
	if path == "" {
		_, err := configDir(a.s)
		return "", false, err
	}
	real, err := realFile(path)
	if err != nil {
		return path, false, err
	}
	old, err := readSettings(real, path)
	if err != nil {
		return path, false, err
	}
	edited, err := edit(old)
	if c := (*ConfigError)(nil); errors.As(err, &c) {
		c.File = path
	}
	if err != nil || bytes.Equal(old, edited) {
		return path, false, err
	}
	f, err := parseFile(path, edited, false)
	if err != nil {
		return path, false, usage("nothing was changed: %s", reason(err))
	}
	if err := a.checkEdited(ctx, path, keyMCP, edited); err != nil {
		return path, false, usage("nothing was changed: %s", reason(err))
	}
	if info, err := os.Stat(real); err == nil && f.secretServers() && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(real, 0o600); err != nil {
			return path, false, fmt.Errorf("keep others from reading %s: %w", path, cause(err))
		}
		tightened = true
	}
	if err := replaceFile(real, old, edited); err != nil {
		return path, tightened, err
	}
	a.cfg = nil // it is another one now
	return path, tightened, nil
}

// secretServers reports whether secrets of servers stand in the file itself.
func (f file) secretServers() bool {
	if f.MCP == nil {
		return false
	}
	for _, t := range f.MCP.Servers {
		if len(t.literal()) > 0 {
			return true
		}
	}
	return false
}
