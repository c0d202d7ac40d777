package distill

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/tool/recall"
)

const (
	// maxTokens bounds what is read with one call, and maxText one message in it,
	// in bytes: what one pastes is seldom about oneself.
	maxTokens = 6_000
	maxText   = 8_000
	// page is how many records are read at once.
	page = 256
	// worthLetters is how many letters a person has to have typed for a part to
	// be worth a call.
	worthLetters = 12
	// maxKnown bounds the known facts that are shown with a part.
	maxKnown = 30
)

// part is a piece of a conversation that is read at once.
type part struct {
	// to is the last record of it, more says that there is another behind it.
	to       int
	more     bool
	messages []said
}

// said is one message of a part.
type said struct {
	N    int    `json:"n"`
	Who  string `json:"who"`
	Text string `json:"text"`
	// own says that a person typed it, and that nothing else had entered the
	// turn.
	own bool
}

// worth reports whether a person said enough for a model to be asked.
func (p part) worth() bool {
	n := 0
	for _, m := range p.messages {
		if m.Who == string(harness.RoleUser) {
			n += strings.Count(strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) {
					return 'x'
				}
				return -1
			}, m.Text), "x")
		}
	}
	return n >= worthLetters
}

// user returns the message of a person with that number.
func (p part) user(n int) (said, bool) {
	for _, m := range p.messages {
		if m.N == n && m.Who == string(harness.RoleUser) {
			return m, true
		}
	}
	return said{}, false
}

// next returns the oldest unread part of the branch on screen.
func (d *Distiller) next(ctx context.Context, s harness.Session) (part, error) {
	unread, err := d.unread(ctx, s)
	if err != nil {
		return part{}, err
	}
	p := part{to: s.Distilled}
	tokens := 0
	for i, r := range unread {
		m, shown := shownOf(r)
		cost := 0
		if shown {
			cost = memory.Estimate(harness.UserText(m.Text))
		}
		if len(p.messages) > 0 && tokens+cost > maxTokens {
			p.more = true
			return p, nil
		}
		if p.to = r.Seq; i == len(unread)-1 {
			p.to = s.Records // what is on other branches was read, or left, with them
		}
		if shown {
			tokens += cost
			p.messages = append(p.messages, m)
		}
	}
	return p, nil
}

// unread returns the records of the branch behind the last one that was read,
// oldest first.
func (d *Distiller) unread(ctx context.Context, s harness.Session) ([]harness.Record, error) {
	var pages [][]harness.Record
	for from := s.Head; from > s.Distilled; {
		records, err := d.Transcript.Tail(ctx, s.ID, from, page)
		if err != nil {
			return nil, err
		}
		fresh := records
		for len(fresh) > 0 && fresh[0].Seq <= s.Distilled {
			fresh = fresh[1:]
		}
		pages = append(pages, fresh)
		if len(fresh) < len(records) || len(records) == 0 || records[0].Prev == 0 {
			break
		}
		from = records[0].Prev
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// shownOf returns what of a record is shown to the model: text that a person or
// a model wrote, and nothing that a tool or a file said.
func shownOf(r harness.Record) (said, bool) {
	m := r.Message
	if r.Kind != harness.RecordMessage || m == nil || m.Mark == harness.MarkNotice {
		return said{}, false
	}
	text := strings.TrimSpace(m.Text())
	if m.Role != harness.RoleUser && m.Role != harness.RoleAssistant || text == "" {
		return said{}, false
	}
	own := m.Role == harness.RoleUser && m.Mark == harness.MarkNone
	for _, p := range m.Parts {
		own = own && p.Kind == harness.PartText
	}
	if len(text) > maxText {
		// A long text was pasted rather than typed.
		text, own = strings.ToValidUTF8(text[:maxText], ""), false
	}
	return said{N: r.Seq, Who: string(m.Role), Text: text, own: own}, true
}

// known returns the facts that the part may be about.
func (d *Distiller) known(ctx context.Context, p part) ([]harness.Fact, error) {
	var words strings.Builder
	for _, m := range p.messages {
		if m.Who == string(harness.RoleUser) {
			words.WriteString(m.Text)
			words.WriteByte('\n')
		}
	}
	query := words.String()
	const maxQuery = 2_000
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[len(query)-maxQuery:], "")
	}
	found, err := d.Facts.List(ctx, harness.MemoryFilter{Query: query, Limit: maxKnown})
	if err != nil {
		return nil, err
	}
	// Where there are few facts all are shown: what contradicts need not share a
	// word.
	if len(found) < maxKnown {
		newest, err := d.Facts.List(ctx, harness.MemoryFilter{Limit: maxKnown - len(found)})
		if err != nil {
			return nil, err
		}
		for _, f := range newest {
			if !slices.ContainsFunc(found, func(have harness.Fact) bool { return have.ID == f.ID }) {
				found = append(found, f)
			}
		}
	}
	return found, nil
}

// replyTokens is the room for the answer.
func replyTokens(info model.Info) int {
	const most = 1_500
	if info.MaxOutput > 0 {
		return min(most, info.MaxOutput)
	}
	return most
}

// inert makes text of a model fit for one line.
func inert(text string) string { return strings.TrimSpace(recall.Inert(text)) }
