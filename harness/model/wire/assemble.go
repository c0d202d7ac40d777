package wire

import (
	"encoding/json"
	"strings"

	"charm.land/fantasy"

	"cairn/harness"
	"cairn/harness/model"
)

// assembler collects the pieces of one reply in the order in which they began.
type assembler struct {
	emit   func(model.Delta)
	seal   func(fantasy.ProviderMetadata) json.RawMessage
	issuer string

	done []harness.Part
	// kind and text are the text at hand; kind is empty if there is none.
	kind harness.PartKind
	text strings.Builder
	// opaque is the seal of the reasoning at hand.
	opaque json.RawMessage
}

// add takes one piece.
func (a *assembler) add(p fantasy.StreamPart) {
	switch p.Type {
	case fantasy.StreamPartTypeTextDelta:
		a.say(p.Delta)
	case fantasy.StreamPartTypeReasoningStart, fantasy.StreamPartTypeReasoningDelta, fantasy.StreamPartTypeReasoningEnd:
		a.reason(p)
	case fantasy.StreamPartTypeToolInputStart, fantasy.StreamPartTypeToolInputDelta:
		a.emit(model.Delta{Kind: model.DeltaProgress})
	case fantasy.StreamPartTypeToolCall:
		if !p.ProviderExecuted {
			a.call(p)
		}
	default: // beginnings and ends tell nothing that the pieces do not
	}
}

// say takes a piece of text.
func (a *assembler) say(text string) {
	if text != "" {
		a.write(harness.PartText, text)
		a.emit(model.Delta{Kind: model.DeltaText, Text: text})
	}
}

// reason takes a piece of reasoning or its seal.
func (a *assembler) reason(p fantasy.StreamPart) {
	if p.Delta != "" {
		a.write(harness.PartThinking, p.Delta)
		a.emit(model.Delta{Kind: model.DeltaThinking, Text: p.Delta})
	}
	if a.seal != nil && p.ProviderMetadata != nil {
		if data := a.seal(p.ProviderMetadata); data != nil {
			a.open(harness.PartThinking)
			a.opaque = data
		}
	}
	if p.Type == fantasy.StreamPartTypeReasoningEnd && a.kind == harness.PartThinking {
		a.close()
	}
}

func (a *assembler) call(p fantasy.StreamPart) {
	a.close()
	a.done = append(a.done, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{
		Origin: p.ID, Name: p.ToolCallName, Input: json.RawMessage(p.ToolCallInput),
	}})
}

func (a *assembler) write(kind harness.PartKind, text string) {
	a.open(kind)
	a.text.WriteString(text)
}

// open makes kind the text at hand.
func (a *assembler) open(kind harness.PartKind) {
	if a.kind != kind {
		a.close()
		a.kind = kind
	}
}

// close ends the text at hand.
func (a *assembler) close() {
	if a.kind == "" {
		return
	}
	part := harness.Part{Kind: a.kind, Text: a.text.String()}
	if a.opaque != nil {
		part.Opaque = &harness.Opaque{Provider: a.issuer, Data: a.opaque}
	}
	a.done = append(a.done, part)
	a.kind, a.opaque = "", nil
	a.text.Reset()
}

// parts returns the reply's parts, the inputs of calls checked. arguments knows
// what came for them.
func (a *assembler) parts(arguments func(n int) (string, bool)) []harness.Part {
	a.close()
	n := 0
	for _, p := range a.done {
		if p.Call == nil {
			continue
		}
		text, ok := arguments(n)
		if !ok {
			text = string(p.Call.Input)
		}
		p.Call.Input, p.Call.Malformed = input(text)
		n++
	}
	return a.done
}
