package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/storage/bolt"
)

// What is exported as JSON Lines and imported into another directory is the same
// conversation.
func TestAnExportedSessionIsImportedAlike(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	message := func(role harness.Role, name, text string) harness.Record {
		at = at.Add(time.Second)
		return harness.Record{Kind: harness.RecordMessage, At: at, Message: &harness.Message{
			Role: role, Name: name, Parts: []harness.Part{{Kind: harness.PartText, Text: text}},
		}}
	}
	records := []harness.Record{
		message(harness.RoleUser, "ada", "tabs\tand \"quotes\" \\ <b>&</b>\r\n\x1b[31m\u202e\u2028石塚 👩‍👩‍👧"),
		message(harness.RoleAssistant, "", ""),
		message(harness.RoleUser, "", strings.Repeat("long ", 100_000)),
	}
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	meta := harness.Session{ID: "talk", Title: "石塚 \u202e\"x\"", TitleBy: harness.TitleByUser, Created: at}
	store(t, first, func(db *bolt.DB) {
		if _, _, err := db.Sessions().Import(t.Context(), meta, records); err != nil {
			t.Fatal(err)
		}
	})
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	for _, args := range [][]string{
		{"--dir", first, "sessions", "export", "talk", "-o", file}, {"--dir", second, "sessions", "import", file},
	} {
		w, s, _, errs := world1(t)
		if code := Main(t.Context(), s, args, onDisk(w)); code != ExitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
	}
	store(t, second, func(db *bolt.DB) {
		s, err := db.Sessions().Get(t.Context(), "talk")
		if err != nil || s.Title != meta.Title || !s.Created.Equal(meta.Created) {
			t.Errorf("%+v (%v)", s, err)
		}
		have, err := db.Transcript().Tail(t.Context(), "talk", 0, 0)
		if err != nil || len(have) != len(records) {
			t.Fatalf("%d records (%v)", len(have), err)
		}
		for i, r := range have {
			if diff := cmp.Diff(records[i].Message, r.Message); diff != "" || !r.At.Equal(records[i].At) {
				t.Errorf("message %d is of %v:\n%s", i, r.At, diff)
			}
		}
	})
}

// store opens the store of a directory.
func store(t *testing.T, dir string, f func(db *bolt.DB)) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{Now: func() time.Time { return time.Date(2026, 3, 4, 6, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	f(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file's name is one component that hides nothing and is no option, fits, and
// is no other session's, whatever the title and the id are.
func TestFileNamesOfSessionsAreSafe(t *testing.T) {
	t.Parallel()
	titles := []string{
		"", ".", "..", "../../x", `..\x`, "/tmp/x", `C:\x`, "a\x00b", "-rf", "CON", "con.txt", "\x1b]0;x\x07\ny", "\u202egpj", "\xff\xfe",
		strings.Repeat("a", 300), strings.Repeat("한", 120), strings.Repeat("🗿", 100), "plain",
	}
	ids := []harness.SessionID{"a", "b", "-rf", "con", harness.SessionID(strings.Repeat("z", harness.MaxIDLength))}
	of := map[string]harness.SessionID{}
	for _, id := range ids {
		for _, title := range titles {
			for _, ending := range []string{".md", ".jsonl"} {
				name := sessionFileName(harness.Session{ID: id, Title: title}, ending)
				switch {
				case len(name) > 255, !utf8.ValidString(name), !strings.HasSuffix(name, " "+string(id)+ending),
					filepath.Base(name) != name, strings.ContainsAny(name, "/\\:\x00\x1b\n\u202e"), strings.HasPrefix(name, "."), strings.HasPrefix(name, "-"):
					t.Errorf("session %s titled %q goes to %q", id, title, name)
				}
				if other, taken := of[strings.ToLower(name)]; taken && other != id {
					t.Errorf("sessions %s and %s both go to %q", other, id, name)
				}
				of[strings.ToLower(name)] = id
			}
		}
	}
}

// Tools are told in Markdown as blocks that their text does not end, and are
// counted where the format has no place for them.
func TestToolsInAnExport(t *testing.T) {
	t.Parallel()
	records := []harness.Record{
		{Kind: harness.RecordMessage, Message: &harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "run\x1bcommand", Input: json.RawMessage(`{"command":"ls"}`)}},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c2", Name: "broken", Malformed: "{oops"}},
		}}},
		{Kind: harness.RecordMessage, Message: &harness.Message{Role: harness.RoleTool, Parts: []harness.Part{
			{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "run_command", Text: "```\n# You\n````\x1b[2J"}},
		}}},
		{Kind: harness.RecordMessage, Message: &harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}}},
	}
	var people, lines exportedSession
	if err := people.markdown(harness.Session{ID: "a"}, records); err != nil {
		t.Fatal(err)
	}
	text := string(people.data)
	for _, want := range []string{"Calls `run␛command`:\n\n```json\n{\n  \"command\": \"ls\"\n}\n```\n", "{oops", "`````\n```\n# You\n````␛[2J\n`````\n", "\ndone\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it:\n%s", want, text)
		}
	}
	if err := lines.lines(harness.Session{ID: "a"}, records); err != nil {
		t.Fatal(err)
	}
	if lines.messages != 1 || lines.left != 3 {
		t.Errorf("%d messages, %d parts left out:\n%s", lines.messages, lines.left, lines.data)
	}
	if _, err := parseImport(strings.NewReader(string(lines.data))); err != nil {
		t.Errorf("it cannot be imported: %v", err)
	}
}
