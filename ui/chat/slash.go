package chat

import (
	"sort"
	"strings"

	"cairn/ui/chat/attach"
)

// Slash is a command of the text box.
type Slash struct {
	// Name is the name it is listed by, without the slash.
	Name string
	// Other are further names.
	Other []string
	// Arg describes what may follow; empty for nothing.
	Arg string
	// Help says in a few words what it does.
	Help string
}

// Slashes lists the commands, in the order of the help.
func Slashes() []Slash {
	return []Slash{
		{Name: "new", Other: []string{"clear"}, Help: "start a new chat; this one is kept"},
		{Name: "sessions", Other: []string{"resume", "continue"}, Help: "list the sessions"},
		{Name: "rename", Other: []string{"name"}, Arg: "[TITLE]", Help: "give this session a title; alone: propose one"},
		{Name: "memory", Arg: "[off|on]", Help: "open the memory browser; off: none in this chat"},
		{Name: "inbox", Help: "decide what was suggested to be remembered"},
		{Name: "facts", Help: "open the facts"},
		{Name: "notes", Help: "open the notes"},
		{Name: "remember", Arg: "TEXT", Help: "save a fact"},
		{Name: "forget", Arg: "WORDS", Help: "forget the fact that says this"},
		{Name: "context", Other: []string{"tokens"}, Help: "show what fills the context window"},
		{Name: "compact", Other: []string{"summarize", "condense"}, Arg: "[WHAT TO KEEP]", Help: "condense old messages into a note; all stay readable"},
		{Name: "prune", Help: "leave old tool results out of the context"},
		{Name: "note", Help: "show the note that stands for what was condensed"},
		{Name: "pin", Arg: "[N]", Help: "keep a message in the context, that on screen or number N"},
		{Name: "unpin", Arg: "[N]", Help: "let it be condensed again"},
		{Name: "pins", Help: "list the pinned messages"},
		{Name: "result", Other: []string{"output"}, Arg: "[N]", Help: "open the last tool result whole, or the Nth last"},
		{Name: "image", Other: []string{"images"}, Arg: "[N]", Help: "show the last image alone, or the Nth last; open and save it"},
		{Name: "usage", Other: []string{"cost"}, Help: "show what models used, by day, model and session"},
		{Name: "find", Arg: "WORDS", Help: "find words in this chat"},
		{Name: "search", Arg: "WORDS", Help: "find words in all chats"},
		{Name: "thinking", Other: []string{"think"}, Help: "show what the model thought, or hide it"},
		{Name: "time", Other: []string{"times"}, Help: "show exact times and durations, or hide them"},
		{Name: "copy", Arg: "[N]", Help: "copy the last answer or that selected, or its code block N"},
		{Name: "retry", Other: []string{"regenerate"}, Arg: "[N]", Help: "answer your last message again, or the Nth last"},
		{Name: "edit", Arg: "[N]", Help: "edit and resend your last message, or the Nth last"},
		{Name: "undo", Help: "take back your last message and its answer; kept"},
		{Name: "redo", Help: "bring back what was taken back"},
		{Name: "fork", Arg: "[N]", Help: "go on in a new session, from here or your Nth last message"},
		{Name: "tree", Other: []string{"branches"}, Help: "show the branches of this session"},
		{Name: "editor", Help: "write in $EDITOR"},
		{Name: "attach", Other: []string{"file"}, Arg: "FILE", Help: "send a file with the next message; so does @FILE in it"},
		{Name: "export", Arg: "[FILE]", Help: "write this conversation to a file"},
		{Name: "import", Arg: "FILE", Help: "take in conversations from a file, also of other programs"},
		{Name: "model", Other: []string{"models"}, Arg: "[PROVIDER/NAME]", Help: "choose a model for this session, with its key"},
		{Name: "settings", Other: []string{"config"}, Help: "turn things on and off"},
		{Name: "queue", Help: "edit, order or drop what waits for the answer"},
		{Name: "steer", Arg: "TEXT", Help: "say this into the turn: the model is told it before its next step"},
		{Name: "runs", Help: "list the runs: what goes on, waits or is unfinished"},
		{Name: "todos", Other: []string{"todo", "plan"}, Help: "show the last list of what is to be done"},
		{Name: "mcp", Other: []string{"servers"}, Help: "show the MCP servers and what they offer"},
		{Name: "tools", Help: "list the tools, and which of them ask"},
		{Name: "permissions", Other: []string{"approvals", "rules"}, Help: "show and revoke what may run without asking"},
		{Name: "approve", Other: []string{"decide"}, Help: "decide what waits"},
		{Name: "takeover", Help: "take this session over from another window"},
		{Name: "theme", Other: []string{"themes"}, Arg: "[NAME]", Help: "choose the colours, looking at each"},
		{Name: "redraw", Help: "draw the screen anew"},
		{Name: "keys", Other: []string{"hotkeys", "keymap"}, Arg: "[test]", Help: "show the keys; test: what the terminal sends for each"},
		{Name: "doctor", Help: "check keys, servers, store and terminal"},
		{Name: "help", Other: []string{"?"}, Help: "keys and commands"},
		{Name: "quit", Other: []string{"exit", "q"}, Help: "leave; everything is kept"},
	}
}

// Parsed is what was typed, told apart.
type Parsed struct {
	// Name is the listed name of a command; empty for a message.
	Name string
	// Arg is what follows a command, trimmed.
	Arg string
	// Text is the message to send.
	Text string
	// Nearest is set when the text begins like a command that does not exist.
	Nearest string
	// Typed is the command's name as typed.
	Typed string
	// Call is the prompt of an MCP server that the message calls, nil if it calls none;
	// Wrong is a sentence about what is wrong with the call, or why there is no such
	// prompt. See [Deps.Parse].
	Call  *attach.Call
	Wrong string
}

// ParseSlash tells a command from a message. A leading space or a doubled
// slash makes a message of what would be a command.
func ParseSlash(text string) Parsed {
	switch {
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, " /"):
		return Parsed{Text: text[1:]}
	case !strings.HasPrefix(text, "/"):
		return Parsed{Text: text}
	}
	head, arg := text[1:], ""
	if i := strings.IndexAny(head, " \n\t"); i >= 0 {
		head, arg = head[:i], strings.TrimSpace(head[i:])
	}
	for _, s := range Slashes() {
		if s.is(head) {
			return Parsed{Name: s.Name, Arg: arg, Typed: head}
		}
	}
	return Parsed{Nearest: nearestSlash(head), Typed: head}
}

func (s Slash) is(name string) bool {
	if s.Name == name {
		return true
	}
	for _, o := range s.Other {
		if o == name {
			return true
		}
	}
	return false
}

// completions lists the commands that begin like the text.
func completions(text string) []Slash {
	var found []Slash
	for _, s := range Slashes() {
		if strings.HasPrefix("/"+s.Name, text) {
			found = append(found, s)
		}
	}
	return found
}

// matching lists the commands that the text may become, or the one it is.
func matching(text string) []Slash {
	if found := completions(text); len(found) > 0 {
		return found
	}
	typed := ParseSlash(text)
	for _, s := range Slashes() {
		if s.Name == typed.Name {
			return []Slash{s}
		}
	}
	return nil
}

// nearestSlash is the listed name with the least distance to name.
func nearestSlash(name string) string {
	names := make([]string, 0, 32)
	for _, s := range Slashes() {
		names = append(names, s.Name)
		names = append(names, s.Other...)
	}
	sort.SliceStable(names, func(i, j int) bool { return distance(name, names[i]) < distance(name, names[j]) })
	for _, s := range Slashes() {
		if s.is(names[0]) {
			return s.Name
		}
	}
	return names[0]
}

// distance is the number of letters to insert, delete, replace or swap with a
// neighbour to make b of a, where a common beginning counts half a letter.
func distance(a, b string) int {
	if len(a) > 64 { // nobody misspells that much
		return len(a)
	}
	x, y := []rune(a), []rune(b)
	before, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = 2 * j
	}
	var older []int
	for i := range x {
		older, before, row = before, row, make([]int, len(y)+1)
		row[0] = 2 * (i + 1)
		for j := range y {
			cost := 2
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(before[j+1]+2, row[j]+2, before[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], older[j-1]+2)
			}
		}
	}
	d := row[len(y)]
	if len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		d--
	}
	return d
}
