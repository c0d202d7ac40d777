package wire

import (
	"encoding/base64"
	"errors"
	"fmt"

	"charm.land/fantasy"

	"cairn/harness"
	"cairn/harness/model"
)

func (p *prompter) toolResult(r harness.ToolResult) fantasy.MessagePart {
	text := clean(r.Text)
	if text == "" {
		text = nothing
	}
	part := fantasy.ToolResultPart{ToolCallID: p.ids.result(r.CallID)}
	image, inside := p.inside(r)
	switch {
	case inside:
		part.Output = fantasy.ToolResultOutputContentMedia{
			Text: text, MediaType: image.MediaType, Data: base64.StdEncoding.EncodeToString(image.Data),
		}
	case r.Failed || r.Unknown:
		part.Output = fantasy.ToolResultOutputContentError{Error: errors.New(text)}
	default:
		part.Output = fantasy.ToolResultOutputContentText{Text: text}
	}
	return part
}

// inside returns the image that goes along in a result, if the interface takes one
// there: the first.
func (p *prompter) inside(r harness.ToolResult) (fantasy.FilePart, bool) {
	if !p.w.ResultImage || r.Failed || r.Unknown || len(r.Files) == 0 {
		return fantasy.FilePart{}, false
	}
	image, ok := p.file(r.Files[0]).(fantasy.FilePart)
	return image, ok
}

// images are what follows results that have any which are not inside: not every
// interface takes images in the results themselves, and all take them from the user.
// So that nobody takes them for the user's own, a line says whose they are.
func (p *prompter) images(m harness.Message) []fantasy.MessagePart {
	var parts []fantasy.MessagePart
	for _, part := range m.Parts {
		if part.Result == nil {
			continue
		}
		files, what := part.Result.Files, "image"
		if _, ok := p.inside(*part.Result); ok {
			files, what = files[1:], "more image"
		}
		if len(files) == 0 {
			continue
		}
		// The name is no text of the tool's, and what a tool is named is checked.
		line := fmt.Sprintf("(%s of the result of the tool %s:)", harness.Count(len(files), what), model.Sentence(part.Result.Name))
		parts = append(parts, fantasy.TextPart{Text: line})
		for _, f := range files {
			parts = append(parts, p.file(f))
		}
	}
	return parts
}
