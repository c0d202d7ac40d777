package title

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// prompt is what the model is told.
//
//go:embed prompt.md
var prompt string

const (
	// maxHead and maxTail bound what is shown of a message, in bytes: people put
	// what they want before or behind what they paste.
	maxHead = 600
	maxTail = 300
	// plainReply is the room for an answer in tokens, thoughtfulReply that of
	// models which may spend some of it on thinking.
	plainReply      = 100
	thoughtfulReply = 1_500
	// maxReply bounds what is listened to, in bytes, if a server heeds no limit.
	maxReply = 32_000
)

// errTooLong means that a model goes on without end.
var errTooLong = errors.New("the answer is too long for a title")

// said is one message as the model gets to see it.
type said struct {
	Who  string `json:"who"`
	Text string `json:"text"`
}

// opening returns the first text of both sides. It is false if one said nothing
// yet, or if the conversation is no longer young.
func opening(records []harness.Record) (first []said, ok bool) {
	turns := 0
	for _, r := range records {
		m := r.Message
		if r.Kind != harness.RecordMessage || m == nil || m.Mark == harness.MarkNotice {
			continue
		}
		text := strings.TrimSpace(m.Text())
		switch {
		case m.Role == harness.RoleUser:
			if turns++; turns > maxTurns {
				return nil, false
			}
			if text != "" && len(first) == 0 {
				first = append(first, said{string(m.Role), shortened(text)})
			}
		case m.Role == harness.RoleAssistant && text != "" && len(first) == 1:
			first = append(first, said{string(m.Role), shortened(text)})
		}
	}
	return first, len(first) == 2
}

// shortened is what is shown of a message: its beginning and its end.
func shortened(text string) string {
	if len(text) <= maxHead+maxTail {
		return strings.ToValidUTF8(text, "")
	}
	return strings.ToValidUTF8(text[:maxHead], "") + " … " + strings.ToValidUTF8(text[len(text)-maxTail:], "")
}

// call is a model and what is known of it.
type call struct {
	model model.Model
	info  model.Info
	name  string
}

// answer is what came back.
type answer struct {
	text string
	// cut says that the room ended before the answer did.
	cut   bool
	usage harness.Usage
	// model gave it, "provider/model".
	model string
	// bytes came before the call failed.
	bytes int
}

// heard guesses how many tokens came of an answer that failed.
func (a answer) heard() int { return (a.bytes + 2) / 3 }

// document is what the model reads: JSON, so that no text can leave its place.
func document(first []said) (string, error) {
	doc, err := json.Marshal(struct {
		Messages []said `json:"messages"`
	}{first})
	if err != nil {
		return "", fmt.Errorf("write what is to be read: %w", err)
	}
	return string(doc), nil
}

// ask lets the model name what was said first.
func (c call) ask(ctx context.Context, doc string) (answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	heard := 0
	reply, err := c.model.Stream(ctx, model.Request{
		System: prompt, Messages: []harness.Message{harness.UserText(doc)},
		MaxOutput: c.room(), Purpose: model.PurposeTitle,
	}, func(d model.Delta) {
		if heard += len(d.Text); heard > maxReply {
			stop(errTooLong)
		}
	})
	if heard > maxReply {
		return answer{bytes: heard}, errTooLong
	}
	if err != nil {
		return answer{bytes: heard}, err
	}
	return answer{
		text: strings.TrimSpace(harness.Message{Parts: reply.Parts}.Text()), cut: reply.Stop == harness.StopLength,
		usage: c.info.Of(reply.Model).Cost(reply.Usage), model: cmp.Or(reply.Model, c.name),
	}, nil
}

// room is how many tokens the answer may have.
func (c call) room() int {
	most := plainReply
	if c.info.Reasoning || !c.info.PriceKnown {
		most = thoughtfulReply // one that nobody knows may think, too
	}
	if c.info.MaxOutput > 0 {
		most = min(most, c.info.MaxOutput)
	}
	return most
}
