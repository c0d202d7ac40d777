package runtest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"cairn/harness"
	"cairn/harness/run"
)

// withFile is an entry whose message has a file of these bytes.
func withFile(kind, data string) run.Entry {
	m := harness.UserText(kind)
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: kind, MediaType: "image/png", Data: []byte(data)}})
	return run.Entry{Kind: kind, Message: &m}
}

// testFiles starts a run with a file, and closes it in the start of the next one
// with another.
func testFiles(t *testing.T, f *fixture) {
	l := f.acquire("s")
	first, second, last, next := withFile("begun", "1"), withFile("more", "22"), withFile("end", "333"), withFile("begun", "4444")
	last.Status = harness.RunCancelled
	_, entries, err := f.Journal.Create(f.ctx(), l, f.run("r"), first)
	f.must(err)
	entries = append(entries, f.append(l, "r", 1, second)...)
	_, begun, err := f.Journal.Create(f.ctx(), l, f.run("r2"), next, run.Closing{Run: "r", After: 2, Entries: []run.Entry{last}})
	f.must(err)
	if string(first.Message.Parts[1].File.Data) != "1" {
		t.Fatal("the entry of the caller was changed")
	}
	f.reopen()
	log, err := f.Transcript.Log(f.ctx(), "s", 0, 0)
	f.must(err)
	for _, r := range log {
		entries = append(entries, run.Entry{Message: r.Message})
	}
	want := []string{"1", "22", "4444", "1", "22", "333", "1", "22", "333", "4444"}
	all := slices.Concat(entries[:2], begun, f.read(0), entries[2:])
	if len(all) != len(want) {
		t.Fatalf("%d entries, want %d", len(all), len(want))
	}
	for i, e := range all {
		sum := sha256.Sum256([]byte(want[i]))
		if got := e.Message.Parts[1].File; got.Data != nil || got.Artifact != hex.EncodeToString(sum[:]) || got.Size != int64(len(want[i])) {
			t.Errorf("entry %d has the file %+v, want the one of %q apart", i, *got, want[i])
		}
	}
}
