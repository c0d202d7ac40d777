package plain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// copyHelp says what can be done in the place of a clipboard.
const copyHelp = "a clipboard takes control sequences, which are not written here: /copy to FILE writes the answer to a file, /copy 2 to FILE its code block 2"

// copy writes the source of the last answer, or of one of its code blocks: here,
// or to a file that does not exist yet.
func (p *plain) copy(arg string) {
	text := p.answer
	if text == "" {
		p.say("there is no answer to copy yet")
		return
	}
	number, file := arg, ""
	if to, is := strings.CutPrefix(arg, "to "); is {
		number, file = "", strings.TrimSpace(to)
	} else if n, to, is := strings.Cut(arg, " to "); is {
		number, file = strings.TrimSpace(n), strings.TrimSpace(to)
	}
	if number != "" {
		blocks := render.CodeBlocks(text)
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(blocks) {
			p.say(fmt.Sprintf("code blocks in the last answer: %d", len(blocks)))
			return
		}
		text = blocks[n-1].Text
	}
	if file == "" {
		p.out.line(render.Safe(strings.TrimRight(text, "\n")))
		p.say(copyHelp)
		return
	}
	path, err := keepText(p.Chat.Dir, file, strings.TrimRight(text, "\n")+"\n")
	switch {
	case errors.Is(err, fs.ErrExist):
		p.say(file + " exists already and is left as it is; write another name")
	case err != nil:
		p.trouble(err)
	default:
		p.say(fmt.Sprintf("wrote %s to %s", harness.Count(len([]rune(text)), "character"), path))
	}
}

// keepText writes a text to a new file, named from a directory on or from the
// home directory.
func keepText(dir, name, text string) (path string, err error) {
	path = name
	if rest, is := strings.CutPrefix(name, "~/"); is {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}
