package cli

import (
	"errors"
	"fmt"
	"strconv"
)

// The keys of the mouse: whether it is used at all, and the table of what for.
const (
	keyMouse       = "mouse"
	keyMouseWheel  = "mouse.wheel"
	keyMouseSelect = "mouse.select"
	keyMouseCopy   = "mouse.copy"
)

// MouseUse is what the mouse does in the full-screen chat, if it is used at all.
type MouseUse struct {
	// Wheel scrolls what is under it.
	Wheel bool
	// Select marks text that the pointer is drawn over, and Copy copies it at once
	// rather than at a key.
	Select, Copy bool
}

// mouseText is what the key of the mouse can be, in words.
const mouseText = "true or false, or a table [mouse] with wheel, select and copy"

// mousePlain adds the keys that are set to those of the file. What means nothing
// is left out; checkMouse tells of it.
func (f file) mousePlain(plain map[string]string) {
	switch v := f.RawMouse.(type) {
	case bool:
		plain[keyMouse] = strconv.FormatBool(v)
	case map[string]any:
		for name, value := range v {
			if on, ok := value.(bool); ok {
				plain[keyMouse+"."+name] = strconv.FormatBool(on)
			}
		}
	}
}

// checkMouse refuses what means nothing.
func (f file) checkMouse(path string, data []byte) error {
	wrong := func(key, text string) error {
		return &ConfigError{File: path, Line: lineOfKey(data, key), Text: text}
	}
	switch v := f.RawMouse.(type) {
	case nil, bool:
		return nil
	case map[string]any:
		var all []error
		for _, name := range sortedKeys(v) {
			key := keyMouse + "." + name
			if _, ok := v[name].(bool); !ok {
				all = append(all, wrong(key, fmt.Sprintf("%q must be true or false", key)))
			}
			switch key {
			case keyMouseWheel, keyMouseSelect, keyMouseCopy:
			default:
				all = append(all, wrong(key, fmt.Sprintf("unknown key %q", key)+suggest(name, "", tables()[keyMouse])))
			}
		}
		return errors.Join(all...)
	default:
		return wrong(keyMouse, fmt.Sprintf("%q must be %s", keyMouse, mouseText))
	}
}

// settleMouse fills in what the mouse does.
func (c *Config) settleMouse() {
	on := func(key string) bool { return c.values[key].Value == "true" }
	c.Mouse = on(keyMouse)
	c.MouseUse = MouseUse{Wheel: on(keyMouseWheel), Select: on(keyMouseSelect), Copy: on(keyMouseCopy)}
}
