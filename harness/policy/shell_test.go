package policy

import (
	"testing"

	"cairn/harness/tool"
)

func TestWhatIsChainedToAnAllowedCommandAsks(t *testing.T) {
	t.Parallel()
	r := Rules{Allow: rules(t, "run_command(git status)"), Interactive: true}
	for _, suffix := range []string{
		"; touch P", " && touch P", " || touch P", " | sh", " $(touch P)", " `touch P`", "\ntouch P", " > P", " & touch P", " <(touch P)", " &", " |& sh", "\r\ntouch P",
	} {
		if v := judge(t, r, tool.Call{}, command("git status"+suffix)); v.Permission != tool.Ask {
			t.Errorf("%q: %+v", "git status"+suffix, v)
		}
	}
	for _, text := range []string{"git statusx", "X=1 git status", "/tmp/git status", "./git status", "GIT status", "git -c x=y status", "gitstatus", "git  'status '"} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Ask {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for _, text := range []string{"git status", "git status -s", "git status; git status -s", "'git' \"status\" 2>&1", "git status >/dev/null", "git \\\n status"} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Allow {
			t.Errorf("%q: %+v", text, v)
		}
	}
}
