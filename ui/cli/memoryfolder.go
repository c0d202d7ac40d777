package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// exportFolder is a folder that is exported to, and what is in it.
type exportFolder struct {
	root  *os.Root
	at    string
	st    Store
	force bool
	// known is what there is; it is asked for only if a file has changed.
	known func() (knownMemory, error)
	// names are the names in the folder, by what file systems take for one.
	names map[string]string
	// owned are the files of earlier exports, by kind and key.
	owned map[string][]ownedFile
	// ours are their names, and used those that this export has taken.
	ours, used map[string]bool
}

// ownedFile is a file of an earlier export; a note's has the time of the note, which
// tells it from one of another store.
type ownedFile struct {
	name    string
	created time.Time
}

// ownKey is what a file of an export is known by.
func ownKey(kind markdown.Kind, key string) string { return string(kind) + " " + key }

// look finds out what is in the folder.
func (f *exportFolder) look() error {
	f.names, f.owned, f.ours, f.used = map[string]string{}, map[string][]ownedFile{}, map[string]bool{}, map[string]bool{}
	entries, err := fs.ReadDir(f.root.FS(), f.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cause(err)
	}
	for _, e := range entries {
		f.names[markdown.NameKey(e.Name())] = e.Name()
		if !e.Type().IsRegular() || !isMarkdown(e.Name()) {
			continue
		}
		data, err := f.read(path.Join(f.at, e.Name()))
		if err != nil {
			continue // it is no file of ours; writing to it will tell
		}
		if key, created := ownedBy(e.Name(), data); key != "" {
			f.owned[key] = append(f.owned[key], ownedFile{e.Name(), created})
			f.ours[e.Name()] = true
		}
	}
	return nil
}

// ownedBy is what a file is known by, empty if it is of no export.
func ownedBy(name string, data []byte) (key string, created time.Time) {
	file, err := markdown.Parse(name, data)
	if err != nil {
		return "", created
	}
	switch file.Kind {
	case markdown.KindNote:
		n := file.Entries[0].Note
		return ownKey(file.Kind, n.ID), n.Created
	case markdown.KindFacts:
		return ownKey(file.Kind, file.Category), created
	case markdown.KindPlain:
	}
	return "", created
}

// place is the name of the file for doc: that of the one it is in already, else
// its title, with the id behind it if a file of another entry has that name.
func (f *exportFolder) place(doc exportedFile) string {
	for _, own := range f.owned[ownKey(doc.kind, doc.key)] {
		if sameMoment(own.created, doc.created) {
			f.used[own.name] = true
			return own.name
		}
	}
	suffix := "facts"
	if doc.kind == markdown.KindNote {
		suffix = doc.ids[0]
	}
	name := doc.title + markdown.Ending
	for n := 1; ; n++ {
		there, taken := f.names[markdown.NameKey(name)]
		if !taken || !f.used[there] && !f.ours[there] {
			break
		}
		if name = doc.title + " " + suffix + markdown.Ending; n > 1 {
			name = doc.title + " " + suffix + " " + strconv.Itoa(n) + markdown.Ending
		}
	}
	if there, taken := f.names[markdown.NameKey(name)]; taken {
		name = there
	}
	f.names[markdown.NameKey(name)], f.used[name] = name, true
	return name
}

// put writes doc unless that would lose something; then it returns the reason.
func (f *exportFolder) put(ctx context.Context, name string, doc exportedFile) (written bool, reason string, err error) {
	at := path.Join(f.at, name)
	info, err := f.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, "", f.write(at, doc.data, true)
	case err != nil:
		return false, "", err
	case info.IsDir():
		return false, "is a directory and was left alone", nil
	case !info.Mode().IsRegular() && !f.force:
		return false, "is no regular file and was left alone", nil
	case info.Mode().IsRegular():
		data, err := f.read(at)
		if err == nil && bytes.Equal(data, doc.data) {
			return false, "", nil
		}
		if f.force {
			break
		}
		if err == nil {
			_, err = markdown.Parse(name, data)
		}
		if err != nil {
			return false, "cannot be read and was left alone: " + err.Error(), nil //nolint:nilerr // it is told
		}
		if key, _ := ownedBy(name, data); key == "" {
			return false, "was not written by cairn and was left alone", nil
		}
		if kept, err := f.stored(ctx, name, data); err != nil || !kept {
			return false, "was changed and not imported, so it was left alone; take it over with: cairn memory import --update", err
		}
	}
	return true, "", f.write(at, doc.data, false)
}

// stored reports whether all that a file says is in the store, as it is now or in
// an earlier revision, so that writing over it loses nothing.
func (f *exportFolder) stored(ctx context.Context, name string, data []byte) (bool, error) {
	file, err := markdown.Parse(name, data)
	if err != nil {
		return false, nil //nolint:nilerr // a file with a fault is not what was written
	}
	known, err := f.known()
	if err != nil {
		return false, err
	}
	for _, e := range file.Entries {
		kept, err := f.kept(ctx, known, e)
		if !kept || err != nil {
			return false, err
		}
	}
	return true, nil
}

// kept reports whether an entry of a file is in the store. One without an id is if
// something there says the same.
func (f *exportFolder) kept(ctx context.Context, known knownMemory, e markdown.Entry) (bool, error) {
	if e.Fact != nil {
		revisions, err := f.factRevisions(ctx, e.Fact.ID)
		return e.Bare && known.facts[factKey(e.Fact.Text)] != "" || slices.ContainsFunc(revisions, func(x harness.Fact) bool {
			_, differs := factEdit(x, e)
			return !differs
		}), err
	}
	revisions, err := f.noteRevisions(ctx, e.Note.ID)
	return slices.ContainsFunc(revisions, func(n harness.Note) bool {
		_, differs := noteEdit(n, e)
		return !differs
	}), err
}

func (f *exportFolder) factRevisions(ctx context.Context, id string) ([]harness.Fact, error) {
	if f.st.Facts == nil || id == "" {
		return nil, nil
	}
	list, err := f.st.Facts.History(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

func (f *exportFolder) noteRevisions(ctx context.Context, id string) ([]harness.Note, error) {
	if f.st.Notes == nil || id == "" {
		return nil, nil
	}
	list, err := f.st.Notes.History(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// write puts a whole file in its place, or none. A new one is linked there, so
// that one which appeared meanwhile is not replaced.
func (f *exportFolder) write(at string, data []byte, fresh bool) (err error) {
	temp := path.Join(f.at, ".cairn-"+strings.ToLower(rand.Text())+".tmp")
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if gone := f.root.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if fresh {
		err := f.root.Link(temp, at)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		// Some file systems have no links.
	}
	return f.root.Rename(temp, at)
}

// leftOver are files of earlier exports whose content this one did not write
// anywhere.
func (f *exportFolder) leftOver() []string {
	var names []string
	for _, files := range f.owned {
		if slices.ContainsFunc(files, func(o ownedFile) bool { return f.used[o.name] }) {
			continue
		}
		for _, o := range files {
			names = append(names, o.name)
		}
	}
	slices.Sort(names)
	return names
}

// isMarkdown reports whether a name is that of a Markdown file.
func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

func (f *exportFolder) read(at string) ([]byte, error) {
	return readBounded(func() (io.ReadCloser, error) { return f.root.Open(at) })
}

// readBounded reads a file that is not larger than files are.
func readBounded(open func() (io.ReadCloser, error)) ([]byte, error) {
	file, err := open()
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, markdown.MaxFile+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(data) > markdown.MaxFile {
		return nil, fmt.Errorf("it has more than %d MiB", markdown.MaxFile>>20)
	}
	return data, nil
}
