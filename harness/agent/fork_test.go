package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/storage/mem"
)

// treeStore is a store of conversations that have branches and forks; one that
// is whole tells of all of them.
type treeStore struct {
	*mem.Store

	whole bool
}

// Open implements [agent.Store].
func (s treeStore) Open(ctx context.Context, id harness.SessionID) (agent.Log, error) {
	l, err := s.Owners().Acquire(ctx, harness.Session{ID: id}, harness.Holder{PID: 1})
	log := treeLog{s.Store, l}
	if s.whole {
		return wholeLog{log}, err
	}
	return log, err
}

type treeLog struct {
	store *mem.Store
	lease harness.Lease
}

func (l treeLog) Tail(ctx context.Context, limit int) ([]harness.Record, error) {
	return l.store.Transcript().Tail(ctx, l.lease.Session, 0, limit)
}

func (l treeLog) Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error) {
	return l.store.Transcript().Append(ctx, l.lease, records...)
}

func (l treeLog) Close() error {
	return l.store.Owners().Release(context.Background(), l.lease)
}

type wholeLog struct{ treeLog }

func (l wholeLog) Document(ctx context.Context) (snapshot.Document, error) {
	return snapshot.Of(ctx, l.store.Sessions(), l.store.Transcript(), l.lease.Session)
}

func TestForkIsSavedWithAllThatItReaches(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		whole bool
		want  string
	}{
		{true, "1<0 one; 2<1 i: one; 3<2 left; 4<3 iii: left; 5<2 right; 6<5 iii: right; head 6"},
		{false, "1<0 one; 2<1 i: one; 3<2 right; 4<3 iii: right; head 4"},
	} {
		s := treeStore{mem.New(nil), tc.whole}
		o := agent.Options{Model: answering(echo), Info: priced()}
		speak := func(id, text string) *agent.Agent {
			t.Helper()
			a, err := agent.Open(t.Context(), agent.Session{ID: id, Store: s}, o)
			if err != nil {
				t.Fatal(err)
			}
			run(t, a, text)
			return a
		}
		closed(t, speak("old", "one"))
		closed(t, speak("old", "not in the fork"))
		if _, err := s.Sessions().Fork(t.Context(), "old", harness.Origin{Record: 2}, harness.Session{ID: "young"}); err != nil {
			t.Fatal(err)
		}
		closed(t, speak("young", "left"))
		l, err := s.Owners().Acquire(t.Context(), harness.Session{ID: "young"}, harness.Holder{PID: 1})
		if err == nil {
			err = s.Transcript().MoveHead(t.Context(), l, 0)
		}
		if err == nil {
			err = s.Owners().Release(t.Context(), l)
		}
		if err != nil {
			t.Fatal(err)
		}
		a := speak("young", "right")
		there := memoryStore(t)
		d := saved(t, a, there)
		closed(t, a)
		var got strings.Builder
		for _, r := range d.Records {
			fmt.Fprintf(&got, "%d<%d %s; ", r.Seq, r.Prev, r.Message.Text())
		}
		fmt.Fprintf(&got, "head %d", d.Head)
		if got.String() != tc.want {
			t.Errorf("whole %t: saved is\n%s\nwant\n%s", tc.whole, got.String(), tc.want)
		}
		if n := int64(len(d.Records) / 2); d.Usage.Input != 3*n || d.Usage.Output != 2*n || !d.Usage.CostKnown || d.Title == "" || d.Config.Model != "test/echo" {
			t.Errorf("whole %t: saved are title %q, usage %+v, %+v", tc.whole, d.Title, d.Usage, d.Config)
		}
		b, err := agent.LoadSession(t.Context(), "young", there, agent.Options{Model: answering(echo)})
		if err != nil {
			t.Fatal(err)
		}
		if res := run(t, b, "go on"); res.Text != "iiiii: go on" {
			t.Errorf("whole %t: loaded it answers %q", tc.whole, res.Text)
		}
		empty, err := agent.Open(t.Context(), agent.Session{ID: "empty", Store: s}, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := saved(t, empty, there); len(d.Records) != 0 {
			t.Errorf("whole %t: an empty conversation has %d records", tc.whole, len(d.Records))
		}
	}
}

func TestLearnedLimitsCountAfterLoading(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	d := said(snapshot.Document{ID: "x", Config: snapshot.Config{Model: "p/m"}})
	d.Learned = map[string]snapshot.Learned{"p/m": {Window: 6_000, Reply: 100}, "p/other": {Window: 1}}
	if _, err := snapshot.Save(t.Context(), s, d); err != nil {
		t.Fatal(err)
	}
	for _, info := range []model.Info{{}, {ID: "p/m", Window: 128_000, MaxOutput: 4_000}, {Window: 9_000, MaxOutput: 100}} {
		var asked model.Request
		a, err := agent.LoadSession(t.Context(), "x", s, agent.Options{Info: info, Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			asked = r
			return echo(ctx, r, emit)
		})})
		if err != nil {
			t.Fatal(err)
		}
		run(t, a, "go on")
		if asked.MaxOutput != 100 || a.Steps().Info.Window != 6_000 {
			t.Errorf("with %+v the reply is bounded to %d, the window is %d", info, asked.MaxOutput, a.Steps().Info.Window)
		}
		if got := saved(t, a, s).Learned["p/m"]; got.Window != 6_000 || got.Reply != 100 {
			t.Errorf("saved again is %+v", got)
		}
	}
}
