package model

import (
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
)

// PDF is the media type of documents.
const PDF = "application/pdf"

// imageTypes are the types of images that every model takes that takes images.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"} //nolint:gochecknoglobals // a table that nobody changes

// textTypes are types of text that do not begin with "text/".
var textTypes = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
	"application/javascript", "application/x-sh", "application/sql",
}

// Textual reports whether files of a media type are sent as text, which every
// model reads.
func Textual(mediaType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	kind = strings.TrimSpace(kind)
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+json") ||
		slices.Contains(textTypes, kind)
}

// MediaError says that a model does not read a kind of file.
type MediaError struct {
	// Model is "provider/model".
	Model, MediaType string
	// Instead are models that do, a few.
	Instead []string
	// Unsure says that nobody told what the model reads, as of one that runs at
	// home: whoever runs it may know better.
	Unsure bool
}

// Error implements error with a sentence that says what to do.
func (e *MediaError) Error() string {
	if !slices.Contains(imageTypes, e.MediaType) && e.MediaType != PDF {
		return fmt.Sprintf("no model reads files of the type %s; leave the file out", Sentence(e.MediaType))
	}
	instead, unless := "", ""
	if len(e.Instead) > 0 {
		instead = ", such as " + strings.Join(e.Instead, " or ")
	}
	if e.Unsure {
		key := "images"
		if e.MediaType == PDF {
			key = "documents"
		}
		unless = fmt.Sprintf("; if it does after all, set models.%q.%s = true in the configuration", e.Model, key)
	}
	return fmt.Sprintf("%s reads no %s; choose a model that does%s, or leave the file out%s", e.Model, kindOf(e.MediaType), instead, unless)
}

// kindOf is the word for files of a media type.
func kindOf(mediaType string) string {
	switch {
	case mediaType == PDF:
		return "PDF documents"
	case strings.HasPrefix(mediaType, "image/"):
		return "images"
	default:
		return "files of this kind"
	}
}

// Accepts returns nil if the model reads files of a media type, else a
// [*MediaError]. Text is read by all. It is asked before a file is sent, and says
// nothing of its size.
func (i Info) Accepts(mediaType string) error {
	switch {
	case Textual(mediaType),
		i.Images && slices.Contains(imageTypes, mediaType),
		i.Documents && mediaType == PDF:
		return nil
	}
	return &MediaError{Model: i.ID, MediaType: mediaType, Unsure: i.Local || !i.PriceKnown}
}

// readable returns messages in which a line stands for each file that the model
// does not read. Such files are in conversations that were begun with another
// model: sent, they would make the provider refuse every further request.
func (i Info) readable(messages []harness.Message) []harness.Message {
	copied := false
	for n, m := range messages {
		if i.reads(m) {
			continue
		}
		if !copied {
			messages, copied = slices.Clone(messages), true
		}
		m.Parts = slices.Clone(m.Parts)
		for k, p := range m.Parts {
			switch {
			case !i.unread(p):
			case p.Result != nil:
				m.Parts[k].Result = i.readableResult(*p.Result)
			default:
				m.Parts[k] = harness.Part{Kind: harness.PartText, Text: leftOut(*p.File)}
			}
		}
		messages[n] = m
	}
	return messages
}

// reads reports whether the model reads all files of a message.
func (i Info) reads(m harness.Message) bool {
	return !slices.ContainsFunc(m.Parts, i.unread)
}

// unread reports whether a part is or has a file that the model does not read.
func (i Info) unread(p harness.Part) bool {
	return (p.Kind == harness.PartFile || p.Kind == harness.PartResult) &&
		slices.ContainsFunc(p.Files(), func(f *harness.File) bool { return i.Accepts(f.MediaType) != nil })
}

// readableResult is a result with a line for each file that the model does not read.
func (i Info) readableResult(r harness.ToolResult) *harness.ToolResult {
	files := r.Files
	r.Files = nil
	for _, f := range files {
		if i.Accepts(f.MediaType) != nil {
			r = r.Noted(leftOut(f))
		} else {
			r.Files = append(r.Files, f)
		}
	}
	return &r
}

// leftOut stands for a file that the model does not read.
func leftOut(f harness.File) string {
	return fmt.Sprintf("[file %q of type %s is left out: this model does not read it]", Sentence(f.Name), Sentence(f.MediaType))
}
