package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

// progress says how far a tool is, now and then: a line stays.
func (f *follower) progress(e harness.Event) {
	p := f.p
	if e.Call == nil || e.Progress == nil || !f.pace.Due(e.Call.ID, *e.Progress, p.Chat.Now()) {
		return
	}
	if words := standing.Progress(*e.Progress, "-"); words != "" {
		p.say("tool " + e.Call.Name + ": " + words)
	}
}

// questions is where MCP servers ask the person something, nil if none does.
func (p *plain) questions() <-chan harness.ServerQuestion {
	if p.Chat.Servers == nil || p.asking != "" {
		return nil
	}
	return p.Chat.Servers.Questions()
}

// asked puts to the person what a server asks. Nothing is answered by itself: what
// is left, or what the session is closed over, is cancelled.
func (p *plain) asked(q harness.ServerQuestion) {
	select {
	case <-q.Done:
		return
	default:
	}
	was, gone := p.asking, p.gone
	p.asking, p.gone = q.Server, q.Done
	defer func() { p.asking, p.gone = was, gone }()
	p.say("the MCP server " + q.Server + " asks you:")
	for _, line := range strings.Split(render.Safe(q.Text), "\n") {
		p.out.line("  " + line)
	}
	answer := harness.ServerAnswer{Action: harness.AnswerCancel}
	if q.URL != "" {
		p.say("it asks you to visit this address, which is not opened by itself:")
		p.out.line("  " + render.SafeLine(q.URL))
	}
	agree := "agree"
	if len(q.Fields) > 0 && q.URL == "" {
		agree = "fill it in"
	}
	p.out.line("  1  " + agree)
	p.out.line("  2  decline")
	p.out.line("  3  leave it unanswered (so does an empty line)")
	for done := false; !done; {
		p.out.line("What is the answer? Type a number.")
		line, ok := p.fresh()
		done = true
		switch strings.TrimSpace(line) {
		case "1":
			answer = p.filledIn(q)
		case "2":
			answer.Action = harness.AnswerDecline
		case "3", "":
		default:
			done = !ok
			if ok {
				p.say("type 1, 2 or 3")
			}
		}
	}
	select {
	case <-q.Done:
		p.say("the server " + q.Server + " does not wait for an answer any more")
		return
	default:
	}
	q.Answer(answer)
	p.say(map[harness.AnswerAction]string{
		harness.AnswerAccept: "answered", harness.AnswerDecline: "declined", harness.AnswerCancel: "left unanswered",
	}[answer.Action] + ": " + q.Server)
}

// filledIn asks for one field after the other.
func (p *plain) filledIn(q harness.ServerQuestion) harness.ServerAnswer {
	values := map[string]any{}
	if q.URL != "" {
		q.Fields = nil
	}
	for i, field := range q.Fields {
		p.say(fmt.Sprintf("%d of %d:", i+1, len(q.Fields)))
		v, how := p.field(field)
		if how != harness.AnswerAccept {
			return harness.ServerAnswer{Action: how}
		}
		if v != nil {
			values[field.Name] = v
		}
	}
	return harness.ServerAnswer{Action: harness.AnswerAccept, Values: values}
}

// field asks for one value until it can be sent, or until the whole is left.
func (p *plain) field(field harness.ServerField) (any, harness.AnswerAction) {
	for _, line := range overlay.FieldLines(field) {
		p.out.line("  " + line)
	}
	for {
		p.out.line("Type it; an empty line leaves it as it is. /decline and /leave end the question.")
		line, ok := p.fresh()
		switch word := strings.TrimSpace(line); {
		case !ok || word == "/leave":
			return nil, harness.AnswerCancel
		case word == "/decline":
			return nil, harness.AnswerDecline
		}
		v, wrong := overlay.FieldValue(field, line)
		if wrong == "" {
			return v, harness.AnswerAccept
		}
		p.say(wrong)
	}
}

// call sends the call of a prompt of a server, once it has all that it needs.
func (p *plain) call(c chat.Parsed) {
	if c.Wrong != "" {
		p.say(c.Wrong)
		return
	}
	given := maps.Clone(c.Call.Given)
	for _, f := range c.Call.Fields() {
		if !slices.Contains(c.Call.Missing(), f.Name) {
			continue
		}
		for _, line := range overlay.FieldLines(f) {
			p.out.line("  " + line)
		}
		was := p.asking
		p.asking = c.Call.Name()
		p.out.line("Type it; an empty line sends nothing.")
		line, ok := p.ask()
		p.asking = was
		if line = strings.TrimSpace(line); !ok || line == "" {
			p.say("nothing was sent: /" + c.Call.Name() + " needs " + f.Name)
			return
		}
		given[f.Name] = line
	}
	text := c.Text
	if len(c.Call.Missing()) > 0 {
		text = c.Call.With(given)
	}
	p.message(p.carry(text))
}

// servers lists the MCP servers, to show one, connect it again, or turn it on or off.
func (p *plain) servers() {
	if p.Chat.Servers == nil {
		p.say("no MCP servers are configured: cairn mcp add NAME -- COMMAND adds one, or cairn mcp add NAME URL")
		return
	}
	servers := p.Chat.Servers.List()
	(&list{p: p}).more(len(servers), func(i int) string { return serverWords(servers[i]) })
	help := "a number shows a server; with reconnect, on or off behind it, that is done; an empty line goes back"
	p.menu("servers", len(servers), help, func(w wish) bool {
		i, ok := p.meantOf(w, len(servers))
		if !ok {
			return false
		}
		s := servers[i]
		do := map[string]func(context.Context) error{
			"reconnect": func(ctx context.Context) error { return p.Chat.Servers.Reconnect(ctx, s.Name) },
			"on":        func(ctx context.Context) error { return p.Chat.Servers.Switch(ctx, s.Name, true) },
			"off":       func(ctx context.Context) error { return p.Chat.Servers.Switch(ctx, s.Name, false) },
		}[w.word]
		switch {
		case w.word == "":
			p.server(s)
		case do == nil:
			p.unknown(w)
		default:
			if err := do(p.ctx); err != nil {
				p.say(p.Chat.Words(fmt.Errorf("the server %s: %w", s.Name, err)))
			}
			servers = p.Chat.Servers.List()
			if j := slices.IndexFunc(servers, func(x harness.ServerStatus) bool { return x.Name == s.Name }); j >= 0 {
				p.say(serverWords(servers[j]))
			}
		}
		return false
	})
}

// serverWords are a server in one line.
func serverWords(s harness.ServerStatus) string {
	words := s.Name + ": " + string(s.State) + ", " + s.Transport
	switch s.State {
	case harness.ServerReady:
		words += ", " + harness.Count(len(s.Tools), "tool") + ", " + harness.Count(len(s.Prompts), "prompt") + ", " + harness.Count(len(s.Resources), "resource")
	case harness.ServerFailed:
		words += ", " + s.Err
	case harness.ServerOff, harness.ServerConnecting:
	}
	return render.SafeLine(words)
}

// server shows a server whole.
func (p *plain) server(s harness.ServerStatus) {
	line := func(text string) { p.out.line("  " + render.SafeLine(text)) }
	p.say(serverWords(s))
	line(s.Target)
	if called := strings.TrimSpace(s.Title + " " + s.Version); called != "" {
		line("calls itself " + called)
	}
	for _, t := range s.Tools {
		line("tool " + t.Name + ", asks unless a rule allows it: " + firstOf(t.Help))
	}
	for _, why := range s.Refused {
		line("not offered: " + why)
	}
	for _, x := range s.Prompts {
		line("prompt /" + s.Name + ":" + x.Name + ": " + firstOf(x.Help))
	}
	for _, x := range s.Resources {
		line("resource @" + s.Name + ":" + x.URI + ": " + firstOf(x.Name))
	}
	for _, said := range s.Said {
		line("standard error: " + said)
	}
}

// firstOf is the first line of a text, not too long.
func firstOf(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return render.Truncate(render.SafeLine(first), resultMax, "...")
}
