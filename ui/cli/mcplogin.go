package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/ui/cli/keyring"
	"cairn/ui/render"
)

// mcpLogin is `cairn mcp login`.
func (a *app) mcpLogin() *cobra.Command {
	stay := false
	cmd := &cobra.Command{
		Use: "login NAME", Short: "Sign in to an MCP server that asks for it, in a browser",
		Long: "Sign in with OAuth to an MCP server that has a url and asks for it. The address to open is printed, and opened in a browser where there is a display; " +
			"the answer comes back to this machine. If the browser is on another one, as over ssh, it ends at a page that cannot be reached: paste the address of that page here.\n\n" +
			"What the server gives is kept in the keyring of the system where that works, else in " + keyring.FileName + " beside the configuration, readable by you alone, for that address alone. " +
			"It is renewed by itself as long as the server lets it.",
		Args: exactly(1, oneServer), ValidArgsFunction: a.completeServer,
	}
	cmd.Flags().BoolVar(&stay, "no-browser", false, "print the address, and open nothing")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		s, err := a.mcpServer(args[0])
		if err != nil {
			return err
		}
		if s.URL == "" {
			return usage("MCP server %s is a program; one signs in to servers that have a url", s.Name)
		}
		if err := a.signIn(ctx, s, stay); err != nil {
			return err
		}
		if !a.flags.json {
			a.out.line("You are signed in to %s; that is kept in %s.", s.Name, keptIn(a.keys.SignIns().Kept(s.Name), a.keys.File()))
		}
		s.Off = false
		t, err := a.try(ctx, s)
		if err != nil {
			return err
		}
		if a.flags.json {
			err = a.out.document(t)
		} else {
			a.printTested(t)
		}
		if t.State != harness.ServerReady && err == nil {
			err = fail(ExitFailed, "you are signed in, and MCP server %s cannot be had all the same", s.Name)
		}
		return err
	})
	return cmd
}

// signIn signs the person in to a server.
func (a *app) signIn(ctx context.Context, s MCPServer, stay bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	open := func(context.Context, string) error { return nil }
	if a.wire.Browser != nil && !stay {
		if o := a.wire.Browser(a.s.Getenv); o != nil {
			open = o
		}
	}
	tell := a.out.line
	if a.flags.json { // the output is for what comes of it
		tell = func(format string, args ...any) { a.complain(render.SafeLine(fmt.Sprintf(format, args...))) }
	}
	err := mcp.Login(ctx, s.Server, mcp.LoginOptions{
		SignIns: a.keys.SignIns(), Pasted: a.pasted(ctx), Say: func(text string) { a.complain(render.SafeLine(text)) },
		Show: func(address string) {
			tell("Open this address in a browser to sign in to %s:", s.Name)
			tell("%s", address)
			tell("If the browser cannot reach this machine afterwards, paste the address that it was sent to here. Ctrl+C gives up.")
			go func() {
				if err := open(ctx, address); err != nil && ctx.Err() == nil {
					a.notice("no browser was opened: %v", err)
				}
			}()
		},
	})
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, mcp.ErrConfig):
		return err
	}
	return fail(ExitFailed, "MCP server %s: %s", s.Name, render.SafeLine(err.Error()))
}

// pasted gives the lines that the person types until ctx ends.
func (a *app) pasted(ctx context.Context) <-chan string {
	lines := make(chan string)
	if a.s.In == nil {
		return nil
	}
	go func() {
		defer close(lines)
		in := bufio.NewReaderSize(io.LimitReader(a.s.In, maxTyped), maxTyped)
		for {
			text, err := in.ReadString('\n')
			if text = strings.TrimSpace(text); text != "" {
				select {
				case lines <- text:
				case <-ctx.Done():
					return
				}
			}
			if err != nil { // nothing is typed any more
				return
			}
		}
	}()
	return lines
}

// mcpLogout is `cairn mcp logout`.
func (a *app) mcpLogout() *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget the sign-in to an MCP server",
		Long: "Forget the sign-in to an MCP server, also to one that is no longer configured. The server itself is told nothing; what it lists of programs with access can be ended there.",
		Args: exactly(1, oneServer), ValidArgsFunction: a.completeServer,
		RunE: runner(func(ctx context.Context, args []string) error {
			if _, err := a.config(); err != nil {
				return err
			}
			at, err := a.keys.SignIns().Forget(ctx, args[0])
			switch {
			case errors.Is(err, keyring.ErrNoKey):
				return fail(ExitNotFound, "you are not signed in to an MCP server %q; see: cairn mcp list", args[0])
			case err != nil:
				return err
			}
			if a.flags.json {
				return a.out.document(map[string]any{"name": args[0], "signed_in": false, "from": at})
			}
			a.out.line("The sign-in to %s is gone from %s; chats that are open use it until they are left.", args[0], keptIn(at, a.keys.File()))
			return nil
		}),
	}
}

// signedIn reports whether the person signed in to a server.
func (a *app) signedIn(s MCPServer) bool {
	return s.URL != "" && a.keys.SignIns().Where(s.Name, s.URL) != keyring.Nowhere
}
