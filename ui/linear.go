package ui

import (
	"context"
	"io"

	"cairn/ui/chat"
	"cairn/ui/plain"
)

// Plain chats line by line instead of on a screen. Prompted says that a person
// types at a terminal. Theme, Search, Keys and Pick of d are not used.
func Plain(ctx context.Context, d Deps, in io.Reader, out io.Writer, prompted bool) (Exit, error) {
	exit, err := plain.Run(ctx, plain.Deps{
		Chat: chatDeps(d), Watcher: d.Watcher,
		Open:  chat.Open{Session: d.Session, New: d.Fresh, Prompt: d.Prompt, Notices: d.Notices},
		Rules: d.ruleLines(), Grants: d.Grants, Ledger: d.Ledger,
		In: in, Out: out, Prompted: prompted, NewSession: d.NewSession,
	})
	return Exit{Session: exit.Session, Saved: exit.Saved}, err
}

// ruleLines are the rules in words.
func (d Deps) ruleLines() []string {
	var lines []string
	for _, r := range d.Rules {
		lines = append(lines, r.Effect+" "+r.Text+" ("+r.From+")")
	}
	return lines
}
