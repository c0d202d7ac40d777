package chat

import (
	"strings"
	"testing"

	"cairn/ui/chat/attach"
	"cairn/ui/chat/decide"
)

func TestParseSlash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Parsed
	}{
		{"hello", Parsed{Text: "hello"}},
		{"/rename  a new title ", Parsed{Name: "rename", Arg: "a new title", Typed: "rename"}},
		{"/q", Parsed{Name: "quit", Typed: "q"}},
		{"/remember\ntwo\nlines", Parsed{Name: "remember", Arg: "two\nlines", Typed: "remember"}},
		{"//home", Parsed{Text: "/home"}},
		{" /home", Parsed{Text: "/home"}},
		{"/sesions", Parsed{Nearest: "sessions", Typed: "sesions"}},
		{"/mdoel x", Parsed{Nearest: "model", Typed: "mdoel"}},
		{"/hlep", Parsed{Nearest: "help", Typed: "hlep"}},
		{"/exti", Parsed{Nearest: "quit", Typed: "exti"}},
	} {
		if got := ParseSlash(c.text); got != c.want {
			t.Errorf("%q is %+v, not %+v", c.text, got, c.want)
		}
	}
}

func TestSlashNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Slashes() {
		for _, name := range append([]string{s.Name}, s.Other...) {
			if seen[name] {
				t.Errorf("/%s exists twice", name)
			}
			seen[name] = true
		}
		if s.Help == "" {
			t.Errorf("/%s has no help", s.Name)
		}
	}
}

// overIt reports whether an action is of what is drawn over the conversation.
func overIt(action string) bool {
	room, _, _ := strings.Cut(action, ".")
	return room == "tree" || room == "queue" || room == "recall" || room == "context" || room == "pager"
}

func TestEveryActionHasHelpAndOneKeyHasOneMeaning(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	shared := map[string]bool{"home": true, "end": true, "ctrl+d": true, "ctrl+_": true, "tab": true} // by whether the box is empty
	for _, b := range Actions() {
		if decide.Owns(b.Action) || attach.Owns(b.Action) || overIt(b.Action) {
			continue // these come first or alone while they can be used, and are tested there
		}
		if b.Help == "" || b.Group == "" || len(b.Keys) == 0 {
			t.Errorf("%s lacks help, group or keys", b.Action)
		}
		for _, k := range b.Keys {
			if was, ok := seen[k]; ok && !shared[k] {
				t.Errorf("%s means both %s and %s", k, was, b.Action)
			}
			seen[k] = b.Action
		}
	}
}
