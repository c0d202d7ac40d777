package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"cairn/harness"
	"cairn/harness/tool"
)

// Options are what a [Manager] is made of.
type Options struct {
	// Servers are those of the configuration. Each must pass [Check], and no two have
	// the same name.
	Servers []Server
	// Environ is the environment of this process, of which a server gets the short
	// list of harmless variables; nil means [os.Environ].
	Environ func() []string
	// Interactive says that somebody receives the [Manager.Questions]. Without it
	// servers are told that nobody can be asked.
	Interactive bool
	// SignIns keeps what the person got by signing in to servers that ask for that, see
	// [Login]. Nothing here ever asks the person to; nil means that nobody can sign in.
	SignIns SignIns
	// Absent says that calls are made for somebody who is not here, such as the
	// person of a chat that left its run to a worker. Servers that offer more tools
	// where a person can be asked offer the same here as there, and what they ask is
	// cancelled. It counts without Interactive only.
	Absent bool
	// Name and Version are what servers are told of this program; empty means
	// "cairn" and no version.
	Name, Version string
	// Log gets what servers say besides their answers; nil means nothing is logged.
	Log *slog.Logger
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

var _ harness.Servers = (*Manager)(nil)

const (
	// group is that of the servers' tools in a set.
	group = "mcp"
	// closing bounds Close. It takes well below a second, as all that it waits for is
	// bounded, but on a machine that is busy.
	closing = 5 * time.Second
)

// Manager holds the connections to the MCP servers of a process. Its methods are safe
// for concurrent use.
type Manager struct {
	o Options
	// links are in the order of their names.
	links     []*link
	questions chan harness.ServerQuestion
	// ctx ends when the manager is closed.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	started bool
	closed  bool
	changed chan struct{}

	// tooling is held while the tools of sets change, so that the last change counts.
	tooling sync.Mutex
	// sets are not held here: what nobody uses any more needs no tools.
	sets []weak.Pointer[tool.Set]
	// clashes says of each server which of its tools have names that are taken.
	clashes map[string][]string
	// shown are the tools of each server that are in the sets.
	shown map[string][]harness.ServerTool
}

// New returns a manager of servers, none of which is connected yet: see
// [Manager.Start].
func New(o Options) (*Manager, error) {
	o.Name = cmp.Or(o.Name, "cairn")
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	m := &Manager{
		o: o, questions: make(chan harness.ServerQuestion), changed: make(chan struct{}),
		clashes: map[string][]string{}, shown: map[string][]harness.ServerTool{},
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	servers := slices.Clone(o.Servers)
	slices.SortStableFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	for i, s := range servers {
		if err := Check(s); err != nil {
			return nil, err
		}
		if i > 0 && strings.EqualFold(servers[i-1].Name, s.Name) {
			return nil, fmt.Errorf("MCP server %.40q: %w: there are two of this name", s.Name, ErrConfig)
		}
		m.links = append(m.links, newLink(m, s))
	}
	return m, nil
}

func (m *Manager) now() time.Time { return m.o.Now() }

// Start connects to all servers that are not off, in the background, and returns at
// once. A second call does nothing. The connections outlive ctx; [Manager.Close] ends
// them.
func (m *Manager) Start(context.Context) {
	m.mu.Lock()
	started := m.started
	m.started = true
	m.mu.Unlock()
	if started {
		return
	}
	for _, l := range m.links {
		l.mu.Lock()
		if l.on && l.live == nil && m.ctx.Err() == nil {
			l.connect()
		}
		l.mu.Unlock()
	}
}

// Ready waits until each server that is not off is ready or failed, or ctx ends. It
// starts what was not.
func (m *Manager) Ready(ctx context.Context) error {
	m.Start(ctx)
	for {
		changed := m.Changed()
		if !slices.ContainsFunc(m.links, (*link).connecting) {
			return nil
		}
		select {
		case <-changed:
		case <-m.ctx.Done():
			return harness.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("wait for the MCP servers: %w", ctx.Err())
		}
	}
}

// connecting reports whether it is not known yet how a server is.
func (l *link) connecting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state == harness.ServerConnecting
}

// Attach gives a set the tools of the servers, now and after each change. It may be
// called for several sets, and holds none of them.
func (m *Manager) Attach(set *tool.Set) {
	m.tooling.Lock()
	if !slices.ContainsFunc(m.sets, func(p weak.Pointer[tool.Set]) bool { return p.Value() == set }) {
		m.sets = append(m.sets, weak.Make(set))
	}
	m.tooling.Unlock()
	m.retool()
}

// retool gives all sets the tools of now.
func (m *Manager) retool() {
	m.tooling.Lock()
	var tools []tool.Tool
	var owners []*link
	offers := make([]offer, len(m.links))
	shown := map[string][]harness.ServerTool{}
	clashes := map[string][]string{}
	taken := map[string]string{}
	for i, l := range m.links {
		var changed func(offered) bool
		offers[i], changed = l.now()
		clashes[l.c.Name] = slices.Clone(offers[i].refused)
		for _, o := range offers[i].tools {
			if by, ok := taken[o.name]; ok {
				clashes[l.c.Name] = append(clashes[l.c.Name], fmt.Sprintf(
					"The tool %s is left out: the MCP server %s has one that the model knows as %s, too; give one of the servers another prefix.", line(o.remote), by, o.name))
				continue
			}
			taken[o.name] = l.c.Name
			tools, owners = append(tools, l.tool(o)), append(owners, l)
			shown[l.c.Name] = append(shown[l.c.Name], harness.ServerTool{
				Name: o.name, Remote: line(o.remote), Title: o.title, Help: o.help, Changed: changed(o),
			})
		}
	}
	m.sets = slices.DeleteFunc(m.sets, func(p weak.Pointer[tool.Set]) bool { return p.Value() == nil })
	for _, p := range m.sets {
		set := p.Value()
		if set == nil {
			continue
		}
		for i, err := range set.Group(group, tools) {
			name := owners[i].c.Name
			text := refusedBy(tools[i], err)
			if !slices.Contains(clashes[name], text) {
				clashes[name] = append(clashes[name], text)
			}
			shown[name] = slices.DeleteFunc(shown[name], func(t harness.ServerTool) bool { return t.Name == tools[i].Name })
		}
	}
	for _, texts := range clashes {
		slices.Sort(texts)
	}
	m.mu.Lock()
	m.shown, m.clashes = shown, clashes
	m.mu.Unlock()
	m.tooling.Unlock()
	m.publish()
}

// refusedBy says why a set does not take a tool.
func refusedBy(t tool.Tool, err error) string {
	if errors.Is(err, tool.ErrDuplicate) {
		return fmt.Sprintf("The tool %s is left out: there is a tool of this name that is no server's; give the server another prefix.", t.Name)
	}
	return fmt.Sprintf("The tool %s is left out: %s.", t.Name, line(err.Error()))
}

// now is what a server offers at the moment, nothing if it is off, and whether a tool
// of it is another than at first.
func (l *link) now() (offer, func(offered) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	never := func(offered) bool { return false }
	if !l.on {
		return offer{}, never
	}
	first := make(map[string]string, len(l.first))
	for name, t := range l.first {
		first[name] = t.digest
	}
	return l.offer, func(o offered) bool { return first[o.remote] != o.digest }
}

// publish tells whoever waits that something changed.
func (m *Manager) publish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.changed)
	m.changed = make(chan struct{})
}

// spawn does something that Close waits for, if it is not too late for that.
func (m *Manager) spawn(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		go f()
		return
	}
	m.work.Go(f)
}

// Close ends all connections at once and what was started for them, in a bounded time.
// Later calls of tools fail.
func (m *Manager) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	m.cancel()
	for _, l := range m.links {
		l.mu.Lock()
		end := l.part(harness.ErrClosed)
		l.mu.Unlock()
		m.spawn(end)
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	done := make(chan struct{})
	go func() { m.work.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the MCP servers: some did not end in time: %w", ctx.Err())
	}
}

// List implements [harness.Servers].
func (m *Manager) List() []harness.ServerStatus {
	all := make([]harness.ServerStatus, 0, len(m.links))
	for _, l := range m.links {
		s := l.status()
		m.mu.Lock()
		s.Tools = append(s.Tools, m.shown[s.Name]...)
		s.Refused = slices.Clone(m.clashes[s.Name])
		m.mu.Unlock()
		all = append(all, s)
	}
	return all
}

// Changed implements [harness.Servers].
func (m *Manager) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// link finds a server.
func (m *Manager) link(name string) (*link, error) {
	for _, l := range m.links {
		if l.c.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("MCP server %.40q: %w", name, harness.ErrNotFound)
}

// Reconnect implements [harness.Servers].
func (m *Manager) Reconnect(ctx context.Context, server string) error {
	l, err := m.link(server)
	if err != nil {
		return err
	}
	if err := l.again(ctx); err != nil {
		return l.wrong(err)
	}
	return nil
}

// Switch implements [harness.Servers].
func (m *Manager) Switch(ctx context.Context, server string, on bool) error {
	l, err := m.link(server)
	if err != nil {
		return err
	}
	if err := l.turn(ctx, on); err != nil {
		return l.wrong(err)
	}
	return nil
}

// Questions implements [harness.Servers].
func (m *Manager) Questions() <-chan harness.ServerQuestion { return m.questions }
