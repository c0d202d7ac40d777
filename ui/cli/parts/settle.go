package parts

import (
	"context"
	"strings"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/model/offline"
	"cairn/ui/cli"
)

// Settled is the configuration of a turn.
type Settled struct {
	Run harness.RunConfig
	// Info is what is known of the model, with what refusals taught.
	Info model.Info
	// Notice says why the model is the built-in one, empty if it is not.
	Notice string
}

// Settle returns the configuration of a session's next turn: the model given
// with a flag, else the session's own, else what environment and files say,
// else the default rule.
func (p *Start) Settle(ctx context.Context, c cli.ChatSetup, native Native, s harness.Session) (Settled, error) {
	env := p.Environment(c.Setup)
	name, notice := c.Model, ""
	if s.Model != "" && (c.ModelFrom != "--model" || s.ID != c.Session.ID || s.Model != c.Session.Model) {
		name = s.Model // set for the session, or set since the start
	}
	if name == "" {
		var why string
		if name, why = env.Default(ctx); name == offline.ID {
			notice = "No model is set up (" + why + "): this is the built-in one, without weights. For a real one: /model lists them and asks for the key, or set one such as ANTHROPIC_API_KEY."
		}
	}
	name, err := env.Resolve(name)
	if err != nil {
		return Settled{}, err
	}
	system := c.System // settled for the session that was opened
	if s.ID != c.Session.ID {
		if system = s.System; system == "" {
			system = c.Setup.Config.System
		}
	}
	return Settled{
		Run:  harness.RunConfig{Agent: agent.Version, Model: name, System: system, NoMemory: s.NoMemory || c.Store.Facts == nil},
		Info: learned(ctx, native.Limits, env.Catalogue.Info(name)), Notice: notice,
	}, nil
}

// learned returns info with the window that refusals taught, as it is shown. A
// store that cannot tell is told by the turn that asks it.
func learned(ctx context.Context, limits harness.Limits, info model.Info) model.Info {
	if limits == nil || info.OwnWindow || !strings.Contains(info.ID, "/") {
		return info
	}
	if l, err := limits.Get(ctx, info.ID); err == nil && l.Window > 0 && (info.Window <= 0 || l.Window < info.Window) {
		info.Window = l.Window
	}
	return info
}
