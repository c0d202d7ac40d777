package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/chat/compose"
	"cairn/ui/render"
)

// Files is what a chat needs to attach files. Paths are as they were typed: one
// that is relative is meant from the working directory, and ~ is the home. With
// no Look and no Read nothing is attached, and with no List none is listed.
type Files struct {
	// Look says what a file would be attached as, without reading more of it than
	// that needs. An error that is [fs.ErrNotExist] says that there is no such file,
	// or that it is no file; any other one, in a sentence, why it is not attached.
	Look func(ctx context.Context, path string) (Seen, error)
	// Read reads the file: as a text part whose File says what it is, or as a file
	// part with its Data. Its errors are those of Look.
	Read func(ctx context.Context, path string) (harness.Part, error)
	// List returns the paths below a directory, which is empty for the working
	// directory and else ends in a slash, relative to it: those of directories end
	// in a slash, what is ignored is left out, what is nearer comes first. All
	// below are meant if deep, else those in it. More says that there are more
	// than were listed.
	List func(ctx context.Context, dir string, deep bool) (paths []string, more bool, err error)
	// Others lists what a mention may name besides files, the best first; see
	// [Sources]. A nil function lists nothing.
	Others func(ctx context.Context) ([]Other, error)
	// Named reports whether a path names a resource of a server and no file, Parts
	// reads it, and More proposes how such a path may go on; see [Remote]. Nil
	// functions know of no servers.
	Named func(path string) bool
	Parts func(ctx context.Context, path string) ([]harness.Part, error)
	More  func(ctx context.Context, typed string) []Other
	// Fill returns what goes with a text that calls a prompt of a server; ok is false
	// if it calls none.
	Fill func(ctx context.Context, text string) (parts []harness.Part, ok bool, err error)
	// Bytes makes a part of bytes that have no file, typed by what they hold, as Read
	// does of a file. Without it nothing of servers is attached.
	Bytes func(name string, data []byte) (harness.Part, error)
	// Accepts says in a sentence why a model, "provider/model", does not read a kind
	// of file; nil if it does or nobody knows. A nil function is no such reason.
	Accepts func(model, mediaType string) error
}

// On reports whether files can be attached.
func (f Files) On() bool { return f.Look != nil && f.Read != nil }

// Seen is a file as it was when it was looked at.
type Seen struct {
	// File has no Data.
	File harness.File
	// Text says that it goes into the message as text.
	Text bool
	// Modified is when it was last changed, zero if that is not known.
	Modified time.Time
}

// same reports whether the file is still as it was seen.
func (s Seen) same(t Seen) bool {
	return s.File.Size == t.File.Size && s.Modified.Equal(t.Modified) && s.File.MediaType == t.File.MediaType
}

// RefusedError says that a message is not sent because of a file that it
// mentions.
type RefusedError struct {
	Path string
	Err  error
	// prompt says that it is no file but the prompt of a server.
	prompt bool
}

// Error implements error with a sentence.
func (e *RefusedError) Error() string {
	if e.prompt {
		return "not sent: " + e.reason() + "; with a space before its slash it is only text"
	}
	return "not sent: " + e.reason() + "; without its @ it is only text"
}

// reason is why, with the name of the file.
func (e *RefusedError) reason() string {
	text := e.Err.Error()
	if !strings.Contains(text, path.Base(e.Path)) {
		text = e.Path + ": " + text
	}
	return text
}

// Unwrap returns why.
func (e *RefusedError) Unwrap() error { return e.Err }

// noFile reports whether an error says that a mention names no file.
func noFile(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Message is what a person wrote with the files that it mentions, which the
// model is to read; was is the message that it takes the place of, nil if it is
// new. Notes are sentences about files, such as that one is not what seen says it
// was. A file that cannot be sent is a [*RefusedError].
func (f Files) Message(ctx context.Context, text, model string, was *harness.Message, seen map[string]Seen) (harness.Message, []string, error) {
	msg := harness.UserText(text)
	var notes []string
	olds := old(was)
	called, err := f.call(ctx, text, model)
	if err != nil {
		return harness.Message{}, nil, err
	}
	msg.Parts = append(append(msg.Parts, called...), olds.kept...)
	paths := named(text)
	if !f.On() {
		paths = nil
	}
	n := 0
	for _, p := range paths {
		if n == filesMax {
			notes = append(notes, fmt.Sprintf("more than %d files are mentioned: from @%s on they are text only", filesMax, p))
			break
		}
		if f.remote(p) {
			parts, err := f.Resource(ctx, p, model)
			if noFile(err) { // it has no address of a resource
				continue
			}
			if err != nil {
				return harness.Message{}, nil, err
			}
			n++
			msg.Parts = append(msg.Parts, parts...)
			continue
		}
		part, note, err := f.read(ctx, p, model, seen)
		switch {
		case noFile(err) && known(seen, p):
			return harness.Message{}, nil, &RefusedError{Path: p, Err: errors.New("@" + p + " is not there any more")}
		case noFile(err):
			if part, ok := olds.mentioned[path.Base(p)]; ok {
				msg.Parts = append(msg.Parts, part)
				notes = append(notes, "@"+p+" is not there any more: what was sent before is sent again")
			}
			continue
		case err != nil && ctx.Err() != nil:
			return harness.Message{}, nil, ctx.Err()
		case err != nil:
			return harness.Message{}, nil, &RefusedError{Path: p, Err: err}
		}
		n++
		msg.Parts = append(msg.Parts, part)
		if note != "" {
			notes = append(notes, note)
		}
	}
	return msg, notes, nil
}

// Mention is the mention of a path that a person named by itself, with what the
// file is. It is an error, in a sentence, if there is none that can be sent.
func (f Files) Mention(ctx context.Context, p string) (string, Seen, error) {
	if n := len(p); n > 1 && (p[0] == '"' || p[0] == '\'') && p[n-1] == p[0] {
		p = p[1 : n-1]
	}
	seen, err := f.Look(ctx, p)
	if noFile(err) {
		return "", Seen{}, fmt.Errorf("there is no file %s", p)
	}
	if err != nil {
		return "", Seen{}, errors.New((&RefusedError{Path: p, Err: err}).reason())
	}
	mention, ok := Write(p)
	if !ok {
		return "", Seen{}, fmt.Errorf("a message cannot name %q", p)
	}
	return mention, seen, nil
}

func known(seen map[string]Seen, p string) bool {
	_, ok := seen[p]
	return ok
}

// read reads one file.
func (f Files) read(ctx context.Context, p, model string, seen map[string]Seen) (harness.Part, string, error) {
	is, err := f.Look(ctx, p)
	if err == nil && !is.Text && f.Accepts != nil {
		err = f.Accepts(model, is.File.MediaType)
	}
	if err != nil {
		return harness.Part{}, "", err
	}
	part, err := f.Read(ctx, p)
	if err != nil {
		return harness.Part{}, "", err
	}
	if part.File == nil {
		part.File = &is.File
	}
	if was, ok := seen[p]; ok && !was.same(is) {
		return part, "@" + p + " changed since you attached it: it is sent as it is now, " + Words(*part.File, part.Kind == harness.PartText), nil
	}
	return part, shortOf(p, part), nil
}

// named are the paths that a text mentions, each once.
func named(text string) []string {
	var paths []string
	for _, m := range Mentions(text) {
		if !slices.Contains(paths, m.Path) {
			paths = append(paths, m.Path)
		}
	}
	return paths
}

// former are the files of a message that another one takes the place of: those
// that its text mentioned, by name, and the others.
type former struct {
	mentioned map[string]harness.Part
	kept      []harness.Part
}

func old(msg *harness.Message) former {
	f := former{mentioned: map[string]harness.Part{}}
	if msg == nil {
		return f
	}
	names := map[string]bool{}
	for _, p := range named(msg.Text()) {
		names[path.Base(p)] = true
	}
	for _, p := range msg.Parts {
		switch {
		case p.File == nil && p.Kind == harness.PartText, p.File != nil && p.File.MediaType == PromptType: // what it calls now is filled in anew
		case p.File != nil && names[path.Base(p.File.Name)]:
			f.mentioned[path.Base(p.File.Name)] = p
		default:
			f.kept = append(f.kept, p)
		}
	}
	return f
}

// Words describe a file, such as "image cat.png 120.0 kB 800x600". They are safe
// to draw on one line.
func Words(f harness.File, text bool) string {
	parts := []string{kind(f.MediaType, text), render.SafeLine(f.Name)}
	if what, id, ok := source(f.Name); ok {
		parts = []string{what, render.SafeLine(id)}
	}
	if f.Size > 0 {
		parts = append(parts, compose.Size(int(f.Size)))
	}
	if f.Width > 0 && f.Height > 0 {
		parts = append(parts, fmt.Sprintf("%dx%d", f.Width, f.Height))
	}
	switch {
	case f.Pages == 1:
		parts = append(parts, "1 page")
	case f.Pages > 1:
		parts = append(parts, strconv.Itoa(f.Pages)+" pages")
	}
	return strings.Join(parts, " ")
}

// kind is a media type in a word.
func kind(mediaType string, text bool) string {
	switch {
	case mediaType == PromptType:
		return "prompt"
	case text:
		return "text"
	}
	switch main, _, _ := strings.Cut(mediaType, "/"); {
	case main == "image", main == "audio", main == "video", main == "text":
		return main
	case mediaType == "application/pdf":
		return "document"
	}
	return "file"
}

// Listed are descriptions of the files that go with a message.
func Listed(msg harness.Message) []string {
	var lines []string
	for _, p := range msg.Parts {
		if p.File != nil && (p.Kind == harness.PartFile || p.Kind == harness.PartText) {
			lines = append(lines, Words(*p.File, p.Kind == harness.PartText))
		}
	}
	return lines
}
