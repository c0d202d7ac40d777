package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/markdown"
	"cairn/ui/render"
)

// The formats of an export, which are also the endings of its files.
const (
	formatMarkdown = "markdown"
	formatLines    = "jsonl"
)

// maxFileName is what file systems take for a name, in bytes.
const maxFileName = 255

// sessionExport are the flags of `cairn sessions export`.
type sessionExport struct {
	format, to string
	all, force bool
}

func (a *app) sessionsExport() *cobra.Command {
	var o sessionExport
	cmd := &cobra.Command{
		Use: "export SESSION|--all", Short: "Export a conversation as Markdown or JSON Lines",
		Long: `Export a conversation as it is on screen, to standard output or to a file. Markdown
is for people and has the calls of tools in it; JSON Lines is what cairn sessions
import reads, which are the texts of both sides. With --all each conversation
becomes a file in the directory that -o names. Nothing is written over without
--force.`,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !o.all:
			return exactly(1, "the id or title of a session, or --all")(cmd, args)
		case len(args) > 0:
			return usage("--all exports every session, so it cannot go with %q; leave one of them out", args[0])
		case strings.TrimSpace(o.to) == "":
			return usage("--all needs a directory; give one with -o DIR")
		}
		return nil
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", formatMarkdown, "`markdown` or jsonl; without it the ending .jsonl of the file counts")
	f.StringVarP(&o.to, "output", "o", "", "write to `FILE`, or into that directory")
	f.BoolVar(&o.all, "all", false, "export all sessions, a file each")
	f.BoolVar(&o.force, "force", false, "write over files that hold something else")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !f.Changed("format") && !o.all && strings.EqualFold(filepath.Ext(o.to), "."+formatLines) {
			o.format = formatLines
		}
		if formats := []string{formatMarkdown, formatLines}; !slices.Contains(formats, o.format) {
			return usage("there is no format %q; it is markdown or jsonl", o.format)
		}
		if f.Changed("output") && strings.TrimSpace(o.to) == "" {
			return usage("--output needs a value")
		}
		return a.exportSessions(cmd.Context(), args, o)
	}
	return cmd
}

// exportSessions exports the session that is named, or all.
func (a *app) exportSessions(ctx context.Context, args []string, o sessionExport) error {
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	if o.all {
		return a.exportAllSessions(ctx, st, o)
	}
	s, err := findSession(ctx, st, args[0])
	if err != nil {
		return err
	}
	doc, err := sessionFile(ctx, st, s, o.format)
	if err != nil {
		return err
	}
	if doc.left > 0 {
		a.notice("%s of tools and files are not in it, which this format has no place for", count(doc.left, "part"))
	}
	if o.to == "" || o.to == "-" {
		return a.exportSessionOut(doc)
	}
	to := absolute(a.s, expand(a.s, o.to))
	dir, name := filepath.Split(to)
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		dir, name = to, doc.name
	}
	if len(name) > maxFileName {
		return usage("the name of the file is longer than %d bytes; give a shorter one", maxFileName)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("export to %s: %w", to, cause(err))
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	reason, err := a.putSession(root, name, doc, o.force)
	if err != nil {
		return fmt.Errorf("export to %s: %w", to, cause(err))
	}
	if reason != "" {
		return usage("%s %s", filepath.Join(dir, name), reason)
	}
	return nil
}

// exportAllSessions writes all sessions with messages into a directory.
func (a *app) exportAllSessions(ctx context.Context, st Store, o sessionExport) error {
	list, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	list = slices.DeleteFunc(list, func(s harness.Session) bool { return s.Messages == 0 })
	if len(list) == 0 {
		a.notice("there is nothing to export")
		return nil
	}
	dir := absolute(a.s, expand(a.s, o.to))
	root, err := openRoot(dir)
	if err != nil {
		return fmt.Errorf("export to %s: %w", dir, cause(err))
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	refused := 0
	for _, s := range list {
		doc, err := sessionFile(ctx, st, s, o.format)
		if err != nil {
			return err
		}
		reason, err := a.putSession(root, doc.name, doc, o.force)
		if err != nil {
			return fmt.Errorf("export to %s: %s: %w", dir, doc.name, cause(err))
		}
		if reason != "" {
			refused++
			a.complain(doc.name + " " + reason)
		}
	}
	if refused > 0 {
		return fail(ExitFailed, "%d of %s not written", refused, count(len(list), "file"))
	}
	return nil
}

// exportedSession is one session as a file.
type exportedSession struct {
	id       harness.SessionID
	name     string
	format   string
	messages int
	// left counts the parts that the format has no place for.
	left int
	data []byte
}

// sessionFile reads a session and writes it in a format.
func sessionFile(ctx context.Context, st Store, s harness.Session, format string) (exportedSession, error) {
	doc := exportedSession{id: s.ID, format: format}
	branch, err := st.Transcript.Tail(ctx, s.ID, 0, 0)
	if err != nil {
		return doc, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	branch = slices.DeleteFunc(branch, func(r harness.Record) bool {
		return r.Kind != harness.RecordMessage || r.Message == nil || r.Message.Mark == harness.MarkNotice
	})
	ending := markdown.Ending
	if format == formatLines {
		ending = "." + formatLines
		err = doc.lines(s, branch)
	} else {
		err = doc.markdown(s, branch)
	}
	if err != nil {
		return doc, fmt.Errorf("export session %s: %w", s.ID, err)
	}
	doc.name = sessionFileName(s, ending)
	return doc, nil
}

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
	a.out.line("%s %s (%s, %s)", r.Action, render.SafeLine(r.File), r.ID, count(r.Messages, "message"))
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
	if a.flags.json && doc.format == formatMarkdown {
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
