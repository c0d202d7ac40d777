package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/agenttest"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/snapshottest"
)

// snapshotMap is a caller's own store of snapshots that can fail.
type snapshotMap struct {
	*ownSnapshots

	// fail, if set, is asked before each write of a document.
	fail func() error
}

func newSnapshotMap() *snapshotMap { return &snapshotMap{ownSnapshots: newOwnSnapshots()} }

// Replace implements [snapshot.Store].
func (m *snapshotMap) Replace(ctx context.Context, key string, data []byte) error {
	if m.fail != nil {
		if err := m.fail(); err != nil {
			return err
		}
	}
	return m.ownSnapshots.Replace(ctx, key, data)
}

func TestSnapshotMap(t *testing.T) {
	t.Parallel()
	snapshottest.Test(t, func(*testing.T) snapshot.Store { return newSnapshotMap() })
}

func TestSnapshotsInADirectory(t *testing.T) {
	agenttest.TestStore(t, func(t *testing.T) agent.Store {
		t.Helper()
		return agent.Snapshots(directory(t, t.TempDir()))
	})
}

func TestSnapshotsInAMap(t *testing.T) {
	agenttest.TestStore(t, func(*testing.T) agent.Store { return agent.Snapshots(newSnapshotMap()) })
}

func directory(t *testing.T, path string) snapshot.Store {
	t.Helper()
	s, err := snapshot.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openIn(t *testing.T, s snapshot.Store, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: agent.Snapshots(s)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func closed(t *testing.T, a *agent.Agent) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func stored(t *testing.T, s snapshot.Store) snapshot.Document {
	t.Helper()
	d, _, err := snapshot.Begin(t.Context(), s, "x")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMessageIsStoredBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s := newSnapshotMap()
	asked := 0
	a := openIn(t, s, agent.Options{Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		asked++
		if d := stored(t, s); len(d.Records) != 2*asked-1 || d.Records[2*asked-2].Message.Text() != r.Messages[2*asked-2].Text() { //nolint:contextcheck // the context of the test
			t.Errorf("at request %d it holds %d records", asked, len(d.Records))
		}
		return echo(ctx, r, emit)
	})})
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("before the first message it holds %q, %v", keys, err)
	}
	run(t, a, "one")
	run(t, a, "two")
	if asked != 2 || len(stored(t, s).Records) != 4 {
		t.Errorf("after %d requests it holds %d records", asked, len(stored(t, s).Records))
	}
}

func TestSnapshotKeepsConfigurationAndUsage(t *testing.T) {
	t.Parallel()
	s := newSnapshotMap()
	var system string
	m := answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		system = r.System
		return echo(ctx, r, emit)
	})
	a := openIn(t, s, agent.Options{Model: m, Info: priced(), System: "Be short.", MaxSteps: 7})
	run(t, a, "one")
	closed(t, a)
	first := stored(t, s)

	a = openIn(t, s, agent.Options{Model: m})
	run(t, a, "two")
	closed(t, a)
	d := stored(t, s)
	if system != "Be short." || d.Config != first.Config || d.Config.Limits.Steps != 7 || d.Usage.Input != 6 || d.Title != "one" || !d.Created.Equal(first.Created) {
		t.Errorf("opened without a configuration it is %+v, usage %+v, and was sent %q", d.Config, d.Usage, system)
	}

	other := priced()
	other.ID = "test/other"
	a = openIn(t, s, agent.Options{Model: m, Info: other, System: "Be long."})
	run(t, a, "three")
	closed(t, a)
	d = stored(t, s)
	if system != "Be long." || d.Config.Model != "test/other" || d.Config.System != "Be long." || d.Config.Limits.Steps != 7 {
		t.Errorf("opened with another configuration it is %+v, and was sent %q", d.Config, system)
	}
	var change harness.ConfigChange
	if r := d.Records[4]; len(d.Records) != 7 || r.Kind != harness.RecordConfig || json.Unmarshal(r.Data, &change) != nil ||
		change != (harness.ConfigChange{Key: "model", Old: "test/echo", New: "test/other"}) {
		t.Errorf("the change is noted as %+v among %d records", r, len(d.Records))
	}
}

func TestSnapshotHasTheUsageOfACallWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := newSnapshotMap()
	a := openIn(t, s, agent.Options{Model: answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		return model.Reply{}, &model.Error{Kind: model.KindServer, Message: "overloaded"}
	})})
	if res := run(t, a, "one"); res.Status != harness.RunFailed || !res.Usage.Incomplete {
		t.Fatalf("the turn is %+v", res)
	}
	if d := stored(t, s); len(d.Records) != 1 || !d.Usage.Incomplete {
		t.Errorf("it holds %d records, usage %+v", len(d.Records), d.Usage)
	}
}

func TestSnapshotHasTheStateOfExtensionsAfterTheTurn(t *testing.T) {
	t.Parallel()
	s := newSnapshotMap()
	c := &counter{name: "count"}
	o := agent.Options{Model: answering(echo), Extensions: []agent.Extension{c}}
	a := openIn(t, s, o)
	see := func(e harness.Event) {
		if e.Type == harness.EventMessage {
			c.n = 41 // after the last record was stored
		}
	}
	if _, err := a.Stream(t.Context(), "go", see); err != nil {
		t.Fatal(err)
	}
	if got := string(stored(t, s).Extensions["count"]); got != `{"n":41}` {
		t.Errorf("after the turn it holds %s", got)
	}
	c.n = -1
	if _, err := a.Run(t.Context(), "again"); err == nil || !strings.Contains(err.Error(), `extension "count": it counts below nothing`) {
		t.Errorf("a state that cannot be saved gives %v", err)
	}
	closed(t, a)
	again := &counter{name: "count"}
	o.Extensions = []agent.Extension{again}
	closed(t, openIn(t, s, o))
	if again.n != 41 {
		t.Errorf("opened again it counts %d", again.n)
	}
	o.Extensions = nil
	if _, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: agent.Snapshots(s)}, o); !errors.Is(err, snapshot.ErrExtensions) || !strings.Contains(err.Error(), "count") {
		t.Errorf("without the extension it gives %v", err)
	}
}

func TestOfTwoAgentsOnOneSnapshotTheSecondIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shared := newSnapshotMap()
	for name, stores := range map[string][2]snapshot.Store{
		"directory": {directory(t, dir), directory(t, dir)}, "map": {shared, shared},
	} {
		o := agent.Options{Model: answering(echo)}
		a, b := openIn(t, stores[0], o), openIn(t, stores[1], o)
		run(t, a, "one")
		for range 2 {
			if _, err := b.Run(t.Context(), "mine"); !errors.Is(err, harness.ErrLost) {
				t.Errorf("%s: the second agent gets %v", name, err)
			}
		}
		if len(b.Messages()) != 0 {
			t.Errorf("%s: the second agent has %d messages", name, len(b.Messages()))
		}
		run(t, a, "two")
		closed(t, b)
		b = openIn(t, stores[1], o)
		if len(b.Messages()) != 4 {
			t.Errorf("%s: opened again it has %d messages", name, len(b.Messages()))
		}
		run(t, b, "three")
		if _, err := a.Run(t.Context(), "four"); !errors.Is(err, harness.ErrLost) {
			t.Errorf("%s: the first agent then gets %v", name, err)
		}
		if d := stored(t, stores[0]); len(d.Records) != 6 {
			t.Errorf("%s: it holds %d records", name, len(d.Records))
		}
		closed(t, a)
		closed(t, b)
	}
}

// takenOver has turns in a conversation that somebody else has turns in, too: it
// opens it again whenever that was first. It returns what was acknowledged.
func takenOver(ctx context.Context, s snapshot.Store, who string, turns int) (said []string, lost int, err error) {
	o := agent.Options{Model: answering(echo)}
	for len(said) < turns {
		a, err := agent.Open(ctx, agent.Session{ID: "x", Store: agent.Snapshots(s)}, o)
		if err != nil {
			return said, lost, err
		}
		for len(said) < turns {
			text := fmt.Sprint(who, " ", len(said))
			_, err = a.Stream(ctx, text, func(e harness.Event) {
				if e.Type == harness.EventRunStarted {
					said = append(said, text)
				}
			})
			if err != nil {
				break
			}
		}
		if errors.Is(err, harness.ErrLost) {
			lost, err = lost+1, nil
		}
		if err := errors.Join(err, a.Close()); err != nil {
			return said, lost, err
		}
	}
	return said, lost, nil
}

func TestTurnsOfTwoWritersAreAllKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	type outcome struct {
		said []string
		lost int
		err  error
	}
	outcomes := make(chan outcome)
	for _, who := range []string{"a", "b"} {
		s := directory(t, dir)
		go func() {
			said, lost, err := takenOver(t.Context(), s, who, 25)
			outcomes <- outcome{said, lost, err}
		}()
	}
	var all []string
	lost := 0
	for range 2 {
		o := <-outcomes
		if o.err != nil {
			t.Error(o.err)
		}
		all, lost = append(all, o.said...), lost+o.lost
	}
	got := map[string]int{}
	for _, r := range stored(t, directory(t, dir)).Records {
		got[r.Message.Text()]++
	}
	for _, text := range all {
		if got[text] != 1 {
			t.Errorf("%q was acknowledged and is there %d times", text, got[text])
		}
	}
	t.Logf("%d turns, %d takeovers", len(all), lost)
}

func TestSavedIntoItsOwnStoreAnAgentGoesOn(t *testing.T) {
	t.Parallel()
	s := directory(t, t.TempDir())
	set, m := verbose(t, snapshot.Artifacts{Store: s})
	c := &counter{name: "count", n: 1}
	a := openIn(t, s, agent.Options{Model: m, Tools: set, Extensions: []agent.Extension{c}})
	run(t, a, "read")
	for range 2 {
		c.n++
		if d := saved(t, a, s, "count"); len(d.Records) != 4 || len(d.Artifacts) != 1 {
			t.Errorf("saved are %d records", len(d.Records))
		}
	}
	if d := saved(t, a, memoryStore(t), "count"); len(d.Artifacts[0].Data) != 24_000 {
		t.Errorf("saved elsewhere it has %d artifacts", len(d.Artifacts))
	}
	run(t, a, "go on")
	closed(t, a)
	// A set without Artifacts: those of before are found where the session is.
	set, m = verbose(t, nil)
	a = openIn(t, s, agent.Options{Model: m, Tools: set, Extensions: []agent.Extension{&counter{name: "count"}}})
	if d := saved(t, a, memoryStore(t), "count"); len(d.Records) != 8 || len(d.Artifacts[0].Data) != 24_000 {
		t.Errorf("opened again and saved elsewhere are %d records", len(d.Records))
	}
}

func TestSnapshotStoreThatFailsLosesNothingThatWasStored(t *testing.T) {
	t.Parallel()
	for left := range 4 {
		s := newSnapshotMap()
		n := 0
		s.fail = func() error {
			if n++; n > left {
				return errFull
			}
			return nil
		}
		a := openIn(t, s, agent.Options{Model: answering(echo)})
		var err error
		for range 2 {
			if _, err = a.Run(t.Context(), "one"); err != nil {
				break
			}
		}
		if !errors.Is(err, errFull) {
			t.Errorf("with room for %d saves it gives %v", left, err)
		}
		if got := len(stored(t, s).Records); got != left || len(a.Messages()) != left {
			t.Errorf("with room for %d saves it holds %d records, the agent %d", left, got, len(a.Messages()))
		}
		s.fail = nil
		if res := run(t, a, "two"); res.Status != harness.RunCompleted || len(stored(t, s).Records) != left+2 {
			t.Errorf("once there is room it is %+v", res)
		}
	}
}

func TestFreshSnapshotIsNobodyElses(t *testing.T) {
	t.Parallel()
	s := newSnapshotMap()
	a, err := agent.Open(t.Context(), agent.Session{Store: agent.Snapshots(s)}, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	run(t, a, "hello")
	if _, err := s.Get(t.Context(), "session-"+string(a.SessionID())+".json"); err != nil || len(a.SessionID()) != 10 {
		t.Errorf("session %s: %v", a.SessionID(), err)
	}
}
