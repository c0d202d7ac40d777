package foreign

import (
	"context"
	"io"
	"strings"

	"cairn/harness/snapshot"
)

// StrandsSnapshot reads one snapshot, with the same in the stash under each key.
func StrandsSnapshot(file, stash []byte) (Session, error) {
	return readStrandsSnapshot(file, "a b", func(string) ([]byte, error) { return stash, nil })
}

// StrandsMessage reads the file of one message in the same way.
func StrandsMessage(file, stash []byte) (Session, error) {
	e, err := readStrandsEntry(file, 1)
	if err != nil {
		return Session{}, err
	}
	r := newStrandsReader(nil, func(string) ([]byte, error) { return stash, nil })
	if err := r.message(*e.Message, moment(e.Created)); err != nil {
		return Session{}, err
	}
	return r.session("a b", snapshot.Document{}), nil
}

// ReadExport reads an export whose files are in memory.
func ReadExport(ctx context.Context, files map[string]string, do func(Session) error) error {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	return newArchive(names, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files[name])), nil
	}, nil).Each(ctx, do)
}
