package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

func (a *app) sessionsFork() *cobra.Command {
	var at int
	var id, title string
	cmd := &cobra.Command{
		Use: "fork SESSION", Short: "Make a session that goes its own way after a message of another",
		Long: `Make a session that goes its own way after a message of another one, which stays as
it is. Nothing is copied: what was said before is read there. The id of the fork is
printed. Without --at it leaves after the last message on screen.`,
		Example: `  cairn sessions fork parser --at 12 --title "with a table"
  cairn -r "$(cairn sessions fork parser)"`,
		Args: exactly(1, "the id or title of a session"),
	}
	f := cmd.Flags()
	f.IntVar(&at, "at", 0, "leave after message `N` of that session, on whatever branch it is")
	f.StringVarP(&id, "session", "s", "", "give the fork this `ID` instead of a fresh one")
	f.StringVar(&title, "title", "", "call the fork `TITLE`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.Changed("at") && at < 1 {
			return usage("--at is the number of a message, from 1; see: cairn sessions show %s", args[0])
		}
		s, err := describedFork(id, f.Changed("session"), title, f.Changed("title"))
		if err != nil {
			return err
		}
		return a.fork(cmd.Context(), args[0], at, s)
	}
	return cmd
}

// describedFork checks the id and title of a fork.
func describedFork(typed string, named bool, title string, titled bool) (harness.Session, error) {
	var s harness.Session
	if named {
		id, changed, err := harness.ParseSessionID(typed)
		if err != nil {
			return s, usage("%w", err)
		}
		s.ID = id
		if changed {
			s.TypedAs = typed
		}
	}
	if err := validText("--title", title); err != nil {
		return s, err
	}
	if s.Title = strings.TrimSpace(title); titled && s.Title == "" {
		return s, usage("--title needs a value")
	}
	return s, nil
}

// fork forks the session that is named and prints the id.
func (a *app) fork(ctx context.Context, name string, at int, s harness.Session) error {
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	parent, err := findSession(ctx, st, name)
	if err != nil {
		return err
	}
	made, err := forkOf(ctx, st, parent, at, s)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.document(made)
	}
	if made.TypedAs != "" {
		a.notice("%q is session %s", made.TypedAs, made.ID)
	}
	a.out.line("%s", made.ID)
	return nil
}

// forkOf forks a session after a message of its own, or at the end of the branch
// on screen.
func forkOf(ctx context.Context, st Store, parent harness.Session, at int, s harness.Session) (harness.Session, error) {
	if at == 0 && parent.OpenRun != "" {
		return s, fail(ExitBusy, "the last answer of session %s is unfinished; finish it first, or fork earlier: cairn sessions fork %s --at MESSAGE", parent.ID, parent.ID)
	}
	made, err := st.Sessions.Fork(ctx, parent.ID, harness.Origin{Record: at}, s)
	switch {
	case errors.Is(err, harness.ErrExists):
		return made, usage("there is a session %s already; give the fork another id", s.ID)
	case errors.Is(err, harness.ErrNotFound) && at > 0:
		return made, fail(ExitNotFound, "session %s has no message %d of its own; see: cairn sessions show %s", parent.ID, at, parent.ID)
	case errors.Is(err, harness.ErrNotFound):
		return made, fail(ExitNotFound, "session %s has no message to leave after", parent.ID)
	case err != nil:
		return made, fmt.Errorf("fork session %s: %w", parent.ID, err)
	}
	return made, nil
}

// forked is the fork that --fork asks for of the session that was found. It is
// stored before the chat opens, so a model that cannot be is refused first.
func (a *app) forked(ctx context.Context, st Store, t target) (target, error) {
	if !t.exists {
		return target{}, fail(ExitNotFound, "there is no session %s to fork; see: cairn sessions list", t.session.ID)
	}
	s, err := a.newSession("")
	if err != nil {
		return target{}, err
	}
	s.Dir = "" // that of the session
	if s.Model != "" {
		m, err := a.models(ctx)
		if err != nil {
			return target{}, err
		}
		if s.Model, err = m.Validate(ctx, s.Model); err != nil {
			return target{}, usage("the model from -m: %w", err)
		}
	}
	made, err := forkOf(ctx, st, t.session, 0, s)
	if err != nil {
		return target{}, err
	}
	return target{session: made, exists: true, notices: append(t.notices, fmt.Sprintf("session %s is a fork of %s", made.ID, t.session.ID))}, nil
}
