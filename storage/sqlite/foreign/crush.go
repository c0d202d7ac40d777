package foreign

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/foreign"
)

// crush reads the sessions of crush, oldest first.
func (d *Database) crush(ctx context.Context, do func(foreign.Session) error) error {
	ids, err := d.keys(ctx, `SELECT id FROM sessions ORDER BY created_at, rowid`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d.room = maxLoad
		t, err := d.crushTalk(ctx, id)
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		if len(t.Turns) == 0 && strings.HasPrefix(id, "title-") {
			continue // in it nothing is said: it is where a title was made
		}
		s, err := t.Session()
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

func (d *Database) crushTalk(ctx context.Context, id string) (*foreign.Talk, error) {
	list, err := d.query(ctx, "sessions", []string{"parent_session_id", "title", "cost", "created_at", "updated_at", "todos"}, "WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	t := &foreign.Talk{Name: id, Source: "a crush database"}
	for _, r := range list {
		t.Title, t.Created, t.Updated = r.text("title"), since(r.number("created_at")), since(r.number("updated_at"))
		if r.text("parent_session_id") != "" {
			t.Tags = append(t.Tags, "sub-agent")
		}
		if cost := r.real("cost"); cost > 0 && cost < 1e6 {
			t.Usage.Cost, t.Usage.CostKnown = cost, true
		}
		t.Tasks = crushTasks(r.bytes("todos"))
	}
	// Its database is in a folder of the project.
	if at := filepath.Dir(d.name); filepath.Base(at) == ".crush" {
		t.Dir = filepath.Dir(at)
	}
	rows, err := d.query(ctx, "messages", []string{"id", "role", "parts", "model", "provider", "created_at"}, "WHERE session_id = ? ORDER BY created_at, rowid", id)
	if err != nil {
		return nil, err
	}
	before := ""
	for i, r := range rows {
		turn := foreign.Turn{Key: fmt.Sprintf("%d %s", i, r.text("id")), Parent: before, At: since(r.number("created_at"))}
		before = turn.Key
		if err := crushMessage(t, r, &turn); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		t.Turns = append(t.Turns, turn)
	}
	files, err := d.query(ctx, "files", []string{"version"}, "WHERE session_id = ? LIMIT 1", id)
	if len(files) > 0 {
		t.Omit("versions of files")
	}
	return t, err
}

// crushTasks reads a task list; one that cannot be read is none.
func crushTasks(raw []byte) []snapshot.Task {
	var list []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var tasks []snapshot.Task
	for _, t := range list {
		tasks = append(tasks, snapshot.Task{Text: t.Content, Status: t.Status})
	}
	return tasks
}

func crushMessage(t *foreign.Talk, r row, turn *foreign.Turn) error {
	switch role := r.text("role"); role {
	case "user":
		turn.Role = harness.RoleUser
	case "assistant":
		turn.Role = harness.RoleAssistant
		if model := r.text("model"); model != "" {
			turn.Model = model
			if provider := r.text("provider"); provider != "" {
				turn.Model = provider + "/" + model
			}
		}
	case "tool":
		turn.Role = harness.RoleTool
	case "system":
		t.Omit("system messages")
		return nil
	default:
		return fmt.Errorf("%w: the role is %q", harness.ErrDamaged, role)
	}
	var parts []struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if raw := r.bytes("parts"); len(raw) > 0 {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return fmt.Errorf("%w: its parts are no list: %w", harness.ErrDamaged, err)
		}
	}
	for i, p := range parts {
		if err := crushPart(t, p.Type, p.Data, turn); err != nil {
			return fmt.Errorf("part %d: %w: %w", i+1, harness.ErrDamaged, err)
		}
	}
	return nil
}

// crushData are the fields of all kinds of parts.
type crushData struct {
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	URL       string `json:"url"`
	Path      string `json:"Path"`
	MIMEType  string `json:"MIMEType"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     string `json:"input"`
	CallID    string `json:"tool_call_id"`
	Content   string `json:"content"`
	IsError   bool   `json:"is_error"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Command   string `json:"command"`
	Output    string `json:"output"`
	// Bytes are those of a file in a binary part; in a result it is text.
	Bytes json.RawMessage `json:"Data"`
}

func crushPart(t *foreign.Talk, kind string, raw json.RawMessage, turn *foreign.Turn) error {
	var d crushData
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
	}
	add := func(p harness.Part) { turn.Parts = append(turn.Parts, p) }
	switch kind {
	case "text":
		add(harness.Part{Kind: harness.PartText, Text: d.Text})
	case "reasoning":
		if d.Signature != "" {
			t.Omit("signatures of reasoning")
		}
		add(harness.Part{Kind: harness.PartThinking, Text: d.Thinking})
	case "image_url":
		add(foreign.Absent("a picture at " + d.URL))
		t.Omit("pictures that are only addresses")
	case "binary":
		data, err := crushBytes(d.Bytes)
		if err != nil {
			return err
		}
		p, err := foreign.Attached(filepath.Base(filepath.ToSlash(d.Path)), data)
		if err != nil {
			t.Omit("files that cannot be attached")
		}
		add(p)
	case "tool_call":
		add(harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: d.ID, Name: d.Name, Input: json.RawMessage(d.Input)}})
	case "tool_result":
		add(harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: d.CallID, Name: d.Name, Text: d.Content, Failed: d.IsError}})
		data, err := crushBytes(d.Bytes)
		if err == nil && len(data) > 0 {
			var p harness.Part
			if p, err = foreign.Attached("a file of "+d.Name, data); err == nil {
				add(p)
			}
		}
		if err != nil {
			t.Omit("files that cannot be attached")
		}
	case "shell_command":
		add(harness.Part{Kind: harness.PartText, Text: strings.TrimSpace("$ " + d.Command + "\n" + d.Output)})
	case "finish":
		switch d.Reason {
		case "canceled":
			turn.Mark = harness.MarkInterrupted
		case "error":
			turn.Mark = harness.MarkIncomplete
		}
	default:
		t.Omit(fmt.Sprintf("parts of kind %q", kind))
	}
	return nil
}

// crushBytes reads bytes that are written as text.
func crushBytes(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}
