package foreign_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness/snapshot/foreign/foreigntest"
)

// llmOld is a database of llm before tools and fragments, with two conversations and
// a response of none in the one table that it had first.
var llmOld = []string{
	`CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT)`,
	`CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT,
		response TEXT, response_json TEXT, conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER, datetime_utc TEXT)`,
	`CREATE VIRTUAL TABLE responses_fts USING fts5(prompt, response, content=responses)`,
	`INSERT INTO conversations VALUES ('01h5', 'Pelicans', 'gpt-4')`,
	`INSERT INTO responses VALUES ('01h6', 'gpt-4', 'Name one', 'Be short', NULL, '{"temperature": 1}', 'Percy', '{}', '01h5', 1500, '2023-07-12T10:00:00.250000')`,
	`INSERT INTO responses VALUES ('01h8', 'gpt-4', 'Another', 'Be short', NULL, '{}', 'Paul', '{}', '01h5', 10, '2023-07-12T11:00:00+00:00')`,
	`INSERT INTO responses VALUES ('01h7', 'mlc', 'alone', NULL, NULL, '{}', 'yes', NULL, NULL, 10, '2023-07-12 10:30:00')`,
}

func TestTheLogsOfAnOldLLMAreRead(t *testing.T) {
	t.Parallel()
	all, err := each(t, made(t, "logs.db", llmOld...))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d conversations: %v", len(all), err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), `
1<0 user text "Name one"
2<1 assistant text "Percy"
3<2 user text "Another"
4<3 assistant text "Paul"
head 4`)
	foreigntest.Same(t, foreigntest.Lines(all[1]), "1<0 user text \"alone\"\n2<1 assistant text \"yes\"\nhead 2")
	s := all[0]
	if s.Name != "01h5" || s.Title != "Pelicans" || s.Config.System != "Be short" || s.Records[1].Message.Model != "llm/gpt-4" {
		t.Errorf("%q %q %q %q", s.Name, s.Title, s.Config.System, s.Records[1].Message.Model)
	}
	if got := s.Created.Format("15:04:05.00 ") + s.Records[1].At.Format("15:04:05.00 ") + s.Saved.Format("15:04:05.00"); got != "10:00:00.25 10:00:01.75 11:00:00.01" {
		t.Errorf("the times are %s", got)
	}
	if got := strings.Join(s.Left, ", "); got != "options of models" {
		t.Errorf("left out: %s", got)
	}
}

func TestTheFirstTableOfLLMIsRead(t *testing.T) {
	t.Parallel()
	all, err := each(t, made(t, "log.db",
		`CREATE TABLE log (model TEXT, timestamp TEXT, prompt TEXT, system TEXT, response TEXT, chat_id TEXT)`,
		`INSERT INTO log VALUES ('gpt-3.5-turbo', '2023-05-01 10:00:00', 'a', NULL, 'b', NULL), ('x', '', 'other', NULL, 'one', NULL), ('x', '', 'c', '', 'd', '1')`))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d conversations: %v", len(all), err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), "1<0 user text \"a\"\n2<1 assistant text \"b\"\n3<2 user text \"c\"\n4<3 assistant text \"d\"\nhead 4")
	if all[0].ID != "llm-log-1" || all[1].ID != "llm-log-2" {
		t.Errorf("the ids are %s and %s", all[0].ID, all[1].ID)
	}
}

// llmTools are the tables of llm with attachments, fragments, tools and usage.
var llmTools = []string{
	`CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT)`,
	`CREATE TABLE schemas (id TEXT PRIMARY KEY, content TEXT)`,
	`CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT, response_json TEXT,
		conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, schema_id TEXT, resolved_model TEXT, reasoning TEXT)`,
	`CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB)`,
	`CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (response_id, attachment_id))`,
	`CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT)`,
	`CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY (response_id, fragment_id, "order"))`,
	`CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY (response_id, fragment_id, "order"))`,
	`CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT)`,
	`CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT, instance_id INTEGER, exception TEXT)`,
	`CREATE TABLE tool_results_attachments (tool_result_id INTEGER, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (tool_result_id, attachment_id))`,
}

func TestToolsFilesAndFragmentsOfLLMAreRead(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	all, err := each(t, made(t, "logs.db", append(llmTools,
		`INSERT INTO responses VALUES ('r1', 'anthropic/claude', 'What time?', NULL, NULL, '{}', '', NULL, 'c', 5, '2025-05-05T05:05:05', 100, 7, NULL, 'schema', NULL, 'Let me see')`,
		`INSERT INTO tool_calls VALUES (1, 'r1', 1, 'llm_time', '{"zone": "UTC"}', 'call_9'), (2, 'r1', 1, 'bad', 'no json', NULL)`,
		`INSERT INTO responses VALUES ('r2', 'anthropic/claude', '', NULL, NULL, '{}', 'Noon', NULL, 'c', 5, '2025-05-05T05:05:09', 200, 3, NULL, NULL, NULL, NULL)`,
		`INSERT INTO tool_results VALUES (4, 'r2', 1, 'llm_time', '12:00', 'call_9', NULL, NULL), (5, 'r2', 1, 'bad', '', NULL, NULL, 'KeyError: x')`,
		`INSERT INTO attachments VALUES ('a1', 'image/png', '/home/ada/draw.png', NULL, `+hex(t)+`), ('a2', 'text/plain', '`+secret+`', NULL, NULL), ('a3', 'image/png', NULL, 'https://example.com/x.png', NULL)`,
		`INSERT INTO tool_results_attachments VALUES (4, 'a1', 0)`,
		`INSERT INTO prompt_attachments VALUES ('r1', 'a3', 1), ('r1', 'a2', 2), ('r1', 'a1', 0)`,
		`INSERT INTO fragments VALUES (1, 'h', 'be kind', '', NULL), (2, 'g', 'whale', '', '/home/ada/moby.md'), (3, 'f', 'sea', '', 'https://example.com/sea')`,
		`INSERT INTO system_fragments VALUES ('r1', 1, 0)`,
		`INSERT INTO prompt_fragments VALUES ('r1', 3, 1), ('r1', 2, 0)`,
	)...))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d conversations: %v", len(all), err)
	}
	s := all[0]
	fence := "```"
	foreigntest.Same(t, foreigntest.Lines(s), fmt.Sprintf(`
1<0 user given "moby.md:\n%smd\nwhale\n%s" given "https://example.com/sea:\n%s\nsea\n%s" file draw.png image/png given "(a file at https://example.com/x.png is not here)" given "(secret.txt is not here)" text "What time?"
2<1 assistant thinking "Let me see" call llm_time {"zone":"UTC"} call bad no json
3<2 tool result llm_time "12:00" file draw.png image/png result bad "KeyError: x"
4<3 assistant text "Noon"
head 4`, fence, fence, fence, fence))
	if s.Config.System != "be kind" || s.Usage.Input != 300 || s.Usage.Output != 10 || s.Records[1].Message.Usage.Input != 100 || s.Records[1].Message.Model != "anthropic/claude" {
		t.Errorf("%q %+v %+v", s.Config.System, s.Usage, s.Records[1].Message)
	}
	if r := s.Records[2].Message.Parts[2].Result; !r.Failed {
		t.Error("the exception is no failure")
	}
	if got := strings.Join(s.Left, ", "); got != "files that are only addresses, files that the database does not hold, schemas of answers" {
		t.Errorf("left out: %s", got)
	}
}

// llmStore are the tables in which newer versions of llm keep messages.
var llmStore = []string{
	`CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT)`,
	`CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT)`,
	`CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT)`,
	`CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT, options_json TEXT,
		schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER, datetime_utc TEXT, response_json TEXT)`,
	`INSERT INTO fragments VALUES (1, 'h', 'whale', '', 'moby.md')`,
	`INSERT INTO attachments VALUES ('a1', 'image/png', NULL, NULL, x'00')`,
	`INSERT INTO messages VALUES ('s', NULL, 'system', NULL), ('q', 's', 'user', NULL), ('a', 'q', 'assistant', NULL), ('r', 'a', 'user', NULL), ('b', 'r', 'assistant', NULL),
		('q2', 'b', 'user', NULL), ('a2', 'q2', 'assistant', NULL), ('q3', 'b', 'user', NULL), ('a3', 'q3', 'assistant', NULL)`,
	`INSERT INTO parts (message_hash, position, type, tool_name, text, payload) VALUES
		('s', 0, 'text', NULL, 'Be short', NULL),
		('q', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nWho?"}]}'), ('q', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "a1"}}'),
		('a', 0, 'reasoning', NULL, 'Hm', NULL), ('a', 1, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"n": 1}, "tool_call_id": "t1"}'),
		('r', 0, 'tool_result', 'look', NULL, '{"name": "look", "output": "Ahab", "tool_call_id": "t1"}'),
		('b', 0, 'text', NULL, 'Ahab.', NULL), ('q2', 0, 'text', NULL, 'Sure?', NULL), ('a2', 0, 'text', NULL, 'Yes.', NULL),
		('q3', 0, 'text', NULL, 'And?', NULL), ('a3', 0, 'text', NULL, 'Moby.', NULL)`,
	`INSERT INTO threads VALUES ('01t', 'Whales', 'a2', NULL, '2026-08-01 10:00:00+00:00'), ('01u', 'Fork', 'a3', '01t', '2026-08-02 10:00:00+00:00'), ('01v', 'Empty', NULL, NULL, '')`,
	`INSERT INTO turns VALUES ('1', '01t', 'q', 'a', 'gpt', NULL, '{}', NULL, 10, 1, NULL, 2000, '2026-08-01T10:00:00', NULL), ('2', '01t', 'r', 'b', 'gpt', NULL, NULL, NULL, 20, 2, NULL, 1000, '2026-08-01T10:00:05', NULL),
		('3', '01t', 'q2', 'a2', 'gpt', NULL, NULL, NULL, 30, 3, NULL, 1000, '2026-08-01T10:01:00', NULL), ('4', '01u', 'q3', 'a3', 'gpt', NULL, NULL, NULL, 40, 4, NULL, 1000, '2026-08-02T10:00:00', NULL)`,
}

func TestTheThreadsOfANewLLMAreRead(t *testing.T) {
	t.Parallel()
	legacy := []string{
		`INSERT INTO conversations VALUES ('01t', 'Whales', 'gpt'), ('00s', 'Before', 'gpt')`,
		`INSERT INTO responses (id, model, prompt, response, conversation_id) VALUES ('00r', 'gpt', 'old', 'older', '00s'), ('00q', 'gpt', 'in both', 'twice', '01t')`,
	}
	all, err := each(t, made(t, "logs.db", append(append(append([]string{}, llmTools...), llmStore...), legacy...)...))
	if err != nil || len(all) != 3 {
		t.Fatalf("%d conversations: %v", len(all), err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), "1<0 user text \"old\"\n2<1 assistant text \"older\"\nhead 2")
	head := `
1<0 user given "moby.md:\n` + "```md" + `\nwhale\n` + "```" + `" text "\nWho?" given "(attachment is not here)"
2<1 assistant thinking "Hm" call look {"n":1}
3<2 tool result look "Ahab"
4<3 assistant text "Ahab."
`
	foreigntest.Same(t, foreigntest.Lines(all[1]), head+"5<4 user text \"Sure?\"\n6<5 assistant text \"Yes.\"\nhead 6")
	foreigntest.Same(t, foreigntest.Lines(all[2]), head+"5<4 user text \"And?\"\n6<5 assistant text \"Moby.\"\nhead 6")
	s := all[1]
	if s.Title != "Whales" || s.Config.System != "Be short" || s.Usage.Input != 60 || s.Saved.Format("15:04:05") != "10:01:01" || s.Records[1].At.Format("15:04:05") != "10:00:02" {
		t.Errorf("%q %q %+v %s %s", s.Title, s.Config.System, s.Usage, s.Saved, s.Records[1].At)
	}
	if got := strings.Join(all[2].Left, ", "); got != "files that cannot be attached, which thread it was forked from" {
		t.Errorf("left out: %s", got)
	}
}

func TestACircleOfMessagesEnds(t *testing.T) {
	t.Parallel()
	_, err := each(t, made(t, "logs.db", append(append([]string{}, llmTools...), append(llmStore[:4:4],
		`INSERT INTO messages VALUES ('x', 'y', 'user', NULL), ('y', 'x', 'user', NULL)`,
		`INSERT INTO parts (message_hash, position, type, text) VALUES ('x', 0, 'text', 'x'), ('y', 0, 'text', 'y')`,
		`INSERT INTO threads VALUES ('t', '', 'x', NULL, '')`, `INSERT INTO turns (id, thread_id, tip_message_hash) VALUES ('1', 't', 'x')`)...)...))
	if err == nil || !strings.Contains(err.Error(), "in a circle") {
		t.Errorf("the error is %v", err)
	}
}
