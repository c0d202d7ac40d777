package wire

import (
	"cmp"
	"slices"

	"charm.land/fantasy"

	"cairn/harness"
)

// appended adds a message, or its content to the last one if that is of the same
// speaker: what stood between them was not to be sent.
func (p *prompter) appended(out fantasy.Prompt, r fantasy.MessageRole, content []fantasy.MessagePart) fantasy.Prompt {
	n := len(out) - 1
	if n < 0 || out[n].Role != r || r == fantasy.MessageRoleTool {
		return append(out, fantasy.Message{Role: r, Content: content})
	}
	out[n].Content = append(out[n].Content, content...)
	if p.w.CallsLast {
		callsLast(out[n].Content)
	}
	if !p.w.Blocks {
		out[n].Content = joined(out[n].Content)
	}
	return out
}

// turns finds the messages of the user that began the last turn and the one
// before. Notices of the program begin no turn, but if there is nothing else.
func turns(messages []harness.Message) (turn, before int) {
	turn, before = -1, -1
	notice := -1
	for i, m := range messages {
		switch {
		case m.Role != harness.RoleUser:
		case m.Mark == harness.MarkNotice:
			notice = i
		default:
			turn, before = i, turn
		}
	}
	if turn < 0 {
		turn = notice
	}
	return turn, before
}

// situated puts the context behind what the last message has, which is left out
// if it is empty then.
func (p *prompter) situated(out fantasy.Prompt, context string) fantasy.Prompt {
	m := &out[len(out)-1]
	if c := clean(context); c != "" {
		m.Content = append(m.Content, fantasy.TextPart{Text: c})
		if !p.w.Blocks {
			m.Content = joined(m.Content)
		}
	}
	if len(m.Content) == 0 {
		return out[:len(out)-1]
	}
	return out
}

// mark marks the end of message i, as far as it goes by now, as that of a stable
// prefix. There are four marks at most: the system prompt, which comes behind the
// tools, the beginnings of two turns, and the last result. The older beginning is
// where the request of the turn before had its mark: a provider looks only so many
// blocks back for what it has kept, and a turn may have more.
func (p *prompter) mark(out fantasy.Prompt, i int) {
	m := &out[i]
	n := len(m.Content) - 1
	if p.w.CacheMark == nil || n < 0 {
		return
	}
	switch part := m.Content[n].(type) {
	case fantasy.TextPart:
		part.ProviderOptions = p.w.CacheMark
		m.Content[n] = part
	case fantasy.FilePart:
		part.ProviderOptions = p.w.CacheMark
		m.Content[n] = part
	default:
		m.ProviderOptions = p.w.CacheMark
	}
}

// callsLast puts calls behind everything else.
func callsLast(parts []fantasy.MessagePart) {
	rank := func(p fantasy.MessagePart) int {
		if p.GetType() == fantasy.ContentTypeToolCall {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(parts, func(a, b fantasy.MessagePart) int { return cmp.Compare(rank(a), rank(b)) })
}
