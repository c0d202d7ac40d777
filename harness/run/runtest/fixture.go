package runtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
)

// trial is what every case has.
type trial struct{ t *testing.T }

func (f trial) ctx() context.Context { return f.t.Context() }

func (f trial) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f trial) want(err, target error) {
	f.t.Helper()
	if !errors.Is(err, target) {
		f.t.Fatalf("error %v, want %v", err, target)
	}
}

func (f trial) equal(what string, got, want any) {
	f.t.Helper()
	g, err := json.Marshal(got)
	f.must(err)
	w, err := json.Marshal(want)
	f.must(err)
	if string(g) != string(w) {
		f.t.Fatalf("%s:\n got %.2000s\nwant %.2000s", what, g, w)
	}
}

// fixture is the stores of one case.
type fixture struct {
	Stores
	trial
}

// reopen goes on as another process after the first one died.
func (f *fixture) reopen() { f.Stores = f.Reopen() }

func (f *fixture) acquire(id harness.SessionID) harness.Lease {
	f.t.Helper()
	l, err := f.Owners.Acquire(f.ctx(), harness.Session{ID: id, Dir: "/home/ada"}, harness.Holder{})
	f.must(err)
	return l
}

// start begins a run with a message from the user.
func (f *fixture) start(l harness.Lease, id harness.RunID, text string) harness.Run {
	f.t.Helper()
	r, _, err := f.Journal.Create(f.ctx(), l, f.run(id), begun(text))
	f.must(err)
	return r
}

func (f *fixture) run(id harness.RunID) harness.Run {
	return harness.Run{ID: id, Engine: "test", Config: harness.RunConfig{Agent: "a@1", Model: "p/m"}, Host: "h", Dir: "/home/ada"}
}

func begun(text string) run.Entry {
	m := harness.UserText(text)
	return run.Entry{Kind: "begun", Message: &m}
}

func answer(text string) run.Entry {
	m := harness.AssistantText(text)
	return run.Entry{Kind: "answer", Message: &m}
}

func status(s harness.RunStatus) run.Entry { return run.Entry{Kind: "status", Status: s} }

func (f *fixture) append(l harness.Lease, id harness.RunID, after int, entries ...run.Entry) []run.Entry {
	f.t.Helper()
	added, err := f.Journal.Append(f.ctx(), l, id, after, entries...)
	f.must(err)
	return added
}

func (f *fixture) get(id harness.RunID) harness.Run {
	f.t.Helper()
	r, err := f.Journal.Get(f.ctx(), id)
	f.must(err)
	return r
}

// read returns the entries of run "r".
func (f *fixture) read(after int) []run.Entry {
	f.t.Helper()
	entries, err := f.Journal.Read(f.ctx(), "r", after)
	f.must(err)
	return entries
}

// tail returns what is said in session "s".
func (f *fixture) tail() string {
	f.t.Helper()
	records, err := f.Transcript.Tail(f.ctx(), "s", 0, 0)
	f.must(err)
	var all []string
	for _, r := range records {
		all = append(all, r.Message.Text())
	}
	return strings.Join(all, " | ")
}

// session returns session "s".
func (f *fixture) session() harness.Session {
	f.t.Helper()
	s, err := f.Sessions.Get(f.ctx(), "s")
	f.must(err)
	return s
}
