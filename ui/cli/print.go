package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"cairn/harness"
)

// closePatience bounds how long the end of a command waits for its engine.
const closePatience = 10 * time.Second

// printAnswer sends one prompt and prints the answer.
func (a *app) printAnswer(ctx context.Context, words []string) error {
	if a.flags.resumeGiven && strings.TrimSpace(a.flags.resume) == "" {
		return usage("-r needs the id or title of a session here; see: cairn sessions list")
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	// One that is configured is a matter of the screen alone.
	if _, typed := c.From("theme"); typed {
		if err := a.checkTheme(c); err != nil {
			return err
		}
	}
	prompt, err := a.prompt(ctx, words, a.flags.files, true)
	if err != nil {
		return err
	}
	if prompt.empty() {
		return usage("there is no prompt; give one as an argument or through standard input")
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	if prompt, err = prompt.withMentions(ctx, st); err != nil {
		return err
	}
	if prompt, err = a.withServers(ctx, prompt); err != nil {
		return err
	}
	t, err := a.target(ctx, st)
	if err != nil {
		return err
	}
	p := &printing{app: a, store: st, target: t, printer: a.printer(t.session.ID)}
	return p.run(ctx, prompt)
}

// printing is one answer on its way to standard output.
type printing struct {
	*app
	store   Store
	target  target
	printer printer
	lease   harness.Lease
	engine  harness.Engine
	// taker is who asked for the session while the run went on.
	taker harness.Holder
	// dropping says that the run is to end without an answer.
	dropping bool
}

// run sends the prompt and follows the run.
func (p *printing) run(ctx context.Context, prompt sent) error {
	for _, n := range p.target.notices {
		p.printer.notice(n)
	}
	config, err := p.runConfig(ctx)
	if err != nil {
		return err
	}
	m, err := p.models(ctx)
	if err != nil {
		return err
	}
	if err := prompt.acceptable(ctx, m, config.Model); err != nil {
		return err
	}
	return p.drive(ctx, func(work context.Context) (harness.RunHandle, int, error) {
		if err := p.refuseWaiting(work); err != nil {
			return nil, 0, err
		}
		if err := p.noteModel(work, config.Model); err != nil {
			return nil, 0, err
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		h, err := p.engine.Start(work, harness.StartRequest{
			Lease: p.lease, Message: prompt.message(), Config: config, Dir: p.s.Dir,
		})
		if err != nil {
			return nil, 0, startError(p.target.session.ID, err)
		}
		p.remember(work, prompt.text)
		return h, 0, nil
	})
}

// drive takes the session, begins a stretch of a run, follows it from the
// journal entry after that which begin returns, and gives the session back.
func (p *printing) drive(ctx context.Context, begin func(work context.Context) (h harness.RunHandle, after int, err error)) (err error) {
	// What has begun is brought to an orderly end, also when ctx ends.
	work := context.WithoutCancel(ctx)
	meta := p.target.session
	p.lease, err = p.store.Owners.Acquire(ctx, meta, p.holder())
	if err != nil {
		return err
	}
	defer func() {
		if e := p.store.Owners.Release(work, p.lease); err == nil && e != nil {
			err = fmt.Errorf("give back session %s: %w", meta.ID, e)
		}
	}()
	setup, err := p.setup()
	if err != nil {
		return err
	}
	p.engine, err = p.wire.NewEngine(work, p.store, setup)
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	defer func() {
		bounded, cancel := context.WithTimeout(work, closePatience)
		defer cancel()
		if e := p.engine.Close(bounded); err == nil && e != nil {
			err = fmt.Errorf("stop the engine: %w", e)
		}
	}()
	p.fetch(ctx)
	h, after, err := begin(work)
	if err != nil {
		return err
	}
	return p.follow(ctx, work, h, after)
}

// fetchPatience bounds how long a command waits for what runs of the session did
// elsewhere. What follows needs it, and says so if it cannot be had.
const fetchPatience = 5 * time.Second

// fetch hands over to the session what its runs did elsewhere.
func (p *printing) fetch(ctx context.Context) {
	remote, ok := p.engine.(harness.Remote)
	if !ok {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	got, err := remote.Fetch(bounded, p.lease)
	if got.Entries > 0 {
		p.printer.notice(fmt.Sprintf("%s of %s driven elsewhere were fetched", harness.Count(got.Entries, "step"), harness.Count(got.Runs, "run")))
	}
	for _, text := range got.Lost {
		p.printer.notice(text)
	}
	if err != nil && ctx.Err() == nil {
		p.printer.notice("what runs did elsewhere could not be fetched: " + err.Error())
	}
}

// leave gives the run up to who asked for the session: it is paused, or only
// followed no more if others drive it.
func (p *printing) leave(ctx context.Context, id harness.RunID) error {
	if remote, ok := p.engine.(harness.Remote); ok {
		return remote.Leave(ctx, id)
	}
	return p.engine.Pause(ctx, id)
}

// startError words why a run did not start. A provider's reason, such as a
// missing key, has nothing to do with the session.
func startError(id harness.SessionID, err error) error {
	var provider *ProviderError
	if errors.As(err, &provider) {
		return err
	}
	return fmt.Errorf("send to session %s: %w", id, err)
}

// remember adds the prompt to the history. An answer is worth more than its
// prompt's place there, so a failure is only logged.
func (p *printing) remember(ctx context.Context, prompt string) {
	if p.store.Prompts == nil || p.flags.ephemeral || prompt == "" {
		return
	}
	if err := p.store.Prompts.Add(ctx, p.target.session.ID, prompt); err != nil {
		p.log.Warn("add to the prompt history", slog.String("session", string(p.target.session.ID)), slog.Any("error", err))
	}
}

// runConfig settles model and system prompt.
func (p *printing) runConfig(ctx context.Context) (harness.RunConfig, error) {
	c, err := p.config()
	if err != nil {
		return harness.RunConfig{}, err
	}
	m, err := p.models(ctx)
	if err != nil {
		return harness.RunConfig{}, err
	}
	out, err := p.standins(ctx, c)
	if err != nil {
		return harness.RunConfig{}, err
	}
	for _, text := range out {
		p.printer.notice(text)
	}
	model := c.modelFor(p.target.session)
	if model.Value == "" {
		var why string
		if model.Value, why, err = m.Default(ctx); err != nil {
			return harness.RunConfig{}, fmt.Errorf("choose a model: %w", err)
		}
		if offline(model.Value) {
			p.printer.notice(fmt.Sprintf("the built-in offline model answers (%s); set a key such as ANTHROPIC_API_KEY, or choose a model with -m", why))
		}
	} else if model.Value, err = m.Validate(ctx, model.Value); err != nil {
		return harness.RunConfig{}, usage("the model from %s: %w", model.From, err)
	}
	return harness.RunConfig{Agent: cmp.Or(p.wire.Agent, "cairn@1"), Model: model.Value, System: c.systemFor(p.target.session).Value, NoMemory: p.target.session.NoMemory || p.store.Facts == nil}, nil
}

// offline reports whether a model is the built-in one.
func offline(model string) bool {
	provider, _, _ := strings.Cut(model, "/")
	return provider == "offline"
}

// noteModel records in the conversation that another model answers from now
// on.
func (p *printing) noteModel(ctx context.Context, model string) error {
	if !p.target.exists {
		return nil
	}
	tail, err := p.store.Transcript.Tail(ctx, p.target.session.ID, 0, 20)
	if err != nil {
		return err
	}
	before := modelOf(tail)
	if before == "" || before == model {
		return nil
	}
	data, err := encode(harness.ConfigChange{Key: "model", Old: before, New: model}, "")
	if err != nil {
		return err
	}
	_, err = p.store.Transcript.Append(ctx, p.lease, harness.Record{
		Kind: harness.RecordConfig, At: p.s.Now(), Data: []byte(strings.TrimSpace(string(data))),
	})
	if err != nil {
		return fmt.Errorf("note the change of model in session %s: %w", p.target.session.ID, err)
	}
	return nil
}

// modelOf is the model that wrote the last answer, empty if there is none.
func modelOf(records []harness.Record) string {
	for i := len(records) - 1; i >= 0; i-- {
		if m := records[i].Message; m != nil && m.Role == harness.RoleAssistant && m.Model != "" {
			return m.Model
		}
	}
	return ""
}

// follow prints the events of the run after a journal entry until it rests. When
// ctx ends, or the store takes nothing for too long, the run is cancelled; when
// somebody asks for the session it is paused.
func (p *printing) follow(ctx, work context.Context, h harness.RunHandle, after int) error {
	events := h.Events(work, after)
	stop := ctx.Done()
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := p.asked(watching)
	var halt stopping
	var store patience
	var result *harness.Result
	for events != nil {
		select {
		case e, more := <-events:
			if !more {
				events = nil
				break
			}
			store.heed(e)
			if err := p.printer.event(e); err != nil {
				return err
			}
			if e.Type == harness.EventResult {
				result = e.Outcome
			}
		case <-stop:
			stop = nil
			halt.with(func() error { return p.engine.Cancel(work, h.ID()) })
		case <-store.over():
			store.stop()
			halt.with(func() error { return p.engine.Cancel(work, h.ID()) })
		case taker := <-asked:
			asked, p.taker = nil, taker
			halt.with(func() error { return p.leave(work, h.ID()) })
		case err := <-halt.failed():
			return fmt.Errorf("stop run %s: %w", h.ID(), err)
		}
	}
	if result == nil {
		r, err := h.Wait(work)
		if err != nil && (p.taker.PID == 0 || r.Run == "") { // one that was left has a result
			return fmt.Errorf("wait for run %s: %w", h.ID(), err)
		}
		result = &r
	}
	if err := p.printer.end(*result); err != nil {
		return err
	}
	return p.verdict(ctx, *result)
}

// asked receives who wants the session, if anybody does before ctx ends.
func (p *printing) asked(ctx context.Context) <-chan harness.Holder {
	if p.store.Watch == nil || p.flags.ephemeral {
		return nil
	}
	changes, err := p.store.Watch.Watch(ctx)
	if err != nil {
		p.log.Warn("watch the store", slog.Any("error", err))
		return nil
	}
	taker := make(chan harness.Holder, 1)
	go func() {
		// The first look is for who asked before it was watched.
		for more := true; more; _, more = <-changes {
			h, yes, err := p.store.Owners.Asked(ctx, p.lease)
			if err != nil {
				// A lost lease fails the run's own next write, which tells more.
				return
			}
			if yes {
				taker <- h
				return
			}
		}
	}()
	return taker
}
