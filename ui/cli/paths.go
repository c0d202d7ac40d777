package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// dataDir is where the store is kept unless something else is asked for.
func dataDir(s Streams) (string, error) {
	return xdg(s, "XDG_DATA_HOME", ".local/share")
}

// configDir holds config.toml, stateDir the log.
func configDir(s Streams) (string, error) { return xdg(s, "XDG_CONFIG_HOME", ".config") }
func stateDir(s Streams) (string, error)  { return xdg(s, "XDG_STATE_HOME", ".local/state") }

// xdg is cairn's directory below a base directory. As the specification of
// base directories says, a relative one counts as unset.
func xdg(s Streams, name, fallback string) (string, error) {
	if base := s.Getenv(name); filepath.IsAbs(base) {
		return filepath.Join(base, "cairn"), nil
	}
	home := s.Getenv("HOME")
	if home == "" {
		home = s.Getenv("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("HOME is not set, so there is no place for cairn's files; set HOME or %s, or give --dir DIR or CAIRN_DIR", name)
	}
	return filepath.Join(home, filepath.FromSlash(fallback), "cairn"), nil
}

// expand replaces a leading "~/" by the home directory.
func expand(s Streams, path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if home := s.Getenv("HOME"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// absolute resolves a path against the working directory.
func absolute(s Streams, path string) string {
	if filepath.IsAbs(path) || s.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Dir, path)
}

// withoutUser takes name and password, query and fragment out of an address:
// people keep keys there.
func withoutUser(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// valueOf is a value as a configuration shows it, "" if there is none.
func valueOf[T int | float64 | bool](n *T) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
