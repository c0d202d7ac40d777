package offline

import (
	"fmt"
	"strings"

	"cairn/harness"
)

// why is the reason that is given for a call, where the tool wants one.
const why = "You asked for exactly this."

// given is an argument and the names it may go by.
func given(value any, names ...string) argument { return argument{names: names, value: value} }

// reason is the argument that says why.
func reason() argument { return argument{names: []string{"why"}, value: why, extra: true} }

func reading(path string) intent {
	return intent{
		tool: readTool, args: []argument{given(path, "path", "file", "file_path")},
		without: "I cannot read files: the tool `read_file` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s`:", path), fmt.Sprintf("`%s` could not be read:", path)),
	}
}

func listing(path string) intent {
	return intent{
		tool: listTool, args: []argument{given(or(path, "."), "path", "directory", "dir")},
		without: "I cannot list files: the tool `list_directory` is not on offer here.",
		answer:  shown("The files:", "The files could not be listed:"),
	}
}

// finding looks for files by name. A word is looked for anywhere in a name.
func finding(pattern string) intent {
	if !strings.ContainsAny(pattern, "*?[{/") {
		pattern = "**/*" + pattern + "*"
	}
	return intent{
		tool: globTool, args: []argument{given(pattern, "pattern")},
		without: "I cannot look for files: the tool `glob` is not on offer here.",
		answer:  shown(fmt.Sprintf("Files like `%s`:", pattern), "The files could not be looked for:"),
	}
}

func searching(pattern, path string) intent {
	args := []argument{given(pattern, "pattern")}
	if path != "" {
		args = append(args, given(path, "path"))
	}
	return intent{
		tool: grepTool, args: args,
		without: "I cannot search files: the tool `grep` is not on offer here.",
		answer:  shown(fmt.Sprintf("Lines with `%s`:", pattern), "The files could not be searched:"),
	}
}

func running(cmd string) intent {
	return intent{
		tool: runTool, args: []argument{given(cmd, "command", "cmd"), reason()},
		before:  fmt.Sprintf("I want to run `%s`.", oneLine(cmd)),
		without: "I cannot run commands: the tool `run_command` is not on offer here.",
		answer: told(fmt.Sprintf("`%s` ran:", oneLine(cmd)), fmt.Sprintf("`%s` did not run to its end:", oneLine(cmd)),
			fmt.Sprintf("`%s` was not run:", oneLine(cmd))),
	}
}

func writing(path, content string, over bool) intent {
	args := []argument{given(path, "path", "file", "file_path"), given(content, "content", "text"), reason()}
	if over {
		args = append(args, given(true, "overwrite"))
	}
	return intent{
		tool: writeTool, args: args, open: true,
		before:  fmt.Sprintf("I want to write `%s`.", path),
		without: "I cannot write files: the tool `write_file` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s` was written:", path), fmt.Sprintf("`%s` was not written:", path)),
	}
}

func editing(path, was, now string, all bool) intent {
	args := []argument{given(path, "path", "file", "file_path"), given(was, "old"), given(now, "new"), reason()}
	if all {
		args = append(args, given(true, "all"))
	}
	return intent{
		tool: editTool, args: args, open: true,
		before:  fmt.Sprintf("I want to change `%s`.", path),
		without: "I cannot edit files: the tool `edit_file` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s` was changed:", path), fmt.Sprintf("`%s` was not changed:", path)),
	}
}

func fetching(address string) intent {
	return intent{
		tool: fetchTool, args: []argument{given(address, "url", "address")},
		before:  fmt.Sprintf("I want to read `%s`.", address),
		without: "I cannot read pages: the tool `fetch_url` is not on offer here.",
		answer:  shown(fmt.Sprintf("`%s` says:", address), fmt.Sprintf("`%s` could not be read:", address)),
	}
}

// updating changes what is remembered under an id: the text of a fact, the body
// of a note.
func updating(id, text string) intent {
	field := "text"
	if strings.HasPrefix(id, "n") {
		field = "body"
	}
	return intent{
		tool: updateTool, args: []argument{given(id, "id"), given(text, field), reason()}, whole: true,
		without: "I cannot change what is remembered: the tool `update_memory` is not on offer here (memory may be turned off with `--no-memory`).",
		answer:  shown(fmt.Sprintf("`%s`:", id), fmt.Sprintf("`%s` was not changed:", id)),
	}
}

func forgetting(id string) intent {
	return intent{
		tool: forgetTool, args: []argument{given(id, "id"), reason()},
		without: "I cannot forget anything: the tool `forget_memory` is not on offer here (memory may be turned off with `--no-memory`).",
		answer:  shown(fmt.Sprintf("`%s`:", id), fmt.Sprintf("`%s` was not forgotten:", id)),
	}
}

func lookingBack(query string) intent {
	return intent{
		tool: historyTool, args: []argument{given(query, "query", "text")},
		without: "I cannot look that up: the tool `search_history` is not on offer here (memory may be turned off with `--no-memory`).",
		answer: func(r harness.ToolResult) string {
			if r.Failed {
				return shown("", "The conversations were not searched:")(r)
			}
			if hits, ok := found(r); ok {
				return "This was said, word for word:\n\n" + hits + "\n\nI only searched; a real model would answer from it."
			}
			return fmt.Sprintf("No message of an earlier conversation matches %q.", query)
		},
	}
}

// asking turns a request to be asked into a question. What follows the question
// mark are the choices, between commas.
func asking(text string) intent {
	question, rest, chosen := strings.Cut(text, "?")
	choices := items(rest, ",")
	switch {
	case chosen && strings.TrimSpace(question) != "":
		question = strings.TrimSpace(question) + "?"
	case text == "", strings.Contains(strings.ToLower(text), "thing"), strings.HasSuffix(strings.ToLower(text), "a question"):
		question, choices = "Two cairns are in sight, and fog comes up. Where do you go?", []string{"to the near one", "to the far one", "nowhere, I wait"}
	}
	args := []argument{given(question, "question")}
	if len(choices) > 0 {
		args = append(args, given(choices, "choices"))
	}
	return intent{
		tool: askTool, args: args,
		without: "I cannot ask you anything: the tool `ask_user` is not on offer here.",
		answer: func(r harness.ToolResult) string {
			if r.Failed || r.Unknown {
				return shown("", "You did not answer:")(r)
			}
			return "I asked, and this is what came back:\n\n" + quoted(r.Text)
		},
	}
}

// planning writes a list, whose items are between semicolons or on lines of
// their own. "[x]" marks what is done and "[>]" what is being done.
func planning(text string) (intent, bool) {
	var list []map[string]string
	for _, t := range items(strings.ReplaceAll(text, "\n", ";"), ";") {
		status := "pending"
		for mark, means := range map[string]string{"[x]": "completed", "[>]": "in_progress", "[ ]": "pending"} {
			if rest, ok := strings.CutPrefix(t, mark); ok {
				t, status = strings.TrimSpace(rest), means
				break
			}
		}
		if t != "" {
			list = append(list, map[string]string{"text": t, "status": status})
		}
	}
	return intent{
		tool: todosTool, args: []argument{given(list, "todos")}, open: true,
		without: "I cannot keep a list: the tool `write_todos` is not on offer here.",
		answer:  shown("The list:", "The list was not written:"),
	}, len(list) > 0
}

// items returns what is between separators and not empty.
func items(text, separator string) []string {
	var all []string
	for item := range strings.SplitSeq(text, separator) {
		if item = oneLine(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shown answers with a result in a fence, and says plainly if what was asked for
// was not done, or may have been.
func shown(good, bad string) func(harness.ToolResult) string { return told(good, bad, bad) }

// told is shown, with a sentence of its own for what nobody let begin.
func told(good, bad, never string) func(harness.ToolResult) string {
	return func(r harness.ToolResult) string {
		switch {
		case r.Unknown:
			return bad + "\n\n" + fenced(r.Text) + "\n\nIt began and nobody saw it end, so **it may have taken effect**. Look before you ask for it again."
		case !r.Failed:
			return good + "\n\n" + fenced(r.Text)
		}
		if why, ok := strings.CutPrefix(r.Text, "permission denied by the person"); ok {
			text := never + " you refused it, and nothing was done."
			if why = strings.TrimSpace(strings.TrimPrefix(why, ":")); why != "" {
				text += " You said:\n\n" + quoted(why)
			}
			return text
		}
		if strings.HasPrefix(r.Text, "permission denied") {
			return never + " it is not allowed here, and nothing was done.\n\n" + fenced(r.Text)
		}
		return bad + "\n\n" + fenced(r.Text)
	}
}
