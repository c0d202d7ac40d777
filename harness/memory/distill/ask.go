package distill

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// prompt is what the model is told.
//
//go:embed prompt.md
var prompt string

const (
	// maxFacts bounds what one answer may suggest; lengths are in characters.
	maxFacts    = 5
	maxFact     = 2_000
	maxCategory = 60
	maxTags     = 20
	maxTag      = 60
	maxQuote    = 300
	maxWhy      = 300
)

// document is what the model reads: JSON, so that no text can leave its place.
type document struct {
	Known    []known `json:"known"`
	Messages []said  `json:"messages"`
}

type known struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Category string `json:"category"`
}

// idea is one fact of an answer.
type idea struct {
	Action   string   `json:"action"`
	Fact     string   `json:"fact"`
	Text     string   `json:"text"`
	Category string   `json:"category"`
	Tags     []string `json:"tags"`
	Source   int      `json:"source"`
	Quote    string   `json:"quote"`
	Why      string   `json:"why"`
	Against  []string `json:"against"`
}

// ask lets a model read a part and returns what came of it, and what that cost.
// What is held for the call is settled if it fails, else once its usage is booked.
func (d *Distiller) ask(ctx context.Context, m model.Model, info model.Info, s harness.Session, p part) (h harness.Harvest, held *policy.Held, err error) {
	facts, err := d.known(ctx, p, budget(info)/2)
	if err != nil {
		return h, nil, err
	}
	doc := document{Known: make([]known, 0, len(facts)), Messages: p.messages}
	for _, f := range facts {
		doc.Known = append(doc.Known, known{f.ID, shortened(f), f.Category})
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return h, nil, fmt.Errorf("write what is to be read: %w", err)
	}
	r := model.Request{
		System: prompt, Messages: []harness.Message{harness.UserText(string(text))},
		MaxOutput: replyTokens(info), Purpose: model.PurposeDistill,
	}
	size := memory.Estimate(harness.UserText(prompt + string(text)))
	held, err = d.Budget.Hold(ctx, s.ID, info, size, r.MaxOutput)
	if err != nil {
		return h, nil, err
	}
	heard := 0
	reply, err := m.Stream(ctx, r, func(d model.Delta) { heard += len(d.Text) })
	if err != nil {
		const bytes = 3 // of a token, at least
		return h, nil, errors.Join(err, held.Failed(ctx, err, size, heard/bytes))
	}
	h.Model, h.Usage = reply.Model, info.Of(reply.Model).Cost(reply.Usage)
	answer := harness.Message{Parts: reply.Parts}.Text()
	ideas, err := parse(answer)
	if err != nil {
		// The words are not logged: they are about a person.
		d.Log.Warn("what was distilled cannot be read", slog.String("session", string(s.ID)), slog.String("error", err.Error()))
		return h, held, nil
	}
	for _, i := range ideas[:min(len(ideas), maxFacts)] {
		if one, ok := i.suggestion(s.ID, p, facts); ok {
			h.Suggestions = append(h.Suggestions, one)
		}
	}
	return h, held, nil
}

// parse reads an answer. Text around the object, such as a fence, is passed over.
func parse(answer string) ([]idea, error) {
	for from := range len(answer) {
		if answer[from] != '{' {
			continue
		}
		var got struct {
			Facts *[]idea `json:"facts"`
		}
		dec := json.NewDecoder(strings.NewReader(answer[from:]))
		if err := dec.Decode(&got); err == nil && got.Facts != nil {
			return *got.Facts, nil
		} else if from > maxPreamble {
			break
		}
	}
	return nil, fmt.Errorf("an answer of %d bytes has no list of facts", len(answer))
}

// maxPreamble bounds how much text may stand before the list of facts, in bytes.
const maxPreamble = 4_000

// suggestion checks an idea against what was read. One that does not hold is
// left out.
func (i idea) suggestion(id harness.SessionID, p part, facts []harness.Fact) (harness.Suggestion, bool) {
	from, ok := p.user(i.Source)
	if !ok {
		return harness.Suggestion{}, false
	}
	s := harness.Suggestion{
		Kind: harness.SuggestionKind(i.Action), Text: inert(i.Text), Category: inert(i.Category), Why: clip(inert(i.Why), maxWhy),
		Source: harness.Source{Session: id, Message: from.N, Quote: quote(i.Quote, from.Text)}, By: harness.ByDistilled,
	}
	s.Own = from.own && s.Source.Quote != ""
	for _, t := range i.Tags {
		if t = inert(t); t != "" && utf8.RuneCountInString(t) <= maxTag && len(s.Tags) < maxTags {
			s.Tags = append(s.Tags, t)
		}
	}
	for _, a := range i.Against {
		if a != i.Fact && find(facts, a) != nil && !slices.Contains(s.Against, a) {
			s.Against = append(s.Against, a)
		}
	}
	if utf8.RuneCountInString(s.Text) > maxFact || utf8.RuneCountInString(s.Category) > maxCategory {
		return s, false
	}
	if s.Kind == harness.SuggestAdd {
		return s, s.Text != ""
	}
	about := find(facts, i.Fact)
	if about == nil {
		return s, false
	}
	s.Fact, s.Revision = about.ID, about.Revision
	return s, s.Kind == harness.SuggestChange && s.Text != "" || s.Kind == harness.SuggestRetire
}

func find(facts []harness.Fact, id string) *harness.Fact {
	for n := range facts {
		if facts[n].ID == id {
			return &facts[n]
		}
	}
	return nil
}

// quote returns the words as they stand in the message, "" if they do not.
func quote(words, text string) string {
	folded := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	words = strings.Join(strings.Fields(inert(words)), " ")
	if words == "" || !strings.Contains(folded(text), folded(words)) {
		return ""
	}
	return clip(words, maxQuote)
}

// clip cuts a text to a number of characters.
func clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
