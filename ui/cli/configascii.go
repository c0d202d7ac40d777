package cli

import "strings"

// settleASCII says whether only ASCII is drawn by ourselves: as it was set, and
// else where the locale says that the terminal shows nothing more.
func (c *Config) settleASCII(s Streams) {
	v := c.values["ascii"]
	if name, ok := narrowLocale(s.Getenv); v.layer == layerDefault && ok {
		v.Value, v.From = "true", name+", which is not UTF-8"
		c.values["ascii"] = v
	}
	c.ASCII = v.Value == "true"
}

// narrowLocale names the variable that sets the characters of the locale, if they
// are not those of Unicode. Where none is set nothing is known: most terminals
// without a locale show Unicode.
func narrowLocale(getenv func(string) string) (name string, narrow bool) {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := strings.ToLower(getenv(name))
		if v == "" {
			continue
		}
		return name, !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
	}
	return "", false
}
