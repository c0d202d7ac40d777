package runtest

import (
	"encoding/json"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// said is the entry of what a person says into a run.
func said(id string) run.Entry {
	return run.Entry{Kind: loop.KindSteered, Data: json.RawMessage(`{"id":"` + id + `","message":{"role":"user","parts":[{"kind":"text","text":"say ` + id + `"}]}}`)}
}

func testSteer(t *testing.T, f *fixture) {
	steer := func(id harness.RunID, e run.Entry) error {
		j, ok := f.Journal.(run.Steerable)
		if !ok {
			t.Fatal("its runs cannot be steered")
		}
		return j.Steer(f.ctx(), id, e)
	}
	l := f.acquire("s")
	f.start(l, "r", "hello")
	before := f.get("r")
	f.must(steer("r", said("1")))
	f.must(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Attempt: 1, Text: "half"}))
	f.must(steer("r", said("2")))
	if got := f.get("r"); got.Cursor != 3 || got.Status != harness.RunRunning || got.Driver != before.Driver || got.Partial == nil || got.Interrupted {
		t.Fatalf("steered run %+v", got)
	}
	if f.tail() != "hello" {
		t.Fatalf("the conversation is %q", f.tail())
	}
	_, err := f.Journal.Append(f.ctx(), l, "r", 1, answer("one"))
	f.want(err, harness.ErrStale)
	f.append(l, "r", 3, answer("one"))
	f.reopen()
	// Nobody has the run now, which changes nothing of what was said.
	f.must(steer("r", said("3")))
	if got := f.get("r"); !got.Interrupted || got.Cursor != 5 {
		t.Fatalf("steered run whose driver died %+v", got)
	}
	var kinds []string
	for _, e := range f.read(1) {
		kinds = append(kinds, e.Kind+string(e.Data))
	}
	f.equal("entries", kinds, []string{"steered" + string(said("1").Data), "steered" + string(said("2").Data), "answer", "steered" + string(said("3").Data)})
	for _, e := range []run.Entry{answer("mine"), status(harness.RunCompleted), {Kind: loop.KindSteered, Status: harness.RunPaused}} {
		if err := steer("r", e); err == nil {
			t.Fatalf("anybody may write %+v", e)
		}
	}
	l = f.acquire("s")
	f.append(l, "r", 5, status(harness.RunPaused))
	f.must(steer("r", said("4")))
	f.append(l, "r", 7, status(harness.RunCompleted))
	f.want(steer("r", said("5")), harness.ErrEnded)
	f.want(steer("none", said("5")), harness.ErrNotFound)
	if f.get("r").Cursor != 8 {
		t.Fatalf("a run that has ended is at %d", f.get("r").Cursor)
	}
}
