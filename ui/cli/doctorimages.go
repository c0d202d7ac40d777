package cli

import (
	"regexp"
	"slices"
	"strings"

	"cairn/ui/screen"
)

// answerGraphics is the form of the answer about images in the manner of kitty.
const answerGraphics = "\x1b_G(?:[^;\x1b]*,)?i=31(?:,[^;\x1b]*)?;OK"

// forgetImages has a terminal forget the images that a program which was killed left
// in it: those on the screen, and those that cells stand for.
const forgetImages = "\x1b_Ga=d,d=A,q=2\x1b\\\x1b_Ga=d,d=R,x=1,y=4294967295,q=2\x1b\\"

// resetImages is forgetImages on terminals that are known to keep images: others may
// take it for text or for a title.
func resetImages(getenv func(string) string) string {
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return ""
	}
	if strings.Contains(getenv("TERM"), "kitty") || strings.Contains(getenv("TERM"), "ghostty") || getenv("KITTY_WINDOW_ID") != "" {
		return forgetImages
	}
	return ""
}

// abilities are what a terminal said that has to do with images.
func (a answers) abilities(b []byte) screen.Abilities {
	able := screen.Abilities{Name: a.name, Graphics: regexp.MustCompile(answerGraphics).Match(b)}
	if m := regexp.MustCompile(answerKind).FindSubmatch(b); m != nil {
		able.Sixel = slices.Contains(strings.Split(string(m[1]), ";"), "4")
	}
	return able
}

// images tells how images are shown, b being what the terminal answered.
func (a *app) images(b []byte) finding {
	const about = "images"
	c, err := a.config()
	if err != nil { // that is told elsewhere
		c.Images = screen.ImagesAuto
	}
	if c.Images == screen.ImagesOff {
		return good(about, "named only, by the configuration")
	}
	switch screen.ProtocolOf(c.Images, a.s.Getenv, readAnswers(b).abilities(b)) {
	case screen.ProtocolKitty:
		return good(about, "shown in the conversation, in the manner of kitty")
	case screen.ProtocolITerm:
		return good(about, "shown alone by /image, in the manner of iTerm2")
	case screen.ProtocolSixel:
		return good(about, "shown alone by /image, as sixel")
	case screen.ProtocolNone:
	}
	if a.s.Getenv("TMUX") != "" {
		return good(about, "named only: tmux shows none by itself; inside kitty, set allow-passthrough on in tmux and images = \"kitty\" here")
	}
	return good(about, "named only: the terminal does not tell of a way to show them")
}
