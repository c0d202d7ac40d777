package runtest

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/run"
)

// fiveMB is text of five megabytes, with what has to be escaped.
func fiveMB() string { return strings.Repeat("0123456789 <&> é\x00\u2028", 5<<20/22) }

func testCarried(t *testing.T, f *queueFixture) {
	s := submission("r")
	said := harness.UserText(fiveMB())
	pinned := harness.AssistantText("pinned")
	s.Carried.History = []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &said}, {
		Seq: 2, Prev: 1, Kind: harness.RecordCondensed, Data: json.RawMessage(`{"text":"before"}`),
	}}
	s.Carried.Pinned = []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &pinned}}
	s.Carried.Facts = []harness.Fact{{ID: "f1", Text: "tea"}}
	s.Carried.Notes = []harness.Note{{ID: "n1", Title: "note"}}
	s.Carried.Grants = []harness.Grant{{ID: "g1", Rule: "shell(ls)"}}
	s.Carried.Needs = run.Needs{Agent: "a@1", Tools: map[string]string{"x": "1"}, Settings: "d", Host: "h", Mode: policy.Mode("ask")}
	s.Carried.Interactive = true
	s.Run.Config.System = strings.Repeat("Be brief. ", 1000)
	_, err := f.Queue.Submit(f.ctx(), s, worker(1))
	f.must(err)
	f.Queue = f.Reopen()
	got, err := f.Queue.Carried(f.ctx(), "r")
	f.must(err)
	f.equal("what it took along", got, s.Carried)
	if j := f.get("r"); j.Run.Config.System != s.Run.Config.System {
		t.Fatalf("system prompt of %d characters", len(j.Run.Config.System))
	} else {
		f.equal("needs", j.Needs, s.Carried.Needs)
	}
}

func testQueueAppend(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	effect := harness.Effect{Key: "k", Kind: harness.EffectForgetFact, IDs: []string{"f1"}}
	condensed := run.Entry{Kind: "condensed", Condensed: &harness.Condensed{Model: "p/m"}}
	added := f.append(c, 1, run.Entry{Kind: "intent", Data: json.RawMessage(`{"tool":"x","args":"<&>"}`)}, answer("one"))
	added = append(added, f.append(c, 3, condensed, run.Entry{Kind: "result", Effects: []harness.Effect{effect}, Rewind: true})...)
	for i, e := range added {
		if e.Seq != i+2 || e.At.IsZero() {
			t.Errorf("entry %+v", e)
		}
		want := 0
		if e.Message != nil || e.Condensed != nil {
			want = run.AwayRecord + e.Seq
		}
		if e.Record != want {
			t.Errorf("entry %d has record %d, want %d", e.Seq, e.Record, want)
		}
	}
	if got := f.append(c, 5); len(got) != 0 {
		t.Fatalf("nothing was added as %+v", got)
	}
	f.Queue = f.Reopen()
	f.equal("entries", f.read(1), added)
	f.equal("entries after 3", f.read(3), added[2:])
	if got := f.read(5); len(got) != 0 {
		t.Fatalf("entries past the end %+v", got)
	}
	if got := f.read(3)[1]; len(got.Effects) != 1 || got.Effects[0].Key != "k" || !got.Rewind {
		t.Fatalf("entry %+v", got)
	}
}

func testQueueStale(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	f.append(c, 1, answer("one"))
	for _, after := range []int{0, 1, 3} {
		_, err := f.Queue.Append(f.ctx(), c, after, nil, answer("late"))
		f.want(err, harness.ErrStale)
	}
	f.append(c, 2, status(harness.RunCompleted))
	_, err := f.Queue.Append(f.ctx(), c, 3, nil, answer("late"))
	f.want(err, harness.ErrStale)
	f.want(f.Queue.SavePartial(f.ctx(), c, harness.Partial{Text: "late"}), harness.ErrStale)
	if got := f.read(0); len(got) != 3 {
		t.Fatalf("%d entries", len(got))
	}
}

func testFollow(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	u := harness.Usage{Input: 100, Output: 10, Cost: 0.5, CostKnown: true}
	one := answer("one")
	one.Usage = u
	f.append(c, 1, one)
	f.append(c, 2, run.Entry{Kind: "summary", Usage: u}, run.Entry{
		Kind: "end", Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: "auth", Text: "no key"},
	})
	f.Queue = f.Reopen()
	j := f.get("r")
	if j.Run.Status != harness.RunFailed || j.Run.Stop != harness.StopError || j.Run.Error == nil || j.Run.Error.Kind != "auth" ||
		j.Run.Cursor != 4 || j.Run.Interrupted || j.Run.Unfetched != 3 {
		t.Fatalf("run %+v", j.Run)
	}
	f.equal("usage", j.Run.Usage, u.Add(u))
	c = f.claim("r")
	f.append(c, 4, status(harness.RunRunning), run.Entry{Kind: "end", Status: harness.RunCompleted, Stop: harness.StopEnd})
	j = f.get("r")
	if j.Run.Status != harness.RunCompleted || j.Run.Error != nil || j.Run.Stop != harness.StopEnd || j.Run.Updated.Before(j.Run.Started) {
		t.Fatalf("run %+v", j.Run)
	}
}

func testQueuePartial(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	save := func(attempt int, text string) {
		t.Helper()
		f.must(f.Queue.SavePartial(f.ctx(), c, harness.Partial{Attempt: attempt, Text: text, Thinking: "hm"}))
		if p := f.get("r").Run.Partial; p == nil || p.Attempt != attempt || p.Text != text || p.Thinking != "hm" || p.At.IsZero() {
			t.Fatalf("text %+v", p)
		}
	}
	save(1, "ha")
	save(1, "half")
	f.append(c, 1, run.Entry{Kind: "intent"}, status(harness.RunFailed))
	if f.get("r").Run.Partial == nil {
		t.Fatal("a failed run lost its text")
	}
	f.append(c, 3, status(harness.RunRunning), answer("half and more"))
	if p := f.get("r").Run.Partial; p != nil {
		t.Fatalf("beside its answer there is still %+v", p)
	}
	save(2, "next")
	f.append(c, 5, status(harness.RunCancelled))
	if p := f.get("r").Run.Partial; p != nil {
		t.Fatalf("the closed run has still %+v", p)
	}
}

func testQueueFiles(t *testing.T, f *queueFixture) {
	s := submission("r")
	s.Here, s.First = true, withFile("begun", "1")
	s.Carried.History = []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: withFile("before", "22").Message}}
	c, err := f.Queue.Submit(f.ctx(), s, worker(1))
	f.must(err)
	added := f.append(c, 1, withFile("more", "333"))
	if string(s.First.Message.Parts[1].File.Data) != "1" {
		t.Fatal("the entry of the caller was changed")
	}
	f.Queue = f.Reopen()
	carried, err := f.Queue.Carried(f.ctx(), "r")
	f.must(err)
	entries := f.read(0)
	for data, m := range map[string]*harness.Message{
		"1": entries[0].Message, "22": carried.History[0].Message, "333": entries[1].Message,
	} {
		file := m.Parts[1].File
		if file.Data != nil || file.Artifact != harness.ArtifactName([]byte(data)) || file.Size != int64(len(data)) {
			t.Errorf("the file of %q is %+v", data, *file)
		}
		got, err := f.Queue.Artifact(f.ctx(), "r", file.Artifact)
		f.must(err)
		if string(got) != data {
			t.Errorf("artifact %q, want %q", got, data)
		}
	}
	f.equal("the entry that was returned", added, entries[1:])
}

func testArtifacts(t *testing.T, f *queueFixture) {
	s := submission("r")
	s.Here, s.Artifacts = true, [][]byte{[]byte("with it"), {}}
	c, err := f.Queue.Submit(f.ctx(), s, worker(1))
	f.must(err)
	big := []byte(fiveMB())
	// The same bytes twice are stored once.
	_, err = f.Queue.Append(f.ctx(), c, 1, [][]byte{big, big, []byte("with it")}, answer("it is kept"))
	f.must(err)
	_, err = f.Queue.Append(f.ctx(), c, 1, [][]byte{[]byte("stale")}, answer("late"))
	f.want(err, harness.ErrStale)
	f.Queue = f.Reopen()
	for _, data := range []string{"with it", "", string(big)} {
		name := harness.ArtifactName([]byte(data))
		got, err := f.Queue.Artifact(f.ctx(), "r", name)
		f.must(err)
		if string(got) != data {
			t.Errorf("artifact %s has %d bytes, want %d", name, len(got), len(data))
		}
		got, err = f.Queue.Artifact(f.ctx(), "r", name[:harness.MinArtifact])
		f.must(err)
		if string(got) != data {
			t.Errorf("artifact %s by its first digits has %d bytes, want %d", name, len(got), len(data))
		}
	}
	f.submit("other")
	for _, c := range []struct {
		run  harness.RunID
		name string
	}{
		{"r", harness.ArtifactName([]byte("stale"))},
		{"r", "no sum"},
		{"other", harness.ArtifactName(big)},
		{"none", harness.ArtifactName(big)},
	} {
		_, err := f.Queue.Artifact(f.ctx(), c.run, c.name)
		f.want(err, harness.ErrNotFound)
	}
}

func testLarge(t *testing.T, f *queueFixture) {
	c := f.drive("r")
	data, err := json.Marshal(fiveMB())
	f.must(err)
	e := answer(fiveMB())
	e.Data = data
	added := f.append(c, 1, e)
	f.Queue = f.Reopen()
	f.equal("the entry", f.read(1), added)
	if got := f.read(1)[0].Message.Text(); got != fiveMB() {
		t.Fatalf("the message has %d bytes, want %d", len(got), len(fiveMB()))
	}
}
