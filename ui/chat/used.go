package chat

import (
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
)

// usedShown are the facts and notes that the lowest answer on screen was given,
// or else the last one above it; nil if no answer there was given any.
func (m *Model) usedShown() []string {
	for i := min(m.lowest(), len(m.pages.items)-1); i >= 0; i-- {
		msg := m.pages.items[i].rec.Message
		if msg != nil && msg.Role == harness.RoleAssistant && len(msg.Used) > 0 {
			return slices.Clone(msg.Used)
		}
	}
	return nil
}

// lowest is the index of the last item of which something is on screen.
func (m *Model) lowest() int {
	if m.pages.follow {
		return len(m.pages.items) - 1
	}
	_, low := m.pages.seen(m.desk(), m.rows())
	return low
}

// openUsed is the intent to see what the answer on screen was given.
func (m Model) openUsed() (Model, Intent) {
	ids := m.usedShown()
	if ids == nil {
		m.notice = "no answer here used facts or notes"
		return m, Intent{}
	}
	return m, Intent{Kind: WantMemory, IDs: ids, Text: usedWords(ids) + " in an answer"}
}

// usedWords says how many facts and notes a request carried, such as "used 2
// facts, 1 note".
func usedWords(used []string) string {
	facts, notes := 0, 0
	for _, id := range used {
		if strings.HasPrefix(id, "n") {
			notes++
		} else {
			facts++
		}
	}
	var parts []string
	if facts > 0 {
		parts = append(parts, harness.Count(facts, "fact"))
	}
	if notes > 0 {
		parts = append(parts, harness.Count(notes, "note"))
	}
	if parts == nil {
		return ""
	}
	return "used " + strings.Join(parts, ", ")
}

// usedLine tells below an answer's heading, or in place of it, what the answer
// was given: which facts and notes with the details, else how many, unless the
// heading has said so.
func (d desk) usedLine(used []string, said bool) []string {
	if len(used) == 0 || said && !d.l.details {
		return nil
	}
	o := d.l.theme.Ornaments
	if !d.l.details {
		return []string{d.fit(d.l.theme.Paints.Muted.On(o.Closed + " " + usedWords(used)))}
	}
	text := o.Open + " " + usedWords(used) + ": " + render.SafeLine(strings.Join(used, " "))
	if k := d.m.usual(actUsed); k != "" {
		text += " " + o.Dot + " " + k + " shows them"
	}
	out := render.Wrap(text, d.l.width)
	for i, l := range out {
		out[i] = d.l.theme.Paints.Muted.On(l)
	}
	return out
}

// usedMore is what an answer that goes on was given, if that is something else
// than what the answer above it was given.
func (d desk) usedMore(i int) []string {
	items := d.m.pages.items
	used := items[i].rec.Message.Used
	for j := i - 1; j >= 0; j-- {
		if msg := items[j].rec.Message; msg != nil && msg.Role == harness.RoleAssistant {
			if slices.Equal(msg.Used, used) {
				return nil
			}
			break
		}
	}
	return used
}

// usual is the first key of an action of the conversation, whether it works now or
// not: what names it is laid out once, whatever else has the keys then.
func (m *Model) usual(action string) string {
	for _, b := range m.ownKeys() {
		if b.Action == action && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}
