package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// What is not possible yet may be once the command before it has run, so it is
// judged then.
func TestWhatACommandMayMakePossibleIsJudgedBehindIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		makes  bool
		path   bool // the path is not there, else the text in the file
		person bool
		told   string // empty if a person is asked
	}{
		"the path":              {true, true, true, ""},
		"the text":              {true, false, true, ""},
		"the text, with nobody": {true, false, false, "permission denied: nobody can be asked here"},
		"not the path":          {false, true, true, "not run: it is not there"},
		"not the text":          {false, false, true, "not run: it is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var there atomic.Bool
			missing := func() error {
				if there.Load() {
					return nil
				}
				return errors.New("it is not there")
			}
			command := free(t, "command", func(context.Context, tool.Call) (string, error) {
				there.Store(tc.makes)
				return "made", nil
			}, tool.Sequential(), tool.WithTouches(func(tool.Call) ([]tool.Access, error) {
				return []tool.Access{{Kind: tool.AccessRun, Command: "make"}}, nil
			}))
			edit := free(t, "edit", func(context.Context, tool.Call) (string, error) { return "changed", nil },
				tool.WithPermission(tool.Ask),
				tool.WithTouches(func(tool.Call) ([]tool.Access, error) {
					if tc.path {
						return nil, missing()
					}
					return []tool.Access{{Kind: tool.AccessWrite, Path: "/x"}}, nil
				}),
				tool.WithPropose(func(context.Context, tool.Call) (harness.Proposal, error) {
					return harness.Proposal{Kind: harness.ProposalEdit, Subject: "x"}, missing()
				}))
			tr, state := turn(batch(named("command", "edit")...), with(t, command, edit), policy.Rules{Interactive: tc.person}, &sink{})
			if err := tr.Drive(t.Context(), state); err != nil {
				t.Fatal(err)
			}
			asked := len(tr.State().Pending()) == 1 && there.Load()
			if asked != (tc.told == "") || !asked && !strings.Contains(tr.State().Answer(), tc.told) {
				t.Errorf("it waits for %+v, the model is told %q", tr.State().Pending(), tr.State().Answer())
			}
		})
	}
}
