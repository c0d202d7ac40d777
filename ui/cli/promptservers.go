package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cairn/harness"
	chatfiles "cairn/ui/chat/attach"
)

// withServers adds what the words of a prompt want of MCP servers: the resources that
// they mention, as "@server:uri", and what the prompt of a server is filled in with
// that they call, as "/server:prompt". What comes through standard input wants
// nothing of them. Without such words no server is connected to.
func (a *app) withServers(ctx context.Context, s sent) (sent, error) {
	if a.wire.Servers == nil || !a.wants(s.typed) {
		return s, nil
	}
	setup, err := a.setup()
	if err != nil {
		return sent{}, err
	}
	servers, err := a.wire.Servers(ctx, setup)
	if err != nil || servers == nil {
		return s, err
	}
	files := chatfiles.Remote{Servers: servers}.With(chatfiles.Files{
		Look:  func(context.Context, string) (chatfiles.Seen, error) { return chatfiles.Seen{}, fs.ErrNotExist },
		Read:  func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
		Bytes: Attachable,
	})
	parts, _, err := files.Fill(ctx, s.typed)
	if err != nil {
		return sent{}, notWanted(ctx, err)
	}
	var seen []string
	for _, m := range chatfiles.Mentions(s.typed) {
		if !files.Named(m.Path) || slices.Contains(seen, m.Path) {
			continue
		}
		seen = append(seen, m.Path)
		more, err := files.Resource(ctx, m.Path, "")
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has no address: it is only text
		case err != nil:
			return sent{}, notWanted(ctx, err)
		}
		parts = append(parts, more...)
	}
	for _, p := range parts {
		s.files = append(s.files, attached{name: p.File.Name, part: p})
	}
	return s, nil
}

// wants reports whether words begin with the call of a prompt, or mention a resource,
// of a server that is configured.
func (a *app) wants(typed string) bool {
	names := []string{}
	for _, s := range a.cfg.MCP {
		names = append(names, s.Name)
	}
	named := func(text string) bool {
		name, rest, ok := strings.Cut(text, ":")
		return ok && rest != "" && slices.Contains(names, name)
	}
	if call, ok := strings.CutPrefix(typed, "/"); ok && named(call) {
		return true
	}
	return slices.ContainsFunc(chatfiles.Mentions(typed), func(m chatfiles.Mention) bool { return named(m.Path) })
}

// notWanted is an error about what a server did not give.
func notWanted(ctx context.Context, err error) error {
	var refused *chatfiles.RefusedError
	if ctx.Err() == nil && errors.As(err, &refused) {
		return usage("%w", err)
	}
	return err
}
