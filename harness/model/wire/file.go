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
		return fantasy.TextPart{Text: fmt.Sprintf("[file %q]\n%s\n[end of file %q]", name, strings.ToValidUTF8(string(f.Data), ""), name)}
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
