package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"cairn/harness"
)

// target is the conversation that a start is about.
type target struct {
	// session is the stored one if exists, else what its first write stores.
	session harness.Session
	exists  bool
	// pick asks for the picker instead.
	pick bool
	// notices are sentences about the choice.
	notices []string
}

// target finds the session that the flags name, or makes a new one's
// description. A title given for one that exists renames it, unless it is for a
// fork of it.
func (a *app) target(ctx context.Context, st Store) (target, error) {
	t, err := a.search(ctx, st)
	if err == nil && a.flags.fork {
		return a.forked(ctx, st, t)
	}
	if err != nil || !t.exists || a.flags.title == "" {
		return t, err
	}
	t.session, err = st.Sessions.Edit(ctx, t.session.ID, harness.SessionEdit{Title: &a.flags.title, TitleBy: harness.TitleByUser})
	return t, err
}

// search is target without the title.
func (a *app) search(ctx context.Context, st Store) (target, error) {
	f := a.flags
	switch {
	case f.cont:
		s, err := lastSession(ctx, st)
		return target{session: s, exists: true}, err
	case f.resumeGiven && strings.TrimSpace(f.resume) == "":
		return target{pick: true}, nil
	case f.resumeGiven:
		s, err := findSession(ctx, st, f.resume)
		return target{session: s, exists: true}, err
	case f.sessionGiven:
		return a.named(ctx, st, f.session)
	}
	id, err := freshID(ctx, st)
	if err != nil {
		return target{}, err
	}
	s, err := a.newSession(id)
	return target{session: s}, err
}

// newSession describes a session that does not exist yet. What is chosen by
// flags at its start is set for it.
func (a *app) newSession(id harness.SessionID) (harness.Session, error) {
	c, err := a.config()
	if err != nil {
		return harness.Session{}, err
	}
	s := harness.Session{ID: id, Dir: a.s.Dir}
	if _, flag := c.From("model"); flag {
		s.Model = c.Model
	}
	if c.systemByFlag() {
		s.System = c.System
	}
	if a.flags.title != "" {
		s.Title, s.TitleBy = a.flags.title, harness.TitleByUser
	}
	return s, nil
}

// named opens the session with an id as typed, which need not exist.
func (a *app) named(ctx context.Context, st Store, typed string) (target, error) {
	id, changed, err := harness.ParseSessionID(typed)
	if err != nil {
		return target{}, usage("%w", err)
	}
	s, err := st.Sessions.Get(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		if err := refuseDeleted(ctx, st, id); err != nil {
			return target{}, err
		}
		fresh, err := a.newSession(id)
		if err != nil {
			return target{}, err
		}
		t := target{session: fresh}
		if changed {
			t.session.TypedAs = typed
			t.notices = append(t.notices, fmt.Sprintf("%q is session %s", typed, id))
		}
		return t, nil
	}
	if err != nil {
		return target{}, err
	}
	t := target{session: s, exists: true}
	first := s.TypedAs
	if first == "" {
		first = string(id)
	}
	switch {
	case first != typed && s.TypedAs != "":
		t.notices = append(t.notices, fmt.Sprintf("%q opens session %s, first typed as %q", typed, id, first))
	case changed:
		t.notices = append(t.notices, fmt.Sprintf("%q is session %s", typed, id))
	}
	return t, nil
}

// refuseDeleted is an error if a deleted session has the id.
func refuseDeleted(ctx context.Context, st Store, id harness.SessionID) error {
	deleted, err := st.Sessions.List(ctx, harness.SessionFilter{Deleted: true})
	if err != nil {
		return err
	}
	for _, s := range deleted {
		if s.ID == id {
			return fail(ExitNotFound, "session %s is deleted; bring it back with: cairn sessions restore %s", id, id)
		}
	}
	return nil
}

// freshID is an id that no session has.
func freshID(ctx context.Context, st Store) (harness.SessionID, error) {
	for {
		id := harness.SessionID(harness.NewID())
		_, err := st.Sessions.Get(ctx, id)
		if errors.Is(err, harness.ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// lastSession is the session that was used last: the first of the list that the
// picker shows. The list's order is that of use and does not depend on clocks;
// only between the first pinned one and the first other the times decide.
func lastSession(ctx context.Context, st Store) (harness.Session, error) {
	all, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return harness.Session{}, err
	}
	if len(all) == 0 {
		return harness.Session{}, fail(ExitNotFound, "there is no session to continue; start one with: cairn")
	}
	last := all[0]
	i := slices.IndexFunc(all, func(s harness.Session) bool { return !s.Pinned })
	if i > 0 && all[i].Updated.After(last.Updated) {
		last = all[i]
	}
	return last, nil
}

// findSession finds the session that text names: by its id, else by its whole
// title, else by the start of its id or title. It never guesses between two.
func findSession(ctx context.Context, st Store, text string) (harness.Session, error) {
	id, _, parseErr := harness.ParseSessionID(text)
	if parseErr == nil {
		s, err := st.Sessions.Get(ctx, id)
		if err == nil || !errors.Is(err, harness.ErrNotFound) {
			return s, err
		}
	}
	all, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return harness.Session{}, err
	}
	want := fold(text)
	equal := func(s harness.Session) bool { return fold(s.Title) == want }
	start := func(s harness.Session) bool {
		return strings.HasPrefix(string(s.ID), strings.ToLower(strings.TrimSpace(text))) || strings.HasPrefix(fold(s.Title), want)
	}
	for _, match := range []func(harness.Session) bool{equal, start} {
		found := choose(all, match)
		switch {
		case want == "" || len(found) == 0:
		case len(found) == 1:
			return found[0], nil
		default:
			return harness.Session{}, ambiguous(text, found)
		}
	}
	if parseErr == nil {
		if err := refuseDeleted(ctx, st, id); err != nil {
			return harness.Session{}, err
		}
	}
	return harness.Session{}, noSession(text, all)
}

// fold is a title as it is compared: white space, case and composition do not
// count.
func fold(s string) string {
	return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(s), " ")))
}

func choose(all []harness.Session, match func(harness.Session) bool) []harness.Session {
	var found []harness.Session
	for _, s := range all {
		if match(s) {
			found = append(found, s)
		}
	}
	return found
}

// maxNamed bounds the sessions that an error lists.
const maxNamed = 10

// ambiguous lists the sessions that text could mean, one a line.
func ambiguous(text string, found []harness.Session) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%q could be %d sessions; give the id of one:", text, len(found))
	for i, s := range found {
		if i == maxNamed {
			fmt.Fprintf(&b, "\n  and %d more", len(found)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", s.ID, strings.Join(strings.Fields(s.Title), " "))
	}
	return usage("%s", b.String())
}

// noSession says that nothing has the name, and what is near.
func noSession(text string, all []harness.Session) error {
	var known []string
	for _, s := range all {
		known = append(known, string(s.ID))
		if s.Title != "" {
			known = append(known, s.Title)
		}
	}
	hint := "; see: cairn sessions list"
	if best, ok := nearest(text, known); ok {
		hint = fmt.Sprintf("; did you mean %q?", best)
	}
	return fail(ExitNotFound, "there is no session %q%s", text, hint)
}

// Choice is a setting that is settled for a session, and who chose it.
type Choice struct{ Value, From string }

// fromSession says that a value was set for the session.
const fromSession = "this session"

// modelFor settles the model: a flag now beats what was set for the session,
// and that beats every place of the configuration. Empty means that nobody
// chose.
func (c Config) modelFor(s harness.Session) Choice {
	from, flag := c.From("model")
	return choice(c.Model, from, flag, s.Model)
}

// systemFor settles the system prompt in the same way.
func (c Config) systemFor(s harness.Session) Choice {
	return choice(c.System, "the configuration", c.systemByFlag(), s.System)
}

// systemByFlag reports whether a flag gave the system prompt.
func (c Config) systemByFlag() bool {
	_, text := c.From("system")
	_, file := c.From("system_file")
	return text || file
}

func choice(value, from string, flag bool, session string) Choice {
	switch {
	case flag && value != "", session == "" && value != "":
		return Choice{value, from}
	case session != "":
		return Choice{session, fromSession}
	}
	return Choice{From: "default"}
}
