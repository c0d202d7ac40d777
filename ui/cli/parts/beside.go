package parts

import (
	"context"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/memory/distill"
	"cairn/harness/memory/title"
	"cairn/harness/model"
	"cairn/harness/model/choose"
	"cairn/harness/tool"
	"cairn/ui/cli"
)

// Distiller reads conversations for what is worth keeping; nil if nobody wants
// that.
func (p *Start) Distiller(c cli.ChatSetup, native Native) *distill.Distiller {
	if c.Setup.Distill == distill.Off || c.Store.Facts == nil || c.Store.Inbox == nil {
		return nil
	}
	return &distill.Distiller{
		Inbox: c.Store.Inbox, Facts: c.Store.Facts, Transcript: c.Store.Transcript, Sessions: c.Store.Sessions,
		Owners: c.Store.Owners, Run: native.Journal.Get, Mode: c.Setup.Distill, Holder: c.Holder, Now: c.Setup.Now, Log: c.Setup.Log, Budget: budget(c.Setup, native),
		Model: p.own(c, native),
	}
}

// Titler names conversations; nil if nobody wants that.
func (p *Start) Titler(c cli.ChatSetup, native Native) func(context.Context, harness.SessionID) error {
	if c.Setup.Config.Title != cli.TitleModel {
		return nil
	}
	t := title.Titler{
		Sessions: c.Store.Sessions, Transcript: c.Store.Transcript, Model: p.own(c, native), Book: c.Store.Ledger.Book, Log: c.Setup.Log, Budget: budget(c.Setup, native),
	}
	return t.Session
}

// own returns the model that a session talks to, for what is asked of it beside
// the conversation.
func (p *Start) own(c cli.ChatSetup, native Native) func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
	env := p.Environment(c.Setup)
	return func(ctx context.Context, s harness.Session) (model.Model, model.Info, string, error) {
		set, err := p.Settle(ctx, c, native, s)
		if err != nil {
			return nil, model.Info{}, "", err
		}
		m, info, err := choose.Build(ctx, set.Run.Model, env)
		return m, info, set.Run.Model, err
	}
}

// Condenser condenses conversations on request and shows what fills their
// windows. set are the tools that runs have.
func (p *Start) Condenser(c cli.ChatSetup, native Native, set *tool.Set) *condense.Sessions {
	full, plain := composers(c.Store, c.Setup)
	return &condense.Sessions{
		Sessions: c.Store.Sessions, Transcript: c.Store.Transcript, Model: p.own(c, native), Limits: native.Limits,
		Book: c.Store.Ledger.Book, Budget: budget(c.Setup, native), Now: c.Setup.Now,
		Request: func(ctx context.Context, s harness.Session) (memory.In, error) {
			settled, err := p.Settle(ctx, c, native, s)
			return memory.In{Session: s.ID, System: settled.Run.System, Dir: c.Session.Dir, Now: c.Setup.Now(), Tools: set.Specs()}, err
		},
		Compose: func(ctx context.Context, in memory.In) (memory.Out, error) {
			if s, err := c.Store.Sessions.Get(ctx, in.Session); err == nil && s.NoMemory {
				return plain.Compose(ctx, in)
			}
			return full.Compose(ctx, in)
		},
	}
}
