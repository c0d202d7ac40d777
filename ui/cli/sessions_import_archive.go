package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/harness/snapshot/foreign"
	"cairn/ui/render"
)

// fewTold is up to how many conversations of an export each says for itself what of
// it was left out; of more it is said for all together.
const fewTold = 10

// importArchive is an export or a database of another program. Its conversations are
// read twice, first to find out whether all can be, then to store each: they may be
// too many to keep at once.
type importArchive struct {
	source foreign.Source
	shown  string
	wanted func(foreign.Session) bool
	count  int
}

// openArchive reads all of an archive once and keeps what is needed to do it again.
// With ids only those conversations are wanted.
func (a *app) openArchive(ctx context.Context, source foreign.Source, shown string, ids []string) ([]imported, error) {
	a.closers = append(a.closers, source.Close)
	p := progress{a: a}
	var all []foreign.Session
	err := source.Each(ctx, func(s foreign.Session) error {
		if _, err := importedForeign(s); err != nil {
			return err
		}
		named := foreign.Session{Name: s.Name}
		named.ID = s.ID
		all = append(all, named)
		p.tell("reading %s: conversation %d", shown, len(all))
		return nil
	})
	p.clear()
	if err != nil {
		return nil, importFault(shown, err)
	}
	if o, ok := source.(interface{ Others() []string }); ok && len(o.Others()) > 0 {
		a.notice("%s also has what is no conversation and is not imported: %s", shown, render.SafeLine(strings.Join(o.Others(), ", ")))
	}
	wanted, err := wantedSessions(shown, ids, nil, all)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	archive := &importArchive{source: source, shown: shown, wanted: func(s foreign.Session) bool { return wanted(s.Name, s.ID) }}
	for _, s := range all {
		if archive.wanted(s) {
			archive.count++
		}
	}
	return []imported{{Archive: archive}}, nil
}

// importAll stores the conversations of an archive.
func (a *app) importAll(ctx context.Context, st Store, archive *importArchive) error {
	p, n := progress{a: a, lines: true}, 0
	var left map[string]int
	if archive.count > fewTold && !a.flags.json {
		left = map[string]int{}
	}
	err := archive.source.Each(ctx, func(s foreign.Session) error {
		if !archive.wanted(s) {
			return nil
		}
		c, err := importedForeign(s)
		if err != nil {
			return err
		}
		n++
		p.tell("storing conversation %d of %d", n, archive.count)
		c.told = left
		return a.importParsed(ctx, st, c)
	})
	p.clear()
	for _, what := range slices.Sorted(maps.Keys(left)) {
		a.notice("left out of %s: %s", conversations(left[what]), render.SafeLine(what))
	}
	if err != nil && n > 0 && ctx.Err() == nil {
		return fmt.Errorf("after %s: %w; what is listed is stored, and the import can be begun again", conversations(n), err)
	}
	return err
}

func conversations(n int) string {
	if n == 1 {
		return "1 conversation"
	}
	return fmt.Sprintf("%d conversations", n)
}

// archiveFile opens a file of an export or a database, which was begun to be read and
// is read from path; without a path it is kept on disk until the end.
func (a *app) archiveFile(ctx context.Context, in io.Reader, format importFormat, shown, path string) ([]imported, error) {
	if path == "" {
		var err error
		if path, err = a.spooled(in); err != nil {
			return nil, importFault(shown, err)
		}
	}
	source, err := a.openSource(ctx, format, path)
	if err != nil {
		return nil, importFault(shown, err)
	}
	return a.openArchive(ctx, source, shown, nil)
}

func (a *app) openSource(ctx context.Context, format importFormat, path string) (foreign.Source, error) {
	if format == importDatabase {
		if a.wire.OpenDatabase == nil {
			return nil, fmt.Errorf("%w: databases cannot be read here", foreign.ErrUnknown)
		}
		return a.wire.OpenDatabase(ctx, path)
	}
	return foreign.OpenArchive(path)
}

// maxSpooled bounds what is taken from standard input and pipes, in bytes.
const maxSpooled = 4 << 30

// spooled keeps what comes from a pipe in a file until the end.
func (a *app) spooled(in io.Reader) (path string, err error) {
	dir, err := os.MkdirTemp("", "cairn-import-")
	if err != nil {
		return "", fmt.Errorf("a place for it: %w", err)
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(dir) })
	path = filepath.Join(dir, "conversations.json")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(in, maxSpooled+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if n > maxSpooled {
		return "", fmt.Errorf("%w: it has more than %d bytes", foreign.ErrSize, int64(maxSpooled))
	}
	return path, nil
}

// archivesIn opens what other programs keep in a directory: an export that was
// unpacked there, the logs of llm, the database of crush.
func (a *app) archivesIn(ctx context.Context, dir, shown string, ids []string) ([]imported, error) {
	var list []imported
	open := func(format importFormat, path string) error {
		source, err := a.openSource(ctx, format, path)
		if err != nil {
			return importFault(shown, err)
		}
		more, err := a.openArchive(ctx, source, shown, ids)
		list = append(list, more...)
		return err
	}
	if foreign.HoldsArchive(dir) {
		if err := open(importExport, dir); err != nil {
			return nil, err
		}
	}
	if a.wire.OpenDatabase == nil {
		return list, nil
	}
	for _, name := range []string{"logs.db", "crush.db"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := open(importDatabase, path); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// progress tells on the terminal how far something is that takes long, on one line
// that goes away again.
type progress struct {
	a *app
	// lines says that lines are printed meanwhile, which are enough where they can be
	// seen.
	lines bool
	last  time.Time
	width int
}

// tell shows a line unless the last one is hardly there.
func (p *progress) tell(format string, args ...any) {
	const often = 100 * time.Millisecond
	now := p.a.s.Now()
	if p.last.IsZero() {
		p.last = now // what does not take long needs no words
	}
	if !p.a.s.ErrTTY || p.a.flags.quiet || p.lines && p.a.s.OutTTY || now.Sub(p.last) < often {
		return
	}
	p.clear()
	p.last = now
	text := render.SafeLine(fmt.Sprintf(format, args...))
	p.width = len(text)
	_, _ = fmt.Fprint(p.a.s.Err, text)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.width > 0 {
		_, _ = fmt.Fprint(p.a.s.Err, "\r"+strings.Repeat(" ", p.width)+"\r")
	}
	p.width = 0
}
