package memory

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

// MaxImages and MaxFileBytes bound the files of one request: providers refuse more
// bytes, whatever the window, and of more images those that are large. Of older
// files a request has a line only.
const (
	MaxImages    = 20
	MaxFileBytes = 22 << 20
)

const (
	// maxCached bounds the bytes of files that are kept from request to request.
	maxCached = 32 << 20
	// maxFileName bounds the name of a file in a line about it, in characters.
	maxFileName = 200
)

// Files reads what is stored apart; it is the Get of [harness.Artifacts].
type Files interface {
	Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error)
}

// readable returns the message with a line in the place of each file that the
// model cannot be given, or of each one if bare; of each image of a result if dry. A
// message without any is returned as it is.
func readable(m *harness.Message, info model.Info, bare, dry bool) *harness.Message {
	if m.Role == harness.RoleTool {
		return readableResults(m, info, dry)
	}
	why := func(p harness.Part) string {
		switch {
		case p.Kind != harness.PartFile || p.File == nil:
		case info.Accepts(p.File.MediaType) != nil:
			return "this model does not read such files"
		case bare && !model.Textual(p.File.MediaType):
			return "a request that had it was refused"
		}
		return ""
	}
	if m.Role != harness.RoleUser || !slices.ContainsFunc(m.Parts, func(p harness.Part) bool { return why(p) != "" }) {
		return m
	}
	c := *m
	c.Parts = slices.Clone(m.Parts)
	for i := range c.Parts {
		if why := why(c.Parts[i]); why != "" {
			c.Parts[i] = fileLine(c.Parts[i].File, why)
		}
	}
	return &c
}

// fileLine stands for a file that is not in the request.
func fileLine(f *harness.File, why string) harness.Part {
	text := fileText(f, "was attached here and is", why)
	// As a part of a file it is none of the speaker's words.
	about := *f
	about.Data, about.MediaType = nil, "text/plain"
	return harness.Part{Kind: harness.PartText, Text: text, File: &about}
}

// fileText says that a file is not in the request.
func fileText(f *harness.File, is, why string) string {
	kind := recall.Inert(f.MediaType)
	if kind == "" {
		kind = "unknown type"
	}
	return fmt.Sprintf("(The file %q, %s, %d bytes, %s not shown: %s.)",
		tool.Clip(recall.Inert(f.Name), maxFileName), tool.Clip(kind, maxToolName), max(f.Size, int64(len(f.Data))), is, why)
}

// readableResults does for results what readable does.
func readableResults(m *harness.Message, info model.Info, dry bool) *harness.Message {
	why := func(f harness.File) string {
		switch {
		case info.Accepts(f.MediaType) != nil:
			return "this model does not read such files"
		case dry:
			return "a request that had it was refused"
		}
		return ""
	}
	copied := false
	for i, p := range m.Parts {
		if p.Result == nil || !slices.ContainsFunc(p.Result.Files, func(f harness.File) bool { return why(f) != "" }) {
			continue
		}
		if !copied {
			c := *m
			c.Parts = slices.Clone(m.Parts)
			m, copied = &c, true
		}
		r := *p.Result
		r.Files = nil
		for _, f := range p.Result.Files {
			if why := why(f); why != "" {
				r = r.Noted(fileText(&f, "is", why))
			} else {
				r.Files = append(r.Files, f)
			}
		}
		m.Parts[i].Result = &r
	}
	return m
}

// fillResult gets the bytes of the images of a result, with lines for those that
// there are none of.
func (c *Composer) fillResult(ctx context.Context, session harness.SessionID, given *harness.ToolResult, taken *freight) (*harness.ToolResult, error) {
	r := *given
	r.Files = nil
	for _, f := range slices.Backward(given.Files) {
		filled, err := c.fitted(ctx, session, harness.Part{Kind: harness.PartFile, File: &f}, taken)
		switch {
		case err != nil:
			return nil, err
		case filled.Kind == harness.PartFile:
			r.Files = append(r.Files, *filled.File)
		default:
			r = r.Noted(filled.Text)
		}
	}
	slices.Reverse(r.Files)
	return &r, nil
}

// fill gets the bytes of the files in a request, those of the newest first: with
// what a provider takes no more of, it would refuse each request from then on.
func (c *Composer) fill(ctx context.Context, session harness.SessionID, msgs []harness.Message) error {
	var taken freight
	for i, m := range slices.Backward(msgs) {
		copied := false
		for j, p := range slices.Backward(m.Parts) {
			var filled harness.Part
			var err error
			switch {
			case p.Kind == harness.PartFile && p.File != nil:
				filled, err = c.fitted(ctx, session, p, &taken)
			case p.Result != nil && len(p.Result.Files) > 0:
				filled = p
				filled.Result, err = c.fillResult(ctx, session, p.Result, &taken)
			default:
				continue
			}
			if err != nil {
				return err
			}
			if !copied {
				msgs[i].Parts = slices.Clone(msgs[i].Parts)
				copied = true
			}
			msgs[i].Parts[j] = filled
		}
	}
	return nil
}

// freight is how much of files a request has.
type freight struct {
	images int
	bytes  int64
}

// with is the freight with one more file, of so many bytes.
func (l freight) with(f *harness.File, bytes int64) freight {
	if strings.HasPrefix(f.MediaType, "image/") {
		l.images++
	}
	l.bytes += bytes
	return l
}

// over reports whether that is too much.
func (l freight) over() bool { return l.images > MaxImages || l.bytes > MaxFileBytes }

// fitted returns the part of a file with its bytes, or with a line where they are
// too much beside those that were taken before. The first one is always taken.
func (c *Composer) fitted(ctx context.Context, session harness.SessionID, p harness.Part, taken *freight) (harness.Part, error) {
	const why = "there are newer files, and a request has room for only so many"
	first := *taken == freight{}
	if !first && !model.Textual(p.File.MediaType) && taken.with(p.File, p.File.Size).over() {
		return fileLine(p.File, why), nil
	}
	if len(p.File.Data) == 0 || model.Textual(p.File.MediaType) {
		var err error
		if p, err = c.file(ctx, session, p.File); err != nil || p.Kind != harness.PartFile {
			return p, err
		}
	}
	// What is stored of the size may be wrong.
	now := taken.with(p.File, int64(len(p.File.Data)))
	if !first && now.over() {
		return fileLine(p.File, why), nil
	}
	*taken = now
	return p, nil
}

// file returns a part with the bytes of a file, or with a line that says why
// there are none.
func (c *Composer) file(ctx context.Context, session harness.SessionID, f *harness.File) (harness.Part, error) {
	data := f.Data
	if len(data) == 0 {
		if c.Artifacts == nil || f.Artifact == "" {
			return fileLine(f, "its content is not at hand"), nil
		}
		got, err := c.cache.get(ctx, c.Artifacts, session, f.Artifact)
		switch {
		case ctx.Err() != nil:
			return harness.Part{}, ctx.Err()
		case errors.Is(err, harness.ErrNotFound):
			return fileLine(f, "it is not stored any more"), nil
		case errors.Is(err, harness.ErrDamaged):
			return fileLine(f, "what is stored of it is damaged"), nil
		case err != nil:
			return fileLine(f, "it cannot be read: "+tool.Clip(recall.Inert(err.Error()), maxFileName)), nil
		case len(got) == 0:
			return fileLine(f, "it is empty"), nil
		}
		data = got
	}
	with := *f
	if model.Textual(f.MediaType) {
		with.Data = nil
		text := fmt.Sprintf("The file %q:\n%s", tool.Clip(recall.Inert(f.Name), maxFileName), valid(string(data)))
		return harness.Part{Kind: harness.PartText, Text: text, File: &with}, nil
	}
	with.Data = data
	return harness.Part{Kind: harness.PartFile, File: &with}, nil
}

// cache keeps the files that were read last: each step of a turn sends the same.
type cache struct {
	mu    sync.Mutex
	order *list.List // of cached, the last used in front
	bytes int
}

type cached struct {
	session harness.SessionID
	sha     string
	data    []byte
}

// get returns the bytes of a file. Nobody changes them.
func (c *cache) get(ctx context.Context, files Files, session harness.SessionID, sha string) ([]byte, error) {
	if data, ok := c.find(session, sha); ok {
		return data, nil
	}
	data, err := files.Get(ctx, session, sha)
	if err != nil || len(data) > maxCached/2 {
		return data, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		c.order = list.New()
	}
	c.order.PushFront(cached{session, sha, data})
	for c.bytes += len(data); c.bytes > maxCached; {
		if old, ok := c.order.Remove(c.order.Back()).(cached); ok {
			c.bytes -= len(old.data)
		}
	}
	return data, nil
}

func (c *cache) find(session harness.SessionID, sha string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		return nil, false
	}
	for e := c.order.Front(); e != nil; e = e.Next() {
		if have, ok := e.Value.(cached); ok && have.session == session && have.sha == sha {
			c.order.MoveToFront(e)
			return have.data, true
		}
	}
	return nil, false
}
