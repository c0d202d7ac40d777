package offline

import (
	"regexp"
	"strings"

	"cairn/harness"
)

// setup tells how to get a real model.
const setup = "To talk to a real model, leave and set one of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `OPENROUTER_API_KEY`, " +
	"or start a local server such as Ollama. `cairn models` lists what can be chosen, and `/model` switches without leaving. " +
	"This conversation stays as it is."

// abilities lists what works without weights.
const abilities = "What works here:\n\n" +
	"- **remember that** *the staging port is 8443* saves a fact\n" +
	"- **what do you know about** *staging* searches facts, notes and history\n" +
	"- **list files**, **read** *README.md* use the file tools\n" +
	"- **run** *git status* and **write** *notes.txt: some text* ask for your approval first\n" +
	"- **long markdown 2000 words** streams a long document, to try the screen\n"

// about introduces the model.
const about = "This is **cairn without a language model**: the built-in stand-in that answers when no key is found and no local server runs. " +
	"It has no weights, does not understand language and makes nothing up. It matches a few plain patterns and uses the real tools, " +
	"so sessions, memory, approvals and everything else on the screens is real.\n\n" +
	abilities + "\n" + setup

// cannot is the answer to what no pattern and no memory answers.
const cannot = "I cannot answer that: I am the built-in stand-in without weights, and nothing stored here matches your words.\n\n" +
	abilities + "\n" + setup

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
