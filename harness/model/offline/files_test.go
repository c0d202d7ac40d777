package offline_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/offline"
)

func TestOfFilesItTellsWhatItCan(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 640, 480))); err != nil {
		t.Fatal(err)
	}
	with := func(text string, files ...harness.File) harness.Message {
		m := harness.Message{Role: harness.RoleUser}
		for _, f := range files {
			m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &f})
		}
		if text != "" {
			m.Parts = append(m.Parts, harness.Part{Kind: harness.PartText, Text: text})
		}
		return m
	}
	cat := harness.File{Name: "cat.png", MediaType: "image/png", Data: b.Bytes()}
	for name, c := range map[string]struct {
		message harness.Message
		says    []string
	}{
		"a picture":         {with("what is this?", cat), []string{"- `cat.png`: a PNG image, 640 by 480 pixels, ", "I do not see what is in it"}},
		"a picture alone":   {with("", cat), []string{"640 by 480"}},
		"what is stored":    {with("", harness.File{Name: "a.webp", MediaType: "image/webp", Width: 3, Height: 4, Size: 1_500_000}), []string{"`a.webp`: a WebP image, 3 by 4 pixels, 1.5 MB"}},
		"a broken picture":  {with("", harness.File{Name: "b.gif", MediaType: "image/gif", Data: []byte("x")}), []string{"`b.gif`: a GIF image, 1 byte\n"}},
		"a document":        {with("", harness.File{Name: "p`\x1b[31m.pdf", MediaType: "application/pdf", Pages: 3, Size: 900}), []string{"`p'[31m.pdf`: a PDF document, 3 pages, 900 bytes"}},
		"one page":          {with("", harness.File{Name: "p.pdf", MediaType: "application/pdf", Pages: 1}), []string{"a PDF document, 1 page\n"}},
		"an unknown type":   {with("", harness.File{Name: "x", MediaType: "a/b\x07"}), []string{"`x`: a file of type a/b\n"}},
		"several":           {with("", cat, harness.File{Name: "x.jpg", MediaType: "image/jpeg"}), []string{"- `cat.png`", "- `x.jpg`: a JPEG image\n"}},
		"beside a document": {with("long markdown 50 words", cat), []string{"You attached:", "I do not see"}},
	} {
		_, text := askModel(t, model.Request{Messages: []harness.Message{c.message}})
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it lacks %q: %s", name, want, text)
			}
		}
		if strings.ContainsAny(text, "\x1b\x07") {
			t.Errorf("%s: control characters in %q", name, text)
		}
	}
	info := offline.Info()
	if info.Accepts("image/png") != nil || info.Accepts(model.PDF) != nil {
		t.Error("it takes no files")
	}
}

func TestWhatIsAskedBesideAFileIsDone(t *testing.T) {
	t.Parallel()
	m := harness.UserText("list files")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "cat.png", MediaType: "image/png"}})
	r := model.Request{Messages: []harness.Message{m}, Tools: []model.ToolSpec{{Name: "list_directory"}}}
	reply, text := askModel(t, r)
	calls := harness.Message{Parts: reply.Parts}.Calls()
	if len(calls) != 1 || calls[0].Name != "list_directory" || !strings.Contains(text, "cat.png") {
		t.Fatalf("%q, calls %+v", text, calls)
	}
	calls[0].ID = "c1"
	r.Messages = append(r.Messages, harness.Message{Role: harness.RoleAssistant, Parts: reply.Parts},
		harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: calls[0].ID, Name: "list_directory", Text: "README.md"}}}})
	if _, text = askModel(t, r); !strings.Contains(text, "README.md") || strings.Contains(text, "cat.png") {
		t.Errorf("%q", text)
	}
	// A file in an earlier message is not told of again.
	_, text = askModel(t, model.Request{Messages: []harness.Message{m, harness.AssistantText("ok"), harness.UserText("hello")}})
	if strings.Contains(text, "cat.png") {
		t.Errorf("%q", text)
	}
}
