package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness/snapshot/foreign/foreigntest"
)

// crushTables are those of crush.
var crushTables = []string{
	`CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
		completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT)`,
	`CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)`,
	`CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL)`,
	`CREATE TABLE read_files (session_id TEXT NOT NULL, path TEXT NOT NULL, read_at INTEGER NOT NULL, PRIMARY KEY (path, session_id))`,
}

func TestTheSessionsOfCrushAreRead(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "rocks", ".crush")
	if err := os.MkdirAll(place, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(place, "crush.db")
	db := database(t, path, append(crushTables[:4:4],
		`INSERT INTO sessions VALUES ('6f-A', NULL, 'Fix it', 5, 900, 30, 0.25, 1760000100, 1760000000000, NULL, '[{"content": "test", "status": "pending", "active_form": "testing"}]'),
			('m2$$call', '6f-A', 'Agent', 1, 0, 0, 0, 1760000050, 1760000050, NULL, NULL), ('title-6f-A', '6f-A', 'Generate a title', 0, 0, 0, 0, 1760000001, 1760000001, NULL, NULL)`,
		`INSERT INTO messages VALUES
			('m1', '6f-A', 'user', '[{"type":"text","data":{"text":"Fix this"}},{"type":"binary","data":{"Path":"/home/ada/a.txt","MIMEType":"text/plain","Data":"aGVsbG8="}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1760000001, 0, NULL, NULL, 0),
			('m2', '6f-A', 'assistant', '[{"type":"reasoning","data":{"thinking":"Hm","signature":"sig"}},{"type":"text","data":{"text":"Looking"}},{"type":"tool_call","data":{"id":"c1","name":"view","input":"{\"path\":\"a.txt\"}","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1}}]', 'claude-x', 1760000001, 0, 1, 'anthropic', 0),
			('m3', '6f-A', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"c1","name":"view","content":"hello","data":"","mime_type":"","metadata":"{}","is_error":true}}]', '', 1760000001, 0, NULL, NULL, 0),
			('m4', '6f-A', 'assistant', '[{"type":"text","data":{"text":"Half"}},{"type":"finish","data":{"reason":"canceled","time":1}}]', 'claude-x', 1760000002, 0, 1, 'anthropic', 0),
			('m5', '6f-A', 'user', '[{"type":"shell_command","data":{"command":"ls","output":"a.txt","exit_code":0}},{"type":"sparkle","data":{}}]', '', 1760000003, 0, NULL, NULL, 0),
			('m6', 'm2$$call', 'user', '[{"type":"text","data":{"text":"Search"}}]', '', 1760000050, 0, NULL, NULL, 0)`,
		`INSERT INTO files VALUES ('f', '6f-A', 'a.txt', 'x', 0, 0, 0)`)...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := each(t, path)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d sessions: %v", len(all), err)
	}
	// Seconds and milliseconds are both times.
	agent, s := all[0], all[1]
	foreigntest.Same(t, foreigntest.Lines(s), `
1<0 user text "Fix this" given "a.txt:\n`+"```txt"+`\nhello\n`+"```"+`"
2<1 assistant thinking "Hm" text "Looking" call view {"path":"a.txt"}
3<2 tool result view "hello"
4<3 assistant text "Half"
5<4 user text "$ ls\na.txt"
head 5`)
	if s.Title != "Fix it" || s.ID != "6f-a" || s.Created.Unix() != 1760000000 || s.Saved.Unix() != 1760000100 || s.Usage.Cost != 0.25 || s.Records[1].Message.Model != "anthropic/claude-x" {
		t.Errorf("%q %q %s %s %+v %q", s.Title, s.ID, s.Created, s.Saved, s.Usage, s.Records[1].Message.Model)
	}
	if s.Records[3].Message.Mark != "interrupted" || !s.Records[2].Message.Parts[0].Result.Failed || filepath.Base(s.Dir) != "rocks" || len(s.Tasks) != 1 {
		t.Errorf("%q %+v %q %+v", s.Records[3].Message.Mark, s.Records[2].Message.Parts[0].Result, s.Dir, s.Tasks)
	}
	if got := strings.Join(s.Left, ", "); got != `parts of kind "sparkle", signatures of reasoning, versions of files` {
		t.Errorf("left out: %s", got)
	}
	if len(agent.Tags) != 1 || agent.Tags[0] != "sub-agent" || agent.ID != "m2--call" {
		t.Errorf("%v %q", agent.Tags, agent.ID)
	}
}

func TestAnOldDatabaseOfCrushIsRead(t *testing.T) {
	t.Parallel()
	all, err := each(t, made(t, "crush.db",
		`CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, updated_at INTEGER, created_at INTEGER)`,
		`CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER)`,
		`INSERT INTO sessions VALUES ('s', 't', 1, 1)`, `INSERT INTO messages VALUES ('m', 's', 'user', '[{"type":"text","data":{"text":"hi"}}]', NULL, 5)`))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions: %v", len(all), err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), "1<0 user text \"hi\"\nhead 1")
}
