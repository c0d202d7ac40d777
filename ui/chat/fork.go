package chat

import (
	"context"
	"errors"
	"strconv"

	"cairn/harness"
	"cairn/ui/render"
)

// parentName is what the session is called that s was forked from; empty if it
// was not, or if that one is deleted.
func parentName(ctx context.Context, sessions Sessions, s harness.Session) (string, error) {
	if s.Parent == nil {
		return "", nil
	}
	p, err := sessions.Get(ctx, s.Parent.Session)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	return NameOf(p), nil
}

// NameOf is what a session is called: its title, else its id.
func NameOf(s harness.Session) string {
	if s.Title != "" {
		return render.SafeLine(s.Title)
	}
	return string(s.ID)
}

// ForkedWords says where a fork leaves the session it was made of, which is
// called name, empty if that is deleted.
func ForkedWords(s harness.Session, name string) string {
	if s.Parent == nil {
		return ""
	}
	if name == "" {
		name = "a deleted chat (" + string(s.Parent.Session) + ")"
	}
	return "forked from " + name + " at message " + strconv.Itoa(s.Parent.Record)
}

// forkedWords is what stands where the session leaves its parent.
func (m Model) forkedWords() string { return ForkedWords(m.session, m.parent) }
