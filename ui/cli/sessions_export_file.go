package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/memory/markdown"
	"cairn/ui/render"
)

// sessionFileName names the file of a session after its title, whatever that
// holds. The id in it keeps two sessions apart.
func sessionFileName(s harness.Session, ending string) string {
	title := markdown.Name(s.Title, "")
	room := maxFileName - len(s.ID) - len(ending) - 1
	for len(title) > room {
		_, size := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-size]
	}
	if title = strings.TrimRight(title, ". "); title == "" {
		title = "session"
	}
	return title + " " + string(s.ID) + ending
}

// putSession writes a session to a file, unless that would lose something; then
// it returns the reason.
func (a *app) putSession(root *os.Root, name string, doc exportedSession, force bool) (reason string, err error) {
	const exists = "exists already and is not written over; give another name, or --force"
	into := exportFolder{root: root, at: "."}
	r := exportedSessionResult{ID: doc.id, File: filepath.Join(root.Name(), name), Format: doc.format, Messages: doc.messages, Action: "written"}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = into.write(name, doc.data, true)
		if errors.Is(err, fs.ErrExist) {
			return exists, nil
		}
	case err != nil:
	case info.IsDir():
		return "is a directory and was left alone", nil
	case info.Mode().IsRegular() && same(root, name, doc.data):
		r.Action = "unchanged"
	case force:
		err = into.write(name, doc.data, false)
	default:
		return exists, nil
	}
	if err != nil {
		return "", err
	}
	if a.flags.json {
		return "", a.out.object(r)
	}
	a.out.line("%s %s (%s, %s)", r.Action, render.SafeLine(r.File), r.ID, harness.Count(r.Messages, "message"))
	return "", nil
}

// same reports whether a file holds just this. One that cannot be read does not.
func same(root *os.Root, name string, data []byte) bool {
	have, err := root.ReadFile(name)
	return err == nil && bytes.Equal(have, data)
}

// exportedSessionResult is the JSON line of one exported session.
type exportedSessionResult struct {
	ID       harness.SessionID `json:"id"`
	File     string            `json:"file"`
	Format   string            `json:"format"`
	Messages int               `json:"messages"`
	// Action is "written" or "unchanged".
	Action string `json:"action"`
}

// exportSessionOut writes a session to standard output. JSON Lines are JSON
// already.
func (a *app) exportSessionOut(doc exportedSession) error {
	if a.flags.json && doc.format != formatLines {
		return a.out.document(struct {
			ID       harness.SessionID `json:"id"`
			Name     string            `json:"name"`
			Messages int               `json:"messages"`
			Text     string            `json:"text"`
		}{doc.id, doc.name, doc.messages, string(doc.data)})
	}
	a.out.text(string(doc.data))
	return nil
}
