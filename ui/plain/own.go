package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cairn/ui/chat"
	"cairn/ui/render"
)

// ownCommand is a command of the chat without a screen.
type ownCommand struct {
	names []string // without the slash, the one in the help first
	arg   string
	help  string
	do    func(p *plain, name, arg string)
}

// ownCommands are the commands that only this chat has, or that it does in a way
// of its own, in the order of the help.
func ownCommands() []ownCommand {
	return []ownCommand{
		{[]string{"stop"}, "", "stop the answer; its text is kept", func(p *plain, _, _ string) { p.stop() }},
		{[]string{"steer"}, "TEXT", "say this into the turn: the model is told it before its next step", func(p *plain, _, arg string) { p.steerNow(arg) }},
		{[]string{"continue"}, "", "decide what waits, or go on with an unfinished answer, ask for it again, or drop it", func(p *plain, _, _ string) { p.resume() }},
		{[]string{"here"}, "", "drive here the run that no worker has taken", func(p *plain, _, _ string) { p.say("no run waits for a worker") }},
		{[]string{"read"}, "[N]", "read the last answer again, or message N", func(p *plain, _, arg string) { p.again(arg) }},
		{[]string{"find"}, "WORDS", "find messages of this chat", func(p *plain, _, arg string) { p.find(arg) }},
		{[]string{"search"}, "WORDS", "find messages of all chats", func(p *plain, _, arg string) { p.search(arg) }},
		{[]string{"queue"}, "", "show and change what waits to be sent", func(p *plain, _, arg string) { p.queued(arg) }},
		{[]string{"send"}, "[TEXT]", "send as a message what a list did not understand, or this text", func(p *plain, _, arg string) { p.send(arg) }},
		{[]string{"detach"}, "[FILE]", "send no attached file, or not this one", func(p *plain, _, arg string) { p.detach(arg) }},
		{[]string{"accept", "refuse"}, "N", "decide suggestion N of the inbox", func(p *plain, name, arg string) { p.verdict("/"+name, arg) }},
	}
}

// own carries out a command of this chat. It is false if the line is none.
func (p *plain) own(line string) bool {
	name, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	name, is := strings.CutPrefix(name, "/")
	if !is || strings.HasPrefix(line, " ") {
		return false
	}
	for _, c := range ownCommands() {
		for _, n := range c.names {
			if n == name {
				c.do(p, name, strings.TrimSpace(arg))
				return true
			}
		}
	}
	if why := noScreens()[name]; why != "" {
		p.say(why)
		return true
	}
	return false
}

// isOwn reports whether a name is that of a command of this chat.
func isOwn(name string) bool {
	for _, c := range ownCommands() {
		if slices.Contains(c.names, name) {
			return true
		}
	}
	return false
}

// send sends a text, or what was typed at a list that did not understand it.
func (p *plain) send(text string) {
	if text == "" {
		text, p.stray = p.stray, ""
	}
	if text == "" {
		p.say("there is nothing to send; a line that is no command is a message by itself")
		return
	}
	p.message(p.carry(text))
}

// help lists the commands.
func (p *plain) help() {
	tell := func(name, arg, help string) {
		if arg != "" {
			name += " " + arg
		}
		p.out.line(fmt.Sprintf("  /%s: %s", name, help))
	}
	own := map[string]bool{"continue": true}
	for _, c := range ownCommands() {
		for _, n := range c.names {
			own[n] = true
		}
	}
	for _, s := range chat.Slashes() {
		if !own[s.Name] && noScreens()[s.Name] == "" {
			c := heard()[s.Name]
			tell(s.Name, cmp.Or(c.Arg, s.Arg), cmp.Or(c.Help, s.Help))
		}
	}
	for _, c := range ownCommands() {
		if c.names[0] != "here" || p.Chat.Remote != nil {
			tell(strings.Join(c.names, " or /"), c.arg, c.help)
		}
	}
	for _, s := range p.Chat.PromptCommands() {
		tell(render.SafeLine(s.Name), render.SafeLine(s.Arg), cmp.Or(s.Help, "a prompt of an MCP server"))
	}
	p.out.line("A line is a message. A backslash at its end goes on in the next line. A space before a slash makes a message of a command.")
	p.out.line("Lists ask with a sign such as \"sessions>\": a number chooses, an empty line goes back, a question mark says what else can be typed.")
	p.out.line("Ctrl+c stops the answer; where nothing is under way it leaves, the second time.")
}

// heard are the commands that take more here or do it in another way.
func heard() map[string]chat.Slash {
	return map[string]chat.Slash{
		"sessions": {Arg: "[WORDS]", Help: "list the sessions, to open, show, rename, pin, tag, fork, export or delete"},
		"memory":   {Help: "say how much is remembered; off: none in this chat"},
		"facts":    {Arg: "[WORDS]", Help: "list the facts, to show, edit, compare, forget or restore"},
		"notes":    {Arg: "[WORDS]", Help: "list the notes, to show, edit, compare, forget or restore"},
		"copy":     {Arg: "[N] [to FILE]", Help: "write the last answer or its code block N, as it was written by the model"},
		"pin":      {Help: "keep a message in the context, the last one or number N"},
		"result":   {Help: "write the last tool result whole, or the Nth last"},
		"mcp":      {Help: "list the MCP servers, to show one, connect it again, or turn it on or off"},
		"model":    {Help: "list the models or change that of this session"},
		"runs":     {Arg: "[all]", Help: "list the runs, to show, go on with, retry, drop, decide or cancel"},
		"help":     {Help: "this list"},
	}
}

// noScreens say of commands that are about a screen why they do nothing here.
func noScreens() map[string]string {
	return map[string]string{
		"redraw":   "nothing is drawn here; new text only ever comes below",
		"theme":    "themes are for the screen, and here nothing is painted; cairn themes lists them",
		"themes":   "themes are for the screen, and here nothing is painted; cairn themes lists them",
		"keys":     "there are no keys here but those of the terminal; /help lists the commands",
		"mouse":    "there is no mouse here; all is typed",
		"image":    "images are only named here; /export FILE.html writes the chat with them",
		"time":     "times are not shown here; /export writes the chat with them",
		"leader":   "there are no keys here but those of the terminal; /help lists the commands",
		"thinking": "what the model thought is not read out here",
		"think":    "what the model thought is not read out here",
		"editor":   "a message is typed line by line here; a backslash at the end of a line goes on in the next",
		"settings": "set one with: cairn config set KEY VALUE; cairn config show lists them",
	}
}

// noScreen says why a command does nothing here.
func (p *plain) noScreen(name string) string {
	if why := noScreens()[name]; why != "" {
		return why
	}
	return "/" + name + " is for the screen and does nothing here; /help lists what there is"
}
