package harnesstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
)

// TestArtifacts tests a [harness.Artifacts].
func TestArtifacts(t *testing.T, open Open) {
	t.Parallel()
	run(t, "what is put is got, whatever it is and after a crash", open, testArtifacts)
	run(t, "the first digits are enough if they are those of one", open, testDigits)
	run(t, "the same bytes are one artifact", open, testSameBytes)
	run(t, "sessions have their own", open, testArtifactsApart)
	run(t, "a session that is not stored has none", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		_, err := s.Artifacts.Put(ctx(t), "a", []byte("x"))
		wantErr(t, err, harness.ErrNotFound)
		_, err = s.Artifacts.Get(ctx(t), "a", digestOf([]byte("x")))
		wantErr(t, err, harness.ErrNotFound)
		say(t, s, l, "1")
		putArtifact(t, s, "a", []byte("x"))
	})
	run(t, "more than can be kept is refused in a sentence", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "1")
		huge := make([]byte, 64<<20+1)
		if _, err := s.Artifacts.Put(ctx(t), "a", huge); err == nil || !strings.Contains(err.Error(), "at most 64 MB") {
			t.Fatalf("error %v", err)
		}
	})
	run(t, "a fork reads those of its parents", open, testForkedArtifacts)
	run(t, "a deleted session keeps them", open, func(t *testing.T, s Stores) {
		say(t, s, acquire(t, s, "a"), "1")
		sum := putArtifact(t, s, "a", []byte("kept"))
		must(t, s.Sessions.Delete(ctx(t), "a"))
		s = s.Reopen()
		must(t, s.Sessions.Restore(ctx(t), "a"))
		wantArtifact(t, s, "a", sum, []byte("kept"))
	})
	run(t, "several put at the same time", open, testPutTogether)
	run(t, "the bytes of files are kept apart from messages", open, testFilesApart)
	run(t, "the bytes of images of results are kept apart from messages", open, testResultImagesApart)
	run(t, "an import keeps files apart and is found again", open, testImportedFiles)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// noise returns bytes that no compression makes smaller.
func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	data := make([]byte, n)
	_, _ = r.Read(data) // never fails
	return data
}

func putArtifact(t *testing.T, s Stores, id harness.SessionID, data []byte) string {
	t.Helper()
	sum := value[string](t)(s.Artifacts.Put(ctx(t), id, data))
	if want := digestOf(data); sum != want {
		t.Fatalf("put as %s, want %s", sum, want)
	}
	return sum
}

// wantArtifact ends the test unless a session has these bytes.
func wantArtifact(t *testing.T, s Stores, id harness.SessionID, sum string, data []byte) {
	t.Helper()
	if got := value[[]byte](t)(s.Artifacts.Get(ctx(t), id, sum)); !bytes.Equal(got, data) {
		t.Fatalf("artifact %s of session %s has %d bytes, want %d or others", sum, id, len(got), len(data))
	}
}

func testArtifacts(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1")
	all := [][]byte{
		{},
		{0},
		[]byte("text"), []byte(strings.Repeat("the same line\n", 20_000)), noise(1, 64<<10), noise(2, 64<<10+1), noise(3, 300_000),
		append(bytes.Repeat([]byte{0}, 100_000), noise(4, 100_000)...), []byte("\"}\\\xff\xfe"),
	}
	for _, data := range all {
		wantArtifact(t, s, "a", putArtifact(t, s, "a", data), data)
	}
	s = s.Reopen()
	for _, data := range all {
		wantArtifact(t, s, "a", digestOf(data), data)
	}
	got := value[[]byte](t)(s.Artifacts.Get(ctx(t), "a", digestOf([]byte("text"))))
	got[0] = 'T'
	wantArtifact(t, s, "a", digestOf([]byte("text")), []byte("text"))
	_, err := s.Artifacts.Get(ctx(t), "a", digestOf([]byte("another")))
	wantErr(t, err, harness.ErrNotFound)
}

func testDigits(t *testing.T, s Stores) {
	say(t, s, acquire(t, s, "a"), "1")
	data := []byte("text")
	sum := putArtifact(t, s, "a", data)
	for n := harness.MinArtifact; n <= len(sum); n++ {
		wantArtifact(t, s, "a", sum[:n], data)
	}
	other := "f"
	if sum[12] == 'f' {
		other = "0"
	}
	for _, asked := range []string{"", sum[:1], sum[:harness.MinArtifact-1], sum + "0", sum[:12] + other, sum[:12] + "g", sum[:12] + "/", "../../../../../x", strings.Repeat("%", 64)} {
		_, err := s.Artifacts.Get(ctx(t), "a", asked)
		wantErr(t, err, harness.ErrNotFound)
	}
}

func testSameBytes(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1")
	data := noise(5, 100_000)
	for range 3 {
		putArtifact(t, s, "a", data)
	}
	m := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{
		{Kind: harness.PartFile, File: &harness.File{Name: "a.bin", Data: data}}, {Kind: harness.PartFile, File: &harness.File{Name: "b.bin", Data: data}},
	}}
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, harness.Record{Message: &m}))
	wantArtifact(t, s.Reopen(), "a", digestOf(data), data)
}

func testArtifactsApart(t *testing.T, s Stores) {
	for _, id := range []harness.SessionID{"a", "b"} {
		say(t, s, acquire(t, s, id), "1")
	}
	sum := putArtifact(t, s, "a", []byte("of a"))
	_, err := s.Artifacts.Get(ctx(t), "b", sum)
	wantErr(t, err, harness.ErrNotFound)
	_, err = s.Artifacts.Get(ctx(t), "*", sum)
	wantErr(t, err, harness.ErrNotFound)
	if _, err := s.Artifacts.Put(ctx(t), "*", []byte("x")); err == nil {
		t.Fatal("no session got an artifact")
	}
}

func testForkedArtifacts(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1", "2")
	early := putArtifact(t, s, "a", []byte("early"))
	for _, f := range []harness.SessionID{"f", "g"} {
		from := harness.SessionID("a")
		if f == "g" {
			from = "f"
		}
		value[harness.Session](t)(s.Sessions.Fork(ctx(t), from, harness.Origin{}, harness.Session{ID: f}))
		say(t, s, acquire(t, s, f), "3")
	}
	own := putArtifact(t, s, "f", []byte("own"))
	s = s.Reopen()
	for _, id := range []harness.SessionID{"a", "f", "g"} {
		wantArtifact(t, s, id, early, []byte("early"))
		wantArtifact(t, s, id, early[:harness.MinArtifact], []byte("early"))
	}
	wantArtifact(t, s, "g", own, []byte("own"))
	_, err := s.Artifacts.Get(ctx(t), "a", own)
	wantErr(t, err, harness.ErrNotFound)
}

func testPutTogether(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1")
	const n = 8
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { _, errs[i] = s.Artifacts.Put(ctx(t), "a", noise(uint64(i/2), 70_000)) })
	}
	all.Wait()
	for _, err := range errs {
		must(t, err)
	}
	say(t, s, l, "2")
	s = s.Reopen()
	for i := range n / 2 {
		data := noise(uint64(i), 70_000)
		wantArtifact(t, s, "a", digestOf(data), data)
	}
}

// attached is a message with a text and files, one of them stored before.
func attached(known string, files ...[]byte) harness.Message {
	m := harness.UserText("look")
	for i, data := range files {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: fmt.Sprintf("%d.png", i), MediaType: "image/png", Width: 3, Data: data}})
	}
	if known != "" {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "known.png", MediaType: "image/png", Artifact: known, Size: 5}})
	}
	return m
}

// wantApart ends the test unless a message names files and has none of their bytes.
func wantApart(t *testing.T, m *harness.Message, files ...[]byte) {
	t.Helper()
	i := 0
	for _, p := range m.Parts {
		if p.File == nil || i == len(files) {
			continue
		}
		if f := p.File; f.Data != nil || f.Artifact != digestOf(files[i]) || f.Size != int64(len(files[i])) || f.Width != 3 || f.MediaType != "image/png" {
			t.Fatalf("file %d is %+v", i, *f)
		}
		i++
	}
	if i != len(files) {
		t.Fatalf("%d files of %d", i, len(files))
	}
}

func testFilesApart(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	one, two := noise(6, 200_000), []byte("two")
	m := attached("", one, two)
	before := asJSON(t, m)
	records := value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, harness.Record{Message: &m}))
	if asJSON(t, m) != before {
		t.Fatal("the message of the caller was changed")
	}
	wantApart(t, records[0].Message, one, two)
	again := attached(digestOf(two))
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, harness.Record{Message: &again}))
	s = s.Reopen()
	log := value[[]harness.Record](t)(s.Transcript.Log(ctx(t), "a", 0, 0))
	wantApart(t, log[0].Message, one, two)
	wantArtifact(t, s, "a", digestOf(one), one)
	wantArtifact(t, s, "a", digestOf(two), two)
	if got := log[1].Message.Parts[1].File; got.Artifact != digestOf(two) || got.Size != 5 {
		t.Fatalf("the file that was there is %+v", got)
	}
}

// drawn is a message with the result of a tool that gave an image.
func drawn(image []byte) harness.Message {
	return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{
		CallID: "c", Name: "draw", Text: "drawn", Files: []harness.File{{Name: "image 1", MediaType: "image/png", Width: 3, Data: image}},
	}}}}
}

func testResultImagesApart(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	data := noise(8, 90_000)
	m := drawn(data)
	before := asJSON(t, m)
	value[[]harness.Record](t)(s.Transcript.Append(ctx(t), l, harness.Record{Message: &m}))
	if asJSON(t, m) != before {
		t.Fatal("the message of the caller was changed")
	}
	value[harness.Session](t)(s.Sessions.Fork(ctx(t), "a", harness.Origin{}, harness.Session{ID: "f"}))
	imported := drawn(data)
	_, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: "i"}, []harness.Record{{Message: &imported}})
	must(t, err)
	s = s.Reopen()
	for _, id := range []harness.SessionID{"a", "i"} {
		r := value[harness.Record](t)(s.Transcript.Record(ctx(t), id, 1))
		f := r.Message.Parts[0].Result.Files[0]
		if f.Data != nil || f.Artifact != digestOf(data) || f.Size != int64(len(data)) || f.Width != 3 {
			t.Fatalf("the image in %s is %+v", id, f)
		}
	}
	for _, id := range []harness.SessionID{"a", "f", "i"} {
		wantArtifact(t, s, id, digestOf(data), data)
	}
}

func testImportedFiles(t *testing.T, s Stores) {
	data := noise(7, 90_000)
	m := attached("", data)
	records := []harness.Record{{Message: &m}}
	stored, existed, err := s.Sessions.Import(ctx(t), harness.Session{ID: "a"}, records)
	must(t, err)
	if existed || stored.ID != "a" {
		t.Fatalf("stored %+v", stored)
	}
	wantApart(t, value[harness.Record](t)(s.Transcript.Record(ctx(t), "a", 1)).Message, data)
	wantArtifact(t, s, "a", digestOf(data), data)
	for range 2 {
		if stored, existed, err = s.Sessions.Import(ctx(t), harness.Session{ID: "a"}, records); err != nil || !existed || stored.ID != "a" {
			t.Fatalf("again: %+v, %t, %v", stored, existed, err)
		}
		s = s.Reopen()
	}
	result := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Text: "preview", Artifact: digestOf(data)}}}}
	if stored, _, err = s.Sessions.Import(ctx(t), harness.Session{ID: "r"}, []harness.Record{{Message: &result}}, data, []byte("another")); err != nil {
		t.Fatal(err)
	}
	s = s.Reopen()
	wantArtifact(t, s, stored.ID, digestOf(data), data)
	wantArtifact(t, s, stored.ID, digestOf([]byte("another")), []byte("another"))
	other := attached("", noise(8, 90_000))
	if stored, _, err = s.Sessions.Import(ctx(t), harness.Session{ID: "a"}, []harness.Record{{Message: &other}}); err != nil || stored.ID != "a-2" {
		t.Fatalf("with another file: %+v, %v", stored, err)
	}
}
