package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
)

// llmChain finds the messages of a thread: those from the tips of the thread and of
// its calls of models up to the first.
const llmChain = `WITH RECURSIVE chain(hash) AS (
	SELECT tip_message_hash FROM threads WHERE id = ?1
	UNION SELECT tip_message_hash FROM turns WHERE thread_id = ?1
	UNION SELECT m.parent_hash FROM messages m JOIN chain c ON m.hash = c.hash WHERE m.parent_hash IS NOT NULL
) SELECT hash FROM chain`

// llmThreads reads the threads of newer versions. Threads that have messages in
// common are conversations of their own.
func (d *Database) llmThreads(ctx context.Context, do func(*foreign.Talk) error) error {
	if !d.has("threads", "id", "tip_message_hash") || !d.has("turns", "thread_id", "tip_message_hash", "parent_message_hash") ||
		!d.has("messages", "hash", "parent_hash", "role") || !d.has("parts", "message_hash", "type") {
		return nil
	}
	ids, err := d.keys(ctx, `SELECT id FROM threads WHERE tip_message_hash IS NOT NULL ORDER BY id`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d.room = maxLoad
		t := &foreign.Talk{Name: id, Source: llmSource}
		if err := d.llmThread(ctx, t); err != nil {
			return fmt.Errorf("thread %s: %w", id, err)
		}
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

func (d *Database) llmThread(ctx context.Context, t *foreign.Talk) error {
	rows, err := d.query(ctx, "threads", []string{"name", "tip_message_hash", "datetime_utc", "forked_from"}, "WHERE id = ?", t.Name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		t.Title, t.Head, t.Created = r.text("name"), r.text("tip_message_hash"), moment(r.text("datetime_utc"))
		if r.text("forked_from") != "" {
			t.Omit("which thread it was forked from")
		}
	}
	messages, err := d.query(ctx, "messages", []string{"hash", "parent_hash", "role"}, "WHERE hash IN ("+llmChain+") ORDER BY messages.rowid", t.Name)
	if err != nil {
		return err
	}
	systems := map[string]bool{}
	at := map[string]int{}
	for _, m := range messages {
		turn := foreign.Turn{Key: m.text("hash"), Parent: m.text("parent_hash")}
		switch role := m.text("role"); role {
		case "user", "tool", "system":
			turn.Role = harness.RoleUser
		case "assistant":
			turn.Role = harness.RoleAssistant
		default:
			return fmt.Errorf("message %s: %w: the role is %q", turn.Key, harness.ErrDamaged, role)
		}
		parts, err := d.query(ctx, "parts", []string{"id", "type", "text", "payload"}, "WHERE message_hash = ? ORDER BY position, id", turn.Key)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := d.llmPart(ctx, t, p, &turn); err != nil {
				return fmt.Errorf("message %s: %w", turn.Key, err)
			}
		}
		if m.text("role") == "system" {
			systems[textsOf(turn.Parts)] = true
			turn.Parts = nil
		}
		at[turn.Key] = len(t.Turns)
		t.Turns = append(t.Turns, turn)
	}
	setSystem(t, systems)
	return d.llmTurns(ctx, t, at)
}

// textsOf are the texts of parts together.
func textsOf(parts []harness.Part) string {
	text := ""
	for _, p := range parts {
		if p.Kind == harness.PartText {
			text += p.Text
		}
	}
	return text
}

// maxSteps is how many messages one call of a model can have added.
const maxSteps = 1_000

// llmTurns dates the messages by the calls of models that they belong to, and counts
// what the calls used.
func (d *Database) llmTurns(ctx context.Context, t *foreign.Talk, at map[string]int) error {
	rows, err := d.query(ctx, "turns", []string{
		"thread_id", "parent_message_hash", "tip_message_hash", "model", "duration_ms", "datetime_utc", "input_tokens", "output_tokens", "schema_id", "options_json",
	}, "WHERE tip_message_hash IN ("+llmChain+") ORDER BY turns.id", t.Name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		leftOf(t, r)
		begun := moment(r.text("datetime_utc"))
		ended := after(begun, r.number("duration_ms"))
		if asked, ok := at[r.text("parent_message_hash")]; ok && t.Turns[asked].At.IsZero() {
			t.Turns[asked].At = begun
		}
		i, ok := at[r.text("tip_message_hash")]
		for steps := 0; ok && steps < maxSteps; steps++ {
			turn := &t.Turns[i]
			if turn.Key == r.text("parent_message_hash") || turn.Model != "" {
				break
			}
			if turn.At.IsZero() {
				turn.At = ended
			}
			if turn.Role == harness.RoleAssistant {
				turn.Model = llmModel(r.text("model"))
				if turn.Key == r.text("tip_message_hash") {
					turn.Usage = used(t, r)
				}
			}
			i, ok = at[turn.Parent]
		}
		if r.text("thread_id") == t.Name && ended.After(t.Updated) {
			t.Updated = ended
		}
	}
	return nil
}

// after is a time some milliseconds later.
func after(at time.Time, milliseconds int64) time.Time {
	const week = 7 * 24 * 60 * 60 * 1000
	if at.IsZero() || milliseconds < 0 || milliseconds > week {
		return at
	}
	return at.Add(time.Duration(milliseconds) * time.Millisecond)
}

// llmPayload is what a part has besides its text.
type llmPayload struct {
	Text *string `json:"text"`
	Refs []struct {
		Literal  *string `json:"literal"`
		Fragment *int64  `json:"fragment"`
	} `json:"text_ref"`
	Redacted    bool            `json:"redacted"`
	Name        string          `json:"name"`
	Arguments   json.RawMessage `json:"arguments"`
	CallID      string          `json:"tool_call_id"`
	Output      string          `json:"output"`
	Exception   string          `json:"exception"`
	Attachment  *llmRef         `json:"attachment"`
	Attachments []llmRef        `json:"attachments"`
}

type llmRef struct {
	ID string `json:"id"`
}

// llmPart appends one part of a message.
func (d *Database) llmPart(ctx context.Context, t *foreign.Talk, r row, turn *foreign.Turn) error {
	var p llmPayload
	if raw := r.bytes("payload"); len(raw) > 0 {
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("part %d: %w: %w", r.number("id"), harness.ErrDamaged, err)
		}
	}
	add := func(p ...harness.Part) { turn.Parts = append(turn.Parts, p...) }
	text := r.text("text")
	if text == "" && p.Text != nil {
		text = *p.Text
	}
	switch kind := r.text("type"); kind {
	case "text":
		add(said(text))
		for _, ref := range p.Refs {
			switch {
			case ref.Literal != nil:
				add(said(*ref.Literal))
			case ref.Fragment != nil:
				rows, err := d.query(ctx, "fragments", []string{"content", "source"}, "WHERE id = ?", *ref.Fragment)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					t.Omit("fragments that are gone")
				}
				add(fragmentParts(t, rows)...)
			}
		}
	case "reasoning":
		if p.Redacted {
			t.Omit("hidden reasoning")
		}
		add(harness.Part{Kind: harness.PartThinking, Text: text})
	case "tool_call":
		add(harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: p.CallID, Name: p.Name, Input: p.Arguments}})
	case "tool_result":
		add(llmResult(p.CallID, p.Name, p.Output, p.Exception))
		return d.llmRefs(ctx, t, p.Attachments, turn)
	case "attachment":
		if p.Attachment != nil {
			return d.llmRefs(ctx, t, []llmRef{*p.Attachment}, turn)
		}
	default:
		t.Omit(fmt.Sprintf("parts of kind %q", kind))
	}
	return nil
}

// llmRefs appends the files that a part names.
func (d *Database) llmRefs(ctx context.Context, t *foreign.Talk, refs []llmRef, turn *foreign.Turn) error {
	for _, ref := range refs {
		rows, err := d.query(ctx, "attachments", []string{"id", "type", "path", "url", "content"}, "WHERE id = ?", ref.ID)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			t.Omit("files that the database does not hold")
			turn.Parts = append(turn.Parts, foreign.Absent("attachment"))
		}
		for _, r := range rows {
			turn.Parts = append(turn.Parts, llmFile(t, r))
		}
	}
	return nil
}
