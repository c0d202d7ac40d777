package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
)

const (
	// nameMax bounds the name of a file that is written, in bytes, and namesTried how
	// many names there are for one.
	nameMax, namesTried = 80, 100
)

// Shelf is a directory for copies that other programs are given, which is made when
// it is first needed. It may be used from any goroutine.
type Shelf struct {
	mu  sync.Mutex
	dir string
}

// put writes a copy that only this person can read, and returns its path.
func (s *Shelf) put(name, ext string, data []byte) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "cairn-image-")
		if err != nil {
			return "", fmt.Errorf("make a directory for the image: %w", err)
		}
		s.dir = dir
	}
	return writeNew(s.dir, name, ext, data)
}

// Clear removes the copies.
func (s *Shelf) Clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.dir
	s.dir = ""
	if dir == "" {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the copies of images: %w", err)
	}
	return nil
}

// writeNew writes a file that is not there yet into a directory and returns its path.
func writeNew(dir, name, ext string, data []byte) (string, error) {
	stem := stemOf(name)
	for n := 1; n <= namesTried; n++ {
		file := stem + "." + ext
		if n > 1 {
			file = fmt.Sprintf("%s-%d.%s", stem, n, ext)
		}
		path := filepath.Join(dir, file)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("save the image: %w", err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("save the image: %w", errors.Join(err, os.Remove(path)))
		}
		return path, nil
	}
	return "", fmt.Errorf("save the image: there are %d files of that name already", namesTried)
}

// stemOf makes of a name that a stranger gave one that names a file in a directory and
// nothing else, without its ending: that is of what the file is.
func stemOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(name, filepath.Ext(name))
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" ._-()", r):
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_"))
	for len(name) > nameMax {
		name = name[:strings.LastIndexFunc(name, func(rune) bool { return true })]
	}
	if name = strings.Trim(name, " .-"); name == "" {
		return "image"
	}
	return name
}

// whole reads the bytes of the image that is shown, which must be one.
func (i Image) whole() (data []byte, info render.ImageInfo, err error) {
	if data, err = i.c.Items[i.at].Load(i.ctx); err != nil {
		return nil, info, fmt.Errorf("read the image: %w", err)
	}
	info, err = render.ReadImageInfo(data)
	return data, info, err
}

// save writes the image into the directory.
func (i Image) save() tea.Cmd {
	return func() tea.Msg {
		data, info, err := i.whole()
		path := ""
		if err == nil {
			path, err = writeNew(i.c.Dir, i.c.Items[i.at].Name, info.Ext, data)
		}
		if err != nil {
			return imageDone{i.token, i.c.Words(err)}
		}
		return imageDone{i.token, "saved as " + path}
	}
}

// browse gives another program a copy of the image.
func (i Image) browse() tea.Cmd {
	return func() tea.Msg {
		data, info, err := i.whole()
		path := ""
		if err == nil {
			path, err = i.c.Shelf.put(i.c.Items[i.at].Name, info.Ext, data)
		}
		if err == nil {
			err = i.c.Browse(i.ctx, path)
		}
		if err != nil {
			return imageDone{i.token, i.c.Words(err)}
		}
		return imageDone{i.token, "given to another program"}
	}
}
