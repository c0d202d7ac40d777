package ui

import (
	"context"
	"io"
	"os/exec"
	"time"

	"cairn/ui/chat"
	"cairn/ui/plain"
)

// Line is what the linear chat has in the place of a screen.
type Line struct {
	In  io.Reader
	Out io.Writer
	// Prompted says that a person types at a terminal.
	Prompted bool
	// Interrupts receives at ctrl+c; nil means that the context ends instead.
	Interrupts <-chan struct{}
	// Still is how long nothing is said before a line says that an answer is under
	// way; see [plain.Deps].
	Still time.Duration
	// Models and AddKey may be left out; see [plain.Extra].
	Models func(ctx context.Context) ([]plain.Model, error)
	AddKey func(ctx context.Context, model string) error
}

// Plain chats line by line instead of on a screen. Theme and Keys of d are not
// used.
func Plain(ctx context.Context, d Deps, l Line) (Exit, error) {
	extra := plain.Extra{Sessions: d.Sessions, Search: d.Search, Models: l.Models, AddKey: l.AddKey, Pick: d.Pick, Told: d.Told}
	if l.Prompted && named(d.Getenv) {
		extra.Editor = l.editor(d.Getenv)
	}
	exit, err := plain.Run(ctx, plain.Deps{
		Chat: chatDeps(d), Watcher: d.Watcher,
		Open:  chat.Open{Session: d.Session, New: d.Fresh, Prompt: d.Prompt, Notices: d.Notices},
		Rules: d.ruleLines(), Grants: d.Grants, Ledger: d.Ledger,
		In: l.In, Out: l.Out, Prompted: l.Prompted, NewSession: d.NewSession,
		Interrupts: l.Interrupts, Still: l.Still, Extra: extra,
	})
	return Exit{Session: exit.Session, Saved: exit.Saved}, err
}

// named reports whether the person named an editor: one that nobody asked for may
// be unusable without a screen.
func named(getenv func(string) string) bool {
	return getenv != nil && (getenv("VISUAL") != "" || getenv("EDITOR") != "")
}

// editor has a text edited in the person's editor, at the terminal of the chat.
func (l Line) editor(getenv func(string) string) func(ctx context.Context, text, name string) (string, error) {
	return func(ctx context.Context, text, name string) (string, error) {
		path, err := lent(text, name)
		if err != nil {
			return "", err
		}
		args := editor(getenv)
		cmd := exec.CommandContext(ctx, args[0], append(args[1:], path)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = l.In, l.Out, l.Out
		return returned(path, args[0], cmd.Run())
	}
}

// ruleLines are the rules in words.
func (d Deps) ruleLines() []string {
	var lines []string
	for _, r := range d.Rules {
		lines = append(lines, r.Effect+" "+r.Text+" ("+r.From+")")
	}
	return lines
}
