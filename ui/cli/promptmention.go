package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/attach"
	chatfiles "cairn/ui/chat/attach"
)

// Attachable makes a part of a message of bytes that have no file, typed by what they
// hold; name is what they are called.
func Attachable(name string, data []byte) (harness.Part, error) { return attach.Bytes(name, data) }

// withMentions adds the sessions, notes and facts that the words of a prompt
// mention, as "@session:ID", "@note:n3" and "@fact:f12". What comes through standard
// input mentions nothing: it may be a stranger's text.
func (s sent) withMentions(ctx context.Context, st Store) (sent, error) {
	from := chatfiles.Sources{Sessions: st.Sessions, Transcript: st.Transcript}
	if st.Notes != nil {
		from.Notes = st.Notes
	}
	if st.Facts != nil {
		from.Facts = st.Facts
	}
	// Files are given with flags; here there are none.
	none := chatfiles.Files{
		Look: func(context.Context, string) (chatfiles.Seen, error) { return chatfiles.Seen{}, fs.ErrNotExist },
		Read: func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
	}
	files := from.With(none)
	var seen []string
	for _, m := range chatfiles.Mentions(s.typed) {
		kind, id, _ := strings.Cut(m.Path, ":")
		if id == "" || !slices.Contains([]string{"session", "note", "fact"}, kind) || slices.Contains(seen, m.Path) {
			continue
		}
		seen = append(seen, m.Path)
		part, err := files.Read(ctx, m.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return sent{}, fail(ExitNotFound, "there is no %s %s to mention; write it without the @ if none is meant", kind, id)
		case err != nil:
			return sent{}, err
		}
		s.files = append(s.files, attached{name: m.Path, part: part})
	}
	return s, nil
}
