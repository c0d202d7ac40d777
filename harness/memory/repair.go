package memory

import (
	"strings"

	"cairn/harness"
)

// The words that outbound repair puts where the stored history has none.
const (
	// unseenText answers a call whose outcome nobody saw.
	unseenText = "interrupted, outcome unknown: the call may have run, in part or whole"
	// silentText stands for a result without any text.
	silentText = "(no output)"
	// openingText begins a conversation whose first message is not the user's.
	openingText = "(The conversation begins here.)"
)

// slot is one call and what answered it.
type slot struct {
	call   harness.ToolCall
	opaque *harness.Opaque
	result *harness.ToolResult
}

// entry is one message on its way out: its parts in order, and the calls among
// them, which are answered directly after it.
type entry struct {
	msg   harness.Message
	slots []*slot
}

// Repair returns the history in the form that every provider accepts, the one
// that [Legal] checks: the first message is the user's, neighbours have
// different roles, every call is followed by exactly one result in the order
// of the calls, ids are unique, no text is blank or broken. Calls without an
// answer get one that says so; of two answers the later stays. Notices of the
// program are messages like others.
//
// Repair is pure: msgs and what it points to stay as they are. Repairing twice
// gives the same as repairing once.
func Repair(msgs []harness.Message) []harness.Message {
	entries := pair(msgs)
	ids := newIDs()
	out := make([]harness.Message, 0, len(entries)+1)
	for _, e := range entries {
		m, results := e.build(ids)
		if len(m.Parts) == 0 {
			continue
		}
		out = join(out, m)
		if len(results) > 0 {
			out = append(out, harness.Message{Role: harness.RoleTool, Parts: results})
		}
	}
	if len(out) > 0 && out[0].Role != harness.RoleUser {
		out = append([]harness.Message{harness.UserText(openingText)}, out...)
	}
	return out
}

// pair cleans the messages and gives each result to its call: the nearest
// earlier one with its id, since providers and imports repeat ids.
func pair(msgs []harness.Message) []*entry {
	entries := make([]*entry, 0, len(msgs))
	open := map[string][]*slot{}
	for i := range msgs {
		e := clean(&msgs[i], func(r *harness.ToolResult) { answer(open[r.CallID], r) })
		fresh := map[string][]*slot{}
		for _, s := range e.slots {
			fresh[s.call.ID] = append(fresh[s.call.ID], s)
		}
		for id, slots := range fresh {
			open[id] = slots
		}
		entries = append(entries, e)
	}
	return entries
}

// answer gives a result to the first open call of the id; when all have one,
// the later answer wins. Without a call the result answers nothing and is lost.
func answer(slots []*slot, r *harness.ToolResult) {
	if len(slots) == 0 {
		return
	}
	for _, s := range slots {
		if s.result == nil {
			s.result = r
			return
		}
	}
	slots[len(slots)-1].result = r
}

// clean copies a message with the parts that its role may send and hands its
// results to found. What a tool message holds besides results is left out:
// as a message of its own it would speak with the user's authority.
func clean(m *harness.Message, found func(*harness.ToolResult)) *entry {
	role := m.Role
	if role != harness.RoleAssistant && role != harness.RoleTool {
		role = harness.RoleUser
	}
	e := &entry{msg: harness.Message{Role: role, Name: valid(m.Name), Model: m.Model, Mark: m.Mark}}
	for i := range m.Parts {
		p := m.Parts[i]
		switch {
		case p.Kind == harness.PartResult && p.Result != nil:
			found(p.Result)
		case role == harness.RoleTool:
			continue
		case p.Kind == harness.PartText:
			e.text(p)
		case p.Kind == harness.PartFile && p.File != nil && role == harness.RoleUser:
			f := *p.File
			f.Name, f.MediaType = valid(f.Name), valid(f.MediaType)
			e.add(harness.Part{Kind: harness.PartFile, File: &f})
		case p.Kind == harness.PartThinking && role == harness.RoleAssistant:
			if usable(p.Opaque) {
				e.add(harness.Part{Kind: harness.PartThinking, Text: valid(p.Text), Opaque: p.Opaque})
			}
		case p.Kind == harness.PartCall && p.Call != nil && role == harness.RoleAssistant:
			s := &slot{call: *p.Call, opaque: opaque(p.Opaque)}
			e.slots = append(e.slots, s)
			// A place holder: build fills it in once ids are known.
			e.add(harness.Part{Kind: harness.PartCall})
		}
	}
	return e
}

func (e *entry) add(p harness.Part) { e.msg.Parts = append(e.msg.Parts, p) }

// text adds a text part unless it is blank. What a provider wants back with a
// blank text is kept as reasoning without words.
func (e *entry) text(p harness.Part) {
	o := opaque(p.Opaque)
	if strings.TrimSpace(p.Text) != "" {
		e.add(harness.Part{Kind: harness.PartText, Text: valid(p.Text), File: p.File, Opaque: o})
		return
	}
	if o != nil && e.msg.Role == harness.RoleAssistant {
		e.add(harness.Part{Kind: harness.PartThinking, Opaque: o})
	}
}

// build fills in the calls and returns the message with the parts of the tool
// message that answers it.
func (e *entry) build(ids *ids) (harness.Message, []harness.Part) {
	results := make([]harness.Part, 0, len(e.slots))
	next := 0
	for i := range e.msg.Parts {
		if e.msg.Parts[i].Kind != harness.PartCall {
			continue
		}
		s := e.slots[next]
		next++
		c := s.call
		c.ID, c.Name, c.Input, c.Malformed = ids.assign(c.ID), toolName(c.Name), object(c.Input), ""
		e.msg.Parts[i].Call, e.msg.Parts[i].Opaque = &c, s.opaque
		results = append(results, harness.Part{Kind: harness.PartResult, Result: s.reply(c)})
	}
	return e.msg, results
}

// reply is the result to send for the slot's call.
func (s *slot) reply(c harness.ToolCall) *harness.ToolResult {
	if s.result == nil {
		return &harness.ToolResult{CallID: c.ID, Name: c.Name, Text: unseenText, Failed: true, Unknown: true}
	}
	r := *s.result
	r.CallID, r.Name, r.Text = c.ID, c.Name, valid(r.Text)
	if strings.TrimSpace(r.Text) == "" {
		r.Text = silentText
	}
	return &r
}

// join appends m, or adds its parts to the last message if that has the same
// role. Texts that meet become one, a blank line between them, because some
// providers run the parts of a message together.
func join(out []harness.Message, m harness.Message) []harness.Message {
	if len(out) == 0 || out[len(out)-1].Role != m.Role {
		return append(out, m)
	}
	last := &out[len(out)-1]
	parts := m.Parts
	a, b := &last.Parts[len(last.Parts)-1], parts[0]
	plain := func(p *harness.Part) bool { return p.Kind == harness.PartText && p.Opaque == nil && p.File == nil }
	if plain(a) && plain(&b) {
		a.Text += "\n\n" + b.Text
		parts = parts[1:]
	}
	last.Parts = append(last.Parts, parts...)
	if last.Mark != m.Mark {
		last.Mark = harness.MarkNone
	}
	if last.Name != m.Name {
		last.Name = ""
	}
	last.Model = m.Model
	return out
}
