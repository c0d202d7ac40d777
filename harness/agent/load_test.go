package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

func TestLoadNamesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	o := agent.Options{Model: answering(echo), Info: priced(), System: "Be short.", MaxSteps: 9}
	with := o
	with.Extensions = []agent.Extension{&counter{name: "one", n: 1}, &counter{name: "two", n: 5000}}
	a := newAgent(t, with)
	run(t, a, "hello")
	saved(t, a, s, "one", "two")
	for name, tc := range map[string]struct {
		change func(*agent.Options)
		is     error
		says   string
	}{
		"model":            {func(o *agent.Options) { o.Info.ID = "test/other" }, snapshot.ErrConfig, `model is "test/echo", want "test/other"`},
		"system":           {func(o *agent.Options) { o.System = "Be long." }, snapshot.ErrConfig, "system is"},
		"steps":            {func(o *agent.Options) { o.MaxSteps = 10 }, snapshot.ErrConfig, "limits.steps is 9, want 10"},
		"extensions":       {func(o *agent.Options) { o.Extensions = nil }, snapshot.ErrExtensions, "one, two"},
		"one extension":    {func(o *agent.Options) { o.Extensions = o.Extensions[:1] }, snapshot.ErrExtensions, "supplied: two"},
		"refused state":    {func(*agent.Options) {}, nil, `extension "two": it counts too high`},
		"a blank name":     {func(o *agent.Options) { o.Extensions = []agent.Extension{&counter{name: " "}} }, nil, "no name"},
		"one name for two": {func(o *agent.Options) { o.Extensions = []agent.Extension{&counter{name: "x"}, &counter{name: "x"}} }, nil, `"x"`},
		"no extension":     {func(o *agent.Options) { o.Extensions = []agent.Extension{nil} }, nil, "nil"},
	} {
		o := with
		tc.change(&o)
		b, err := agent.LoadSession(t.Context(), string(a.SessionID()), s, o)
		if err == nil || b != nil || (tc.is != nil && !errors.Is(err, tc.is)) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForgottenStoreIsAnError(t *testing.T) {
	t.Parallel()
	o := agent.Options{Model: answering(echo)}
	_, saving := newAgent(t, o).SaveSession(t.Context(), nil)
	_, loading := agent.LoadSession(t.Context(), "x", nil, o)
	_, opening := agent.Open(t.Context(), agent.Session{Store: agent.Snapshots(nil)}, o)
	for _, err := range []error{saving, loading, opening} {
		if err == nil || !strings.Contains(err.Error(), "no store") {
			t.Errorf("it gives %v", err)
		}
	}
}

func TestLoadNamesDamage(t *testing.T) {
	t.Parallel()
	set, m := verbose(t, nil)
	o := agent.Options{Model: m, Tools: set}
	fresh := func() (s snapshot.Store, id, sum string) {
		s = memoryStore(t)
		set, m := verbose(t, snapshot.Artifacts{Store: s})
		a := newAgent(t, agent.Options{Model: m, Tools: set})
		run(t, a, "read")
		d := saved(t, a, s)
		return s, string(d.ID), d.Artifacts[0].SHA256
	}
	for name, tc := range map[string]struct {
		damage func(file []byte) []byte
		is     error
		says   string
	}{
		"a changed document": {func(f []byte) []byte { return bytes.Replace(f, []byte("long result"), []byte("lone result"), 1) }, harness.ErrDamaged, "checksum mismatch"},
		"an unknown version": {func(f []byte) []byte {
			return bytes.Replace(f, []byte(`"cairn_snapshot":1`), []byte(`"cairn_snapshot":2`), 1)
		}, harness.ErrNewer, "version 2"},
		"a truncated file":    {func(f []byte) []byte { return f[:len(f)/2] }, harness.ErrDamaged, "truncated"},
		"an empty file":       {func([]byte) []byte { return nil }, harness.ErrDamaged, "truncated"},
		"a changed artifact":  {nil, harness.ErrDamaged, "checksum mismatch in artifact"},
		"no snapshot at all":  {nil, harness.ErrNotFound, "another"},
		"an id that is a way": {nil, nil, "no letter"},
	} {
		s, id, sum := fresh()
		switch key := "session-" + id + ".json"; name {
		case "no snapshot at all":
			id = "another"
		case "an id that is a way":
			id = "../.."
		case "a changed artifact":
			if err := s.Replace(t.Context(), "artifacts/session-"+id+"/"+sum, bytes.Repeat([]byte("x"), 24_000)); err != nil {
				t.Fatal(err)
			}
		default:
			file, err := s.Get(t.Context(), key)
			if err == nil {
				err = s.Replace(t.Context(), key, tc.damage(file))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := agent.LoadSession(t.Context(), id, s, o); err == nil || (tc.is != nil && !errors.Is(err, tc.is)) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: loading gives %v", name, err)
		}
		if tc.damage == nil {
			continue
		}
		if _, err := agent.Open(t.Context(), agent.Session{ID: id, Store: agent.Snapshots(s)}, agent.Options{Model: m}); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: opening gives %v", name, err)
		}
	}
}

func TestIDsAreNoWays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := snapshot.Open(t.Context(), dir+"/in")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../../x", `..\x`, "/tmp/x", `C:\x`, "a\x00b", "-rf", "CON", "x\x1b[31m\n"} {
		a, err := agent.Open(t.Context(), agent.Session{ID: id, Store: agent.Snapshots(s)}, agent.Options{Model: answering(echo)})
		if err != nil {
			t.Fatal(err)
		}
		run(t, a, "hello")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.LoadSession(t.Context(), id, s, agent.Options{Model: answering(echo)}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if ids, err := snapshot.List(t.Context(), s); err != nil || len(ids) != 8 {
		t.Errorf("there are %q, %v", ids, err)
	}
	up, err := snapshot.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := up.List(t.Context(), "")
	for _, k := range keys {
		if !strings.HasPrefix(k, "in/session-") {
			t.Errorf("stored is %q, %v", k, err)
		}
	}
}

func TestKeysAreNotSaved(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-0123456789abcdefghij"
	s := memoryStore(t)
	set := &tool.Set{Redact: func(text string) string { return strings.ReplaceAll(text, key, "(removed)") }}
	leak, err := tool.New("leak", "Reads the environment.", func(context.Context, tool.Call, struct{}) (string, error) {
		return "OPENAI_API_KEY=" + key, nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Add(leak); err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: agent.Snapshots(s)}, agent.Options{
		Tools: set, Info: model.Info{ID: "test/m"},
		Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			switch len(r.Messages) {
			case 1:
				return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{{
					Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "1", Name: "leak", Input: json.RawMessage(`{}`)},
				}}}, nil
			case 3:
				return echo(ctx, r, emit)
			}
			return model.Reply{}, &model.Error{Kind: model.KindAuth, Message: "the key is refused"}
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, a, "what is in the environment?")
	if res := run(t, a, "and now?"); res.Status != harness.RunFailed {
		t.Fatalf("the second turn is %+v", res)
	}
	there := memoryStore(t)
	saved(t, a, there)
	for _, s := range []snapshot.Store{s, there} {
		keys, err := s.List(t.Context(), "")
		if err != nil || len(keys) != 1 {
			t.Fatalf("stored are %q, %v", keys, err)
		}
		if file, err := s.Get(t.Context(), keys[0]); err != nil || bytes.Contains(file, []byte(key)) || !bytes.Contains(file, []byte("(removed)")) {
			t.Errorf("it holds %s, %v", file, err)
		}
	}
}

func TestSessionWithoutMemoryIsNotGivenAny(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	d := snapshot.Document{ID: "x", Config: snapshot.Config{NoMemory: true}}
	if _, err := snapshot.Save(t.Context(), s, said(d)); err != nil {
		t.Fatal(err)
	}
	o := agent.Options{Model: answering(echo), Facts: mem.New(nil).Facts()}
	_, err := agent.LoadSession(t.Context(), "x", s, o)
	_, opened := agent.Open(t.Context(), agent.Session{ID: "x", Store: agent.Snapshots(s)}, o)
	for _, err := range []error{err, opened} {
		if !errors.Is(err, snapshot.ErrConfig) || !strings.Contains(err.Error(), "no_memory") {
			t.Errorf("with facts it gives %v", err)
		}
	}
	o.Facts = nil
	a, err := agent.LoadSession(t.Context(), "x", s, o)
	if err != nil {
		t.Fatal(err)
	}
	if !saved(t, a, s).Config.NoMemory {
		t.Error("saved again it has a memory")
	}
}

func said(d snapshot.Document) snapshot.Document {
	m := harness.UserText("hello")
	d.Append(harness.Record{At: time.Unix(1, 0), Kind: harness.RecordMessage, Message: &m})
	return d
}
