package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cairn/harness"
	"cairn/harness/attach"
	"cairn/harness/snapshot"
	"cairn/storage/bolt"
)

// runOn runs the program on the store of a directory.
func runOn(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	w, s, stdout, errs := world1(t)
	code = Main(t.Context(), s, append([]string{"--dir", dir}, args...), onDisk(w))
	if code != ExitDone {
		return errs.String(), code
	}
	return stdout.String(), code
}

// sessionOf is a session as it was stored, and its log.
func sessionOf(t *testing.T, dir string, id harness.SessionID) (s harness.Session, log []harness.Record) {
	t.Helper()
	store(t, dir, func(db *bolt.DB) {
		var err error
		if s, err = db.Sessions().Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if log, err = db.Transcript().Log(t.Context(), id, 0, 0); err != nil {
			t.Fatal(err)
		}
	})
	return s, log
}

// artifactOf is what a session keeps under a sha256.
func artifactOf(t *testing.T, dir string, id harness.SessionID, sum string) (data []byte) {
	t.Helper()
	store(t, dir, func(db *bolt.DB) {
		var err error
		if data, err = db.Artifacts().Get(t.Context(), id, sum); err != nil {
			t.Fatal(err)
		}
	})
	return data
}

// branching is a log with two branches, calls of tools, files, reasoning and what
// is no message.
func branching() []harness.Record {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	record := func(seq, prev int, m harness.Message) harness.Record {
		at = at.Add(time.Second)
		return harness.Record{Seq: seq, Prev: prev, At: at, Kind: harness.RecordMessage, Message: &m}
	}
	picture := harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Data: []byte("\x89PNG\x00")}}
	ask := harness.UserText("石 <b>&</b> \x1b[31m")
	ask.Parts = append(ask.Parts, picture, picture)
	answer := harness.AssistantText("first")
	answer.Model, answer.Usage = "openai/gpt-test", &harness.Usage{Input: 9, Output: 2, Cost: 0.5, CostKnown: true}
	answer.Parts = append(answer.Parts,
		harness.Part{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "openai", Data: json.RawMessage(`{"s":1}`)}},
		harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Origin: "fn:0", Name: "ls", Input: json.RawMessage(`{"a":[1.0,"<"]}`)}},
		harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c2", Name: "no", Malformed: "{oops"}},
	)
	result := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{
		{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "ls", Text: strings.Repeat("long\n", 5000)}},
		{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c2", Name: "no", Text: "not run", Failed: true, Unknown: true}},
	}}
	half := harness.AssistantText("half")
	half.Mark = harness.MarkInterrupted
	return []harness.Record{
		record(1, 0, ask), record(2, 1, answer), record(3, 2, result), record(4, 3, half),
		record(5, 1, harness.AssistantText("another answer")),
		{Seq: 6, Prev: 5, At: at, Kind: harness.RecordConfig, Data: json.RawMessage(`{"key":"model","new":"x"}`)},
		{Seq: 7, Prev: 6, At: at, Kind: harness.RecordCondensed, Data: json.RawMessage(`{"note":"n","kept":5}`)},
		record(8, 7, harness.UserText("go on")),
	}
}

// What is exported as a snapshot and imported elsewhere is the same session, with
// all its branches; and again it does nothing.
func TestSnapshotsAreImportedAlike(t *testing.T) {
	t.Parallel()
	first, second, snaps := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second"), filepath.Join(t.TempDir(), "snaps")
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	meta := harness.Session{
		ID: "talk", Title: "石塚 \u202e\"x\"", TitleBy: harness.TitleByModel, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Head: 8,
		Model: "openai/gpt-test", System: "Be short.", NoMemory: true, Usage: harness.Usage{Input: 9, Output: 2, Cost: 0.5, CostKnown: true},
	}
	store(t, first, func(db *bolt.DB) {
		if _, _, err := db.Sessions().Import(t.Context(), meta, branching()); err != nil {
			t.Fatal(err)
		}
	})
	for _, args := range []string{"sessions export talk --format snapshot -o " + snaps, "sessions export --all --format snapshot -o " + snaps} {
		if out, code := runOn(t, first, strings.Fields(args)...); code != ExitDone {
			t.Fatalf("%s: exit code %d: %s", args, code, out)
		}
	}
	artifacts, err := filepath.Glob(filepath.Join(snaps, "artifacts", "*", "*"))
	if err != nil || len(artifacts) != 1 {
		t.Errorf("the same picture twice is %d artifacts (%v)", len(artifacts), err)
	}
	for _, from := range []string{snaps, filepath.Join(snaps, "session-talk.json"), "file://" + filepath.ToSlash(snaps)} {
		if out, code := runOn(t, second, "sessions", "import", from); code != ExitDone || !strings.HasPrefix(out, "talk\t6 messages") {
			t.Fatalf("%s: exit code %d: %s", from, code, out)
		}
	}
	was, wasLog := sessionOf(t, first, "talk")
	now, nowLog := sessionOf(t, second, "talk")
	if diff := cmp.Diff(wasLog, nowLog); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(was, now, cmpopts.IgnoreFields(harness.Session{}, "Generation")); diff != "" {
		t.Error(diff)
	}
}

// A fork is exported whole: what it has of its parents and all branches of its own.
func TestForksAreExportedWhole(t *testing.T) {
	t.Parallel()
	first, second, snaps := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second"), filepath.Join(t.TempDir(), "snaps")
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	say := func(prev int, text string) harness.Record {
		m := harness.UserText(text)
		return harness.Record{Prev: prev, Kind: harness.RecordMessage, Message: &m}
	}
	store(t, first, func(db *bolt.DB) {
		if _, _, err := db.Sessions().Import(t.Context(), harness.Session{ID: "talk", Head: 8}, branching()); err != nil {
			t.Fatal(err)
		}
		fork, err := db.Sessions().Fork(t.Context(), "talk", harness.Origin{Record: 4}, harness.Session{ID: "fork", Title: "Fork"})
		if err != nil {
			t.Fatal(err)
		}
		l, err := db.Owners().Acquire(t.Context(), fork, harness.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"left", "right"} {
			if _, err := db.Transcript().Append(t.Context(), l, say(0, text)); err != nil {
				t.Fatal(err)
			}
			if err := db.Transcript().MoveHead(t.Context(), l, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Transcript().MoveHead(t.Context(), l, 1); err != nil {
			t.Fatal(err)
		}
		if err := db.Owners().Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	})
	for dir, args := range map[string]string{first: "sessions export fork --format snapshot -o " + snaps} {
		if out, code := runOn(t, dir, strings.Fields(args)...); code != ExitDone || !strings.Contains(out, "(6 messages)") {
			t.Fatalf("%s: exit code %d: %s", args, code, out)
		}
	}
	if out, code := runOn(t, first, "sessions", "import", snaps); code != ExitDone || !strings.HasPrefix(out, "fork\t6 messages, was there already") {
		t.Errorf("where it came from: exit code %d: %s", code, out)
	}
	if out, code := runOn(t, second, "sessions", "import", snaps); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, out)
	}
	store(t, first, func(db *bolt.DB) {
		fork, err := db.Sessions().Get(t.Context(), "fork")
		if err != nil {
			t.Fatal(err)
		}
		l, err := db.Owners().Acquire(t.Context(), fork, harness.Holder{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Transcript().Append(t.Context(), l, say(0, "more")); err != nil {
			t.Fatal(err)
		}
		if err := db.Owners().Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	})
	if out, code := runOn(t, first, "sessions", "import", snaps); code != ExitDone || !strings.HasPrefix(out, "fork-2\t6 messages, called") {
		t.Errorf("where it went on: exit code %d: %s", code, out)
	}
	s, log := sessionOf(t, second, "fork")
	var texts []string
	for _, r := range log {
		texts = append(texts, fmt.Sprintf("%d<%d %s", r.Seq, r.Prev, r.Message.Text()))
	}
	want := []string{"1<0 石 <b>&</b> \x1b[31m", "2<1 first", "3<2 ", "4<3 half", "5<4 left", "6<4 right"}
	if diff := cmp.Diff(want, texts); diff != "" || s.Head != 5 || s.Parent != nil || s.Title != "Fork" {
		t.Errorf("%s %+v", diff, s)
	}
}

// Sparse numbers become dense ones, and what follows what stays.
func TestRecordsAreRenumbered(t *testing.T) {
	t.Parallel()
	m := harness.UserText("x")
	record := func(seq, prev int) harness.Record {
		return harness.Record{Seq: seq, Prev: prev, Kind: harness.RecordMessage, Message: &m, Run: "r", In: "other"}
	}
	kept := func(seq, prev, kept int) harness.Record {
		return harness.Record{Seq: seq, Prev: prev, Kind: harness.RecordCondensed, Data: fmt.Appendf(nil, `{"kept":%d,"note":"n"}`, kept)}
	}
	got, head, err := renumbered([]harness.Record{
		record(3, 0), record(7, 3), kept(8, 7, 7), record(20, 3), kept(21, 20, 1),
		{Seq: 30, Prev: 21, Kind: harness.RecordCondensed, Data: []byte(`{"kept":7,"pruned":{"session":"","record":7},"pins":[{"session":"","record":3},{"session":"x","record":20},{"session":"","record":1}]}`)},
		{Seq: 31, Prev: 30, Kind: harness.RecordPin, Data: []byte(`{"message":20}`)},
	}, 20)
	if err != nil || head != 4 {
		t.Fatalf("head %d, %v", head, err)
	}
	var texts []string
	for _, r := range got {
		texts = append(texts, fmt.Sprintf("%d<%d %s%s%s", r.Seq, r.Prev, r.Data, r.Run, r.In))
	}
	if diff := cmp.Diff([]string{"1<0 ", "2<1 ", `3<2 {"kept":2,"note":"n"}`, "4<1 ", `5<4 {"kept":0,"note":"n"}`, `6<5 {"kept":2,"pins":[{"session":"","record":1},{"session":"","record":4}],"pruned":{"session":"","record":2}}`, `7<6 {"message":4}`}, texts); diff != "" {
		t.Error(diff)
	}
	if _, _, err := renumbered([]harness.Record{{Seq: 1, Kind: harness.RecordCondensed, Data: []byte("{")}}, 1); !errors.Is(err, harness.ErrDamaged) {
		t.Error(err)
	}
}

// A tree keeps the branch on screen straight, and the others where they left.
func TestTreesOfBranches(t *testing.T) {
	t.Parallel()
	for head, want := range map[int][]string{
		8: {
			"* [1] you: 石 <b>&</b> ␛[31m", "      [2] assistant: first", "          > fork side  A side way", "      [3] tool: ls: long", "      [4] assistant (interrupted): half",
			"* [5] assistant: another answer", "* [6] (config)", "* [7] (condensed)", "* [8] you: go on",
		},
		4: {
			"* [1] you: 石 <b>&</b> ␛[31m", "      [5] assistant: another answer", "      [6] (config)", "      [7] (condensed)", "      [8] you: go on",
			"* [2] assistant: first", "      > fork side  A side way", "* [3] tool: ls: long", "* [4] assistant (interrupted): half",
		},
	} {
		w, s, out, errs := world1(t)
		if _, _, err := w.store.Sessions().Import(t.Context(), harness.Session{ID: "talk", Head: head}, branching()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.Sessions().Fork(t.Context(), "talk", harness.Origin{Record: 2}, harness.Session{ID: "side", Title: "A side way"}); err != nil {
			t.Fatal(err)
		}
		if code := Main(t.Context(), s, []string{"sessions", "show", "talk", "--tree"}, w.wire()); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		var got []string
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if at := strings.Index(line, "ls: long"); at >= 0 {
				line = line[:at+len("ls: long")]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A whole file with messages that are none is refused.
func TestForgedSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]harness.Message{
		`the role is "system"`:              {Role: "system"},
		`part 1 is not of its kind, "call"`: {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartCall}}},
		`part 2 is not of its kind, "text"`: {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText}, {Kind: harness.PartText, File: &harness.File{Data: []byte("x")}}}},
		`part 1 is not of its kind, "text"`: {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, File: &harness.File{Artifact: "x"}}}},
		`part 1 is not of its kind, "file"`: {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile}}},
	} {
		_, err := importedOwn(snapshot.Document{ID: "a", Head: 2, Records: []harness.Record{{Seq: 2, Kind: harness.RecordMessage, Message: &m}}})
		if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "session a, record 2: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// The text of an attached file is a text that has the file beside it.
func TestAttachedTextComesBackFromASnapshot(t *testing.T) {
	t.Parallel()
	text, err := attach.Bytes("a.txt", []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := attach.Bytes("a.gif", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	if err != nil {
		t.Fatal(err)
	}
	m := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, Text: "look"}, text, image}}
	c, err := importedOwn(snapshot.Document{ID: "a", Head: 1, Records: []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &m}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, c.Records[0].Message.Parts[1]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]byte{image.File.Data}, c.Artifacts); diff != "" {
		t.Error(diff)
	}
}

// exporting is the export of a chat with these sessions, in a directory of its own.
func exporting(t *testing.T, sessions ...harness.Session) (dir string, export func(context.Context, harness.SessionID, string) (string, error)) {
	t.Helper()
	w, s, _, _ := world1(t)
	s.Dir = t.TempDir()
	for _, meta := range sessions {
		m := harness.UserText("hello from " + meta.Title)
		if _, _, err := w.store.Sessions().Import(t.Context(), meta, []harness.Record{{Message: &m}}); err != nil {
			t.Fatal(err)
		}
	}
	return s.Dir, newApp(s, w.wire()).exporter(w.open())
}

// The screens' export finds a name of its own, and never writes over a file.
func TestChatExports(t *testing.T) {
	t.Parallel()
	dir, export := exporting(t, harness.Session{ID: "one", Title: "A talk"})
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ to, want, holds string }{
		{"", "A talk one.md", "## You"},
		{"", "A talk one-2.md", "## You"},
		{"x.jsonl", "x.jsonl", `{"session":{"id":"one"`},
		{"x.JSONL", "x.JSONL", `{"session":{"id":"one"`},
		{"x.jsonl", "x-2.jsonl", `{"session"`},
		{"x.html", "x.html", "<!DOCTYPE html>"},
		{"x.html", "x-2.html", "<!DOCTYPE html>"},
		{"x.HTM", "x.HTM", "hello from A talk"},
		{"sub", "sub/A talk one.md", "## You"},
		{"sub/", "sub/A talk one-2.md", "## You"},
		{"plain", "plain", "## You"},
		{"plain", "plain-2", "## You"},
		{" sub/../x.md ", "x.md", "## You"},
	} {
		path, err := export(t.Context(), "one", c.to)
		if err != nil || path != filepath.Join(dir, filepath.FromSlash(c.want)) {
			t.Errorf("%q went to %s (%v), want %s", c.to, path, err, c.want)
			continue
		}
		if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), c.holds) {
			t.Errorf("%s holds %q (%v)", path, data, err)
		}
	}
	for _, to := range []string{"none/x.md", "none/"} {
		if path, err := export(t.Context(), "one", to); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("%q went to %s (%v)", to, path, err)
		}
	}
	if _, err := export(t.Context(), "two", ""); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
}

// Whatever the titles are, each session lands in a file of its own, one component
// inside the directory that hides nothing and is no option.
func TestChatExportNamesAreSafe(t *testing.T) {
	t.Parallel()
	var sessions []harness.Session
	for i, title := range []string{
		"../../x", `..\x`, "/tmp/x", `C:\x`, "a\x00b", ".", "..", "-rf", "CON", "\x1b]0;x\x07\ny",
		strings.Repeat("a", 300), strings.Repeat("한", 120), strings.Repeat("🗿", 100), "a:b", "a/b", "a b", "é", "e\u0301",
	} {
		sessions = append(sessions, harness.Session{ID: harness.SessionID(fmt.Sprintf("s%d", i)), Title: title})
	}
	dir, export := exporting(t, sessions...)
	seen := map[string]bool{}
	for range 2 {
		for _, s := range sessions {
			path, err := export(t.Context(), s.ID, "")
			name := filepath.Base(path)
			switch {
			case err != nil || filepath.Dir(path) != dir || seen[path]:
				t.Errorf("%q went to %s (%v)", s.Title, path, err)
			case len(name) > 255 || !utf8.ValidString(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\\:\x00\x1b\n"):
				t.Errorf("%q went to %q", s.Title, name)
			}
			seen[path] = true
		}
	}
}

// The next free name stays as long as a name may be.
func TestFreeNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		n    int
		want string
	}{
		{"x.md", 1, "x.md"},
		{"x.md", 2, "x-2.md"},
		{"x", 3, "x-3"},
		{".md", 2, "-2.md"},
		{strings.Repeat("é", 126) + ".md", 1, strings.Repeat("é", 126) + ".md"},
		{strings.Repeat("é", 126) + ".md", 12, strings.Repeat("é", 124) + "-12.md"},
	} {
		if got := freeName(c.name, c.n); got != c.want {
			t.Errorf("%q is tried as %q", c.name, got)
		}
	}
}

// A format is told by what comes first, wherever it stands.
func TestFormatsAreTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]importFormat{
		"":                                 importLines,
		"x":                                importLines,
		"[]":                               importExport,
		"{}":                               importLines,
		`{"session":{"id":"a"}}`:           importLines,
		`{"mesage":{}}`:                    importLines,
		`{"cairn_snapshot":1`:              importOwn,
		"\ufeff{\"cairn_snapshot\":1":      importOwn,
		`{"session_id":"a","messages":[]}`: importHarnessX,
		`{"config":{"session":1},"total_usage":{}}`: importHarnessX,
		`{"data":{},"scope":"agent"}`:               importStrands,
		`{"created_at":"x","schema_version":"1.0"}`: importStrands,
		`[{"uuid":"a","chat_messages":[]}]`:         importExport,
		`{"title":"a","mapping":{}}`:                importExport,
		"PK\x03\x04":                                importExport,
		databaseMagic + "\x10\x00":                  importDatabase,
	} {
		if got := formatOf([]byte(text)); got != want {
			t.Errorf("%s is of format %d, want %d", text, got, want)
		}
	}
}

// Whatever a file holds, an import is whole or an error, never a panic.
func FuzzImportFile(f *testing.F) {
	f.Add([]byte(`{"session":{"id":"a"}}` + "\n" + `{"message":{"role":"user","content":"x"}}`))
	f.Add([]byte(`{"session_id":"a","messages":[{"role":"user","content":"x"}]}`))
	f.Add([]byte(`{"cairn_snapshot":1,"sha256":"x","document":{}}`))
	f.Add([]byte(`{"scope":"agent"}`))
	m := harness.UserText("x")
	own, err := snapshot.Encode(snapshot.Document{ID: "a", Head: 4, Records: []harness.Record{{Seq: 4, Kind: harness.RecordMessage, Message: &m}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	a := newApp(Streams{}, Wire{})
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := a.readImportFile(t.Context(), bytes.NewReader(data), "x", "")
		if err != nil && list != nil {
			t.Fatalf("%v with %v", list, err)
		}
		for _, c := range list {
			for i, r := range c.Records {
				if c.Source != "" && (r.Seq != i+1 || r.Prev > i || r.Prev < 0) {
					t.Errorf("record %d of %d follows %d", r.Seq, i+1, r.Prev)
				}
			}
		}
	})
}

// TestASilentImportIsInterrupted asks an import to stop that reads what nobody
// writes to.
func TestASilentImportIsInterrupted(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(out.Close(), in.Close()); err != nil {
			t.Error(err)
		}
	})
	w, s, _, errs := world1(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.In = readFunc(func(p []byte) (int, error) {
		cancel()
		return in.Read(p)
	})
	if code := Main(ctx, s, []string{"--dir", t.TempDir(), "sessions", "import", "-"}, onDisk(w)); code != ExitInterrupted {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
