package modeltest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// webp is the smallest picture of the type: one pixel.
const webp = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

// pictures returns a picture in each type that models read.
func pictures(t *testing.T) []harness.File {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	encoded := func(name, kind string, encode func(*bytes.Buffer) error) harness.File {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return harness.File{Name: name, MediaType: kind, Data: b.Bytes()}
	}
	small, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	return []harness.File{
		encoded("a.png", "image/png", func(b *bytes.Buffer) error { return png.Encode(b, img) }),
		encoded("b.jpg", "image/jpeg", func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) }),
		encoded("c.gif", "image/gif", func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) }),
		{Name: "d.webp", MediaType: "image/webp", Data: small},
		{Name: "e.pdf", MediaType: model.PDF, Data: []byte("%PDF-1.4\nof a kind")},
	}
}

func attached(list ...harness.File) []harness.Part {
	var parts []harness.Part
	for _, f := range list {
		parts = append(parts, harness.Part{Kind: harness.PartFile, File: &f})
	}
	return parts
}

func files(t *testing.T, s Subject) {
	t.Parallel()
	list := pictures(t)
	r := hello()
	r.Context = tuesday
	r.Messages = []harness.Message{{Role: harness.RoleUser, Parts: append(attached(list...), textPart("look at these"))}}
	_, got := legal(t, s, r)
	sent := got.Turns[0].Files
	if len(sent) != len(list) {
		t.Fatalf("sent %d files of %d: %+v", len(sent), len(list), sent)
	}
	for i, want := range list {
		if want.MediaType == "image/gif" && s.Still {
			raw, err := base64.StdEncoding.DecodeString(sent[i].Base64)
			if err != nil {
				t.Fatal(err)
			}
			still, err := png.Decode(bytes.NewReader(raw))
			if err != nil || sent[i].MediaType != "image/png" || still.Bounds().Dx() != 3 {
				t.Errorf("the moving picture became %s, %v", sent[i].MediaType, err)
			}
			continue
		}
		if sent[i].MediaType != want.MediaType || sent[i].Base64 != base64.StdEncoding.EncodeToString(want.Data) {
			t.Errorf("%s was sent as %s, %s", want.Name, sent[i].MediaType, short(sent[i].Base64))
		}
		if name := sent[i].Name; name != "" && !strings.HasPrefix(name, "e") {
			t.Errorf("%s is named %q", want.Name, name)
		}
	}
	if text := strings.Join(got.Turns[0].Texts, "\n"); !strings.HasPrefix(text, "look at these") || !strings.HasSuffix(text, tuesday) {
		t.Errorf("said %q", text)
	}
	if s.Marks && got.Marked[len(got.Marked)-1] != "look at these" {
		t.Errorf("marked %q", got.Marked)
	}
	r.Messages[0].Parts = attached(list[0])
	if _, got := legal(t, s, r); s.Marks && (got.Marks != 2 || got.Marked[1] != "") {
		t.Errorf("a file alone is marked %q", got.Marked)
	}
	words(t, s)
}

// resultImages are what tools gave besides text: they come after all results, or one
// in its own where the interface takes that, from whomever it takes them, and a line
// says whose they are.
func resultImages(t *testing.T, s Subject) {
	t.Parallel()
	list := pictures(t)[:2]
	r := hello()
	r.Context = tuesday
	r.Messages = []harness.Message{
		harness.UserText("draw"),
		assistant(callPart("c1", `{}`), callPart("c2", `{}`)),
		results(harness.ToolResult{CallID: "c1", Name: "now", Text: "drawn", Files: list}, harness.ToolResult{CallID: "c2", Name: "now", Text: "12:00"}),
	}
	for _, next := range [][]harness.Message{nil, {harness.UserText("and now?")}, {assistant(textPart("Two.")), harness.UserText("thanks")}} {
		r := r
		r.Messages = slices.Concat(r.Messages, next)
		body, got := legal(t, s, r)
		var files []File
		var results []Result
		text := ""
		for _, turn := range got.Turns {
			files, results = append(files, turn.Files...), append(results, turn.Results...)
			text += strings.Join(turn.Texts, "\n") + "\n"
		}
		if len(results) != 2 || results[0] != (Result{"c1", "drawn"}) || results[1] != (Result{"c2", "12:00"}) {
			t.Errorf("results %+v", results)
		}
		if len(files) != 2 || files[1].MediaType != "image/jpeg" || files[1].Base64 != base64.StdEncoding.EncodeToString(list[1].Data) {
			t.Errorf("sent %d files in %.2000s", len(files), body)
		}
		about := "(2 images of the result of the tool now:)"
		if s.ResultImage {
			about = "(1 more image of the result of the tool now:)"
		}
		if !strings.Contains(text, about) {
			t.Errorf("said %q", text)
		}
		if s.Marks && (got.Marks < 3 || got.Marks > 4) {
			t.Errorf("%d marks", got.Marks)
		}
	}
	resultImage(t, s, r, list[0])
}

// resultImage is an image alone, of a call that went well and of one that failed.
func resultImage(t *testing.T, s Subject, r model.Request, drawn harness.File) {
	t.Helper()
	for _, failed := range []bool{false, true} {
		r := r
		r.Messages = slices.Clone(r.Messages[:2])
		r.Messages = append(r.Messages, results(harness.ToolResult{CallID: "c1", Name: "now", Text: "drawn", Failed: failed, Files: []harness.File{drawn}}, harness.ToolResult{CallID: "c2", Name: "now", Text: "12:00"}))
		body, got := legal(t, s, r)
		if n := bytes.Count(body, []byte(base64.StdEncoding.EncodeToString(drawn.Data))); n != 1 {
			t.Errorf("the image was sent %d times, failed %t", n, failed)
		}
		said := false
		for _, turn := range got.Turns {
			said = said || strings.Contains(strings.Join(turn.Texts, "\n"), "(1 image of")
		}
		if said == (s.ResultImage && !failed) {
			t.Errorf("a line says whose the image is: %t, failed %t", said, failed)
		}
	}
}

// words are the files of which there is only something to say.
func words(t *testing.T, s Subject) {
	t.Helper()
	r := hello()
	r.Messages = []harness.Message{{Role: harness.RoleUser, Parts: attached(
		harness.File{Name: "c.md", MediaType: "text/markdown", Data: []byte("# prose")},
		harness.File{Name: "d.svg", MediaType: "image/svg+xml", Data: []byte("<svg/>")},
		harness.File{Name: "d.bin", MediaType: "application/x-thing", Data: []byte("bytes")},
		harness.File{Name: "e.png", MediaType: "image/png"},
		harness.File{Name: "f.pdf", MediaType: model.PDF, Data: []byte("file-4711")},
	)}}
	_, got := legal(t, s, r)
	text := strings.Join(got.Turns[0].Texts, "\n")
	for _, want := range []string{"# prose", `"c.md"`, "<svg/>", `"d.bin" of type "application/x-thing" cannot be sent`, `"e.png" is not available`, `"f.pdf" of type`} {
		if !strings.Contains(text, want) {
			t.Errorf("the request lacks %q: %s", want, text)
		}
	}
	if len(got.Turns[0].Files) != 0 {
		t.Errorf("files %+v", got.Turns[0].Files)
	}
}

// foreignFiles are in messages that no interface takes them from.
func foreignFiles(t *testing.T, s Subject) {
	t.Parallel()
	picture := attached(pictures(t)[0])[0]
	r := hello()
	answer := results(harness.ToolResult{CallID: "c1", Name: "now", Text: "noon"})
	answer.Parts = append(answer.Parts, picture)
	r.Messages = []harness.Message{harness.UserText("hello"), assistant(picture, textPart("hi"), callPart("c1", `{}`)), answer}
	if body, _ := legal(t, s, r); bytes.Contains(body, []byte(base64.StdEncoding.EncodeToString(picture.File.Data))) {
		t.Errorf("a file of the model was sent: %s", body)
	}
}
