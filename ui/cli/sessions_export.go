package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// The formats of an export, which are also the endings of its files.
const (
	formatMarkdown = "markdown"
	formatHTML     = "html"
	formatLines    = "jsonl"
	formatSnapshot = "snapshot"
)

// exportFormats are the formats of an export.
func exportFormats() []string {
	return []string{formatMarkdown, formatHTML, formatLines, formatSnapshot}
}

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
		Use: "export SESSION|--all", Short: "Export a conversation as Markdown, HTML, JSON Lines or a snapshot",
		Long: `Export a conversation as it is on screen, to standard output or to a file. Markdown
and HTML are for people and have the calls of tools in them; JSON Lines are the texts
of both sides. HTML is one file that any browser shows without a network: it has the
images in it (those above 8 MB, and all above 32 MB, are only named), runs nothing
and loads nothing. With --all each conversation becomes a file in the directory that -o names.
Nothing is written over without --force.

A snapshot has all of a session but its tags, notes and facts: every branch, calls
of tools, long results, files, the model and the system prompt that were set for it,
what it used, and what was learned of its models; in a fork also what was said
before. It goes into the directory that -o names, or to an address such as
s3://bucket. A session with a run that has not ended is refused.

cairn sessions import reads JSON Lines and snapshots.`,
		ValidArgsFunction: a.completeSession,
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
	f.StringVar(&o.format, "format", formatMarkdown, "`markdown`, html, jsonl or snapshot; without it the ending .html or .jsonl of the file counts")
	f.StringVarP(&o.to, "output", "o", "", "write to `FILE`, or into that directory; a snapshot also to an address such as s3://bucket")
	f.BoolVar(&o.all, "all", false, "export all sessions, a file each")
	f.BoolVar(&o.force, "force", false, "write over files that hold something else")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.Changed("format"):
		case isAddress(o.to):
			o.format = formatSnapshot
		case !o.all:
			o.format = exportFormat(o.to)
		}
		if err := o.check(f.Changed("output")); err != nil {
			return err
		}
		if o.format == formatSnapshot {
			return a.exportSnapshots(cmd.Context(), args, o)
		}
		return a.exportSessions(cmd.Context(), args, o)
	}
	return cmd
}

// check refuses what does not go together.
func (o sessionExport) check(toGiven bool) error {
	switch {
	case !slices.Contains(exportFormats(), o.format):
		return usage("there is no format %q; it is markdown, html, jsonl or snapshot", o.format)
	case toGiven && strings.TrimSpace(o.to) == "":
		return usage("--output needs a value")
	case o.format == formatSnapshot && (o.to == "" || o.to == "-"):
		return usage("a snapshot needs a directory or an address; give one with -o DIR|URL")
	case o.format != formatSnapshot && isAddress(o.to):
		return usage("only a snapshot goes to an address; use --format snapshot, or give a file or directory")
	}
	return nil
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
	for _, left := range doc.unshown {
		a.notice("%s", left)
	}
	if doc.left > 0 {
		a.notice("%s of tools and files are not in it, which this format has no place for", harness.Count(doc.left, "part"))
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
		return unwritten(to, err)
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	reason, err := a.putSession(root, name, doc, o.force)
	if err != nil {
		return unwritten(to, err)
	}
	if reason != "" {
		return usage("%s %s", filepath.Join(dir, name), reason)
	}
	return nil
}

// unwritten says why nothing is written there. What helps with the store here does
// not help there.
func unwritten(to string, err error) error {
	return fail(ExitFailed, "export to %s: %w; give another place with -o", to, cause(err))
}

// exportAllSessions writes all sessions with messages into a directory.
func (a *app) exportAllSessions(ctx context.Context, st Store, o sessionExport) error {
	list, err := a.exportable(ctx, st)
	if err != nil || len(list) == 0 {
		return err
	}
	dir := absolute(a.s, expand(a.s, o.to))
	root, err := openRoot(dir)
	if err != nil {
		return unwritten(dir, err)
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
			return unwritten(filepath.Join(dir, doc.name), err)
		}
		if reason != "" {
			refused++
			a.complain(doc.name + " " + reason)
		}
	}
	if refused > 0 {
		return fail(ExitFailed, "%d of %s not written", refused, harness.Count(len(list), "file"))
	}
	return nil
}

// exportable lists the sessions that have messages.
func (a *app) exportable(ctx context.Context, st Store) ([]harness.Session, error) {
	list, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	list = slices.DeleteFunc(list, func(s harness.Session) bool { return s.Messages+s.Inherited == 0 })
	if len(list) == 0 {
		a.notice("there is nothing to export")
	}
	return list, nil
}

// exportedSession is one session as a file.
type exportedSession struct {
	id       harness.SessionID
	name     string
	format   string
	messages int
	// left counts the parts that the format has no place for, and unshown says of
	// files why they are only named.
	left    int
	unshown []string
	data    []byte
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
	switch format {
	case formatLines:
		ending = "." + formatLines
		err = doc.lines(s, branch)
	case formatHTML:
		ending = "." + formatHTML
		err = doc.html(ctx, st, s, branch)
	default:
		err = doc.markdown(s, branch)
	}
	if err != nil {
		return doc, fmt.Errorf("export session %s: %w", s.ID, err)
	}
	doc.name = sessionFileName(s, ending)
	return doc, nil
}
