package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/distill"
	"cairn/harness/run"
)

// Config is the settled configuration of one start. What a session has set for
// itself is not in it; see [Choice].
type Config struct {
	// Model is "provider/model", empty if nobody chose one.
	Model string
	// System is the system prompt, empty for the default one.
	System   string
	Theme    string
	Mouse    bool
	MouseUse MouseUse
	// Notify says how a person who looks elsewhere is told of a turn that took at
	// least NotifyAfter, or that waits for them.
	Notify      Notify
	NotifyAfter time.Duration
	// Images says how the terminal shows images, such as screen.ImagesAuto.
	Images   string
	Plain    bool
	NoMemory bool
	// ASCII says that ornaments are drawn in ASCII.
	ASCII bool
	// Welcome says that the very first start tells what was found.
	Welcome bool
	// Distill says what becomes of what the model finds worth keeping after a
	// turn: auto, ask or off. It is as configured; what
	// counts for a start is in [Setup].
	Distill distill.Mode
	// RecallTokens bounds the recalled text of a request.
	RecallTokens int
	// Embedding is the model, "provider/model", whose vectors find what means the
	// same; empty for none.
	Embedding string
	// Title says who gives a new conversation its title.
	Title TitleMode
	// Spending bounds what model calls may cost.
	Spending harness.SpendingLimits
	// Fallback are the models that stand in for one that fails, in order.
	Fallback []string
	// Engine keeps runs. Its Text may hold a password and is in no output.
	Engine run.Address
	// Engines are those of all places, also where another one won: older runs may
	// be there.
	Engines []run.Address
	// Drive says who drives the runs of an engine that workers can reach, AnyHost
	// that any machine may, though they have tools that work on one.
	Drive   Drive
	AnyHost bool
	// Lease is how long a driver that is not heard of keeps its run; 0 leaves that
	// to the engine.
	Lease time.Duration
	// Dir holds the store.
	Dir string
	// Providers and Models are what the user's file says of them, by name.
	Providers map[string]Provider
	Models    map[string]ModelLimits
	// Keys rebinds actions of the screens.
	Keys map[string]KeyList
	// Permissions are the rules of files and flags, Tools what the user's file
	// says of the tools.
	Permissions Permissions
	Tools       Tools
	// MCP are the MCP servers of the user's file, in the order of their names.
	MCP []MCPServer
	// File is the user's configuration file, which need not exist.
	File string
	// Project is the project's file, empty if there is none.
	Project string
	// Warnings are sentences about what was not used.
	Warnings []string

	values map[string]Value
}

// Provider is what a configuration says of a provider.
type Provider struct {
	// Kind is the wire, such as "openai"; empty means that of the name.
	Kind string `toml:"kind"`
	// BaseURL is the address, empty for the usual one.
	BaseURL string `toml:"base_url"`
	// APIKey is a secret. It is in no output of this package.
	APIKey string `toml:"api_key"`
	// exposed is one that is not used because others can read it. It is a
	// secret none the less.
	exposed string
}

// ModelLimits is what a configuration says of a model. Nil means that the
// catalogue knows. Prices are in USD for a million tokens.
type ModelLimits struct {
	Window      *int     `toml:"window"`
	MaxOutput   *int     `toml:"max_output"`
	InputPrice  *float64 `toml:"input_price"`
	OutputPrice *float64 `toml:"output_price"`
	// Images and Documents say that it is given images and PDF documents.
	Images    *bool `toml:"images"`
	Documents *bool `toml:"documents"`
}

// Value is one setting and where it is from.
type Value struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// From says where the value is from, in words.
	From string `json:"from"`
	// layer is the place that won.
	layer layer
}

// layer is a place that a value can come from; a greater one wins.
type layer int

const (
	layerDefault layer = iota
	layerUser
	layerProject
	layerEnv
	layerFlag
)

// setting describes one plain key of the configuration.
type setting struct {
	key string
	// env is the variable that sets it, empty for none.
	env string
	// def is the value that nobody set.
	def  string
	bool bool
	// project says that a project's file may set it: it can do no harm.
	project bool
}

// settings are the plain keys, in the order of `cairn config show`.
func settings() []setting {
	return []setting{
		{key: "model", env: "CAIRN_MODEL", project: true},
		{key: "system", project: true},
		{key: "system_file"},
		{key: "theme", env: "CAIRN_THEME", def: "auto", project: true},
		{key: keyMouse, def: "true", bool: true},
		{key: keyMouseWheel, def: "true", bool: true},
		{key: keyMouseSelect, def: "true", bool: true},
		{key: keyMouseCopy, def: "false", bool: true},
		{key: keyNotify, def: string(NotifyAuto)},
		{key: keyNotifyAfter, def: defaultNotifyAfter.String()},
		{key: keyImages, env: "CAIRN_IMAGES", def: defaultImages},
		{key: "plain", env: "ACCESSIBLE", def: "false", bool: true},
		{key: "ascii", env: "CAIRN_ASCII", def: "false", bool: true},
		{key: keyInline, env: "CAIRN_INLINE", def: "false", bool: true},
		{key: "no_memory", def: "false", bool: true},
		{key: "welcome", env: "CAIRN_WELCOME", def: "true", bool: true},
		{key: keyDistill, env: "CAIRN_DISTILL", def: string(distill.Ask)},
		{key: keyRecall, def: strconv.Itoa(memory.DefaultRecallBudget)},
		{key: keyEmbedding, env: "CAIRN_EMBEDDING"},
		{key: keyTitle, def: string(TitleModel)},
		{key: keyFoldPastes, def: "true", bool: true},
		{key: keySidePanel, def: "false", bool: true},
		{key: keyStill, def: defaultStill.String()},
		{key: keySpendSession, env: "CAIRN_SPENDING_SESSION", def: "0"},
		{key: keySpendDay, env: "CAIRN_SPENDING_DAY", def: "0"},
		{key: keyFallback, env: "CAIRN_FALLBACK"},
		{key: keyEngine, env: "CAIRN_ENGINE", def: string(run.KindBbolt)},
		{key: keyDrive, env: "CAIRN_DRIVE", def: string(DriveHere)},
		{key: keyAnyHost, def: "false", bool: true},
		{key: keyLease, env: "CAIRN_LEASE"},
		{key: "dir", env: "CAIRN_DIR"},
	}
}

// loadConfig settles the configuration from flags, the environment, the
// project's file and the user's, in that order. flags maps keys to the values
// given on the command line; actions are the names that keys may be given to,
// nil for any.
func loadConfig(s Streams, path string, flags map[string]string, actions func() []string) (Config, error) {
	c := Config{values: map[string]Value{}}
	user, err := c.readUser(s, path, actions)
	if err != nil {
		return c, err
	}
	return c, c.settle(s, user, flags)
}

// settle fills in all values, the user's file being read already.
func (c *Config) settle(s Streams, user file, flags map[string]string) error {
	project, err := c.readProject(s)
	if err != nil {
		return err
	}
	for _, k := range settings() {
		c.set(k, k.def, layerDefault, "default")
		if v, ok := user.plain[k.key]; ok {
			c.set(k, v, layerUser, c.File)
		}
		if v, ok := project.plain[k.key]; ok {
			c.set(k, v, layerProject, c.Project)
		}
		if v := s.Getenv(k.env); k.env != "" && v != "" {
			if k.bool {
				v = truth(v)
			}
			c.set(k, v, layerEnv, k.env)
		}
		if v, ok := flags[k.key]; ok {
			c.set(k, v, layerFlag, "--"+flagOf(k.key))
		}
	}
	c.Providers, c.Models, c.Keys, c.Tools = user.Providers, user.Models, user.Keys, toolsOf(s, user.Tools)
	c.MCP = mcpOf(s, c.File, user.MCP)
	if c.Permissions, err = permissionsOf(*c, user, project); err != nil {
		return err
	}
	c.Model, c.Theme = c.values["model"].Value, c.values["theme"].Value
	c.settleASCII(s)
	c.Plain = c.values["plain"].Value == "true"
	c.Welcome = c.values["welcome"].Value == "true"
	c.settleMouse()
	c.NoMemory, c.Title = c.values["no_memory"].Value == "true", TitleMode(c.values[keyTitle].Value)
	if err := errors.Join(c.settleMemory(), c.settleNotify(), c.settleImages(), c.settleSpending(), c.settleEngine(s, user.plain[keyEngine], s.Getenv("CAIRN_ENGINE"))); err != nil {
		return err
	}
	if err := c.settleSystem(s); err != nil {
		return err
	}
	return c.settleDir(s)
}

func (c *Config) set(k setting, value string, l layer, from string) {
	c.values[k.key] = Value{Key: k.key, Value: value, From: from, layer: l}
}

// truth reads an environment switch: anything but 0, false, no and off is on.
func truth(v string) string {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "0", "false", "no", "off":
		return "false"
	}
	return "true"
}

// flagOf names the flag that sets a key.
func flagOf(key string) string {
	switch key {
	case "mouse":
		return "no-mouse"
	case keyDistill:
		return distillFlag
	case keyAnyHost:
		return anyHostFlag
	case keyLease:
		return leaseFlag
	}
	return strings.ReplaceAll(key, "_", "-")
}

// userFile is where the user's file is, and whether it was asked for by name. Without
// a home there is none, and none is needed.
func userFile(s Streams, path string) (file string, asked bool) {
	if path == "" {
		path = s.Getenv("CAIRN_CONFIG")
	}
	if path != "" {
		return absolute(s, expand(s, path)), true
	}
	dir, err := configDir(s)
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, "config.toml"), false
}

// readUser reads the user's file, if there is one. A file that was asked for
// by name must exist.
func (c *Config) readUser(s Streams, path string, actions func() []string) (file, error) {
	path, asked := userFile(s, path)
	if c.File = path; path == "" {
		return file{}, nil
	}
	f, err := readFile(c.File, false, actions)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return file{}, nil
	}
	if err != nil {
		return file{}, err
	}
	c.Warnings = append(c.Warnings, f.guardSecrets(c.File)...)
	return f, nil
}

// readProject reads .cairn/config.toml of the working directory alone: a file
// of a directory above might be somebody else's.
func (c *Config) readProject(s Streams) (file, error) {
	f, path, err := c.projectOf(s.Dir)
	c.Project = path
	return f, err
}

// projectOf reads the project's file of a directory; the path is empty if it
// has none.
func (c *Config) projectOf(dir string) (f file, path string, err error) {
	if dir == "" {
		return file{}, "", nil
	}
	path = filepath.Join(dir, ".cairn", "config.toml")
	if path == c.File {
		return file{}, "", nil
	}
	f, err = readFile(path, true, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, "", nil
	}
	if err != nil {
		return file{}, "", err
	}
	return f, path, nil
}

// settleSystem fills in the system prompt: of system and system_file the one
// that was set in the stronger place.
func (c *Config) settleSystem(s Streams) error {
	text, from := c.values["system"], c.values["system_file"]
	if from.Value == "" || from.layer < text.layer {
		c.System = text.Value
		return nil
	}
	if text.Value != "" && text.layer == from.layer {
		return usage("system and system_file are both set in %s; keep one of them", place(from))
	}
	path := expand(s, from.Value)
	if from.layer == layerUser && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(c.File), path)
	}
	data, err := os.ReadFile(absolute(s, path))
	if err != nil {
		return usage("the system prompt of %s cannot be read: %w", place(from), err)
	}
	if c.System, err = plainText(data); err != nil {
		return usage("the system prompt in %s %w", path, err)
	}
	return nil
}

// place names where a value is from, for a sentence.
func place(v Value) string {
	if v.layer == layerFlag {
		return "the flags"
	}
	return v.From
}

// settleDir fills in the data directory. That there is none is no error yet:
// commands without a store do not need one.
func (c *Config) settleDir(s Streams) error {
	v := c.values["dir"]
	if v.Value == "" {
		dir, err := dataDir(s)
		if err == nil {
			v.Value = dir
		}
	}
	c.Dir = v.Value
	if c.Dir == "" {
		return nil
	}
	c.Dir = expand(s, c.Dir)
	if v.layer == layerUser && !filepath.IsAbs(c.Dir) {
		return usage("dir = %q in %s is relative; give the whole path", v.Value, c.File)
	}
	c.Dir = absolute(s, c.Dir)
	v.Value = c.Dir
	c.values["dir"] = v
	return nil
}

// Values returns all plain settings and where they are from, then what the
// user's file says of providers, models and keys, the rules, and the tools.
// Secrets are not in it.
func (c Config) Values() []Value {
	var all []Value
	for _, k := range settings() {
		all = append(all, c.values[k.key])
	}
	add := func(key, value string) {
		if value != "" {
			all = append(all, Value{Key: key, Value: value, From: c.File, layer: layerUser})
		}
	}
	for _, name := range sortedKeys(c.Providers) {
		p, key := c.Providers[name], "providers."+name
		add(key+".kind", p.Kind)
		add(key+".base_url", withoutUser(p.BaseURL))
		if p.APIKey != "" {
			add(key+".api_key", "(set)")
		}
	}
	for _, name := range sortedKeys(c.Models) {
		m, key := c.Models[name], fmt.Sprintf("models.%q", name)
		add(key+".window", valueOf(m.Window))
		add(key+".max_output", valueOf(m.MaxOutput))
		add(key+".input_price", valueOf(m.InputPrice))
		add(key+".output_price", valueOf(m.OutputPrice))
		add(key+".images", valueOf(m.Images))
		add(key+".documents", valueOf(m.Documents))
	}
	for _, action := range sortedKeys(c.Keys) {
		add(fmt.Sprintf("keys.%q", action), strings.Join(c.Keys[action], " "))
	}
	all = slices.Concat(all, c.Permissions.values(), c.Tools.values(c.File))
	for _, s := range c.MCP {
		all = append(all, s.shown...)
	}
	return all
}

// From says where the value of a key is from, and whether a flag set it.
func (c Config) From(key string) (from string, flag bool) {
	v := c.values[key]
	return v.From, v.layer == layerFlag
}
