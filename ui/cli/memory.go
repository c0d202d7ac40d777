package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// memoryFlags defines the filters that facts and notes share.
func memoryFlags(cmd *cobra.Command, f *harness.MemoryFilter) {
	cmd.Flags().StringVar(&f.Tag, "tag", "", "only those with the tag `TAG`")
	cmd.Flags().StringVar((*string)(&f.State), "state", "", "only those that are `STATE`: active (default), off, trashed, or all for active and off")
	limitFlag(cmd, &f.Limit)
}

// memoryFilter checks a filter and adds the words.
func (a *app) memoryFilter(f *harness.MemoryFilter, words []string) error {
	f.Query = joined(words)
	states := []string{string(harness.StateActive), string(harness.StateOff), string(harness.StateTrashed), "all"}
	switch s := string(f.State); {
	case s == "all":
		f.State = harness.StateAny
	case s != "" && !slices.Contains(states, s):
		return usage("there is no state %q%s", s, suggest(s, "", states))
	}
	return nil
}

// memoryID is the id of a fact or note as stored.
func memoryID(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// memoryError words a failure about one fact or note.
func memoryError(what, kind, id string, err error) error {
	if errors.Is(err, harness.ErrNotFound) {
		return fail(ExitNotFound, "there is no %s %q; see: cairn %ss list", kind, id, kind)
	}
	if errors.Is(err, harness.ErrSecret) {
		return usage("%w", err)
	}
	return fmt.Errorf("%s %s %s: %w", what, kind, id, err)
}

// eachOf is a cobra action that is one for each argument.
func (a *app) eachOf(f func(ctx context.Context, st Store, arg string) error) func(*cobra.Command, []string) error {
	return runner(func(ctx context.Context, args []string) error {
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		for _, arg := range args {
			if err := f(ctx, st, arg); err != nil {
				return err
			}
		}
		return nil
	})
}

// forgotten tells that a fact or note is in the trash.
func (a *app) forgotten(kind, id string) error {
	if a.flags.json {
		return a.out.object(struct {
			ID    string            `json:"id"`
			State harness.FactState `json:"state"`
		}{id, harness.StateTrashed})
	}
	a.out.line("forgot %s; for 30 days it comes back with: cairn %ss restore %s", id, kind, id)
	return nil
}

// saveError words a failure to save a new fact or note.
func saveError(kind string, err error) error {
	if errors.Is(err, harness.ErrSecret) {
		return usage("%w", err)
	}
	return fmt.Errorf("save the %s: %w", kind, err)
}

// secretsRule is what people should know of memory before they write to it.
const secretsRule = `Memory keeps no keys or passwords: what looks like one is refused, because
facts and notes go out with requests. Save where to find it instead.`

// oneToEdit wants the id of what is to be changed, and names the flag that the
// new text belongs into.
func oneToEdit(what, flag string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage("%s takes the new text with --%s: %s %s --%s %q", cmd.CommandPath(), flag, cmd.CommandPath(), args[0], flag, strings.Join(args[1:], " "))
		}
		return exactly(1, what)(cmd, args)
	}
}

// memoryWord is a list's word about a fact or note.
func memoryWord(s harness.FactState, pinned bool) string {
	switch {
	case s != harness.StateActive:
		return string(s)
	case pinned:
		return "pinned"
	}
	return ""
}

// tags are tags as people write them.
func tags(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "#" + strings.Join(list, " #")
}

// memoryEdit are the values of the flags that change a fact or note.
type memoryEdit struct {
	text, title, category string
	tags                  []string
	pin, unpin, on, off   bool
}

// flags defines what facts and notes share.
func (m *memoryEdit) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&m.tags, "tag", nil, "have the tags `TAG` instead of the old ones (repeatable)")
	f.BoolVar(&m.pin, "pin", false, "put it into every request")
	f.BoolVar(&m.unpin, "unpin", false, "no longer put it into every request")
	f.BoolVar(&m.on, "on", false, "recall it again")
	f.BoolVar(&m.off, "off", false, "keep it and do not recall it")
}

// check refuses an edit that says nothing or contradicts itself.
func (m *memoryEdit) check(cmd *cobra.Command) error {
	switch {
	case m.pin && m.unpin:
		return usage("--pin and --unpin contradict each other; give one of them")
	case m.on && m.off:
		return usage("--on and --off contradict each other; give one of them")
	case !changed(cmd):
		return usage("nothing is to be changed; see: %s --help", cmd.CommandPath())
	}
	return nil
}

// changed reports whether a flag of the command itself was given.
func changed(cmd *cobra.Command) bool {
	for _, name := range []string{"text", "title", "body", "category", "tag", "pin", "unpin", "on", "off"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return true
		}
	}
	return false
}

func (m *memoryEdit) pinned() *bool {
	if !m.pin && !m.unpin {
		return nil
	}
	return &m.pin
}

func (m *memoryEdit) state() *harness.FactState {
	state := harness.StateActive
	switch {
	case m.off:
		state = harness.StateOff
	case !m.on:
		return nil
	}
	return &state
}

// given is the value of a flag, nil if the flag was not given.
func given[T any](cmd *cobra.Command, name string, value *T) *T {
	if f := cmd.Flags().Lookup(name); f == nil || !f.Changed {
		return nil
	}
	return value
}

// textOf is the words as text, or standard input if the only word is "-".
func (a *app) textOf(ctx context.Context, words []string) (string, error) {
	if len(words) == 1 && words[0] == "-" {
		return a.readStdin(ctx)
	}
	return strings.Join(words, " "), nil
}
