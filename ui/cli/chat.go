package cli

import (
	"cmp"
	"context"
	"errors"

	"cairn/themes"
	"cairn/ui/render"
)

// openChat opens the chat and tells afterwards how to come back. A linear chat
// reads its lines from standard input, which is then no part of the prompt.
func (a *app) openChat(ctx context.Context, words []string, linear bool) error {
	a.interactive = true
	given, err := a.prompt(ctx, words, a.flags.files, !linear)
	if err != nil {
		return err
	}
	prompt, err := given.mentions()
	if err != nil {
		return err
	}
	first := a.first(words)
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	t, err := a.target(ctx, st)
	if err != nil {
		return err
	}
	c, err := a.chatSetup(st, t, prompt)
	if err != nil {
		return err
	}
	design, wrong, err := a.chosenTheme(c.Setup.Config)
	if err != nil {
		return err
	}
	c.Design, c.Designs, c.Notices = design, a.themeChoices, append(c.Notices, wrong...)
	if err := a.checkModel(ctx, &c); err != nil {
		return err
	}
	out, err := a.standins(ctx, c.Setup.Config)
	if err != nil {
		return err
	}
	c.Notices = append(c.Notices, out...)
	if first {
		c.Welcome = a.welcome(c)
	}
	if a.logFile != nil {
		a.logFile.ready()
	}
	open := a.wire.Chat
	if c.Plain {
		open = a.openLinear
		if first {
			c.Notices = append(welcomeLines(ctx, c.Welcome, a.words), c.Notices...)
		}
	}
	exit, err := open(ctx, c)
	if exit.Saved && !a.flags.ephemeral && !a.flags.quiet {
		a.out.line("To come back: cairn -r %s", render.SafeLine(string(exit.Session)))
	}
	if errors.Is(err, context.Canceled) || err == nil && ctx.Err() != nil {
		// The conversation is stored; the code alone says why it ended.
		return &silent{code: ExitInterrupted}
	}
	return err
}

// silent ends the program with a code and no sentence.
type silent struct{ code int }

func (s *silent) Error() string { return "" }

// chatSetup settles what the chat opens with.
func (a *app) chatSetup(st Store, t target, prompt string) (ChatSetup, error) {
	// An imported conversation need not have a directory, but tools must.
	t.session.Dir = cmp.Or(t.session.Dir, a.s.Dir)
	if err := a.heedProject(t.session.Dir); err != nil {
		return ChatSetup{}, err
	}
	cfg, err := a.config()
	if err != nil {
		return ChatSetup{}, err
	}
	setup, err := a.setup()
	if err != nil {
		return ChatSetup{}, err
	}
	model := cfg.modelFor(t.session)
	plain := cfg.Plain || a.s.Getenv("TERM") == "dumb"
	return ChatSetup{
		Store: st, Setup: setup, Models: a.models,
		Session: t.session, Exists: t.exists, Pick: t.pick, Prompt: prompt,
		Model: model.Value, ModelFrom: model.From,
		System:  cfg.systemFor(t.session).Value,
		Holder:  a.holder(),
		Export:  a.exporter(st),
		Import:  a.importer(st),
		Doctor:  a.doctor,
		Save:    a.saveSetting,
		Notices: append(t.notices, cfg.Warnings...),
		Told:    a.told,
		Plain:   plain, Color: a.color(), Mouse: cfg.Mouse, Theme: cfg.Theme, Look: a.look(cfg),
		Linear:   a.linearParts(cfg),
		Prompted: a.s.InTTY, In: a.s.In, Out: a.s.Out,
	}, nil
}

// checkModel refuses a misspelt model before the screen opens. What was set
// for the session is shown there instead, so that the chat can change it.
func (a *app) checkModel(ctx context.Context, c *ChatSetup) error {
	if c.Model == "" || c.ModelFrom == fromSession {
		return nil
	}
	m, err := a.models(ctx)
	if err != nil {
		return err
	}
	name, err := m.Validate(ctx, c.Model)
	if err != nil {
		return usage("the model from %s: %w", c.ModelFrom, err)
	}
	c.Model = name
	return nil
}

// color reports whether colours are wanted.
func (a *app) color() bool {
	return a.profile() != themes.NoColor
}
