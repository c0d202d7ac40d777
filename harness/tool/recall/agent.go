package recall

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/tool"
)

// RegisterSuggesting adds save_memory, update_memory and forget_memory for an
// agent that is not the user's own: whatever it asks for becomes a suggestion in
// the inbox, with what agent returns as its [harness.Source] Client. There is no
// inbox for notes, so facts are all that it gets.
func RegisterSuggesting(set *tool.Set, facts harness.Facts, inbox harness.Inbox, agent func(context.Context) string) error {
	m := memory{facts: facts, inbox: inbox, agent: agent}
	for _, of := range []func() (tool.Tool, error){m.saveTool, m.updateTool, m.forgetTool} {
		t, err := of()
		if err == nil {
			t.Description += " The user decides: it is a suggestion that waits in their inbox until they agree."
			err = set.Add(t)
		}
		if err != nil {
			return fmt.Errorf("register memory tools for another agent: %w", err)
		}
	}
	return nil
}

// RegisterReading adds recall_memories for the stores given, of which either may
// be nil.
func RegisterReading(set *tool.Set, facts harness.Facts, notes harness.Notes) error {
	if facts == nil && notes == nil {
		return nil
	}
	t, err := memory{facts: facts, notes: notes}.recallTool()
	if err == nil {
		err = set.Add(t)
	}
	if err != nil {
		return fmt.Errorf("register %s: %w", RecallTool, err)
	}
	return nil
}

// maxAgent bounds the name of another agent, in characters.
const maxAgent = 100

// propose files what another agent asks for.
func (m memory) propose(ctx context.Context, c tool.Call, s harness.Suggestion) (string, error) {
	name := tool.Clip(Inert(m.agent(ctx)), maxAgent)
	if _, secret := harness.Secret(name); secret || name == "" {
		name = "an agent without a name"
	}
	s.By, s.Source = harness.ByModel, harness.Source{Client: name}
	stored, filed, err := m.inbox.Put(ctx, s, c.Key)
	switch {
	case err != nil:
		return "", fmt.Errorf("suggest it to the user: %w", err)
	case filed:
		return fmt.Sprintf("%sit waits as %s in the user's inbox until they agree.", Suggested, stored.ID), nil
	case stored.ID == "":
		return "Nothing was done: it is remembered already, or the user has forgotten it.", nil
	}
	switch _, err := m.inbox.Get(ctx, stored.ID); {
	case errors.Is(err, harness.ErrNotFound):
		return "Nothing was done: it was suggested before, and the user has decided.", nil
	case err != nil:
		return "", fmt.Errorf("look for %s in the inbox: %w", stored.ID, err)
	}
	return fmt.Sprintf("%sit waits as %s in the user's inbox already, until they agree.", Suggested, stored.ID), nil
}
