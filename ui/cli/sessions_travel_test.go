package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/storage/bolt"
)

// Long results travel whole, beside their previews, and again from where they came
// to be. What is not there is told.
func TestLongResultsTravelWhole(t *testing.T) {
	t.Parallel()
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	whole, snaps := strings.Repeat("whole ", 4000), filepath.Join(t.TempDir(), "snaps")
	place, err := snapshot.Open(t.Context(), snaps)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := (snapshot.Artifacts{Store: place}).Put(t.Context(), "a", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	result := func(name string) harness.Part {
		return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Text: "preview", Artifact: name}}
	}
	m := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{result(sum), result(strings.Repeat("ab", 32))}}
	d := snapshot.Document{
		ID: "a", Head: 9, Records: []harness.Record{{Seq: 9, Kind: harness.RecordMessage, Message: &m}},
		Artifacts: []snapshot.Artifact{{SHA256: sum, Size: int64(len(whole)), MediaType: "text/plain", Data: []byte(whole)}}, Tasks: []snapshot.Task{{Text: "x"}},
	}
	if _, err := snapshot.Save(t.Context(), place, d); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{first, second} {
		out, code := runOn(t, dir, "sessions", "import", snaps, "--json")
		var got importResult
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != ExitDone {
			t.Fatalf("exit code %d, %v: %s", code, err, out)
		}
		want := []string{"1 file or long result whose bytes are missing"}
		if dir == first {
			want = append(want, "the task list")
		}
		if diff := cmp.Diff(want, got.Left); diff != "" {
			t.Error(diff)
		}
		_, log := sessionOf(t, dir, "a")
		if diff := cmp.Diff(m.Parts, log[0].Message.Parts); diff != "" {
			t.Error(diff)
		}
		if got := string(artifactOf(t, dir, "a", sum)); got != whole {
			t.Errorf("the whole result has %d bytes, want %d", len(got), len(whole))
		}
		snaps = filepath.Join(t.TempDir(), "again")
		if out, code := runOn(t, dir, "sessions", "export", "a", "--format", "snapshot", "-o", snaps); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
}

// Pins stay on their messages, also those that a fork has of its parent, when the
// fork becomes a session of its own.
func TestPinsTravelWithTheirMessages(t *testing.T) {
	t.Parallel()
	first, second, snaps := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second"), filepath.Join(t.TempDir(), "snaps")
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	say := func(text string) harness.Record {
		m := harness.UserText(text)
		return harness.Record{Kind: harness.RecordMessage, Message: &m}
	}
	record := func(kind harness.RecordKind, data string) harness.Record {
		return harness.Record{Kind: kind, Data: json.RawMessage(data)}
	}
	store(t, first, func(db *bolt.DB) {
		add := func(id harness.SessionID, records ...harness.Record) {
			t.Helper()
			l, err := db.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Transcript().Append(t.Context(), l, records...); err != nil {
				t.Fatal(err)
			}
			if err := db.Owners().Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		add("old", say("o1"), say("o2"), record(harness.RecordPin, `{"message":2}`), say("o4"))
		if _, err := db.Sessions().Fork(t.Context(), "old", harness.Origin{}, harness.Session{ID: "fork"}); err != nil {
			t.Fatal(err)
		}
		add("fork", say("f1"), record(harness.RecordPin, `{"message":1}`), record(harness.RecordPin, `{"message":4,"in":"old"}`), say("f4"),
			record(harness.RecordCondensed, `{"note":"n","kept":4,"in":"old","pins":[{"session":"old","record":2},{"session":"","record":1}]}`))
	})
	if out, code := runOn(t, first, "sessions", "export", "fork", "--format", "snapshot", "-o", snaps); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for range 2 {
		if out, code := runOn(t, second, "sessions", "import", snaps); code != ExitDone || !strings.HasPrefix(out, "fork\t5 messages") {
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
	s, log := sessionOf(t, second, "fork")
	var got []string
	for _, r := range log {
		if r.Message == nil {
			got = append(got, string(r.Data))
		}
	}
	want := []string{`{"message":2}`, `{"message":5}`, `{"message":4}`, `{"kept":4,"note":"n","pins":[{"session":"","record":2},{"session":"","record":5}]}`}
	if diff := cmp.Diff(want, got); diff != "" || s.PinRecords != 3 {
		t.Errorf("%s with %d records of pins", diff, s.PinRecords)
	}
}

// What was learned of models elsewhere is taken over where it is stricter, and goes
// with the session again. A task list that the messages tell is not left out.
func TestLearnedLimitsTravelAndNeverWiden(t *testing.T) {
	t.Parallel()
	dir, snaps, again := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "snaps"), filepath.Join(t.TempDir(), "again")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	learn := map[string]harness.LearnedLimits{"openai/gpt-test": {Window: 8_000, Reply: 900}, "openai/narrow": {Window: 4_000}}
	store(t, dir, func(db *bolt.DB) {
		for model, l := range learn {
			if err := db.Limits().Learn(t.Context(), model, l); err != nil {
				t.Fatal(err)
			}
		}
	})
	ask, answer := harness.UserText("go"), harness.AssistantText("planned")
	answer.Model = "openai/gpt-test"
	answer.Parts = append(answer.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "write_todos", Input: json.RawMessage(`{"todos":[{"text":"x"}]}`)}})
	d := snapshot.Document{
		ID: "a", Head: 2, Tasks: []snapshot.Task{{Text: "x", Status: "pending"}},
		Records: []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &ask}, {Seq: 2, Prev: 1, Kind: harness.RecordMessage, Message: &answer}},
		Learned: map[string]snapshot.Learned{
			"openai/gpt-test": {Window: 16_000, Reply: 800}, "openai/narrow": {Window: 3_000, Reply: 5_000}, "openai/new": {Window: 9_000},
			"openai/tiny": {Window: 10}, "nobody/knows": {Window: 5_000},
		},
	}
	place, err := snapshot.Open(t.Context(), snaps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Save(t.Context(), place, d); err != nil {
		t.Fatal(err)
	}
	out, code := runOn(t, dir, "sessions", "import", snaps, "--json")
	var got importResult
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != ExitDone {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	if diff := cmp.Diff([]string{"learned limits of nobody/knows, openai/tiny"}, got.Left); diff != "" {
		t.Error(diff)
	}
	want := map[string]harness.LearnedLimits{
		"openai/gpt-test": {Window: 8_000, Reply: 800}, "openai/narrow": {Window: 3_000, Reply: 5_000}, "openai/new": {Window: 9_000}, "openai/tiny": {},
	}
	store(t, dir, func(db *bolt.DB) {
		for model, l := range want {
			if got, err := db.Limits().Get(t.Context(), model); err != nil || got != l {
				t.Errorf("%s: learned %+v, want %+v, %v", model, got, l, err)
			}
		}
	})
	for _, wrote := range []string{"written", "session a is in"} {
		if out, code := runOn(t, dir, "sessions", "export", "a", "--format", "snapshot", "-o", again); code != ExitDone || !strings.HasPrefix(out, wrote) {
			t.Fatalf("exit code %d: %s", code, out)
		}
		store(t, dir, func(db *bolt.DB) {
			if err := db.Limits().Learn(t.Context(), "openai/gpt-test", harness.LearnedLimits{Window: 7_000}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if place, err = snapshot.Open(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	saved, err := snapshot.Load(t.Context(), place, "a", snapshot.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]snapshot.Learned{"openai/gpt-test": {Window: 8_000, Reply: 800}}, saved.Learned); diff != "" {
		t.Error(diff)
	}
}
