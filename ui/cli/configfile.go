package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// file is a configuration file as written.
type file struct {
	Model       *string                `toml:"model"`
	System      *string                `toml:"system"`
	SystemFile  *string                `toml:"system_file"`
	Theme       *string                `toml:"theme"`
	RawMouse    any                    `toml:"mouse"`
	Notify      *string                `toml:"notify"`
	Plain       *bool                  `toml:"plain"`
	NotifyAfter *string                `toml:"notify_after"`
	Images      *string                `toml:"images"`
	NoMemory    *bool                  `toml:"no_memory"`
	ASCII       *bool                  `toml:"ascii"`
	Inline      *bool                  `toml:"inline"`
	Welcome     *bool                  `toml:"welcome"`
	Dir         *string                `toml:"dir"`
	Providers   map[string]Provider    `toml:"providers"`
	Models      map[string]ModelLimits `toml:"models"`
	RawKeys     map[string]any         `toml:"keys"`

	Permissions *permissionsTable `toml:"permissions"`
	Tools       *toolsTable       `toml:"tools"`
	Memory      *memoryTable      `toml:"memory"`
	Chat        *chatTable        `toml:"chat"`
	Spending    *spendingTable    `toml:"spending"`
	Fallback    []string          `toml:"fallback"`
	Engine      *string           `toml:"engine"`
	Drive       *string           `toml:"drive"`
	Worker      *workerTable      `toml:"worker"`
	MCP         *mcpTable         `toml:"mcp"`

	// Keys is RawKeys, checked; plain are the plain keys that are set.
	Keys  map[string]KeyList `toml:"-"`
	plain map[string]string
}

// tables are the keys that are allowed below each table of a configuration.
func tables() map[string][]string {
	top := []string{"providers", "models", "keys", "permissions", "tools", "memory", "chat", "spending", "worker", keyMCP}
	for _, k := range settings() {
		if !strings.Contains(k.key, ".") {
			top = append(top, k.key)
		}
	}
	return map[string][]string{
		"":          top,
		"providers": {"kind", "base_url", "api_key"},
		"models":    {"window", "max_output", "input_price", "output_price", "images", "documents"},

		"permissions": {"allow", "ask", "deny", "approve"},
		"tools":       {"roots", "env", "private_addresses", "command_timeout", "off"},
		"memory":      {"distill", "recall_tokens", "embedding"},
		"chat":        {"title", "still", "fold_pastes", "side_panel"},
		"spending":    {"session", "day"},
		"worker":      {"any_host", "lease"},
		"mouse":       {"wheel", "select", "copy"},
		keyMCP:        {"servers"},
		mcpServers:    mcpServerKeys(),
	}
}

// ConfigError is a fault in a configuration file.
type ConfigError struct {
	File string
	// Line counts from 1; 0 means the file as a whole.
	Line int
	// Text says what is wrong and what would be right.
	Text string
}

// Error implements error with one sentence.
func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// readFile reads a configuration file. A project's may hold harmless keys only.
// actions are the names that keys may be given to; nil means any.
func readFile(path string, project bool, actions func() []string) (file, error) {
	how := os.O_RDONLY
	if project {
		how |= syscall.O_NONBLOCK // opening a named pipe would wait for its writer
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return file{}, configOpen(path, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	// The person's own may be a pipe. A project is anybody's.
	if info, err := f.Stat(); project && err == nil && !info.Mode().IsRegular() {
		return file{}, &ConfigError{File: path, Text: "is no ordinary file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return file{}, configOpen(path, err)
	}
	if len(data) > maxConfig {
		return file{}, &ConfigError{File: path, Text: "is larger than 1 MiB; that is no configuration"}
	}
	parsed, err := parseFile(path, data, project)
	if err == nil && actions != nil && len(parsed.Keys) > 0 {
		err = parsed.checkActions(path, data, actions())
	}
	return parsed, err
}

// configOpen words a failure to read. That the file does not exist stays
// recognisable.
func configOpen(path string, err error) error {
	return usage("read configuration %s: %w", path, cause(err))
}

// parseFile reads the bytes of a configuration file. Its errors are
// [*ConfigError]s, joined if there are several.
func parseFile(path string, data []byte, project bool) (file, error) {
	var f file
	if !utf8.Valid(data) {
		return f, &ConfigError{File: path, Text: "is not UTF-8 text"}
	}
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f)
	if err != nil {
		return f, tomlErrors(path, err)
	}
	if project {
		if err := f.harmless(path, data); err != nil {
			return f, err
		}
	}
	err = errors.Join(
		f.checkKeys(path, data), f.checkProviders(path, data), f.checkModels(path, data), f.checkPermissions(path, data), f.checkTools(path, data),
		f.checkMemory(path, data), f.checkChat(path, data), f.checkStill(path, data), f.checkSpending(path, data), f.checkMouse(path, data), f.checkNotify(path, data), f.checkImages(path, data), f.checkEngine(path, data), f.checkMCP(path, data),
	)
	if err != nil {
		return f, err
	}
	f.plain = f.plainValues()
	return f, nil
}

// plainValues are the plain keys that the file sets.
func (f file) plainValues() map[string]string {
	plain := map[string]string{}
	for key, v := range map[string]*string{
		"model": f.Model, "system": f.System, "system_file": f.SystemFile, "theme": f.Theme, "dir": f.Dir, keyNotify: f.Notify, keyNotifyAfter: f.NotifyAfter, keyImages: f.Images, keyEngine: f.Engine, keyDrive: f.Drive,
	} {
		if v != nil {
			plain[key] = *v
		}
	}
	for key, v := range map[string]*bool{"plain": f.Plain, "ascii": f.ASCII, keyInline: f.Inline, "no_memory": f.NoMemory, "welcome": f.Welcome} {
		if v != nil {
			plain[key] = strconv.FormatBool(*v)
		}
	}
	f.mousePlain(plain)
	f.Memory.plainValues(plain)
	f.Chat.plainValues(plain)
	f.Spending.plainValues(plain)
	f.Worker.plainValues(plain)
	if f.Fallback != nil {
		plain[keyFallback] = strings.Join(f.Fallback, ", ")
	}
	return plain
}

// harmless refuses the keys that a project must not set, because the person
// who opens a directory did not write its files.
func (f file) harmless(path string, data []byte) error {
	plain := f.plainValues()
	for _, k := range settings() {
		if _, set := plain[k.key]; set && !k.project {
			return notByProject(path, lineOfKey(data, k.key), k.key)
		}
	}
	for key, set := range map[string]bool{
		"providers": f.Providers != nil, "models": f.Models != nil, "keys": f.RawKeys != nil, "tools": f.Tools != nil, "memory": f.Memory != nil,
		keyMouse: f.RawMouse != nil, "chat": f.Chat != nil, "spending": f.Spending != nil, "worker": f.Worker != nil, keyMCP: f.MCP != nil,
	} {
		if set {
			return notByProject(path, lineOf(data, "["+key), key)
		}
	}
	if f.Permissions != nil {
		return f.Permissions.foreign(path, data)
	}
	return nil
}

// notByProject says that a project must not set a key, and what it can set.
func notByProject(path string, line int, key string) error {
	if key == keyMCP {
		return &ConfigError{
			File: path, Line: line,
			Text: "\"mcp\" cannot be set by a project, because a server may be any program; put it into your own configuration, for example with: cairn mcp import FILE",
		}
	}
	return &ConfigError{
		File: path, Line: line,
		Text: fmt.Sprintf("%q cannot be set by a project, only model, system, theme and the ask and deny rules can; put it into your own configuration", key),
	}
}

// lineOf is the first line that begins with a key, 0 if none does.
func lineOf(data []byte, key string) int {
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t\""), key) {
			return i + 1
		}
	}
	return 0
}

// guardSecrets takes the keys out of a file that others can read, and says so.
func (f *file) guardSecrets(path string) []string {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	var warnings []string
	for _, name := range sortedKeys(f.Providers) {
		p := f.Providers[name]
		if p.APIKey == "" {
			continue
		}
		p.APIKey, p.exposed = "", p.APIKey
		f.Providers[name] = p
		warnings = append(warnings, fmt.Sprintf("the api_key of %s in %s is not used, because others can read the file; run: chmod 600 %s", name, path, path))
	}
	return append(warnings, f.guardMCP(path)...)
}

// tomlErrors turns the library's errors into ours: file, line, what is wrong.
func tomlErrors(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var all []error
		for _, e := range strict.Errors {
			row, _ := e.Position()
			all = append(all, &ConfigError{File: path, Line: row, Text: unknownKey(e.Key())})
		}
		return errors.Join(all...)
	}
	var one *toml.DecodeError
	if !errors.As(err, &one) {
		return &ConfigError{File: path, Text: plainTOML(err)}
	}
	row, _ := one.Position()
	if want := wanted(one.Key()); want != "" && strings.Contains(one.Error(), "cannot ") {
		return &ConfigError{File: path, Line: row, Text: fmt.Sprintf("%q must be %s", strings.Join(one.Key(), "."), want)}
	}
	return &ConfigError{File: path, Line: row, Text: plainTOML(one)}
}

func plainTOML(err error) string { return strings.TrimPrefix(err.Error(), "toml: ") }

// unknownKey words a key that does not exist, with the nearest that does.
func unknownKey(key toml.Key) string {
	name := key[len(key)-1]
	table := ""
	if len(key) > 1 {
		table = key[0]
	}
	if table == keyMCP && len(key) > 3 {
		table = mcpServers
	}
	candidates := tables()[table]
	text := fmt.Sprintf("unknown key %q", strings.Join(key, "."))
	if table == "" && len(key) == 1 {
		if best, ok := nearest(name, candidates); ok {
			return text + "; did you mean " + best + "?"
		}
		return text + "; see: cairn config show"
	}
	return text + suggest(name, "", candidates)
}

// wanted says what kind of value a key takes.
func wanted(key toml.Key) string {
	if len(key) == 0 {
		return ""
	}
	if key[0] == keyMCP {
		return wantedMCP(key)
	}
	if len(key) == 1 && key[0] == keyImages {
		return imagesText
	}
	switch key[len(key)-1] {
	case "distill":
		return distillModesText
	case "title":
		return titleModesText
	case "window", "max_output", "recall_tokens":
		return "a whole number of tokens"
	case "input_price", "output_price":
		return "a price in USD for a million tokens, such as 2.5"
	case "providers", "models", "keys":
		return "a table, such as [" + key[0] + ".NAME]"
	case "session", "day":
		return limitText
	case keyEngine:
		return "an address in quotes: bbolt, sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE"
	case "lease":
		return leaseText
	case keyNotify:
		return notifiesText
	case keyNotifyAfter:
		return notifyAfterText
	case keyDrive:
		return drivesText
	case keyFallback:
		return fallbackText
	case "permissions", "tools", "memory", "chat", "spending", "worker":
		return "a table, such as [" + key[0] + "]"
	case "allow", "ask", "deny":
		return "a list of rules, such as [\"run_command(go test)\"]"
	case "roots", "env", "off":
		return "a list of texts in quotes"
	case "private_addresses", "images", "documents", "any_host":
		return "true or false"
	}
	i := slices.IndexFunc(settings(), func(s setting) bool { return s.key == key[0] })
	if i >= 0 && settings()[i].bool {
		return "true or false"
	}
	return "a text in quotes"
}
