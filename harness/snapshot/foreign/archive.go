package foreign

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cairn/harness"
)

var _ Source = (*Archive)(nil)

// Archive is an export of ChatGPT or Claude: its ZIP file, the directory that was
// unpacked, or the file with the conversations. It reads one conversation at a time
// and writes nothing.
type Archive struct {
	names []string
	open  func(name string) (io.ReadCloser, error)
	// files are the names of other files by the id that conversations call them by.
	files map[string]string
	// titles are the names that files had before the export.
	titles map[string]string
	// alone says that one file was asked for.
	alone bool
	// others are the names of what else is in it.
	others []string
	close  func() error
}

// Bounds on an export.
const (
	// maxExport is the size of all files of conversations, and of the files that they
	// name, each time that they are read.
	maxExport = 8 << 30
	// maxTalk is that of one conversation.
	maxTalk = 128 << 20
	// maxNames bounds how many files an export has.
	maxNames = 200_000
	// maxOthers is how many files are named that are not read.
	maxOthers = 12
	// maxTitles bounds the list of the names that files had, in bytes.
	maxTitles = 32 << 20
)

// fileID finds the id of a file of ChatGPT, such as file-4b or file_4b, at the
// beginning of its name or in what points to it, where it is the last.
func fileID(text string) string {
	const word = len("file-")
	text = strings.TrimPrefix(text, "file-service://")
	at := 0
	if !strings.HasPrefix(text, "file-") && !strings.HasPrefix(text, "file_") {
		if at = max(strings.LastIndex(text, "file-"), strings.LastIndex(text, "file_")); at < 0 {
			return ""
		}
	}
	end := at + word
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
		end++
	}
	if end == at+word {
		return ""
	}
	return text[at:end]
}

// OpenArchive opens an export. What is no export of either program is [ErrUnknown].
func OpenArchive(name string) (*Archive, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	var a *Archive
	switch {
	case info.IsDir():
		a, err = openFolder(name, "")
	case info.Mode().IsRegular():
		a, err = openFile(name)
	default:
		return nil, fmt.Errorf("%w: it is no plain file", ErrUnknown)
	}
	if err != nil {
		return nil, err
	}
	if len(a.names) == 0 {
		return nil, errors.Join(fmt.Errorf("%w: it has no conversations.json", ErrUnknown), a.Close())
	}
	a.readTitles()
	return a, nil
}

// openFile opens a ZIP file, or a file of conversations with what is beside it.
func openFile(name string) (*Archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	if IsZIP(head[:n]) {
		a, err := openZIP(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return a, nil
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return openFolder(filepath.Dir(name), filepath.Base(name))
}

// IsZIP reports whether a file with such a head is a ZIP file.
func IsZIP(head []byte) bool {
	return strings.HasPrefix(string(head), "PK\x03\x04") || strings.HasPrefix(string(head), "PK\x05\x06")
}

func openZIP(f *os.File) (*Archive, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%w: it is cut short or no ZIP file: %w", harness.ErrDamaged, err)
	}
	if len(z.File) > maxNames {
		return nil, fmt.Errorf("%w: it has %d files, and at most %d are read", ErrSize, len(z.File), maxNames)
	}
	inside := make(map[string]*zip.File, len(z.File))
	var names []string
	for _, entry := range z.File {
		if _, twice := inside[entry.Name]; twice || !entry.Mode().IsRegular() || strings.HasPrefix(entry.Name, "__MACOSX/") {
			continue
		}
		inside[entry.Name] = entry
		names = append(names, entry.Name)
	}
	return newArchive(names, func(name string) (io.ReadCloser, error) { return inside[name].Open() }, f.Close), nil
}

// openFolder opens a directory; only, if it is not empty, is the one file with
// conversations that is asked for.
func openFolder(dir, only string) (*Archive, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil //nolint:nilerr // a folder that cannot be read has no file that can
		case len(names) >= maxNames:
			return fmt.Errorf("%w: it has more than %d files", ErrSize, maxNames)
		case e.IsDir() && strings.Count(name, "/") >= 3:
			return fs.SkipDir
		case e.Type().IsRegular() && (only == "" || !holdsTalks(name)):
			names = append(names, name)
		}
		return nil
	})
	if only != "" && errors.Is(err, ErrSize) {
		names, err = nil, nil // the file is in a large folder that is no export
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	a := newArchive(names, func(name string) (io.ReadCloser, error) { return root.Open(name) }, root.Close)
	if only != "" {
		a.names, a.others, a.alone = []string{only}, nil, true
	}
	return a, nil
}

func newArchive(names []string, open func(string) (io.ReadCloser, error), closer func() error) *Archive {
	a := &Archive{open: open, close: closer, files: map[string]string{}, titles: map[string]string{}}
	slices.Sort(names)
	for _, name := range names {
		id := fileID(path.Base(name))
		switch {
		case holdsTalks(name):
			a.names = append(a.names, name)
		case id != "" && a.files[id] == "":
			a.files[id] = name
		case path.Base(name) == "conversation_asset_file_names.json":
			a.files["titles"] = name
		case path.Ext(name) == ".json" && path.Base(name) != "export_manifest.json" && len(a.others) < maxOthers:
			a.others = append(a.others, path.Base(name))
		}
	}
	return a
}

// holdsTalks reports whether a file has the name of one with conversations.
func holdsTalks(name string) bool {
	number, ok := strings.CutPrefix(path.Base(name), "conversations")
	number, list := strings.CutSuffix(number, ".json")
	return ok && list && (number == "" || len(number) > 1 && number[0] == '-' && strings.Trim(number[1:], "0123456789") == "")
}

// readTitles reads the names that files had. Without them they are called by their
// ids.
func (a *Archive) readTitles() {
	name := a.files["titles"]
	if name == "" {
		return
	}
	f, err := a.open(name)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // it was only read
	var titles map[string]any
	if json.NewDecoder(io.LimitReader(f, maxTitles)).Decode(&titles) != nil {
		return
	}
	for file, title := range titles {
		if text, ok := title.(string); ok {
			a.titles[fileID(file)] = text
		}
	}
}

// Close implements [Source].
func (a *Archive) Close() error { return a.close() }

// Each implements [Source].
func (a *Archive) Each(ctx context.Context, do func(Session) error) error {
	room := int64(maxExport)
	var stopped error
	own := func(s Session) error {
		stopped = do(s)
		return stopped
	}
	for _, name := range a.names {
		err := a.eachOf(ctx, name, &room, own)
		if stopped != nil {
			return stopped
		}
		switch {
		case err == nil:
		case a.alone:
			return err // whoever asked for the one file knows its name
		default:
			return fmt.Errorf("%s: %w", path.Base(name), err)
		}
	}
	return nil
}

// eachOf reads one file of conversations: a list of them, or one alone.
func (a *Archive) eachOf(ctx context.Context, name string, room *int64, do func(Session) error) (err error) {
	f, err := a.open(name)
	if err != nil {
		return named(name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := &meter{ctx: ctx, in: f, all: room, one: maxTalk}
	if err := in.skipMark(); err != nil {
		return damagedFile(err)
	}
	dec := json.NewDecoder(in)
	switch in.first() {
	case '{':
		return a.talk(dec, in, 1, do)
	case '[':
	default:
		return fmt.Errorf("%w: it is no list of conversations", ErrUnknown)
	}
	if _, err := dec.Token(); err != nil {
		return damagedFile(err)
	}
	for n := 1; dec.More(); n++ {
		if err := a.talk(dec, in, n, do); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return damagedFile(err)
	}
	return nil
}

// talk reads the next conversation of a file.
func (a *Archive) talk(dec *json.Decoder, in *meter, n int, do func(Session) error) error {
	in.one = maxTalk
	var e exportedTalk
	err := dec.Decode(&e)
	if err != nil {
		return fmt.Errorf("conversation %d: %w", n, damagedFile(err))
	}
	var t *Talk
	switch {
	case e.Mapping != nil:
		t, err = a.chatGPT(&e.chatGPTTalk, in)
	case e.Messages != nil:
		t, err = claudeSaid(&e.claudeTalk, isTrue(e.Starred))
	default:
		err = fmt.Errorf("%w: it is no conversation of ChatGPT or Claude", ErrUnknown)
	}
	if err != nil {
		return fmt.Errorf("conversation %d: %w", n, err)
	}
	s, err := t.Session()
	if err != nil {
		return fmt.Errorf("conversation %d: %w", n, err)
	}
	return do(s)
}

// exportedTalk is one conversation of either program.
type exportedTalk struct {
	chatGPTTalk
	claudeTalk
}

// damagedFile words an error of the decoder.
func damagedFile(err error) error {
	var shape *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it ends in the middle", harness.ErrDamaged)
	case errors.As(err, &shape):
		return fmt.Errorf("%w: %s is of the wrong kind (%s)", harness.ErrDamaged, field(shape), shape.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: at byte %d: %w", harness.ErrDamaged, syntax.Offset, err)
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("%w: %w", harness.ErrDamaged, err)
	}
	return err
}
