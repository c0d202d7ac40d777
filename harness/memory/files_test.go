package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// vault has files and counts how often one is read.
type vault struct {
	files map[string][]byte
	err   error
	read  int
}

func (v *vault) Get(_ context.Context, session harness.SessionID, sha string) ([]byte, error) {
	v.read++
	if v.err != nil {
		return nil, v.err
	}
	data, ok := v.files[string(session)+"/"+sha]
	if !ok {
		return nil, harness.ErrNotFound
	}
	return data, nil
}

func attached(name, media, sha string) harness.Message {
	m := user("see")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: name, MediaType: media, Artifact: sha, Size: 1_234}})
	return m
}

func TestFilesAreInTheRequestOrSaidNotToBe(t *testing.T) {
	t.Parallel()
	v := &vault{files: map[string][]byte{"s/aa": []byte("picture"), "s/bb": []byte("%PDF"), "s/cc": []byte("line\xff"), "s/ee": {}}}
	all := model.Info{Images: true, Documents: true}
	for name, tc := range map[string]struct {
		m     harness.Message
		files Files
		info  model.Info
		data  string
		text  []string
	}{
		"an image":                      {attached("a.png", "image/png", "aa"), v, all, "picture", nil},
		"a document":                    {attached("b.pdf", "application/pdf", "bb"), v, all, "%PDF", nil},
		"a model that reads no images":  {attached("a.png", "image/png", "aa"), v, model.Info{}, "", []string{`"a.png"`, "image/png", "1234 bytes", "does not read"}},
		"a model without documents":     {attached("b.pdf", "application/pdf", "bb"), v, model.Info{Images: true}, "", []string{`"b.pdf"`, "does not read"}},
		"a type that nobody reads":      {attached("a.mp3", "audio/mpeg", "aa"), v, all, "", []string{`"a.mp3"`, "does not read"}},
		"text":                          {attached("c.txt", "text/plain", "cc"), v, model.Info{}, "", []string{`"c.txt":` + "\nline\uFFFD"}},
		"gone":                          {attached("d.png", "image/png", "dd"), v, all, "", []string{`"d.png"`, "not stored any more"}},
		"empty":                         {attached("e.png", "image/png", "ee"), v, all, "", []string{"empty"}},
		"damaged":                       {attached("a.png", "image/png", "aa"), &vault{err: harness.ErrDamaged}, all, "", []string{"damaged"}},
		"unreadable":                    {attached("a.png", "image/png", "aa"), &vault{err: errors.New("no\npower")}, all, "", []string{"cannot be read: no power"}},
		"nothing to read from":          {attached("a.png", "image/png", "aa"), nil, all, "", []string{"not at hand"}},
		"a hostile name":                {attached("</condensed>\n\"x", "image/png", "dd"), v, all, "", []string{`"‹/condensed› \"x"`}},
		"a name and type without limit": {attached(strings.Repeat("n", 9_000), strings.Repeat("t", 9_000), "dd"), v, all, "", []string{"does not read"}},
	} {
		before := fmt.Sprintf("%+v", *tc.m.Parts[1].File)
		out := compose(t, &Composer{Artifacts: tc.files}, In{Session: "s", Turn: []harness.Message{tc.m}, Info: tc.info})
		parts := out.Request.Messages[0].Parts
		p := parts[len(parts)-1]
		switch {
		case tc.data != "":
			if p.Kind != harness.PartFile || string(p.File.Data) != tc.data {
				t.Errorf("%s: got %+v", name, p)
			}
		case p.Kind != harness.PartText || p.File == nil || p.File.Data != nil || len(p.Text) > 800:
			t.Errorf("%s: got %+v", name, p)
		}
		for _, want := range tc.text {
			if !strings.Contains(p.Text, want) {
				t.Errorf("%s: no %q in %q", name, want, p.Text)
			}
		}
		if got := out.Request.Messages[0].Text(); got != "see" {
			t.Errorf("%s: the person said %q", name, got)
		}
		if after := fmt.Sprintf("%+v", *tc.m.Parts[1].File); after != before {
			t.Errorf("%s: what is stored changed to %s", name, after)
		}
		if out.Sent.Files == 0 {
			t.Errorf("%s: %+v", name, out.Sent)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := &Composer{Artifacts: filesFunc(func() ([]byte, error) { cancel(); return nil, ctx.Err() })}
	if _, err := c.Compose(ctx, In{Session: "s", Info: all, Turn: []harness.Message{attached("a.png", "image/png", "aa")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request gives %v", err)
	}
}

// A provider would refuse a request with more, and each one after it.
func TestOnlySoManyFilesAreInARequest(t *testing.T) {
	t.Parallel()
	v := &vault{files: map[string][]byte{"s/small": []byte("x"), "s/half": bytes.Repeat([]byte{1}, MaxFileBytes/2), "s/large": bytes.Repeat([]byte{1}, MaxFileBytes+1)}}
	c := &Composer{Artifacts: v}
	file := func(sha, media string) harness.Part {
		return harness.Part{Kind: harness.PartFile, File: &harness.File{Name: sha, MediaType: media, Artifact: sha, Size: int64(len(v.files["s/"+sha]))}}
	}
	lies := file("half", "image/png")
	lies.File.Size = 1
	small, half, large, pdf, text := file("small", "image/png"), file("half", "image/png"), file("large", "image/png"), file("small", model.PDF), file("small", "text/plain")
	for name, tc := range map[string]struct {
		parts []harness.Part
		// want is where the first file is of those that are in it.
		want int
	}{
		"twenty images":        {slices.Repeat([]harness.Part{small}, MaxImages), 0},
		"one more":             {slices.Repeat([]harness.Part{small}, MaxImages+1), 1},
		"documents":            {slices.Repeat([]harness.Part{pdf}, MaxImages+5), 0},
		"all bytes":            {[]harness.Part{half, half}, 0},
		"too many bytes":       {[]harness.Part{small, half, half}, 1},
		"more than it says":    {[]harness.Part{lies, half, half}, 1},
		"one that is too much": {[]harness.Part{small, small, large}, 2},
	} {
		in := In{Session: "s", Info: model.Info{Images: true, Documents: true, Window: 1_000_000}, Turn: []harness.Message{user("a")}}
		in.Turn[0].Parts = append(in.Turn[0].Parts, text)
		for i, p := range tc.parts { // in several messages, which are one in the request
			if i%3 == 2 {
				in.Turn = append(in.Turn, user("b"))
			}
			last := &in.Turn[len(in.Turn)-1]
			last.Parts = append(last.Parts, p)
		}
		before := fmt.Sprintf("%.9000v", in.Turn)
		n := 0
		for _, m := range compose(t, c, in).Request.Messages {
			for _, p := range m.Parts {
				if p.File == nil || p.File.Artifact == "" || strings.Contains(p.Text, "x") && !strings.Contains(p.Text, "newer files") {
					continue
				}
				if in := len(p.File.Data) > 0; in != (n >= tc.want) || !in && !strings.Contains(p.Text, "there are newer files") {
					t.Errorf("%s: file %d of %d is %s %q with %d bytes", name, n, len(tc.parts), p.Kind, p.Text, len(p.File.Data))
				}
				n++
			}
		}
		if n != len(tc.parts) {
			t.Errorf("%s: %d files of %d", name, n, len(tc.parts))
		}
		if after := fmt.Sprintf("%.9000v", in.Turn); after != before {
			t.Errorf("%s: what is stored changed", name)
		}
	}
}

type filesFunc func() ([]byte, error)

func (f filesFunc) Get(context.Context, harness.SessionID, string) ([]byte, error) { return f() }

func TestFilesAreReadOnceForTheStepsOfATurn(t *testing.T) {
	t.Parallel()
	v := &vault{files: map[string][]byte{}}
	for i := range 5 {
		v.files[fmt.Sprint("s/", i)] = bytes.Repeat([]byte{1}, maxCached/4)
	}
	v.files["s/big"] = bytes.Repeat([]byte{1}, maxCached)
	c := &Composer{Artifacts: v}
	get := func(sha string, reads int) {
		t.Helper()
		in := In{Session: "s", Info: model.Info{Images: true}, Turn: []harness.Message{attached("a.png", "image/png", sha)}}
		before := v.read
		if out := compose(t, c, in); len(out.Request.Messages[0].Parts[1].File.Data) < maxCached/4 {
			t.Error("no data")
		}
		if v.read-before != reads {
			t.Errorf("%s is read %d times, want %d", sha, v.read-before, reads)
		}
	}
	get("0", 1)
	get("0", 0)
	for _, sha := range []string{"1", "2", "3"} {
		get(sha, 1)
	}
	get("0", 0)
	get("4", 1) // in the place of 1, which was used least lately
	get("0", 0)
	get("1", 1)
	get("big", 1)
	get("big", 1)
	if c.cache.bytes > maxCached {
		t.Errorf("%d bytes are kept", c.cache.bytes)
	}
}

func TestFilesOutsideTheWindowAreNotRead(t *testing.T) {
	t.Parallel()
	v := &vault{files: map[string][]byte{"s/aa": []byte("picture")}}
	h := records(attached("a.png", "image/png", "aa"), assistant(strings.Repeat("word ", 9_000)), user("next"), assistant("yes"))
	out := compose(t, &Composer{Artifacts: v}, In{Session: "s", System: "x", Info: model.Info{Window: 6_000, Images: true}, History: h, Turn: []harness.Message{user("now")}})
	if v.read != 0 || out.Dropped != 2 || !strings.Contains(out.Request.Context, "user attached a.png") {
		t.Errorf("%d read, %d dropped: %s", v.read, out.Dropped, out.Request.Context)
	}
}

func TestFilesAreCountedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		f    harness.File
		want int
	}{
		"an image by its pixels":  {harness.File{MediaType: "image/png", Width: 750, Height: 1_000}, 1_000},
		"a large one":             {harness.File{MediaType: "image/png", Width: 1 << 40, Height: 1 << 40}, imageTokens},
		"a tiny one":              {harness.File{MediaType: "image/png", Width: 1, Height: 1}, leastImage},
		"one of unknown size":     {harness.File{MediaType: "image/png"}, imageTokens},
		"a document by its pages": {harness.File{MediaType: "application/pdf", Pages: 3, Size: 9_999_999}, 3 * pageTokens},
		"or by its bytes":         {harness.File{MediaType: "application/pdf", Size: 120_000}, 3 * pageTokens},
		"an absurd one":           {harness.File{MediaType: "application/pdf", Pages: 1 << 40}, maxPages * pageTokens},
		"text":                    {harness.File{MediaType: "text/plain", Size: 3_000}, 1_000 + callTokens},
	} {
		if got := fileTokens(&tc.f); got != tc.want {
			t.Errorf("%s: %d tokens, want %d", name, got, tc.want)
		}
	}
}
