package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
	"cairn/storage/bolt"
)

// noteIn are the arguments of save_note.
type noteIn struct {
	Title   string `json:"title" jsonschema:"short title"`
	Content string `json:"content" jsonschema:"the information to keep"`
}

// remember says something to an agent of this process, which keeps no
// conversation, and prints the answer and what was recalled for it.
func remember(ctx context.Context, dir, said string) (err error) {
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{Purpose: "library"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	facts, notes := db.Facts(), db.Notes()
	set := new(tool.Set)
	if err := recall.RegisterMemoryTools(set, facts, notes); err != nil {
		return err
	}
	saveNote, err := tool.New("save_note", "Save a titled note.", func(ctx context.Context, c tool.Call, in noteIn) (string, error) {
		n, err := notes.Save(ctx, harness.Note{Title: in.Title, Body: in.Content, By: harness.ByModel}, c.Key)
		return "saved " + n.ID, err
	}, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Idempotent))
	if err == nil {
		err = set.Add(saveNote)
	}
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Options{Model: secretary{}, Tools: set, Facts: facts, Notes: notes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	res, err := a.Run(ctx, said)
	if err != nil {
		return err
	}
	all := a.Messages()
	fmt.Printf("%s: %s (recalled %v)\n", res.Status, res.Text, all[len(all)-1].Used)
	return nil
}

// secretary is a model that makes one call for each kind of request, and else
// repeats what its request says is remembered.
type secretary struct{}

// Stream implements [model.Model].
func (secretary) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == harness.RoleTool {
		text, _, _ := strings.Cut(last.Parts[0].Result.Text, "\n")
		return answer(text), nil
	}
	word, rest, _ := strings.Cut(last.Text(), ": ")
	calls := map[string]struct {
		tool string
		in   map[string]string
	}{
		"remember": {recall.SaveTool, map[string]string{"content": rest}},
		"note":     {"save_note", map[string]string{"title": "Note", "content": rest}},
		"correct":  {recall.UpdateTool, map[string]string{"id": "f1", "text": rest}},
		"forget":   {recall.ForgetTool, map[string]string{"id": rest}},
	}
	c, ok := calls[word]
	if !ok {
		var known []string
		for line := range strings.Lines(r.Context) {
			if strings.HasPrefix(line, "[") {
				known = append(known, strings.TrimSpace(line))
			}
		}
		return answer(strings.Join(known, "; ")), nil
	}
	input, err := json.Marshal(c.in)
	call := harness.ToolCall{Name: c.tool, Input: input}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, err
}

func answer(text string) model.Reply {
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}
}
