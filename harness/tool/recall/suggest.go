package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/tool"
)

// Suggested begins the result of a call that became a suggestion.
const Suggested = "Not remembered yet: "

// suggests reports whether a call is to become a suggestion: foreign text entered
// the turn, and nobody can be asked.
func (m memory) suggests(c tool.Call) bool {
	return (c.Foreign || m.agent != nil) && m.inbox != nil
}

// suggestible reports whether a call that would have to be asked about can become
// a suggestion instead. Of notes there are none.
func (m memory) suggestible(c tool.Call) bool {
	if m.inbox == nil || m.facts == nil {
		return false
	}
	var in struct {
		ID    string `json:"id"`
		Layer string `json:"layer"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return false
	}
	id := strings.ToLower(strings.TrimLeft(strings.TrimSpace(in.ID), "["))
	return !strings.HasPrefix(id, layerNote[:1]) && strings.ToLower(strings.TrimSpace(in.Layer)) != layerNote
}

// suggest files what a call would have done.
func (m memory) suggest(ctx context.Context, c tool.Call, s harness.Suggestion) (string, error) {
	s.By, s.Source = harness.ByModel, harness.Source{Session: c.Session, Message: c.Message}
	if s.Source.Session == harness.NoSession {
		s.Source = harness.Source{}
	}
	s.Why = tool.Clip(Inert(s.Why), maxLine)
	if m.agent != nil {
		return m.propose(ctx, c, s)
	}
	if s.Why == "" {
		s.Why = "Text of a tool, a file or a server had entered the turn."
	}
	key := ""
	if c.Key != "" {
		key = "suggested by " + c.Key
	}
	stored, _, err := m.inbox.Put(ctx, s, key)
	if err != nil {
		return "", fmt.Errorf("suggest it to the user: %w", err)
	}
	if stored.ID == "" {
		return "Nothing was done: it is remembered already, or the user has forgotten it.", nil
	}
	return fmt.Sprintf("%sother text than the user's entered this turn, so %s waits in the inbox until the user agrees.", Suggested, stored.ID), nil
}
