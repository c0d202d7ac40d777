package foreign_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
	"cairn/harness/snapshot/foreign/foreigntest"
)

// drawing is a PNG image.
func drawing(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// talkGPT is a conversation as ChatGPT exports it: hidden system messages, an edited
// question, an answer given twice, reasoning, a tool, a picture and citations.
const talkGPT = `{
 "title": "Rocks", "create_time": 1700000000.5, "update_time": 1700000100.25, "conversation_id": "68C1-AB", "id": "68C1-AB",
 "is_archived": true, "is_starred": true, "default_model_slug": "gpt-5", "current_node": "a2", "moderation_results": [], "safe_urls": [],
 "mapping": {
  "client-root": {"id": "client-root", "message": null, "parent": null, "children": ["sys"]},
  "sys": {"id": "sys", "parent": "client-root", "children": ["ctx"], "message": {"id": "sys", "author": {"role": "system", "name": null, "metadata": {}}, "create_time": null,
   "content": {"content_type": "text", "parts": [""]}, "status": "finished_successfully", "weight": 0.0, "metadata": {"is_visually_hidden_from_conversation": true}, "recipient": "all"}},
  "ctx": {"id": "ctx", "parent": "sys", "children": ["q1", "q2"], "message": {"id": "ctx", "author": {"role": "user"}, "create_time": null,
   "content": {"content_type": "user_editable_context", "user_profile": "I am Ada", "user_instructions": "Be short"}, "weight": 1.0, "metadata": {"is_visually_hidden_from_conversation": true}}},
  "q1": {"id": "q1", "parent": "ctx", "children": ["a1"], "message": {"author": {"role": "user"}, "create_time": 1700000001.0, "content": {"content_type": "text", "parts": ["What is slate?"]}, "weight": 1.0, "metadata": {}}},
  "a1": {"id": "a1", "parent": "q1", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1700000002.0, "content": {"content_type": "text", "parts": ["A rock."]}, "weight": 1.0, "metadata": {"model_slug": "gpt-4o"}, "recipient": "all"}},
  "q2": {"id": "q2", "parent": "ctx", "children": ["think", "a3"], "message": {"author": {"role": "user"}, "create_time": 1700000010.0, "weight": 1.0,
   "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ab", "size_bytes": 12, "width": 3, "height": 2, "metadata": {"sanitized": true}}, "What is this?"]},
   "metadata": {"attachments": [{"id": "file_00ab", "name": "slate.png", "mime_type": "image/png"}, {"id": "file-Gone1", "name": "field notes.docx"}]}}},
  "think": {"id": "think", "parent": "q2", "children": ["code"], "message": {"author": {"role": "assistant"}, "create_time": 1700000011.0, "weight": 1.0, "metadata": {"model_slug": "gpt-5-thinking"},
   "content": {"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "It is grey.", "chunks": [], "finished": true}], "source_analysis_msg_id": "x"}, "recipient": "all"}},
  "code": {"id": "code", "parent": "think", "children": ["out"], "message": {"author": {"role": "assistant"}, "create_time": 1700000012.0, "weight": 1.0, "metadata": {"model_slug": "gpt-5-thinking"},
   "content": {"content_type": "code", "language": "unknown", "text": "print(1+1)"}, "recipient": "python"}},
  "out": {"id": "out", "parent": "code", "children": ["recap"], "message": {"author": {"role": "tool", "name": "python", "metadata": {}}, "create_time": 1700000013.0, "weight": 1.0, "metadata": {},
   "content": {"content_type": "execution_output", "text": "2"}, "recipient": "all"}},
  "recap": {"id": "recap", "parent": "out", "children": ["a2"], "message": {"author": {"role": "assistant"}, "create_time": 1700000014.0, "weight": 1.0, "metadata": {}, "content": {"content_type": "reasoning_recap", "content": "Thought for 3s"}}},
  "a2": {"id": "a2", "parent": "recap", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1700000015.0, "weight": 1.0, "recipient": "all",
   "content": {"content_type": "text", "parts": ["Slate\ue200cite\ue202turn0search1\ue201, from \ue200entity\ue202[\"place\",\"Wales\",\"UK\"]\ue201; see \ue200url\ue202the page\ue202https://example.com/s\ue201\ue200filecite\ue202turn0file0\ue201."]},
   "metadata": {"model_slug": "gpt-5-thinking", "content_references": [{"matched_text": "\ue200cite\ue202turn0search1\ue201", "alt": "([example.com](https://example.com/r))", "type": "grouped_webpages"}]}}},
  "a3": {"id": "a3", "parent": "q2", "children": ["odd"], "message": {"author": {"role": "assistant"}, "create_time": 1700000030.0, "weight": 1.0, "content": {"content_type": "text", "parts": ["Shale."]}, "metadata": {"model_slug": "gpt-4o"}}},
  "w0": {"id": "w0", "parent": "a3", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1700000031.0, "weight": 0.0, "content": {"content_type": "text", "parts": ["unseen"]}, "metadata": {}}},
  "odd": {"id": "odd", "parent": "a3", "children": [], "message": {"author": {"role": "assistant"}, "create_time": 1700000031.0, "weight": 1.0, "content": {"content_type": "hologram", "text": "whirr"}, "metadata": {}}}
 }}`

const talkGPTLog = `
1<0 user text "What is slate?"
2<1 assistant text "A rock."
3<0 user file slate.png image/png text "What is this?" given "(field notes.docx is not here)"
4<3 assistant thinking "Looking\n\nIt is grey." call python {"code":"print(1+1)"}
5<4 tool result python "2"
6<5 assistant text "Slate([example.com](https://example.com/r)), from Wales; see [the page](https://example.com/s)."
7<3 assistant text "Shale."
8<7 assistant text "whirr"
head 6`

// each reads all of an archive.
func each(t *testing.T, path string) (all []foreign.Session, err error) {
	t.Helper()
	a, err := foreign.OpenArchive(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = a.Each(t.Context(), func(s foreign.Session) error {
		goesOn(t, s)
		all = append(all, s)
		return nil
	})
	return all, err
}

// written makes a directory of files.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipped makes a ZIP file of files.
func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "export.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAChatGPTExportIsReadFromEachOfItsForms(t *testing.T) {
	t.Parallel()
	second := strings.NewReplacer("68C1-AB", "second", `"title": "Rocks"`, `"title": null`).Replace(talkGPT)
	whole := "[" + talkGPT + "," + second + "]"
	pixels := string(drawing(t))
	beside := map[string]string{"file_00ab-sanitized.png": pixels, "user.json": "{}", "chat.html": "<script>"}
	with := func(more map[string]string) map[string]string {
		for name, text := range beside {
			more[name] = text
		}
		return more
	}
	dir := written(t, with(map[string]string{"conversations.json": whole}))
	for name, path := range map[string]string{
		"directory":  dir,
		"file":       filepath.Join(dir, "conversations.json"),
		"zip":        zipped(t, with(map[string]string{"conversations.json": whole})),
		"nested zip": zipped(t, map[string]string{"export/conversations.json": "\ufeff " + whole, "export/user-1/file_00ab-1.png": pixels, "__MACOSX/export/._conversations.json": "junk"}),
		"shards":     written(t, with(map[string]string{"conversations-000.json": "[" + talkGPT + "]", "conversations-001.json": "[" + second + "]", "conversations-shared.json": "?"})),
		"dat files":  zipped(t, map[string]string{"conversations.json": whole, "file_00ab.dat": pixels, "conversation_asset_file_names.json": `{"file_00ab.dat": "other.png"}`}),
		"alone":      written(t, with(map[string]string{"conversations-0.json": talkGPT, "conversations-1.json": second})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := each(t, path)
			if err != nil || len(all) != 2 {
				t.Fatalf("%d conversations: %v", len(all), err)
			}
			s := all[0]
			foreigntest.Same(t, foreigntest.Lines(s), talkGPTLog)
			if s.Title != "Rocks" || s.Name != "68C1-AB" || s.ID != "68c1-ab" || !s.Pinned || fmt.Sprint(s.Tags) != "[archived]" || all[1].Title != "" {
				t.Errorf("%q %q %q pinned %v tags %v, then %q", s.Title, s.Name, s.ID, s.Pinned, s.Tags, all[1].Title)
			}
			if got := s.Created.Format("15:04:05.00") + s.Saved.Format(" 15:04:05.00"); got != "22:13:20.50 22:15:00.25" {
				t.Errorf("the times are %s", got)
			}
			if got := strings.Join(s.Left, ", "); got != `custom instructions, files that the export does not have, hidden messages, marks of citations, messages of kind "hologram"` {
				t.Errorf("left out: %s", got)
			}
			if m := s.Records[3].Message; m.Model != "openai/gpt-5-thinking" || s.Records[3].At.Second() != 32 {
				t.Errorf("the model is %q, the time %s", m.Model, s.Records[3].At)
			}
			if len(s.Artifacts) != 1 || string(s.Artifacts[0].Data) != pixels {
				t.Errorf("%d files", len(s.Artifacts))
			}
		})
	}
}

func TestAPictureThatIsNoneIsNamedInItsPlace(t *testing.T) {
	t.Parallel()
	all, err := each(t, written(t, map[string]string{"conversations.json": "[" + talkGPT + "]", "file_00ab.dat": "\x89PNG\r\n\x1a\nbroken"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := foreigntest.Lines(all[0]); !strings.Contains(got, `3<0 user given "(slate.png is not here)"`) || len(all[0].Artifacts) > 0 {
		t.Error(got)
	}
	if !strings.Contains(strings.Join(all[0].Left, ","), "files that cannot be attached") {
		t.Error(all[0].Left)
	}
}

// talkClaude is a conversation as Claude exports it.
const talkClaude = `{
 "uuid": "0b5e-44", "name": "Moss", "summary": "", "created_at": "2026-01-02T03:04:05.678901Z", "updated_at": "2026-01-02T04:04:05Z", "account": {"uuid": "1"},
 "chat_messages": [
  {"uuid": "m1", "text": "", "sender": "human", "created_at": "2026-01-02T03:04:06Z", "updated_at": "2026-01-02T03:04:06Z", "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
   "content": [{"type": "text", "text": "Read it", "citations": []}],
   "attachments": [{"file_name": "", "file_size": 5, "file_type": "txt", "extracted_content": "a paste"}], "files": [{"file_uuid": "f", "file_name": "moss.jpg"}], "files_v2": [{"file_name": "moss.jpg"}]},
  {"uuid": "m2", "text": "Done", "sender": "assistant", "created_at": "2026-01-02T03:04:09Z", "parent_message_uuid": "m1", "attachments": [], "files": [],
   "content": [{"type": "thinking", "thinking": "Hm", "summaries": [{"summary": "s"}], "cut_off": false}, {"type": "text", "text": "Looking"},
    {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "moss"}, "message": "Searching"},
    {"type": "tool_result", "tool_use_id": "toolu_1", "name": "web_search", "content": [{"type": "text", "text": "green", "uuid": "u"}, {"type": "knowledge", "title": "t"}], "is_error": false},
    {"type": "token_budget"}, {"type": "text", "text": "Done"}]},
  {"uuid": "m3", "text": "Done otherwise", "sender": "assistant", "created_at": "2026-01-02T03:05:09Z", "parent_message_uuid": "m1", "content": [], "attachments": [], "files": []},
  {"uuid": "m4", "text": "thanks", "sender": "human", "created_at": "2026-01-02T03:04:20Z", "parent_message_uuid": "m2", "content": [{"type": "text", "text": "thanks"}], "attachments": [], "files": []}
 ]}`

const talkClaudeLog = "" + `
1<0 user given "pasted text:\n` + "```" + `\na paste\n` + "```" + `" given "(moss.jpg is not here)" text "Read it"
2<1 assistant thinking "Hm" text "Looking" call web_search {"query":"moss"}
3<2 tool result web_search "green"
4<3 assistant text "Done"
5<4 user text "thanks"
6<1 assistant text "Done otherwise"
head 6`

func TestAClaudeExportIsRead(t *testing.T) {
	t.Parallel()
	all, err := each(t, zipped(t, map[string]string{"conversations.json": "[" + talkClaude + "]", "users.json": "[]", "projects.json": "[]"}))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d conversations: %v", len(all), err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), talkClaudeLog)
	if s := all[0]; s.Title != "Moss" || s.Created.Format("15:04:05") != "03:04:05" || s.Source != "a Claude export" {
		t.Errorf("%q %s %s", s.Title, s.Created, s.Source)
	}
	if got := strings.Join(all[0].Left, ", "); got != `files that the export does not have, results of tools of kind "knowledge"` {
		t.Errorf("left out: %s", got)
	}
}

func TestTheLeafOfAClaudeExportIsItsHead(t *testing.T) {
	t.Parallel()
	all, err := each(t, written(t, map[string]string{"conversations.json": strings.Replace(talkClaude, `"uuid": "0b5e-44"`, `"uuid": "x", "current_leaf_message_uuid": "m4", "is_starred": true`, 1)}))
	if err != nil || len(all) != 1 || all[0].Head != 5 || !all[0].Pinned {
		t.Fatalf("%v: %+v", err, all)
	}
}

func TestAnOldClaudeExportHasNoBranches(t *testing.T) {
	t.Parallel()
	old := `[{"uuid": "u", "name": "", "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-01-02T03:04:05Z", "chat_messages": [
		{"uuid": "1", "text": "a", "sender": "human", "created_at": "2024-01-02T03:04:05Z", "attachments": [], "files": []},
		{"uuid": "2", "text": "b", "sender": "assistant", "created_at": "2024-01-02T03:04:05Z", "attachments": [], "files": []},
		{"uuid": "3", "text": "c", "sender": "human", "created_at": "2024-01-02T03:04:05Z", "attachments": [], "files": []}]}]`
	all, err := each(t, written(t, map[string]string{"conversations.json": old}))
	if err != nil {
		t.Fatal(err)
	}
	foreigntest.Same(t, foreigntest.Lines(all[0]), "1<0 user text \"a\"\n2<1 assistant text \"b\"\n3<2 user text \"c\"\nhead 3")
}

func TestWhatIsNoWholeExportIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		is   error
		says string
	}{
		"cut":            {written(t, map[string]string{"conversations.json": "[" + talkGPT[:800]}), harness.ErrDamaged, "conversations.json: conversation 1: "},
		"no end":         {written(t, map[string]string{"conversations.json": "[" + talkGPT}), harness.ErrDamaged, "it ends in the middle"},
		"syntax":         {written(t, map[string]string{"conversations.json": "[" + talkGPT + ",{]"}), harness.ErrDamaged, "conversation 2: "},
		"kind":           {written(t, map[string]string{"conversations.json": `[{"mapping": {"a": 3}, "id": "x"}]`}), harness.ErrDamaged, "of the wrong kind"},
		"no id":          {written(t, map[string]string{"conversations.json": `[{"mapping": {}}]`}), harness.ErrDamaged, "it has no id"},
		"circle":         {written(t, map[string]string{"conversations.json": `[{"id": "x", "mapping": {"a": {"parent": "a", "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["x"]}}}}}]`}), harness.ErrDamaged, "in a circle"},
		"sender":         {written(t, map[string]string{"conversations.json": `[{"uuid": "x", "chat_messages": [{"sender": "root", "text": "x"}]}]`}), harness.ErrDamaged, `the sender is "root"`},
		"another":        {written(t, map[string]string{"conversations.json": `[{"messages": []}]`}), foreign.ErrUnknown, "no conversation of ChatGPT or Claude"},
		"text":           {written(t, map[string]string{"conversations.json": "hello"}), foreign.ErrUnknown, "no list"},
		"nothing":        {written(t, map[string]string{"a.json": "[]"}), foreign.ErrUnknown, "it has no conversations.json"},
		"zip of nothing": {zipped(t, map[string]string{"a.txt": ""}), foreign.ErrUnknown, "it has no conversations.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := each(t, c.path)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestACutZIPIsDamaged(t *testing.T) {
	t.Parallel()
	path := zipped(t, map[string]string{"conversations.json": "[" + talkGPT + "]"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := each(t, path); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("the error is %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	a, err := foreign.OpenArchive(written(t, map[string]string{"conversations.json": "[" + talkGPT + "," + strings.Repeat(" ", 1<<20) + talkClaude + "]"}))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() //nolint:errcheck // it was only read
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	err = a.Each(ctx, func(foreign.Session) error { n++; stop(); return nil })
	if n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d conversations, and %v", n, err)
	}
	mine := errors.New("mine")
	if err := a.Each(t.Context(), func(foreign.Session) error { return mine }); !errors.Is(err, mine) || err.Error() != "mine" {
		t.Errorf("the error is %v", err)
	}
}

// FuzzArchive reads whatever bytes as a file of conversations: what comes out can be
// saved and gone on with.
func FuzzArchive(f *testing.F) {
	f.Add([]byte("[" + talkGPT + "," + talkClaude + "]"))
	f.Add([]byte(talkGPT))
	f.Add([]byte(talkClaude))
	pixels := string(drawing(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := foreign.ReadExport(t.Context(), map[string]string{"conversations.json": string(data), "file_00ab.dat": pixels}, func(s foreign.Session) error {
			goesOn(t, s)
			return nil
		})
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
