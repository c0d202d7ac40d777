package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
)

// llm reads what llm logged: the responses of older versions, and the threads of
// newer ones. A conversation that is in both is read from the newer, which has it
// whole.
func (d *Database) llm(ctx context.Context, do func(foreign.Session) error) error {
	for _, read := range []func(context.Context, func(*foreign.Talk) error) error{d.llmOldest, d.llmResponses, d.llmThreads} {
		err := read(ctx, func(t *foreign.Talk) error {
			s, err := t.Session()
			if err != nil {
				return fmt.Errorf("conversation %s: %w", t.Name, err)
			}
			return do(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const llmSource = "a database of llm"

// llmOldest reads the table that versions before 0.5 had.
func (d *Database) llmOldest(ctx context.Context, do func(*foreign.Talk) error) error {
	for _, table := range []string{"logs", "log"} {
		if !d.has(table, "prompt", "response") {
			continue
		}
		chat := "rowid"
		if d.has(table, "chat_id") {
			chat = "CAST(coalesce(chat_id, rowid) AS INTEGER)"
		}
		ids, err := d.keys(ctx, "SELECT DISTINCT "+chat+" FROM "+table+" ORDER BY 1")
		if err != nil {
			return err
		}
		for _, id := range ids {
			d.room = maxLoad
			t := &foreign.Talk{Name: "llm-log-" + id, Source: llmSource}
			rows, err := d.query(ctx, table, []string{"model", "prompt", "system", "response", "datetime_utc", "timestamp_utc", "timestamp"},
				"WHERE "+chat+" = CAST(? AS INTEGER) ORDER BY rowid", id)
			if err != nil {
				return err
			}
			systems := map[string]bool{}
			for i, r := range rows {
				at := moment(cmp.Or(r.text("datetime_utc"), r.text("timestamp_utc"), r.text("timestamp")))
				systems[r.text("system")] = true
				chain(t, foreign.Turn{Key: fmt.Sprint(i, " asked"), Role: harness.RoleUser, At: at, Parts: []harness.Part{said(r.text("prompt"))}})
				chain(t, foreign.Turn{Key: fmt.Sprint(i, " answered"), Role: harness.RoleAssistant, At: at, Model: llmModel(r.text("model")), Parts: []harness.Part{said(r.text("response"))}})
			}
			setSystem(t, systems)
			if err := do(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// chain appends a turn that follows the last.
func chain(t *foreign.Talk, turn foreign.Turn) {
	if n := len(t.Turns); n > 0 {
		turn.Parent = t.Turns[n-1].Key
	}
	if t.Created.IsZero() {
		t.Created = turn.At
	}
	if turn.At.After(t.Updated) {
		t.Updated = turn.At
	}
	t.Turns = append(t.Turns, turn)
}

func said(text string) harness.Part { return harness.Part{Kind: harness.PartText, Text: text} }

// llmModel is the name of a model with that of a provider before it, which llm leaves
// out of many.
func llmModel(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return name
	}
	return "llm/" + name
}

// setSystem sets the system prompt of a conversation that has one; of several none is
// that of all.
func setSystem(t *foreign.Talk, all map[string]bool) {
	maps.DeleteFunc(all, func(text string, _ bool) bool { return strings.TrimSpace(text) == "" })
	switch texts := slices.Collect(maps.Keys(all)); len(texts) {
	case 0:
	case 1:
		t.System = texts[0]
	default:
		t.Omit("system prompts, of which it has several")
	}
}

// llmResponses reads the tables of versions from 0.5 on.
func (d *Database) llmResponses(ctx context.Context, do func(*foreign.Talk) error) error {
	if !d.has("responses", "id", "prompt", "response") {
		return nil
	}
	talk := "responses.id"
	if d.has("responses", "conversation_id") {
		talk = "coalesce(responses.conversation_id, responses.id)"
	}
	newer := ""
	if d.has("threads", "id", "tip_message_hash") {
		newer = " WHERE " + talk + " NOT IN (SELECT id FROM threads WHERE tip_message_hash IS NOT NULL)"
	}
	ids, err := d.keys(ctx, "SELECT "+talk+" FROM responses"+newer+" GROUP BY 1 ORDER BY min(responses.id)")
	if err != nil {
		return err
	}
	for _, id := range ids {
		d.room = maxLoad
		t := &foreign.Talk{Name: id, Source: llmSource}
		if err := d.llmTalk(ctx, t, talk); err != nil {
			return fmt.Errorf("conversation %s: %w", id, err)
		}
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

// llmTalk reads one conversation; talk is what names it in the table.
func (d *Database) llmTalk(ctx context.Context, t *foreign.Talk, talk string) error {
	names, err := d.query(ctx, "conversations", []string{"name"}, "WHERE id = ?", t.Name)
	if err != nil {
		return err
	}
	for _, r := range names {
		t.Title = r.text("name")
	}
	rows, err := d.query(ctx, "responses", []string{
		"id", "model", "prompt", "system", "response", "reasoning", "duration_ms", "datetime_utc", "input_tokens", "output_tokens", "schema_id", "options_json",
	}, "WHERE "+talk+" = ? ORDER BY responses.id", t.Name)
	if err != nil {
		return err
	}
	systems := map[string]bool{}
	for _, r := range rows {
		if err := d.llmResponse(ctx, t, r, systems); err != nil {
			return fmt.Errorf("response %s: %w", r.text("id"), err)
		}
	}
	setSystem(t, systems)
	return nil
}

// llmResponse appends what one call of a model was given and what came of it.
func (d *Database) llmResponse(ctx context.Context, t *foreign.Talk, r row, systems map[string]bool) error {
	id, at := r.text("id"), moment(r.text("datetime_utc"))
	system, err := d.llmFragments(ctx, "system_fragments", id)
	if err != nil {
		return err
	}
	systems[strings.TrimSpace(strings.Join(append(fragmentTexts(system), r.text("system")), "\n\n"))] = true
	leftOf(t, r)
	results, err := d.query(ctx, "tool_results", []string{"id", "name", "output", "tool_call_id", "exception"}, "WHERE response_id = ? ORDER BY id", id)
	if err != nil {
		return err
	}
	var answers []harness.Part
	for _, result := range results {
		answers = append(answers, llmResult(result.text("tool_call_id"), result.text("name"), result.text("output"), result.text("exception")))
		files, err := d.llmFiles(ctx, t, "tool_results_attachments", "tool_result_id", result.number("id"))
		if err != nil {
			return err
		}
		answers = append(answers, files...)
	}
	chain(t, foreign.Turn{Key: id + " results", Role: harness.RoleTool, At: at, Parts: answers})

	fragments, err := d.llmFragments(ctx, "prompt_fragments", id)
	if err != nil {
		return err
	}
	asked := fragmentParts(t, fragments)
	files, err := d.llmFiles(ctx, t, "prompt_attachments", "response_id", id)
	if err != nil {
		return err
	}
	asked = append(append(asked, files...), said(r.text("prompt")))
	chain(t, foreign.Turn{Key: id + " asked", Role: harness.RoleUser, At: at, Parts: asked})

	answer := []harness.Part{{Kind: harness.PartThinking, Text: r.text("reasoning")}, said(r.text("response"))}
	calls, err := d.query(ctx, "tool_calls", []string{"name", "arguments", "tool_call_id"}, "WHERE response_id = ? ORDER BY id", id)
	if err != nil {
		return err
	}
	for _, c := range calls {
		answer = append(answer, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{
			Origin: c.text("tool_call_id"), Name: c.text("name"), Input: json.RawMessage(c.bytes("arguments")),
		}})
	}
	usage := used(t, r)
	chain(t, foreign.Turn{Key: id + " answered", Role: harness.RoleAssistant, At: after(at, r.number("duration_ms")), Model: llmModel(r.text("model")), Usage: usage, Parts: answer})
	return nil
}

// leftOf notes what belongs to a call of a model and has no place.
func leftOf(t *foreign.Talk, r row) {
	if r.text("schema_id") != "" {
		t.Omit("schemas of answers")
	}
	if options := r.text("options_json"); options != "" && options != "{}" && options != "null" {
		t.Omit("options of models")
	}
}

// used is the usage of a call, which counts for the conversation, too.
func used(t *foreign.Talk, r row) *harness.Usage {
	const most = 1 << 40
	u := harness.Usage{Input: r.number("input_tokens"), Output: r.number("output_tokens")}
	if min(u.Input, u.Output) < 0 || max(u.Input, u.Output) > most || u == (harness.Usage{}) {
		return nil
	}
	t.Usage = t.Usage.Add(u)
	return &u
}

func llmResult(id, name, output, exception string) harness.Part {
	if exception != "" {
		output = strings.TrimSpace(output + "\n" + exception)
	}
	return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Name: name, Text: output, Failed: exception != ""}}
}

// llmFragments reads the texts that were given to a call, in order.
func (d *Database) llmFragments(ctx context.Context, table, response string) ([]row, error) {
	if !d.has(table, "response_id", "fragment_id") || !d.has("fragments", "id", "content") {
		return nil, nil
	}
	return d.query(ctx, "fragments", []string{"content", "source"},
		"JOIN "+table+` j ON j.fragment_id = fragments.id WHERE j.response_id = ? ORDER BY j."order", j.rowid`, response)
}

func fragmentTexts(list []row) []string {
	var texts []string
	for _, r := range list {
		texts = append(texts, r.text("content"))
	}
	return texts
}

// fragmentParts are fragments as the files that they mostly are.
func fragmentParts(t *foreign.Talk, list []row) []harness.Part {
	var parts []harness.Part
	for _, r := range list {
		parts = append(parts, fragmentPart(t, r))
	}
	return parts
}

func fragmentPart(t *foreign.Talk, r row) harness.Part {
	name := cmp.Or(r.text("source"), "fragment")
	if !strings.Contains(name, "://") {
		name = path.Base(filepath.ToSlash(name))
	}
	p, cut := foreign.Given(name, r.text("content"))
	if cut {
		t.Omit("the ends of very long files")
	}
	return p
}

// llmFiles reads the files that were given to a call or returned by a tool.
func (d *Database) llmFiles(ctx context.Context, t *foreign.Talk, table, key string, of any) ([]harness.Part, error) {
	if !d.has(table, key, "attachment_id") || !d.has("attachments", "id") {
		return nil, nil
	}
	rows, err := d.query(ctx, "attachments", []string{"id", "type", "path", "url", "content"},
		"JOIN "+table+" j ON j.attachment_id = attachments.id WHERE j."+key+` = ? ORDER BY j."order", j.rowid`, of)
	if err != nil {
		return nil, err
	}
	var parts []harness.Part
	for _, r := range rows {
		parts = append(parts, llmFile(t, r))
	}
	return parts, nil
}

// llmFile is one attachment. A file that is only named by its path is not read:
// whoever made the database chose the path.
func llmFile(t *foreign.Talk, r row) harness.Part {
	name := "attachment"
	if file := r.text("path"); file != "" {
		name = path.Base(filepath.ToSlash(file))
	}
	data := r.bytes("content")
	switch {
	case len(data) > 0:
		p, err := foreign.Attached(name, data)
		if err != nil {
			t.Omit("files that cannot be attached")
		}
		return p
	case r.text("url") != "":
		t.Omit("files that are only addresses")
		return foreign.Absent("a file at " + r.text("url"))
	}
	t.Omit("files that the database does not hold")
	return foreign.Absent(name)
}
