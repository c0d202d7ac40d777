package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"cairn/harness"
	"cairn/ui/overlay"
)

// first reports whether this is the very first start, by a person who asked for
// nothing: no configuration, no store, no flag, no prompt. It is to be asked before
// the store is opened, which makes one.
func (a *app) first(words []string) bool {
	c, err := a.config()
	if err != nil || !c.Welcome || !a.s.InTTY || !a.s.OutTTY || len(words) > 0 || a.asked || c.Dir == "" || a.storeExists(c.Dir) {
		return false
	}
	_, err = os.Stat(c.File)
	return c.File == "" || errors.Is(err, fs.ErrNotExist)
}

// asks reports whether a flag was given that says what is wanted. Those that only
// say how things look and how much is told do not.
func asks(given *pflag.FlagSet) bool {
	found := false
	given.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "theme", "plain", "no-mouse", "no-color", "verbose", "log":
		default:
			found = true
		}
	})
	return found
}

// welcome is what the first start shows.
func (a *app) welcome(c ChatSetup) *overlay.WelcomeConfig {
	return &overlay.WelcomeConfig{
		Places: a.places(c.Setup.Config),
		Keys: func(ctx context.Context) ([]overlay.WelcomeKey, error) {
			m, err := c.Models(ctx)
			if err != nil {
				return nil, err
			}
			all, err := m.Keys(ctx)
			var found []overlay.WelcomeKey
			for _, k := range all {
				if k.From != "" {
					found = append(found, overlay.WelcomeKey{Provider: k.Provider, From: k.From})
				}
			}
			return found, err
		},
		Servers: func(ctx context.Context) ([]overlay.WelcomeServer, error) {
			ctx, cancel := context.WithTimeout(ctx, probePatience)
			defer cancel()
			m, err := c.Models(ctx)
			if err != nil {
				return nil, err
			}
			all, err := m.Servers(ctx)
			var found []overlay.WelcomeServer
			for _, s := range all {
				found = append(found, overlay.WelcomeServer{Name: s.Name, Address: withoutUser(s.Address), Models: len(s.Models)})
			}
			return found, err
		},
		Model: func(ctx context.Context) (name, why string, err error) {
			if c.Model != "" {
				return c.Model, "set by " + c.ModelFrom, nil
			}
			ctx, cancel := context.WithTimeout(ctx, probePatience)
			defer cancel()
			m, err := c.Models(ctx)
			if err != nil {
				return "", "", err
			}
			name, why, err = m.Default(ctx)
			if offline(name) {
				why += ": the built-in one, without weights"
			}
			return name, why, err
		},
	}
}

// places are where things are kept, as a person would write them.
func (a *app) places(c Config) []overlay.WelcomePlace {
	get := a.s.Getenv
	list := []overlay.WelcomePlace{{What: "Kept in", Path: homely(get, c.Dir), Holds: "conversations, memory, drafts"}}
	if c.File != "" {
		list = append(list, overlay.WelcomePlace{What: "Settings", Path: homely(get, c.File), Holds: "none needed"})
	}
	if dir, err := stateDir(a.s); err == nil {
		list = append(list, overlay.WelcomePlace{What: "Log", Path: homely(get, filepath.Join(dir, "cairn.log")), Holds: "no keys, no messages"})
	}
	return list
}

// welcomeLines is the welcome of the linear chat, in three lines.
func welcomeLines(ctx context.Context, w *overlay.WelcomeConfig, words func(error) string) []string {
	name, why, err := w.Model(ctx)
	first := "Welcome to cairn. The model that answers is " + name + ": " + why + "."
	if err != nil {
		first = "Welcome to cairn. " + words(err)
	}
	var found []string
	if keys, err := w.Keys(ctx); err == nil {
		for _, k := range keys {
			found = append(found, "a key for "+k.Provider+" in "+k.From)
		}
	}
	if servers, err := w.Servers(ctx); err == nil {
		for _, s := range servers {
			found = append(found, s.Name+" at "+s.Address+" with "+harness.Count(s.Models, "model"))
		}
	}
	second := "Found: " + strings.Join(found, ", ") + "."
	if found == nil {
		second = "Found neither a key such as ANTHROPIC_API_KEY nor a local server."
	}
	var kept []string
	for _, p := range w.Places {
		kept = append(kept, strings.ToLower(p.What)+" "+p.Path)
	}
	return []string{first, second, "Where things are: " + strings.Join(kept, ", ") + ". Nothing is sent anywhere but to the model. /help lists the commands."}
}
