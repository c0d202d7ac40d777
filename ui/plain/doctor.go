package plain

import "strings"

// doctor has the set-up looked at and writes what was found.
func (p *plain) doctor() {
	if p.Chat.Doctor == nil {
		p.say("run: cairn doctor")
		return
	}
	text, err := p.Chat.Doctor(p.ctx, 0)
	if err != nil {
		p.trouble(err)
		return
	}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		p.say(strings.TrimSpace(l))
	}
}
