package offline

import (
	"regexp"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// setup tells how to get a real model.
const setup = "To talk to a real model, choose one in the chat: /model, or ctrl+l on its screen, lists them and asks for the key that is missing. " +
	"Or set one of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `OPENROUTER_API_KEY`, " +
	"or start a local server such as Ollama, and start cairn again. " +
	"This conversation stays as it is."

// abilities lists what works without weights: only what can be done with the
// tools on offer.
func abilities(tools []model.ToolSpec) string {
	var b strings.Builder
	b.WriteString("What works here:\n\n")
	several := 0
	for _, a := range []struct{ tool, line string }{
		{saveTool, "**remember that** *the staging port is 8443* saves a fact"},
		{recallTool, "**what do you know about** *staging* searches what is remembered"},
		{historyTool, "**search history for** *staging* finds what was said in any conversation"},
		{updateTool, "**update** *f1: the staging port is 9443* changes what is remembered"},
		{forgetTool, "**forget** *f1* moves it to the trash"},
		{listTool, "**list files**, **list** *docs* lists a directory"},
		{globTool, "**find** *\\*.md* finds files by name"},
		{grepTool, "**grep** *TODO* **in** *src* finds lines in files"},
		{readTool, "**read** *README.md* shows a file"},
		{runTool, "**run:** *git status* runs a command, once you allow it"},
		{writeTool, "**write** *notes.txt: some text* writes a file, once you allow it"},
		{editTool, "**edit** *plan.txt:* **replace** *some* **with** *more* changes a file, once you allow it"},
		{fetchTool, "**fetch** *https://example.com* reads a page, once you allow it"},
		{askTool, "**ask me something** puts a question to you"},
		{todosTool, "**todos:** *pack; walk; rest* shows a list"},
	} {
		if _, offered := tool(tools, a.tool); offered {
			b.WriteString("- " + a.line + "\n")
			several++
		}
	}
	if several > 1 {
		b.WriteString("- several at once: join them by **and then**, or write each on a line of its own\n")
	}
	b.WriteString("- **long markdown 2000 words** streams a long document, to try the screen\n")
	return b.String()
}

// about introduces the model.
func about(tools []model.ToolSpec) string {
	does := "It matches a few plain patterns."
	if len(tools) > 0 {
		does = "It matches a few plain patterns and calls the real tools, so what it saves, finds and shows is real. " +
			"Of what you say about yourself it suggests plain sentences, such as *I prefer tea*, as facts to remember."
	}
	return "This is **cairn without a language model**: the built-in stand-in that answers when no key is found and no local server runs. " +
		"It has no weights, does not understand language and makes nothing up. " + does + "\n\n" +
		abilities(tools) + "\n" + setup
}

// cannot is the answer to what no pattern and no memory answers. The reason
// goes on after "without weights".
func cannot(tools []model.ToolSpec, reason string) string {
	return "I cannot answer that: I am the built-in stand-in without weights, and " + reason + ".\n\n" +
		abilities(tools) + "\n" + setup
}

// maxShown bounds the lines of a tool result that are repeated in an answer.
const maxShown = 200

// nothingFound matches the ways in which a search says that it found nothing.
var nothingFound = regexp.MustCompile(`(?i)^\W*(?:no|nothing|none|0|zero)\b[^\n]{0,80}$`)

// found returns the hits of a search as Markdown, if there are any.
func found(r harness.ToolResult) (string, bool) {
	text := strings.TrimSpace(r.Text)
	if r.Failed || text == "" || text == "[]" || text == "{}" || text == "null" || nothingFound.MatchString(text) {
		return "", false
	}
	return quoted(text), true
}

// quoted is text as a Markdown quotation.
func quoted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > maxShown {
		lines = append(lines[:maxShown:maxShown], "…")
	}
	return "> " + strings.Join(lines, "\n> ")
}

// fenced is text in a code fence longer than any in it.
func fenced(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > maxShown {
		lines = append(lines[:maxShown:maxShown], "…")
	}
	text = strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
