package cli

import "strings"

// settleASCII says whether only ASCII is drawn by ourselves: as it was set, and
// else where the locale says that the terminal shows nothing more.
func (c *Config) settleASCII(s Streams) {
	v := c.values["ascii"]
	// Where no locale is set nothing is known: most terminals without one show Unicode.
	if name, _, wide := locale(s.Getenv); v.layer == layerDefault && name != "" && !wide {
		v.Value, v.From = "true", name+", which is not UTF-8"
		c.values["ascii"] = v
	}
	c.ASCII = v.Value == "true"
}

// locale is the variable that sets the characters of the locale, its value, and
// whether they are those of Unicode. Without one name and value are empty.
func locale(getenv func(string) string) (name, value string, wide bool) {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			lower := strings.ToLower(value)
			return name, value, strings.Contains(lower, "utf-8") || strings.Contains(lower, "utf8")
		}
	}
	return "", "", false
}
