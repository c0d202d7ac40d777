package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"cairn/harness"
)

func (a *app) sessionsImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE|-", Short: "Import conversations from JSON Lines",
		Long: `Import conversations from a file, or from standard input with "-". Each line is an
object: {"session": {"id", "title"?, "created_at"?}} begins a conversation and
{"message": {"role", "content", "created_at"?, "name"?}} adds to it. Roles are user
and assistant. One line is printed for each session: its id and message count.
An import never changes a session: the same id with other messages becomes ID-2.
A session without messages is not stored. Other keys are an error.`,
		Args: exactly(1, "a file, or - for standard input"),
		RunE: runner(func(ctx context.Context, args []string) error {
			list, err := a.readImport(args[0])
			if err != nil {
				return err
			}
			st, err := a.store(ctx)
			if err != nil {
				return err
			}
			for _, c := range list {
				if len(c.Records) == 0 {
					a.notice("line %d: session %q has no messages and is not stored", c.Line, c.ID)
					continue
				}
				if err := a.importOne(ctx, st, c); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// readImport reads and checks the whole file before anything is stored.
func (a *app) readImport(name string) ([]imported, error) {
	in, what := a.s.In, "standard input"
	if name != "-" {
		what = name
		f, err := os.Open(absolute(a.s, expand(a.s, name)))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fail(ExitNotFound, "there is no file %s", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, cause(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	list, err := parseImport(in)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("read %s: %w", what, path.Err)
	}
	if err != nil {
		return nil, usage("%s: %w; nothing was imported", what, err)
	}
	return list, nil
}

// importOne stores one conversation and prints its line.
func (a *app) importOne(ctx context.Context, st Store, c imported) error {
	now := a.s.Now()
	s := harness.Session{Title: c.Title, Created: c.Created}
	if s.Title != "" {
		s.TitleBy = harness.TitleByUser
	}
	if s.Created.IsZero() {
		s.Created = now
	}
	for i := range c.Records {
		if c.Records[i].At.IsZero() {
			c.Records[i].At = now
		}
	}
	wish, err := importID(ctx, st, c.ID)
	if err != nil {
		return err
	}
	s.ID = wish
	if string(wish) != c.ID {
		s.TypedAs = c.ID
	}
	stored, existed, err := st.Sessions.Import(ctx, s, c.Records)
	if err != nil {
		return fmt.Errorf("import session %s: %w", wish, err)
	}
	return a.importLine(c, stored, existed)
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
}

func (a *app) importLine(c imported, stored harness.Session, existed bool) error {
	r := importResult{ID: stored.ID, Messages: len(c.Records), Existed: existed}
	if string(stored.ID) != c.ID {
		r.From = c.ID
	}
	if existed && c.Title != "" && c.Title != stored.Title {
		r.Titled = stored.Title
	}
	if a.flags.json {
		return a.out.object(r)
	}
	text := fmt.Sprintf("%s\t%s", r.ID, count(r.Messages, "message"))
	if existed {
		text += ", was there already"
		if r.Titled != "" {
			text += ", titled " + strconv.Quote(r.Titled)
		}
	}
	if r.From != "" {
		text += ", called " + strconv.Quote(r.From) + " in the file"
	}
	a.out.line("%s", text)
	return nil
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
