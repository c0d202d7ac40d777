package distill

import (
	"context"
	"errors"
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
	// in bytes: what one pastes is seldom about oneself. With a small window both
	// are a share of it.
	maxTokens   = 6_000
	maxText     = 6_000
	windowShare = 4
	// page is how many records back are read at most.
	page = 256
	// worthLetters is how many letters a person has to have typed for a part to
	// be worth a call: "thank you" has fewer, "call me Ada" does not.
	worthLetters = 9
	// maxKnown bounds the known facts that are shown with a part, maxKnownText
	// what is shown of each, in characters.
	maxKnown     = 30
	maxKnownText = 200
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
		if m.Who != string(harness.RoleUser) {
			continue
		}
		for _, r := range m.Text {
			switch {
			case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				n += 3 // one says as much as a syllable
			case unicode.IsLetter(r):
				n++
			}
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

// budget is how many tokens of a conversation a model reads with one call.
func budget(info model.Info) int {
	if info.Window <= 0 {
		return maxTokens
	}
	return max(min(maxTokens, info.Window/windowShare), 1)
}

// cut returns the oldest part of what is unread that fits the tokens. What a
// model said after a tool gave its result or a file was attached is left out: it
// may repeat what a page or a file wants remembered, and so is all before the
// first message of a person, of which that is not known.
func cut(s harness.Session, unread []harness.Record, tokens int) part {
	p := part{to: s.Distilled}
	used, foreign := 0, true
	for i, r := range unread {
		if m := r.Message; m != nil && m.Role == harness.RoleUser && m.Mark != harness.MarkNotice {
			foreign = false
		}
		m, shown := shownOf(r, min(maxText, tokens))
		in := letsIn(r)
		shown = shown && !foreign && (!in || m.Who == string(harness.RoleUser))
		foreign = foreign || in
		cost := 0
		if shown {
			cost = memory.Estimate(harness.UserText(m.Text))
		}
		if len(p.messages) > 0 && used+cost > tokens {
			p.more = true
			return p
		}
		if p.to = r.Seq; i == len(unread)-1 && s.OpenRun == "" {
			p.to = s.Records // what is on other branches was read, or left, with them
		}
		if shown {
			used += cost
			p.messages = append(p.messages, m)
		}
	}
	return p
}

// letsIn reports whether a record lets words in that none of the two wrote: a
// file, or the result of a tool other than those of the memory, which say the
// program's own words.
func letsIn(r harness.Record) bool {
	if r.Message == nil {
		return false
	}
	return slices.ContainsFunc(r.Message.Parts, func(p harness.Part) bool {
		return p.File != nil || p.Result != nil && !slices.Contains(recall.Tools(), p.Result.Name)
	})
}

// unread returns the newest records of the branch that were not read, oldest
// first, without those of a run that has not ended. What lies further back than a
// page is passed over: of a long conversation that nobody ever read the recent
// part is worth its price.
func (d *Distiller) unread(ctx context.Context, s harness.Session) ([]harness.Record, error) {
	if s.Head <= s.Distilled {
		return nil, nil
	}
	all, err := d.Transcript.Tail(ctx, s.ID, s.Head, page)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 && (all[0].In != "" || all[0].Seq <= s.Distilled) {
		all = all[1:] // what a fork has of its parent is read there
	}
	if s.OpenRun != "" {
		if at := slices.IndexFunc(all, func(r harness.Record) bool { return r.Run == s.OpenRun }); at >= 0 {
			all = all[:at]
		}
	}
	return all, d.hide(ctx, all)
}

// hide takes out what was said in runs without memory.
func (d *Distiller) hide(ctx context.Context, records []harness.Record) error {
	if d.Run == nil {
		return nil
	}
	hidden := map[harness.RunID]bool{}
	for i, r := range records {
		if r.Run == "" {
			continue
		}
		hide, known := hidden[r.Run]
		if !known {
			run, err := d.Run(ctx, r.Run)
			if err != nil && !errors.Is(err, harness.ErrNotFound) {
				return err
			}
			hide = run.Config.NoMemory
			hidden[r.Run] = hide
		}
		if hide {
			records[i].Message = nil
		}
	}
	return nil
}

// shownOf returns what of a record is shown to the model: text that a person or
// a model wrote, and nothing that a tool or a file said. It is cut at most bytes.
func shownOf(r harness.Record, most int) (said, bool) {
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
		own = own && p.Kind == harness.PartText && p.File == nil
	}
	if len(text) > most {
		// A long text was pasted rather than typed.
		text, own = strings.ToValidUTF8(text[:most], ""), false
	}
	return said{N: r.Seq, Who: string(m.Role), Text: text, own: own}, true
}

// known returns the facts that the part may be about.
func (d *Distiller) known(ctx context.Context, p part, tokens int) ([]harness.Fact, error) {
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
	for i, f := range found {
		if tokens -= memory.Estimate(harness.UserText(shortened(f) + f.Category)); tokens < 0 {
			return found[:i], nil
		}
	}
	return found, nil
}

// shortened is what is shown of a known fact.
func shortened(f harness.Fact) string { return clip(f.Text, maxKnownText) }

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
