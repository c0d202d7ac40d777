package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"cairn/harness"
	"cairn/harness/model"
)

// argument is an argument of a call, with the names it may go by.
type argument struct {
	names []string
	value any
	// extra arguments are given only to tools whose schema knows them.
	extra bool
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
	// open says that the text of the request may go on over several lines,
	// whole that nothing behind it is another request.
	open, whole bool
	// frame, if set, is around what all intents of a text found: their answers
	// are empty where there is nothing.
	frame *frame
}

// frame is what is said before and after what was found, and if nothing was.
type frame struct{ lead, tail, none string }

// The tools that a pattern can ask for.
const (
	saveTool    = "save_memory"
	recallTool  = "recall_memories"
	updateTool  = "update_memory"
	forgetTool  = "forget_memory"
	historyTool = "search_history"
	readTool    = "read_file"
	listTool    = "list_directory"
	runTool     = "run_command"
	writeTool   = "write_file"
	editTool    = "edit_file"
	globTool    = "glob"
	grepTool    = "grep"
	fetchTool   = "fetch_url"
	askTool     = "ask_user"
	todosTool   = "write_todos"
)

// The longest and the usual document, in words.
const (
	maxWords     = 20_000
	defaultWords = 800
)

// patterns are what a text is matched with.
type patterns struct {
	greeting, document, wordCount, remember, recall               *regexp.Regexp
	readFile, listFiles, command, writeFile, editFile, glob, grep *regexp.Regexp
	fetch, askMe, todos, joint                                    *regexp.Regexp
	update, forget, history, said                                 *regexp.Regexp
}

// compiled are the patterns. They take a millisecond, which only a start
// without a model has to spend.
var compiled = sync.OnceValue(func() patterns { //nolint:gochecknoglobals // compiled once, when first needed
	const (
		please = `\s*(?:please\s+)?`
		file   = `(?:the\s+)?(?:file\s+)?["'\x60]?([^\s"'\x60:]+)["'\x60]?`
		// term is text, in quotes if it holds what ends it.
		term = `(?:"([^"]*)"|\x60([^\x60]*)\x60|(.+?))`
		// kept is the id of a fact or a note.
		kept = `\[?(?:(?:the\s+)?(?:fact|note)[\s/])?([fn][1-9]\d*)\]?`
	)
	return patterns{
		greeting:  regexp.MustCompile(`(?i)^\s*(?:hi|hello|hey|help|good (?:morning|afternoon|evening|day)|(?:who|what) are you|what can you do|what is this)\b[^\n]*$`),
		document:  regexp.MustCompile(`(?i)^\s*(?:(?:please|show|give|write|stream|print|me|us|a|some|the|very)\s+)*long[ -](?:markdown|document|text|answer)\b`),
		wordCount: regexp.MustCompile(`(\d[\d,.]*)`),
		remember:  regexp.MustCompile(`(?is)^\s*(?:please\s+)?(?:remember|save|note|memori[sz]e|keep in mind)(?:\s+(?:that|this))?\s*[:,]?\s+(.+?)\s*$`),
		recall:    regexp.MustCompile(`(?is)^\s*(?:recall|what do you (?:know|remember) (?:about|of)|what did i (?:say|tell you|write) about|(?:do|did|have|am|was) i\b|(?:what|where|when|who|which|how)(?:'s| is| are| was| were| do| did)? (?:my|i|our|we)\b)\s*(.*?)[\s?.!]*$`),
		readFile:  regexp.MustCompile(`(?i)^` + please + `(?:read|cat)\s+(?:the\s+)?(?:file\s+)?["'\x60]?([^\s"'\x60]+)["'\x60]?\s*[.!]?\s*$`),
		listFiles: regexp.MustCompile(`(?i)^` + please + `(?:(?:list|show)(?: me)?(?: the| my| all)? (?:files|directory|folder)|ls)(?:\s+(?:in|of)?\s*["'\x60]?([^\s"'\x60?]+)["'\x60]?)?\s*[.?!]?\s*$|^` + please + `list\s+["'\x60]?([^\s"'\x60?]+)["'\x60]?\s*$`),
		command:   regexp.MustCompile(`(?is)^` + please + `(?:run|execute)(?:\s*:\s*|\s+)(?:the\s+)?(?:command\s+)?\x60?(.+?)\x60?\s*$`),
		writeFile: regexp.MustCompile(`(?is)^` + please + `(write|overwrite)\s+` + file + `\s*:\s*(.+)$`),
		editFile:  regexp.MustCompile(`(?is)^` + please + `edit\s+` + file + `\s*:\s*replace\s+(all\s+)?` + term + `\s+with\s+` + term + `\s*$`),
		glob:      regexp.MustCompile(`(?i)^` + please + `find\s+(?:(?:the|all)\s+)?(?:files?\s+)?(?:(?:named|called|like)\s+)?["'\x60]?([^\s"'\x60?]+)["'\x60]?\s*$`),
		grep:      regexp.MustCompile(`(?i)^` + please + `grep(?:\s+for)?\s+` + term + `(?:\s+in\s+["'\x60]?([^\s"'\x60]+)["'\x60]?)?\s*$`),
		fetch:     regexp.MustCompile(`(?i)^` + please + `(?:fetch\s+(?:the\s+(?:page|address|url)\s+)?|(?:open|get)\s+(?:the\s+page\s+)?(?:https?://))["'\x60<]?([^\s"'\x60<>]+)["'\x60>]?\s*$`),
		askMe:     regexp.MustCompile(`(?is)^` + please + `ask\s+me\b[\s:,]*(.*?)\s*$`),
		todos:     regexp.MustCompile(`(?is)^` + please + `(?:todos?|to-dos?|plan)\s*:\s*(.+?)\s*$`),
		update:    regexp.MustCompile(`(?is)^` + please + `(?:update|change|correct)\s+` + kept + `(?:\s*:\s*|\s+to\s*:?\s+)(.+?)\s*$`),
		forget:    regexp.MustCompile(`(?i)^` + please + `forget\s+` + kept + `\s*[.!]?\s*$`),
		history:   regexp.MustCompile(`(?is)^` + please + `search\s+(?:(?:in|the|my|our|all)\s+)*(?:history|conversations?|messages?|sessions?|chats?)(?:\s+for|\s*:)?\s+(.+?)[\s?.!]*$`),
		said:      regexp.MustCompile(`^\[session/[^\]]*\] user, `),
		joint:     regexp.MustCompile(`(?i)\s+and\s+then\s+|\s*\n\s*`),
	}
})

// parse finds what a text asks for. What the answers tell of this model is true
// of the tools on offer.
func parse(text string, tools []model.ToolSpec) []intent {
	p := compiled()
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	switch {
	case text == "", p.greeting.MatchString(text):
		return []intent{{text: about(tools)}}
	case p.document.MatchString(text):
		return []intent{{text: Document(words(text))}}
	}
	if all := requests(text); len(all) > 0 {
		return all
	}
	if m := p.recall.FindStringSubmatch(text); m != nil {
		return recalling(or(m[1], text), tools)
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
		tool: saveTool, args: []argument{given(fact, "content", "text", "fact")}, whole: true,
		without: "I cannot save that: the tool `save_memory` is not on offer here (memory may be turned off with `--no-memory`).",
		answer: func(r harness.ToolResult) string {
			if r.Failed {
				return "That was **not** saved. The tool says:\n\n" + fenced(r.Text)
			}
			return "Saved:\n\n" + quoted(fact) + "\n\nEvery later conversation can recall it, also with a real model. `cairn facts list` shows what is saved."
		},
	}
}

func recalling(about string, tools []model.ToolSpec) []intent {
	none := fmt.Sprintf("Nothing is stored that matches %q.", about)
	if _, offered := tool(tools, saveTool); offered {
		none += " Say \"remember that …\" and I save it."
	}
	return looking(about, tools, frame{tail: "I only searched; a real model would answer from it.", none: none},
		"I cannot look that up: the tool `recall_memories` is not on offer here (memory may be turned off with `--no-memory`).")
}

// anything looks the words of a text up.
func anything(text string, tools []model.ToolSpec) []intent {
	return looking(text, tools, frame{
		lead: "I have no weights, so I cannot answer that myself, but I searched.",
		none: cannot(tools, "nothing that is stored matches your words"),
	}, cannot(tools, "nothing is remembered here that I could search"))
}

// maxLook is how many messages are searched for, of which the person's own are
// shown: mine only repeat them.
const maxLook = 30

// looking looks words up in memory and in what the person said before, in
// whatever of the two there is.
func looking(query string, tools []model.ToolSpec, f frame, without string) []intent {
	memory := intent{
		tool: recallTool, args: []argument{given(query, "query", "text")}, without: without, frame: &f,
		answer: func(r harness.ToolResult) string {
			if hits, ok := found(r); ok {
				return "This is what is stored, word for word:\n\n" + hits
			}
			return ""
		},
	}
	limit := given(maxLook, "limit")
	limit.extra = true
	history := intent{
		tool: historyTool, args: []argument{given(query, "query", "text"), limit}, frame: &f,
		answer: func(r harness.ToolResult) string {
			if r.Text = own(r.Text); r.Text != "" {
				if hits, ok := found(r); ok {
					return "This is what you said in conversations:\n\n" + hits
				}
			}
			return ""
		},
	}
	_, past := tool(tools, historyTool)
	_, kept := tool(tools, recallTool)
	switch {
	case past && kept:
		return []intent{memory, history}
	case past:
		return []intent{history}
	default:
		return []intent{memory}
	}
}

// own returns the first lines of a search in history that the person wrote, but
// for questions, which tell nothing.
func own(text string) string {
	const most = 5
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if compiled().said.MatchString(line) && !strings.HasSuffix(line, "?") && len(lines) < most {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func or(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return strings.TrimSpace(a)
	}
	return b
}
