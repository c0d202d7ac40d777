package wire

import (
	"bytes"
	"fmt"
	"strings"

	"charm.land/fantasy"

	"cairn/harness"
	"cairn/harness/model"
)

// file translates input that is not text. Text files go as text, which every
// provider understands.
func (p *prompter) file(f harness.File) fantasy.MessagePart {
	name := model.Sentence(f.Name)
	switch {
	case len(f.Data) == 0:
		return fantasy.TextPart{Text: fmt.Sprintf("[file %q is not available]", name)}
	case model.Textual(f.MediaType):
		return fantasy.TextPart{Text: fenced(name, strings.ToValidUTF8(string(f.Data), ""))}
	case strings.HasPrefix(f.MediaType, "image/"), f.MediaType == model.PDF && !bytes.HasPrefix(f.Data, fileID):
		if p.w.File != nil {
			f = p.w.File(f)
		}
		return fantasy.FilePart{Filename: name, Data: f.Data, MediaType: f.MediaType}
	}
	return fantasy.TextPart{Text: fmt.Sprintf("[file %q of type %q cannot be sent to this model]", name, model.Sentence(f.MediaType))}
}

// fileID is how the SDKs tell the bytes of a document from the name of one that
// is at the provider, which nobody here means.
var fileID = []byte("file-") //nolint:gochecknoglobals // a table that nobody changes

// fenced puts the text of a file between marks that nothing in it can end: where
// it has their fence, theirs is longer.
func fenced(name, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fmt.Sprintf("[file %q]\n%s\n%s\n%s", name, fence, strings.TrimSuffix(text, "\n"), fence)
}
