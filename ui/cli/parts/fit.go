package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
	"cairn/harness/tool/recall"
	"cairn/ui/cli"
)

// host is this machine as runs that are bound to it know it.
type host struct {
	// id stays the same when the machine is renamed; name is shown.
	id, name string
}

// thisHost tells which machine this is: by the number that its system gave it, so
// that a new name is no new machine. A container may have the number of the one it
// was copied from, so there the name counts, as where there is no number.
func thisHost() (host, error) {
	name, err := os.Hostname()
	if err != nil {
		return host{}, fmt.Errorf("name of this machine: %w", err)
	}
	for _, sign := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(sign); err == nil {
			return host{id: name, name: name}, nil
		}
	}
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		data, err := os.ReadFile(path)
		if number := strings.TrimSpace(string(data)); err == nil && number != "" {
			// The number itself is not to be told to others.
			sum := sha256.Sum256([]byte("cairn host " + number))
			return host{id: "host-" + hex.EncodeToString(sum[:8]), name: name}, nil
		}
	}
	return host{id: name, name: name}, nil
}

// needs is what a process must have to drive runs of a configuration.
func (k *kit) needs(c harness.RunConfig, h host) run.Needs {
	n := run.Needs{
		Agent: c.Agent, Tools: fingerprints(k.set(c)), Settings: settingsOf(k.setup.Config), Mode: k.setup.Config.Permissions.Mode,
	}
	if bound(n.Tools, k.servers.portable) && !k.setup.Config.AnyHost {
		n.Host = h.id
	}
	return n
}

// fingerprints are those of the tools of a set, by name.
func fingerprints(set *tool.Set) map[string]string {
	all := map[string]string{}
	for _, name := range set.Names() {
		if t, ok := set.Lookup(name); ok {
			all[name] = t.Fingerprint()
		}
	}
	return all
}

// bound reports whether among tools are some that work on one machine: on its
// files, and with its programs. It knows those that do not, and remote tells which
// others are reached over the network.
func bound(tools map[string]string, remote func(name string) bool) bool {
	portable := append(recall.Tools(), recall.HistoryTool, tool.ReadResult, "fetch_url", "ask_user", ask.TodosTool)
	for name := range tools {
		if !slices.Contains(portable, name) && !remote(name) {
			return true
		}
	}
	return false
}

// settingsOf is a digest of what besides its code decides how the agent works: the
// rules for its tools and their settings. The rules of a project are not in it:
// wherever a run is driven they are read from its directory.
func settingsOf(c cli.Config) string {
	var rules []string
	for _, l := range c.Permissions.Own() {
		rules = append(rules, l.Effect+" "+l.Rule)
	}
	slices.Sort(rules)
	t := c.Tools
	data, err := json.Marshal(map[string]any{
		"rules": slices.Compact(rules), "roots": sorted(t.Roots), "env": sorted(t.Env), "private": t.PrivateAddresses,
		"timeout": t.CommandTimeout, "off": sorted(t.Off),
	})
	if err != nil {
		return "" // strings and numbers always encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// unfit says why this process cannot drive a run, nil if it can. have is what it
// has for runs like that one, remote as in [bound].
func unfit(j run.Job, have run.Needs, h host, anyHost bool, remote func(name string) bool) error {
	want := j.Needs
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", run.ErrUnfit, fmt.Sprintf(format, args...))
	}
	if want.Host != "" && want.Host != h.id {
		return refuse("its tools work on the machine %s, and this one is %s", j.Run.Host, h.name)
	}
	for _, name := range slices.Sorted(maps.Keys(want.Tools)) {
		switch mark, has := have.Tools[name]; {
		case !has:
			return refuse("it has no tool %s", name)
		case mark != want.Tools[name]:
			return refuse("its tool %s is another one", name)
		}
	}
	// Only of tools that are there is it known where they work.
	if want.Host == "" && bound(want.Tools, remote) && j.Run.Host != h.name && !anyHost {
		return refuse("its tools would work on the machine %s instead of on %s; a worker with --any-host lets them", h.name, j.Run.Host)
	}
	for _, name := range slices.Sorted(maps.Keys(have.Tools)) {
		if _, has := want.Tools[name]; !has {
			return refuse("it has the tool %s, which the run was begun without", name)
		}
	}
	if want.Settings != "" && want.Settings != have.Settings {
		return refuse("its rules for tools, or the tools' settings, are not those that the run was begun with")
	}
	return nil
}
