package mcp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/attach"
	"cairn/harness/tool"
)

// album keeps what it is given.
type album struct{ kept map[string][]byte }

func (a album) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	a.kept[harness.ArtifactName(data)] = data
	return harness.ArtifactName(data), nil
}

// painted is a PNG of a size.
func painted(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// claiming is a small PNG that says that it has so many pixels a side.
func claiming(t *testing.T, side uint32) []byte {
	t.Helper()
	data := painted(t, 1, 1)
	const kind, width, end = 12, 16, 29
	binary.BigEndian.PutUint32(data[width:], side)
	binary.BigEndian.PutUint32(data[width+4:], side)
	binary.BigEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[kind:end]))
	return data
}

func TestImagesOfAServerAreOnesByTheirBytesAndWithinBounds(t *testing.T) {
	t.Parallel()
	good := painted(t, 30, 20)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 9, 8)), nil); err != nil {
		t.Fatal(err)
	}
	const odd = "image/png\x1b[2J\n\u202e"
	shown := func(data []byte) sdk.Content { return &sdk.ImageContent{MIMEType: odd, Data: data} }
	said := map[string]struct {
		content []sdk.Content
		failed  bool
		// files are the types of the images, and lines how many lines the result has.
		files []string
		lines int
		want  []string
	}{
		"an image with another type": {[]sdk.Content{&sdk.TextContent{Text: "a chart"}, shown(good)}, false, []string{"image/png"}, 2, []string{"a chart\n(image 1: image/png, 30 × 20 pixels, "}},
		"one in a resource": {
			[]sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x://y", MIMEType: "text/html", Blob: photo.Bytes()}}},
			false,
			[]string{"image/jpeg"},
			1,
			[]string{"image/jpeg, 9 × 8 pixels"},
		},
		"with a failure":  {[]sdk.Content{&sdk.TextContent{Text: "the page is broken"}, shown(good)}, true, []string{"image/png"}, 2, []string{"the page is broken"}},
		"none":            {[]sdk.Content{shown([]byte("<script>no image"))}, false, nil, 1, []string{"(image of type image/png", "16 bytes, not shown here)"}},
		"nothing":         {[]sdk.Content{shown([]byte{})}, false, nil, 1, []string{"0 bytes, not shown here)"}},
		"half of one":     {[]sdk.Content{shown(good[:len(good)-9])}, false, nil, 1, []string{"cut short or damaged"}},
		"begins like one": {[]sdk.Content{shown([]byte("\x89PNG\r\n\x1a\n\x00\x00"))}, false, nil, 1, []string{"and is none, or it is damaged"}},
		"four billion":    {[]sdk.Content{shown(claiming(t, 1<<31-1))}, false, nil, 1, []string{"image 1 "}},
		"a large side":    {[]sdk.Content{shown(claiming(t, 60_000))}, false, nil, 1, []string{"is 60000 × 60000 pixels large and models take at most 8000"}},
		"too many bytes":  {[]sdk.Content{shown(append(slices.Clone(good), make([]byte, attach.MaxImage)...))}, false, nil, 1, []string{"at most 3.7 MB"}},
		"many images":     {slices.Repeat([]sdk.Content{shown(good)}, 100), false, slices.Repeat([]string{"image/png"}, tool.MaxImages), 100, []string{"(image 100: image/png, ", "left out: a result has 8 images at most)"}},
	}
	h := served(t, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "draw", InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var in struct{ What string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			c := said[in.What]
			return &sdk.CallToolResult{Content: c.content, IsError: c.failed}, nil
		})
	})
	m, set := managed(t, at(h.URL))
	a := album{map[string][]byte{}}
	set.Artifacts = a
	ready(t, m)
	for what, c := range said {
		r := call(t.Context(), set, "s_draw", `{"what":"`+what+`"}`, nil)
		var files []string
		for _, f := range r.Files {
			files = append(files, f.MediaType)
			if f.Data != nil || int64(len(a.kept[f.Artifact])) != f.Size || f.Width == 0 || f.Height == 0 {
				t.Errorf("%s: the image is %+v", what, f)
			}
		}
		if !slices.Equal(files, c.files) || r.Failed != c.failed {
			t.Errorf("%s gave the images %q, failed %t: %.300s", what, files, r.Failed, r.Text)
		}
		if n := strings.Count(r.Text, "\n") + 1; n != c.lines || strings.ContainsAny(r.Text, "\x1b\u202e") {
			t.Errorf("%s: %d lines: %.300q", what, n, r.Text)
		}
		for _, want := range c.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: no %q in %.300s", what, want, r.Text)
			}
		}
	}
}
