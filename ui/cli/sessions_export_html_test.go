package cli

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/bolt"
)

// A page has the images that the store keeps beside the conversation, and says of
// other files that they are not in it.
func TestAPageHasTheImagesOfTheStore(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	record := harness.Record{Kind: harness.RecordMessage, At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Message: &harness.Message{Role: harness.RoleUser, Parts: []harness.Part{
		{Kind: harness.PartText, Text: "What is <this>?"},
		{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Data: picture.Bytes(), Size: int64(picture.Len())}},
		{Kind: harness.PartFile, File: &harness.File{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF-1.7"), Size: 8}},
	}}}
	store(t, dir, func(db *bolt.DB) {
		if _, _, err := db.Sessions().Import(t.Context(), harness.Session{ID: "talk"}, []harness.Record{record}); err != nil {
			t.Fatal(err)
		}
	})
	file := filepath.Join(t.TempDir(), "talk.html")
	w, s, _, errs := world1(t)
	if code := Main(t.Context(), s, []string{"--dir", dir, "sessions", "export", "talk", "-o", file}, onDisk(w)); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What is &lt;this&gt;?", `src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(picture.Bytes()), "File a.pdf (application/pdf) is not in this page"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in it:\n%s", want, page)
		}
	}
	if !strings.Contains(errs.String(), "a.pdf (application/pdf) is not in this page") {
		t.Errorf("it says %q", errs)
	}
}
