package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/model"
)

// argument is an argument of a call, with the names it may go by.
type argument struct {
	names []string
	value string
}

// intent is what a text asks for: either a text to say, or a tool with what to
// say before, after and instead of it.
type intent struct {
	text    string
	tool    string
	args    []argument
	before  string
	without string
	answer  func(harness.ToolResult) string
}

// The tools that a pattern can ask for.
const (
	saveTool   = "save_memory"
	recallTool = "recall_memories"
	readTool   = "read_file"
	listTool   = "list_directory"
	runTool    = "run_command"
	writeTool  = "write_file"
)

// The longest and the usual document, in words.
const (
	maxWords     = 20_000
	defaultWords = 800
)

// patterns are what a text is matched with.
type patterns struct {
	greeting, document, wordCount, remember, recall, readFile, listFiles, command, writeFile *regexp.Regexp
}

// compiled are the patterns. They take a millisecond, which only a start
// without a model has to spend.
var compiled = sync.OnceValue(func() patterns { //nolint:gochecknoglobals // compiled once, when first needed
	return patterns{
		greeting:  regexp.MustCompile(`(?i)^\s*(?:hi|hello|hey|help|good (?:morning|afternoon|evening|day)|(?:who|what) are you|what can you do|what is this)\b[^\n]*$`),
		document:  regexp.MustCompile(`(?i)^\s*(?:(?:please|show|give|write|stream|print|me|us|a|some|the|very)\s+)*long[ -](?:markdown|document|text|answer)\b`),
		wordCount: regexp.MustCompile(`(\d[\d,.]*)`),
		remember:  regexp.MustCompile(`(?is)^\s*(?:please\s+)?(?:remember|save|note|memori[sz]e|keep in mind)(?:\s+(?:that|this))?\s*[:,]?\s+(.+?)\s*$`),
		recall:    regexp.MustCompile(`(?is)^\s*(?:recall|what do you (?:know|remember) (?:about|of)|what did i (?:say|tell you|write) about|(?:do|did|have|am|was) i\b|(?:what|where|when|who|which|how)(?:'s| is| are| was| were| do| did)? (?:my|i|our|we)\b)\s*(.*?)[\s?.!]*$`),
		readFile:  regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:read|cat)\s+(?:the\s+)?(?:file\s+)?["'\x60]?([^\s"'\x60]+)["'\x60]?\s*[.!]?\s*$`),
		listFiles: regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:(?:list|show)(?: me)?(?: the| my| all)? (?:files|directory|folder)|ls)(?:\s+(?:in|of)?\s*["'\x60]?([^\s"'\x60?]+)["'\x60]?)?\s*[.?!]?\s*$`),
		command:   regexp.MustCompile(`(?is)^\s*(?:please\s+)?(?:run|execute)\s+(?:the\s+)?(?:command\s+)?\x60?(.+?)\x60?\s*$`),
		writeFile: regexp.MustCompile(`(?is)^\s*(?:please\s+)?write\s+(?:the\s+)?(?:file\s+)?["'\x60]?([^\s"'\x60:]+)["'\x60]?\s*:\s*(.+)$`),
	}
})

// parse finds the intent of a text. What the answer tells of this model is
// true of the tools on offer.
func parse(text string, tools []model.ToolSpec) intent {
	p := compiled()
	switch {
	case strings.TrimSpace(text) == "", p.greeting.MatchString(text):
		return intent{text: about(tools)}
	case p.document.MatchString(text):
		return intent{text: Document(words(text))}
	}
	if m := p.remember.FindStringSubmatch(text); m != nil {
		return saving(m[1])
	}
	if m := p.writeFile.FindStringSubmatch(text); m != nil {
		return writing(m[1], m[2])
	}
	if m := p.listFiles.FindStringSubmatch(text); m != nil {
		return listing(m[1])
	}
	if m := p.command.FindStringSubmatch(text); m != nil {
		return running(m[1])
	}
	if m := p.recall.FindStringSubmatch(text); m != nil {
		return recalling(or(m[1], text), tools)
	}
	if m := p.readFile.FindStringSubmatch(text); m != nil {
		return reading(m[1])
	}
	return anything(text, tools)
}

// words returns how many words a long document is asked to have.
func words(text string) int {
	m := compiled().wordCount.FindString(text)
	n, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "").Replace(m))
	if err != nil || n <= 0 {
		return defaultWords
	}
	return min(n, maxWords)
}

func saving(fact string) intent {
	return intent{
		tool: saveTool, args: []argument{{[]string{"content", "text", "fact"}, fact}},
		without: "I cannot save that: the tool `save_memory` is not on offer here (memory may be turned off with `--no-memory`).",
		answer: func(r harness.ToolResult) string {
			if r.Failed {
				return "That was **not** saved. The tool says:\n\n" + fenced(r.Text)
			}
			return "Saved:\n\n" + quoted(fact) + "\n\nEvery later conversation can recall it, also with a real model. `cairn facts list` shows what is saved."
		},
	}
}

func recalling(about string, tools []model.ToolSpec) intent {
	return intent{
		tool: recallTool, args: []argument{{[]string{"query", "text"}, about}},
		without: "I cannot look that up: the tool `recall_memories` is not on offer here (memory may be turned off with `--no-memory`).",
		answer: func(r harness.ToolResult) string {
			if hits, ok := found(r); ok {
				return "This is what is stored, word for word:\n\n" + hits + "\n\nI only searched; a real model would answer from it."
			}
			text := fmt.Sprintf("Nothing is stored that matches %q.", about)
			if _, offered := tool(tools, saveTool); offered {
				text += " Say \"remember that …\" and I save it."
			}
			return text
		},
	}
}

func reading(path string) intent {
	return intent{
		tool: readTool, args: []argument{{[]string{"path", "file", "file_path"}, path}},
		without: "I cannot read files: the tool `read_file` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s`:", path), fmt.Sprintf("`%s` could not be read:", path)),
	}
}

func listing(path string) intent {
	return intent{
		tool: listTool, args: []argument{{[]string{"path", "directory", "dir"}, or(path, ".")}},
		without: "I cannot list files: the tool `list_directory` is not on offer here.",
		answer:  shown("The files:", "The files could not be listed:"),
	}
}

func running(cmd string) intent {
	return intent{
		tool: runTool, args: []argument{{[]string{"command", "cmd"}, cmd}},
		before:  "I ask to run this; you decide.",
		without: "I cannot run commands: the tool `run_command` is not on offer here.",
		answer:  shown("The command printed:", "The command did not succeed:"),
	}
}

func writing(path, content string) intent {
	return intent{
		tool: writeTool, args: []argument{{[]string{"path", "file", "file_path"}, path}, {[]string{"content", "text"}, content}},
		before:  fmt.Sprintf("I ask to write `%s`; you decide.", path),
		without: "I cannot write files: the tool `write_file` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s` was written:", path), fmt.Sprintf("`%s` was not written:", path)),
	}
}

// anything looks the words of a text up in memory.
func anything(text string, tools []model.ToolSpec) intent {
	return intent{
		tool: recallTool, args: []argument{{[]string{"query", "text"}, text}},
		without: cannot(tools, "nothing is remembered here that I could search"),
		answer: func(r harness.ToolResult) string {
			if hits, ok := found(r); ok {
				return "I have no weights, so I cannot answer that myself. A search of what is stored finds:\n\n" + hits
			}
			return cannot(tools, "nothing that is stored matches your words")
		},
	}
}

// shown answers with a result in a fence.
func shown(good, bad string) func(harness.ToolResult) string {
	return func(r harness.ToolResult) string {
		head := good
		if r.Failed || r.Unknown {
			head = bad
		}
		return head + "\n\n" + fenced(r.Text)
	}
}

func or(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return strings.TrimSpace(a)
	}
	return b
}
