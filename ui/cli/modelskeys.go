package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"cairn/ui/cli/keyring"
)

// maxTyped bounds what is read as a key.
const maxTyped = 64 << 10

// modelsKeysCommand is `cairn models keys`.
func (a *app) modelsKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "List, keep and forget the keys of providers; none is ever shown",
		Long: "Keys that are kept here go into the keyring of the system where that works, else into " + keyring.FileName + " beside the configuration, readable by you alone.\n" +
			"A key is looked for in the environment, then in the configuration, then in that file, and last in the keyring.",
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error { return a.listKeys(ctx) }),
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "Say of each provider where its key is, never the key", Args: exactly(0, ""),
			RunE: runner(func(ctx context.Context, _ []string) error { return a.listKeys(ctx) }),
		},
		&cobra.Command{
			Use: "set PROVIDER", Short: "Keep a key, read from standard input or typed without being seen", Args: exactly(1, "the name of a provider"),
			RunE: runner(func(ctx context.Context, args []string) error { return a.setKey(ctx, args[0]) }),
		},
		&cobra.Command{
			Use: "remove PROVIDER", Short: "Forget a key that is kept", Args: exactly(1, "the name of a provider"),
			RunE: runner(func(ctx context.Context, args []string) error { return a.removeKey(ctx, args[0]) }),
		},
	)
	return cmd
}

// KeptKey says where a provider's key is. It never holds the key.
type KeptKey struct {
	Provider string `json:"provider"`
	// From is where the key that counts is from; empty means that there is none.
	From string `json:"from,omitempty"`
	// Kept is where cairn keeps one, whether it counts or not.
	Kept string `json:"kept,omitempty"`
	// Wanted is the variable that would hold it.
	Wanted string `json:"wanted,omitempty"`
}

func (a *app) listKeys(ctx context.Context) error {
	m, err := a.models(ctx)
	if err != nil {
		return err
	}
	states, err := m.Keys(ctx)
	if err != nil {
		return fmt.Errorf("list the keys: %w", err)
	}
	kept := a.keys.Providers()
	var list []KeptKey
	for _, s := range states {
		list = append(list, KeptKey{Provider: s.Provider, From: s.From, Kept: string(kept[s.Provider]), Wanted: s.Wanted})
		delete(kept, s.Provider)
	}
	for _, name := range sortedKeys(kept) { // of providers that are not known any more
		list = append(list, KeptKey{Provider: name, Kept: string(kept[name])})
	}
	if a.flags.json {
		return a.out.document(orEmpty(list))
	}
	var t table
	for _, k := range list {
		text := "no key; set " + k.Wanted + ", or run: cairn models keys set " + k.Provider
		switch {
		case k.From == "" && k.Kept != "":
			text = "kept in " + k.Kept + ", and no such provider is known"
		case k.From != "" && k.Kept != "" && k.Kept != k.From:
			text = "key from " + k.From + "; the one in " + k.Kept + " is not used"
		case k.From != "":
			text = "key from " + k.From
		}
		t.add(k.Provider, text)
	}
	t.write(a.out, a.s.Width)
	return nil
}

// keyedProvider is a provider as it is called that may have a key.
func (a *app) keyedProvider(ctx context.Context, typed string) (string, error) {
	name := strings.ToLower(strings.TrimSpace(typed))
	c, err := a.config()
	if err != nil {
		return "", err
	}
	m, err := a.models(ctx)
	if err != nil {
		return "", err
	}
	list, err := m.List(ctx)
	if err != nil {
		return "", fmt.Errorf("list models: %w", err)
	}
	names, local := sortedKeys(c.Providers), false
	for _, x := range list {
		provider, _, _ := strings.Cut(x.Name, "/")
		names = append(names, provider)
		local = local || x.Local && provider == name
	}
	slices.Sort(names)
	names = slices.Compact(names)
	_, own := c.Providers[name]
	switch {
	case own, slices.Contains(names, name) && !local:
		return name, nil
	case !local:
		_, err := m.Validate(ctx, name+"/model")
		local = err == nil // a server whose models are not known before it is asked
	}
	if local {
		return "", usage("%s needs no key", name)
	}
	return "", usage("there is no provider %q%s", typed, suggest(name, "", names))
}

func (a *app) setKey(ctx context.Context, typed string) error {
	provider, err := a.keyedProvider(ctx, typed)
	if err != nil {
		return err
	}
	key, err := a.typedKey(ctx, provider)
	if err != nil {
		return err
	}
	if err := keyring.Check(key); err != nil {
		return usage("%w", err)
	}
	at, err := a.keys.Set(ctx, provider, key)
	if err != nil {
		return err
	}
	if doubt := keyring.Doubt(provider, key); doubt != "" {
		a.notice("%s; it is kept all the same", doubt)
	}
	a.out.line("The key of %s is kept in %s.", provider, keptIn(at, a.keys.File()))
	m, err := a.models(ctx)
	if err != nil {
		return err
	}
	states, err := m.Keys(ctx)
	if err != nil {
		return fmt.Errorf("list the keys: %w", err)
	}
	for _, s := range states {
		if s.Provider == provider && s.From != "" && s.From != string(at) {
			a.notice("the key from %s wins over it", s.From)
		}
	}
	return nil
}

// keptIn names where a key is, a file with its path.
func keptIn(at keyring.Place, file string) string {
	if at == keyring.InFile {
		return file
	}
	return string(at)
}

func (a *app) removeKey(ctx context.Context, typed string) error {
	if _, err := a.config(); err != nil {
		return err
	}
	provider := strings.ToLower(strings.TrimSpace(typed))
	at, err := a.keys.Remove(ctx, provider)
	switch {
	case errors.Is(err, keyring.ErrNoKey):
		return fail(ExitNotFound, "no key of %s is kept here%s", typed, suggest(provider, "", sortedKeys(a.keys.Providers())))
	case err != nil:
		return err
	}
	a.out.line("The key of %s is gone from %s.", provider, keptIn(at, a.keys.File()))
	return nil
}

// typedKey reads a key: a line of standard input, or what is typed at the terminal,
// which does not show it.
func (a *app) typedKey(ctx context.Context, provider string) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := func() line {
		text, err := bufio.NewReader(io.LimitReader(a.s.In, maxTyped)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line{text, err}
	}
	restore := func() error { return nil }
	if f, ok := a.s.In.(*os.File); ok && a.s.InTTY {
		before, err := term.GetState(f.Fd())
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		restore = func() error { return term.Restore(f.Fd(), before) }
		fmt.Fprintf(a.s.Err, "Key of %s (it is not shown): ", provider) //nolint:errcheck // who cannot read it types all the same
		read = func() line {
			text, err := term.ReadPassword(f.Fd())
			fmt.Fprintln(a.s.Err) //nolint:errcheck // as above
			return line{string(text), err}
		}
	}
	done := make(chan line, 1)
	go func() { done <- read() }()
	select {
	case l := <-done:
		if l.err != nil {
			return "", fmt.Errorf("read the key: %w", l.err)
		}
		return strings.TrimSpace(l.text), nil
	case <-ctx.Done():
		return "", cmp.Or(restore(), ctx.Err())
	}
}
