package cli

import (
	"fmt"
	"slices"

	"cairn/ui/screen"
)

// keyImages is the key of how images are shown.
const keyImages = "images"

// defaultImages is what it is if nobody says.
const defaultImages = screen.ImagesAuto

// imagesText is what it can be, in words.
const imagesText = `"auto", "off", "kitty", "iterm" or "sixel"`

// imageWays are the values of the key, for completion.
func imageWays() []string {
	return []string{screen.ImagesAuto, screen.ImagesOff, screen.ImagesKitty, screen.ImagesITerm, screen.ImagesSixel}
}

// checkImages refuses a value that means nothing.
func (f file) checkImages(path string, data []byte) error {
	if f.Images == nil || slices.Contains(imageWays(), *f.Images) {
		return nil
	}
	return &ConfigError{File: path, Line: lineOfKey(data, keyImages), Text: fmt.Sprintf("%q must be %s, not %q", keyImages, imagesText, *f.Images)}
}

// settleImages takes how images are shown. What files say is checked already.
func (c *Config) settleImages() error {
	v := c.values[keyImages]
	if !slices.Contains(imageWays(), v.Value) {
		return usage("%s must be %s, not %q", placeOf(v, keyImages), imagesText, v.Value)
	}
	c.Images = v.Value
	return nil
}
