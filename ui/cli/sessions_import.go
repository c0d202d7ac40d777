package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

func (a *app) sessionsImport() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use: "import FILE|DIR|URL|-... | --from DIR|URL [ID...]", Short: "Import conversations from snapshots, JSON Lines and other programs",
		Long: `Import conversations from files, directories and addresses, or from standard input
with "-". What each holds is found out by its content:

  JSON Lines       each line is an object: {"session": {"id", "title"?, "created_at"?}}
                   begins a conversation and {"message": {"role", "content",
                   "created_at"?, "name"?}} adds to it. Roles are user and assistant.
                   Other keys are an error.
  snapshots        a file, a directory or an address of cairn sessions export
                   --format snapshot, with all branches
  ChatGPT          the export: its ZIP file, the directory that was unpacked, or
                   conversations.json; with its pictures and all branches
  Claude           the same of claude.ai
  llm              its database, logs.db, of any version
  crush            its database, crush.db
  HarnessX         a snapshot file of version 1 or 2, or the directory with them
  Strands          the directory with the sessions, such as .agent/sessions, or that
                   of one session

Databases are copied first, and the copy is read: they may be in use.

With --from the arguments are ids, and only these sessions are taken from the
directory or address. What a session has no place for is told. Everything is read
before the first session is stored, and a fault in it imports nothing.

One line is printed for each session: its id and message count. An import never
changes a session: the same id with other messages becomes ID-2, and the same
with the same messages does nothing. A session without messages is not stored.`,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if from == "" {
			return atLeastOne("a file, or - for standard input")(cmd, args)
		}
		return nil
	}
	cmd.Flags().StringVar(&from, "from", "", "take the sessions that are named from `DIR|URL`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("from") && strings.TrimSpace(from) == "" {
			return usage("--from needs a directory or an address")
		}
		return a.importSessions(cmd.Context(), args, from)
	}
	return cmd
}

// readImports reads all that the arguments name.
func (a *app) readImports(ctx context.Context, args []string, from string) ([]imported, error) {
	if from != "" {
		if info, err := os.Stat(absolute(a.s, expand(a.s, from))); !isAddress(from) && err == nil && !info.IsDir() {
			return nil, usage("--from takes a directory or an address, and %s is a file; leave --from out", from)
		}
		return a.readImport(ctx, from, args)
	}
	var list []imported
	for _, name := range args {
		more, err := a.readImport(ctx, name, nil)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			a.notice("%s is empty: there is nothing to import", importName(name))
		}
		list = append(list, more...)
	}
	return list, nil
}

// importSessions imports what the arguments name.
func (a *app) importSessions(ctx context.Context, args []string, from string) error {
	list, err := a.readImports(ctx, args, from)
	if err != nil {
		return err
	}
	if err := a.checkImportedModels(ctx, list); err != nil {
		return err
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	return a.storeImports(ctx, st, list)
}

// storeImports stores what was read.
func (a *app) storeImports(ctx context.Context, st Store, list []imported) (err error) {
	for _, c := range list {
		if c.Archive != nil {
			err = a.importAll(ctx, st, c.Archive)
		} else {
			err = a.importParsed(ctx, st, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// importParsed stores one conversation, unless it is none.
func (a *app) importParsed(ctx context.Context, st Store, c imported) error {
	switch {
	case len(c.Records) > 0:
		return a.importOne(ctx, st, c)
	case c.Line > 0:
		a.notice("line %d: session %q has no messages and is not stored", c.Line, c.ID)
	default:
		a.notice("session %q has no messages and is not stored", c.ID)
	}
	return nil
}

// checkImportedModels takes models away that nothing here can call: the default
// one answers in their place.
func (a *app) checkImportedModels(ctx context.Context, list []imported) error {
	var known Models
	for i := range list {
		c := &list[i]
		if c.Meta.Model == "" {
			continue
		}
		if known == nil {
			var err error
			if known, err = a.models(ctx); err != nil {
				return err
			}
		}
		if _, err := known.Validate(ctx, c.Meta.Model); err != nil {
			c.Left = append(c.Left, "the model "+c.Meta.Model+", which is not known here")
			c.Meta.Model = ""
		}
	}
	return nil
}

// importOne stores one conversation and prints its line.
func (a *app) importOne(ctx context.Context, st Store, c imported) error {
	s := c.Meta
	if s.Title != "" && s.TitleBy == "" {
		s.TitleBy = harness.TitleByUser
	}
	dated(&s, c.Records, a.s.Now())
	wish := harness.SessionID(c.ID)
	if !c.Own {
		var err error
		if wish, err = importID(ctx, st, c.ID); err != nil {
			return err
		}
	}
	s.ID = wish
	if string(wish) != c.ID {
		s.TypedAs = c.ID
	}
	if c.Own {
		switch fork, held, err := heldFork(ctx, st, wish, c); {
		case err != nil:
			return fmt.Errorf("import session %s: %w", wish, err)
		case held:
			return a.importLine(c, fork, true)
		}
	}
	stored, existed, err := st.Sessions.Import(ctx, s, c.Records, c.Artifacts...)
	if err != nil {
		return fmt.Errorf("import session %s: %w", wish, err)
	}
	if !existed {
		left, err := a.learnImported(ctx, st, c.Learned)
		if err != nil {
			return fmt.Errorf("import session %s: %w", stored.ID, err)
		}
		if len(left) > 0 {
			c.Left = append(c.Left, "learned limits of "+strings.Join(left, ", "))
		}
	}
	return a.importLine(c, stored, existed)
}

// dated completes the times of a conversation: it was last used when something was
// said last, and what has no time was said then.
func dated(s *harness.Session, records []harness.Record, now time.Time) {
	if s.Created.IsZero() {
		s.Created = now
	}
	if s.Updated.IsZero() {
		for _, r := range records {
			if r.At.After(s.Updated) && !r.At.After(now) {
				s.Updated = r.At
			}
		}
	}
	at := s.Created
	if !s.Updated.IsZero() {
		at = s.Updated
	}
	for i := range records {
		if records[i].At.IsZero() {
			records[i].At = at
		}
	}
}

// importResult is the JSON line of one imported session.
type importResult struct {
	ID       harness.SessionID `json:"id"`
	Messages int               `json:"messages"`
	// From is the id in the file if it became another.
	From string `json:"from,omitempty"`
	// Existed says that the session was there already, with these messages.
	Existed bool `json:"existed,omitempty"`
	// Titled is the title of the one that was there, if the file has another.
	Titled string `json:"titled,omitempty"`
	// Source is what it was read from if that was not JSON Lines, and Left what
	// of it has no place here.
	Source string   `json:"source,omitempty"`
	Left   []string `json:"left_out,omitempty"`
}

func (a *app) importLine(c imported, stored harness.Session, existed bool) error {
	r := importResult{ID: stored.ID, Messages: messages(c.Records), Existed: existed, Source: c.Source, Left: c.Left}
	if string(stored.ID) != c.ID {
		r.From = c.ID
	}
	if existed && c.Meta.Title != "" && c.Meta.Title != stored.Title {
		r.Titled = stored.Title
	}
	switch {
	case a.took != nil:
		a.took(r)
		return nil
	case a.flags.json:
		return a.out.object(r)
	}
	text := fmt.Sprintf("%s\t%s", r.ID, harness.Count(r.Messages, "message"))
	if existed {
		text += ", was there already"
		if r.Titled != "" {
			text += ", titled " + strconv.Quote(r.Titled)
		}
	}
	if r.From != "" {
		text += ", called " + strconv.Quote(r.From) + " in the file"
	}
	if r.Source != "" {
		text += ", from " + r.Source
	}
	a.out.line("%s", text)
	if set := c.set(); set != "" && !existed {
		a.notice("%s: %s set for it, as it was there", r.ID, render.SafeLine(set))
	}
	switch {
	case existed:
	case c.told != nil:
		for _, what := range r.Left {
			c.told[what]++
		}
	case len(r.Left) > 0:
		a.notice("%s: left out: %s", r.ID, render.SafeLine(strings.Join(r.Left, "; ")))
	}
	return nil
}

// set names what an import sets for a session: what others wrote steers its model.
func (c imported) set() string {
	switch {
	case c.Meta.Model != "" && c.Meta.System != "":
		return "the model " + c.Meta.Model + " and a system prompt are"
	case c.Meta.Model != "":
		return "the model " + c.Meta.Model + " is"
	case c.Meta.System != "":
		return "a system prompt is"
	}
	return ""
}

// importID is the id under which a conversation of a file is stored. Two ids
// that differ in the file never become one session, even if they are spelt
// alike once sanitised; and the same file gives the same ids again.
func importID(ctx context.Context, st Store, typed string) (harness.SessionID, error) {
	base, _, err := harness.ParseSessionID(typed)
	if err != nil {
		sum := sha256.Sum256([]byte(typed))
		base = harness.SessionID("import-" + hex.EncodeToString(sum[:8]))
	}
	id := base
	for n := 2; ; n++ {
		s, err := st.Sessions.Get(ctx, id)
		if errors.Is(err, harness.ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", fmt.Errorf("look for session %s: %w", id, err)
		}
		if s.TypedAs == typed || s.TypedAs == "" && string(s.ID) == typed {
			return id, nil
		}
		id = numbered(base, n)
	}
}

// numbered is an id with a number behind it, cut to what an id may be long.
func numbered(base harness.SessionID, n int) harness.SessionID {
	suffix := fmt.Sprintf("-%d", n)
	// An id has one byte for each character.
	return base[:min(len(base), harness.MaxIDLength-len(suffix))] + harness.SessionID(suffix)
}
