package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// maxPicture bounds a picture, in bytes.
const maxPicture = 60_000

// check looks at all pictures of a directory: each scene has its own in each look,
// there are no others, and the page shows them.
func check(dir string) error {
	var want []string
	for _, s := range scenes() {
		for _, l := range looks() {
			want = append(want, filepath.Join(dir, s.name+"-"+l.name+".svg"))
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !slices.Contains(want, p) {
			return fmt.Errorf("%s is of no scene", p)
		}
	}
	for _, p := range want {
		if err := checkPicture(p); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, gallery)
	shown, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(shown, page()) {
		return fmt.Errorf("%s does not show the scenes; make it anew", path)
	}
	_, err = fmt.Fprintf(os.Stdout, "%d pictures are right\n", len(paths))
	return err
}

// checkPicture looks at a picture.
func checkPicture(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(data) > maxPicture {
		return fmt.Errorf("%s has %d bytes; at most %d are wanted", path, len(data), maxPicture)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s is no valid XML: %w", path, err)
		}
	}
}
