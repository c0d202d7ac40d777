package main

import "slices"

// scene is a screen. Steps are typed one after the other; "<enter>" and its like
// are keys, and "?text" waits until text is seen.
type scene struct {
	name, title   string
	args, steps   []string
	before        []act      // played first, each until it is killed
	set           [][]string // commands of cairn before all; URL in them is that of the model server
	above         string     // what the terminal shows already
	env           []string   // besides that of all
	worker        string     // an engine that a worker drives meanwhile
	fresh         bool       // in a home in which nothing is
	width, height int        // if not those of all
}

// act is a start of cairn that ends with kill -9.
type act struct{ args, steps []string }

// Parts of scenes.
const (
	ready    = "?write a message"
	question = "Why does the importer drop rows with a blank VAT id?"
	answered = "?the blank check"
)

// scenes are all pictures, in the order of the page that shows them.
func scenes() []scene {
	return slices.Concat(chatScenes(), decisionScenes(), listScenes(), overlayScenes(), otherScenes())
}

func work() []string { return []string{"-s", "vat"} }

// then is a chat in which a question was answered, and what follows.
func then(more ...string) []string {
	return append([]string{ready, question, "<enter>", answered}, more...)
}

// asked is a chat that is asked something.
func asked(text string, more ...string) []string {
	return append([]string{ready, text, "<enter>"}, more...)
}

// servers are MCP servers: one that is reached, one that is off, one that is not there.
func servers() [][]string {
	return [][]string{
		{"mcp", "add", "tickets", "URL/mcp"},
		{"mcp", "add", "files", "--off", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "papers"},
		{"mcp", "add", "calendar", "--", "calendar-mcp"},
	}
}

func chatScenes() []scene {
	cut := []act{{work(), asked("Tell me slowly about the importer", "?ErrBadRow")}}
	shown := []string{"CAIRN_IMAGES=kitty"}
	earlier := []act{{[]string{"-s", "notes"}, asked("Does the importer keep rows of credit notes?", answered)}, {[]string{"-s", "tests"}, asked("Be brief: how is one row tested?", "?In brief")}}
	return []scene{
		{name: "chat", title: "A conversation about code", args: work(), steps: then("Also check the credit-note path")},
		{name: "streaming", title: "An answer while it comes", args: work(), steps: asked("Tell me slowly about the importer", "?ErrBadRow")},
		{name: "queue", title: "Messages that wait for the answer, to be edited and ordered", args: work(), steps: asked("Tell me slowly about the importer", "?ErrBadRow", "Then look at the credit notes", "<enter>", "And write a test first", "<enter>", "/queue", "<enter>")},
		{name: "steer", title: "Something is said into the turn", args: work(), steps: asked("Tell me slowly about the importer", "?ErrBadRow", "/steer Mind the credit notes, too", "<enter>")},
		{name: "unfinished", title: "The start after a kill in the middle of an answer", args: work(), before: cut, steps: []string{"?continue"}},
		{name: "selection", title: "A message is selected", args: work(), steps: then("<tab>")},
		{name: "find", title: "Words are found in a conversation", args: work(), steps: then("/find VAT", "<enter>")},
		{name: "times", title: "Exact times, and how long things took", args: work(), steps: then("/time", "<enter>")},
		{name: "links", title: "The links of a message", args: work(), steps: asked("Where is this documented?", "?read both", "<tab>", "o")},
		{name: "details", title: "The details of a conversation", args: work(), steps: asked("Please read the source", "?dropped here", "<ctrl+o>")},
		{name: "pager", title: "The whole result of a tool", args: work(), steps: asked("Please read the source", "?dropped here", "<ctrl+x>", "v")},
		{name: "leader", title: "The keys that may follow ctrl+x", args: work(), steps: then("<ctrl+x>", "?theme")},
		{name: "panel", title: "The panel beside a conversation", args: work(), steps: asked("Plan the fix", "?one at a time", "<ctrl+x>", "b"), width: 120},
		{name: "prompts", title: "Earlier prompts, searched", args: work(), before: earlier, steps: then("<ctrl+r>", "row")},
		{name: "mention", title: "Files, sessions and notes to be mentioned", args: work(), steps: []string{ready, "Compare @"}},
		{name: "commands", title: "The commands, as they are typed", args: work(), steps: []string{ready, "/t"}},
		{name: "image", title: "An image, in a terminal that shows images", args: work(), steps: asked("@chart.png shows what?", "?In March"), env: shown},
		{name: "alone", title: "An image alone", args: work(), steps: asked("@chart.png shows what?", "?In March", "/image", "<enter>"), env: shown},
		{name: "named", title: "The same image, in a terminal that shows none", args: work(), steps: asked("@chart.png shows what?", "?In March")},
		{name: "inline", title: "The chat in the scrollback of the terminal", args: append(work(), "--inline"), above: "~/invoices $ git status --short\r\n M importer/row.go\r\n~/invoices $ cairn -s vat --inline\r\n", steps: then()},
		{name: "branches", title: "The branches of a session", args: work(), steps: then("/edit", "<enter>", " Be brief.", "<enter>", "?brief", "/tree", "<enter>", "?branch")},
		{name: "small", title: "The chat in a small window", args: work(), steps: then(), width: 48, height: 14},
		{name: "ascii", title: "The chat without colours, in ASCII", args: append(work(), "--ascii", "--no-color"), steps: then()},
		{name: "contrast", title: "The chat in high contrast", args: append(work(), "--theme", "high-contrast"), steps: then()},
		{name: "granite", title: "The chat in granite", args: append(work(), "--theme", "granite"), steps: then()},
		{name: "lichen", title: "The chat in lichen", args: append(work(), "--theme", "lichen"), steps: then()},
		{name: "heather", title: "The chat in heather", args: append(work(), "--theme", "heather"), steps: then()},
		{name: "tarn", title: "The chat in tarn", args: append(work(), "--theme", "tarn"), steps: then()},
		{name: "ember", title: "The chat in ember", args: append(work(), "--theme", "ember"), steps: then()},
		{name: "sixteen", title: "The chat in the sixteen colours of the terminal", args: append(work(), "--theme", "ansi"), steps: then()},
	}
}

func decisionScenes() []scene {
	return []scene{
		{name: "approval", title: "A command that is asked about", args: work(), steps: asked("Please run the tests", "?go test")},
		{name: "change", title: "A change of a file that is asked about", args: work(), steps: asked("Please fix it", "?row.go")},
		{name: "sides", title: "The same change side by side", args: work(), steps: asked("Please fix it", "?row.go", "v"), width: 120},
		{name: "rule", title: "The rule that is allowed for good, edited", args: work(), steps: asked("Please run the tests", "?go test", "e")},
		{name: "question", title: "A question of the model", args: work(), steps: asked("Which customers?", "?non-EU")},
		{name: "foreign", title: "A tool of an MCP server that is asked about", args: work(), set: servers()[:1], steps: asked("Open a ticket for it", "?calls itself")},
		{name: "form", title: "A question of an MCP server", args: work(), set: append(servers()[:1], []string{"permissions", "allow", "tickets_create_ticket"}), steps: asked("Open a ticket for it", "?Where does")},
		{name: "uncertain", title: "A command that began and was not seen to end", args: work(), before: []act{
			{work(), asked("Please wait a little", "?sleep", "y", "?approved")},
		}, steps: []string{"?continue", "c", "?saw it end"}},
	}
}

func listScenes() []scene {
	moved := asked("I moved to Bremen last week. From now on I want table tests.", "?Noted", "?suggest")
	waits := []act{
		{[]string{"-s", "tests"}, asked("Please run the tests", "?approval")},
		{[]string{"-s", "source", "--engine", "sqlite:runs.db"}, asked("Please fix it", "?approval")},
		{[]string{"-s", "draft"}, asked("Tell me slowly about the importer", "?ErrBadRow")},
		{[]string{"-s", "night", "--engine", "sqlite:runs.db", "--drive", "workers"}, asked("Tell me slowly about the importer", "?ErrBadRow")},
	}
	remember := []string{"CAIRN_DISTILL=ask"}
	return []scene{
		{name: "sessions", title: "The sessions", args: work(), steps: then("<ctrl+s>")},
		{name: "search", title: "Words found in titles and in messages", args: work(), steps: then("<ctrl+s>", "import")},
		{name: "actions", title: "What can be done to a session", args: work(), steps: then("<ctrl+s>", "<tab>")},
		{name: "memory", title: "What is remembered", args: work(), steps: then("/memory", "<enter>")},
		{name: "notes", title: "A note", args: work(), steps: then("/notes", "<enter>", "v")},
		{name: "fact", title: "A fact is edited", args: work(), steps: then("/memory", "<enter>", "e")},
		{name: "history", title: "What a fact said before", args: work(), steps: then("/memory", "<enter>", "e", " since May", "<ctrl+s>", "h")},
		{name: "inbox", title: "What was suggested to be remembered", args: work(), steps: append(moved, "/inbox", "<enter>", "<down>"), env: remember},
		{name: "runs", title: "The runs of two engines, one of them driven by a worker", args: work(), before: waits, worker: "sqlite:runs.db", steps: then("/runs", "<enter>", "?in pid"), width: 110},
		{name: "run", title: "What a run waits for", args: work(), before: waits[:1], steps: then("/runs", "<enter>", "v")},
		{name: "permissions", title: "What may run without asking", args: work(), steps: then("/permissions", "<enter>")},
	}
}

func overlayScenes() []scene {
	return []scene{
		{name: "palette", title: "Everything that can be done, by name", args: work(), steps: then("<ctrl+p>")},
		{name: "settings", title: "What can be turned on and off", args: work(), steps: then("/settings", "<enter>")},
		{name: "models", title: "The models", args: work(), steps: then("/model", "<enter>")},
		{name: "key", title: "The key that a model needs", args: work(), steps: then("/model", "<enter>", "claude", "<enter>")},
		{name: "themes", title: "The themes, each drawn as soon as the cursor is on it", args: work(), steps: then("/theme", "<enter>", "<down>", "<down>", "<down>", "<down>", "<down>")},
		{name: "servers", title: "The MCP servers", args: work(), set: servers(), steps: then("/mcp", "<enter>", "?failed")},
		{name: "server", title: "An MCP server, and what it offers", args: work(), set: servers(), steps: then("/mcp", "<enter>", "?failed", "<down>", "<down>", "<enter>")},
		{name: "offered", title: "The prompts of an MCP server, as they are typed", args: work(), set: servers()[:1], steps: then("/tickets:")},
		{name: "context", title: "What fills the context window", args: work(), steps: then("/context", "<enter>")},
		{name: "usage", title: "What models used", args: work(), steps: then("/usage", "<enter>")},
		{name: "help", title: "The keys", args: work(), steps: then("<f1>")},
		{name: "keys", title: "What the terminal sends for keys", args: work(), steps: then("/keys test", "<enter>", "<ctrl+p>", "<alt+up>", "é")},
		{name: "doctor", title: "What the doctor found", args: work(), steps: then("/doctor", "<enter>", "?store")},
	}
}

func otherScenes() []scene {
	return []scene{
		{name: "welcome", title: "The very first start", steps: []string{"?none answers"}, fresh: true},
		{name: "plain", title: "The chat without a screen", args: append(work(), "--plain"), steps: []string{"?>", question, "<enter>", answered}},
		{name: "asked", title: "An approval without a screen", args: append(work(), "--plain"), steps: []string{"?>", "Please run the tests", "<enter>", "?go test"}},
	}
}

// keys are the names of keys in steps.
func keys() map[string]string {
	return map[string]string{
		"<enter>": "\r", "<esc>": "\x1b", "<tab>": "\t", "<up>": "\x1b[A", "<down>": "\x1b[B", "<f1>": "\x1bOP", "<alt+up>": "\x1b[1;3A",
		"<ctrl+s>": "\x13", "<ctrl+p>": "\x10", "<ctrl+o>": "\x0f", "<ctrl+r>": "\x12", "<ctrl+x>": "\x18",
	}
}
