package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/foreign"
)

// importFormat is what a file is.
type importFormat int

// The formats of files.
const (
	importLines importFormat = iota
	importOwn
	importHarnessX
	importStrands
	importExport
	importDatabase
)

// databaseMagic begins every file of SQLite.
const databaseMagic = "SQLite format 3\x00"

// maxLook is how much of a file is looked at to tell its format, in bytes.
const maxLook = 1 << 20

// formatOf tells the format of what begins with head. What is none of the others
// is JSON Lines, whose reader says what is wrong.
func formatOf(head []byte) importFormat {
	switch {
	case bytes.HasPrefix(head, []byte(databaseMagic)):
		return importDatabase
	case foreign.IsZIP(head):
		return importExport
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	switch open, err := dec.Token(); {
	case err == nil && open == json.Delim('['):
		return importExport
	case err != nil || open != json.Delim('{'):
		return importLines
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return importLines
		}
		switch key {
		case "cairn_snapshot":
			return importOwn
		case "session_id", "total_usage", "lifetime_iterations":
			return importHarnessX
		case "scope", "schemaVersion", "schema_version":
			return importStrands
		case "mapping", "current_node", "chat_messages":
			return importExport
		case "session", "message", json.Delim('}'):
			return importLines
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return importLines
		}
	}
}

// readImport reads and checks everything that an argument names before anything is
// stored.
func (a *app) readImport(ctx context.Context, name string, ids []string) ([]imported, error) {
	if isAddress(name) {
		return a.readPlace(ctx, name, ids)
	}
	if strings.TrimSpace(name) == "" {
		return nil, usage("a name of what to import is empty; give a file, a directory, an address or -")
	}
	if name == "-" {
		return a.readImportFile(ctx, patient{ctx, a.s.In}, importName(name), "")
	}
	path := absolute(a.s, expand(a.s, name))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fail(ExitNotFound, "there is no file %s", name)
	case err != nil:
		return nil, importFault(name, err)
	case info.IsDir():
		return a.readPlace(ctx, name, ids)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, importFault(name, err)
	}
	f, err := unlessDone(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, importFault(name, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info.Mode().IsRegular() {
		return a.readImportFile(ctx, f, name, path)
	}
	return a.readImportFile(ctx, patient{ctx, f}, name, path)
}

// importName is what an argument is called.
func importName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// readImportFile reads a file of whatever format; path is empty if it is none on
// disk, which then has nothing beside it.
func (a *app) readImportFile(ctx context.Context, in io.Reader, what, path string) ([]imported, error) {
	buffered := bufio.NewReaderSize(in, maxLook)
	head, err := buffered.Peek(maxLook)
	var at *os.PathError
	if errors.As(err, &at) || errors.Is(err, context.Canceled) {
		return nil, importFault(what, err)
	}
	format := formatOf(head)
	switch format {
	case importExport, importDatabase:
		return a.archiveFile(ctx, buffered, format, what, path)
	case importLines:
		list, err := parseImport(buffered)
		if errors.As(err, &at) || errors.Is(err, context.Canceled) {
			return nil, importFault(what, err)
		}
		if err != nil {
			return nil, usage("%s: %w; nothing was imported", what, err)
		}
		return list, nil
	case importStrands:
		return nil, usage("%s is one snapshot of a Strands session; give the directory of the session", what)
	case importOwn, importHarnessX:
	}
	data, err := io.ReadAll(io.LimitReader(buffered, foreign.MaxFile+1))
	switch {
	case err != nil:
		return nil, importFault(what, err)
	case len(data) > foreign.MaxFile:
		return nil, usage("%s is larger than %d MiB", what, foreign.MaxFile>>20)
	}
	var c imported
	if format == importOwn {
		c, err = a.ownFile(ctx, data, path)
	} else {
		c, err = harnessXFile(data, path)
	}
	if err != nil {
		return nil, importFault(what, err)
	}
	return []imported{c}, nil
}

// ownFile reads a file of a snapshot, and its artifacts from beside it.
func (a *app) ownFile(ctx context.Context, data []byte, path string) (imported, error) {
	d, err := snapshot.Decode(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil || len(d.Artifacts) == 0 {
		if err != nil {
			return imported{}, err
		}
		return importedOwn(d)
	}
	if path == "" {
		return imported{}, usage("it has files beside it, so give its directory")
	}
	place, _, err := a.snapshots(ctx, filepath.Dir(path))
	if err != nil {
		return imported{}, err
	}
	for i, file := range d.Artifacts {
		d.Artifacts[i].Data, err = snapshot.Artifacts{Store: place}.Get(ctx, d.ID, file.SHA256)
		if errors.Is(err, harness.ErrNotFound) {
			return imported{}, fmt.Errorf("%w: artifact %s is not beside it", harness.ErrDamaged, file.SHA256)
		}
		if err != nil {
			return imported{}, err
		}
	}
	return importedOwn(d)
}

func importedOwn(d snapshot.Document) (imported, error) {
	c, err := importedDocument(d, string(d.ID), "a snapshot", nil)
	c.Own = true
	return c, err
}

func harnessXFile(data []byte, path string) (imported, error) {
	if path == "" {
		s, err := foreign.ReadHarnessX(data)
		if err != nil {
			return imported{}, err
		}
		return importedForeign(s)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return imported{}, err
	}
	s, err := foreign.ReadHarnessXFile(root, filepath.Base(path))
	if err = errors.Join(err, root.Close()); err != nil {
		return imported{}, err
	}
	return importedForeign(s)
}

func importedForeign(s foreign.Session) (imported, error) {
	inlineResults(&s.Document)
	c, err := importedDocument(s.Document, s.Name, s.Source, s.Left)
	c.Meta.Tags, c.Meta.Pinned, c.Meta.Dir = s.Tags, s.Pinned, s.Dir
	return c, err
}

// readPlace reads the sessions with these ids, or all, from a directory or an
// address: snapshots, and in a directory also what other harnesses keep there.
func (a *app) readPlace(ctx context.Context, address string, ids []string) ([]imported, error) {
	place, shown, err := a.snapshots(ctx, address)
	if err != nil {
		return nil, err
	}
	own, err := snapshot.List(ctx, place)
	if err != nil {
		return nil, importFault(shown, err)
	}
	var others []foreign.Session
	var list []imported
	if !isAddress(address) {
		dir := absolute(a.s, expand(a.s, address))
		if others, err = foreignSessions(dir); err != nil {
			return nil, importFault(address, err)
		}
		if len(own)+len(others) == 0 || len(ids) == 0 {
			if list, err = a.archivesIn(ctx, dir, shown, ids); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case len(own)+len(others) > 0:
	case len(list) > 0:
		return list, nil
	default:
		return nil, fail(ExitNotFound, "%s has no session that can be read: no snapshot, no export of ChatGPT or Claude, and nothing of llm, crush, HarnessX or Strands; a file of another name than it had there has to be given itself", shown)
	}
	more, err := loadSessions(ctx, place, shown, ids, own, others)
	return append(list, more...), err
}

// loadSessions loads those with the ids, or all, of the sessions of a place.
func loadSessions(ctx context.Context, place snapshot.Store, shown string, ids []string, own []harness.SessionID, others []foreign.Session) ([]imported, error) {
	var list []imported
	wanted, err := wantedSessions(shown, ids, own, others)
	if err != nil {
		return nil, err
	}
	for _, id := range own {
		if !wanted(string(id), id) {
			continue
		}
		c, err := loadOwn(ctx, place, id)
		if err != nil {
			return nil, importFault(shown, err)
		}
		list = append(list, c)
	}
	for _, s := range others {
		if !wanted(s.Name, s.ID) {
			continue
		}
		c, err := importedForeign(s)
		if err != nil {
			return nil, importFault(shown, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// wantedSessions tells which sessions of a place are asked for. Each id must be
// there, as it is spelt there or as it is here.
func wantedSessions(shown string, ids []string, own []harness.SessionID, others []foreign.Session) (func(name string, id harness.SessionID) bool, error) {
	names, spelt := map[string]bool{}, map[harness.SessionID]bool{}
	for _, s := range others {
		names[s.Name], spelt[s.ID] = true, true
	}
	wantNames, wantIDs := map[string]bool{}, map[harness.SessionID]bool{}
	for _, text := range ids {
		id, _, err := harness.ParseSessionID(text)
		switch {
		case names[text]:
			wantNames[text] = true
		case err == nil && (spelt[id] || slices.Contains(own, id)):
			wantIDs[id] = true
		default:
			return nil, fail(ExitNotFound, "%s has no session %q; nothing was imported", shown, text)
		}
	}
	return func(name string, id harness.SessionID) bool {
		return len(ids) == 0 || wantNames[name] || wantIDs[id]
	}, nil
}

// foreignSessions reads what other harnesses keep in a directory.
func foreignSessions(dir string) ([]foreign.Session, error) {
	// In an export any file of JSON could be taken for a snapshot of HarnessX.
	if foreign.HoldsArchive(dir) {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	list, err := foreign.ReadDir(root)
	if errors.Is(err, foreign.ErrUnknown) {
		list, err = nil, nil
	}
	return list, errors.Join(err, root.Close())
}

// loadOwn reads one snapshot. Whatever extensions have left in it, the session can
// be read without them.
func loadOwn(ctx context.Context, place snapshot.Store, id harness.SessionID) (imported, error) {
	d, _, err := snapshot.Begin(ctx, place, string(id))
	if err != nil {
		return imported{}, err
	}
	var want snapshot.Want
	for name := range d.Extensions {
		want.Extensions = append(want.Extensions, name)
	}
	if d, err = snapshot.Load(ctx, place, string(id), want); err != nil {
		return imported{}, err
	}
	return importedOwn(d)
}

// importFault words why something cannot be imported. What is wrong with the file
// itself has nothing to do with the store here.
func importFault(what string, err error) error {
	var said *failure
	if errors.As(err, &said) {
		return usage("%s: %w; nothing was imported", what, err)
	}
	for _, fault := range []error{harness.ErrDamaged, harness.ErrNewer, foreign.ErrUnknown, foreign.ErrVersion, foreign.ErrSize} {
		if errors.Is(err, fault) {
			return usage("%s: %w; nothing was imported", what, err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	// What helps with the store here does not help there.
	return fail(ExitFailed, "read %s: %w; nothing was imported", what, cause(err))
}
