package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// exporter writes conversations to files for the screens; see [ChatSetup].
func (a *app) exporter(st Store) func(context.Context, harness.SessionID, string) (string, error) {
	return func(ctx context.Context, id harness.SessionID, to string) (string, error) {
		s, err := st.Sessions.Get(ctx, id)
		if err != nil {
			return "", fmt.Errorf("export session %s: %w", id, err)
		}
		doc, err := sessionFile(ctx, st, s, exportFormat(strings.TrimSpace(to)))
		if err != nil {
			return "", err
		}
		to = strings.TrimSpace(to)
		path := absolute(a.s, expand(a.s, to))
		dir, name := filepath.Split(path)
		if info, err := os.Stat(path); to == "" || os.IsPathSeparator(to[len(to)-1]) || err == nil && info.IsDir() {
			dir, name = path, doc.name
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return "", fmt.Errorf("export to %s: %w", dir, cause(err))
		}
		defer root.Close() //nolint:errcheck // what was written is synced
		if name, err = writeFree(root, name, doc.data); err != nil {
			return "", fmt.Errorf("export to %s: %w", path, cause(err))
		}
		return filepath.Join(dir, name), nil
	}
}

// maxFree bounds how many names are tried.
const maxFree = 10_000

// writeFree writes a new file of that name, or of the next one that is free, and
// returns the name.
func writeFree(root *os.Root, name string, data []byte) (string, error) {
	into := exportFolder{root: root, at: "."}
	for n := 1; n < maxFree; n++ {
		try := freeName(name, n)
		// Where there are no links, what is there would be written over.
		if _, err := root.Lstat(try); err == nil {
			continue
		}
		err := into.write(try, data, true)
		if !errors.Is(err, fs.ErrExist) {
			return try, err
		}
	}
	return "", fs.ErrExist
}

// freeName is the n-th name to try: "x.md", "x-2.md". It stays as long as a name
// may be, and a name of one component.
func freeName(name string, n int) string {
	ending := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	if n > 1 {
		ending = fmt.Sprintf("-%d%s", n, ending)
	}
	for len(stem)+len(ending) > maxFileName && stem != "" {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + ending
}
