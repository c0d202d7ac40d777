package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/snapshottest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(*testing.T) string{
		"directory": func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "a", "b") },
		"file URL":  func(t *testing.T) string { t.Helper(); return "file://" + filepath.ToSlash(t.TempDir()) },
		"memory":    func(t *testing.T) string { t.Helper(); return "mem://" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			snapshottest.Test(t, func(t *testing.T) snapshot.Store { t.Helper(); return open(t, address(t)) })
		})
	}
}

func open(t *testing.T, address string) snapshot.Store {
	t.Helper()
	s, err := snapshot.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample is the document of testdata/version1.json.
func sample() snapshot.Document {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	data := []byte("a long result")
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	asked, done := harness.UserText("List <the> invoices & 日本 \u2028"), harness.AssistantText("Two.")
	called := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c1", Name: "glob", Input: json.RawMessage(`{"pattern":"*.pdf"}`)}}}}
	told := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c1", Name: "glob", Text: "a.pdf", Artifact: digest}}}}
	record := func(seq, prev int, m *harness.Message) harness.Record {
		return harness.Record{Seq: seq, Prev: prev, At: at, Kind: harness.RecordMessage, Message: m}
	}
	return snapshot.Document{
		ID: "invoices", Title: "The invoices", TitleBy: harness.TitleByUser, Created: at, Saved: at.Add(time.Hour),
		Config:     snapshot.Config{Model: "openai/gpt-x", System: "Be short.", Limits: snapshot.Limits{Steps: 20, Cost: 1.5}},
		Head:       5,
		Records:    []harness.Record{record(1, 0, &asked), record(2, 1, &called), record(3, 2, &told), record(4, 1, &done), record(5, 3, &done)},
		Usage:      harness.Usage{Input: 100, Output: 20, Cost: .25, CostKnown: true},
		Learned:    map[string]snapshot.Learned{"openai/gpt-x": {Window: 64000, Reply: 4096}},
		Tasks:      []snapshot.Task{{Text: "count", Status: "completed"}},
		Extensions: map[string]json.RawMessage{"planner": json.RawMessage(`{"step":3}`)},
		Artifacts:  []snapshot.Artifact{{SHA256: digest, Size: int64(len(data)), MediaType: "text/plain", Data: data}},
	}
}

// without returns d as its file holds it: without the artifacts' bytes.
func without(d snapshot.Document) snapshot.Document {
	d.Artifacts = []snapshot.Artifact{d.Artifacts[0]}
	d.Artifacts[0].Data = nil
	return d
}

func TestVersion1LoadsForEver(t *testing.T) {
	t.Parallel()
	frozen, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := snapshot.Decode(frozen)
	if err != nil {
		t.Fatal(err)
	}
	if want := without(sample()); !reflect.DeepEqual(d, want) {
		t.Errorf("the frozen file is %+v, want %+v", d, want)
	}
	if file, err := snapshot.Encode(sample()); err != nil || !bytes.Equal(file, frozen) {
		t.Errorf("what is written is not the frozen file: %s, %v", file, err)
	}
	var branch []int
	for _, r := range d.Branch() {
		branch = append(branch, r.Seq)
	}
	if !reflect.DeepEqual(branch, []int{1, 2, 3, 5}) {
		t.Errorf("the branch is %v", branch)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, frozen, "", "  "); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Decode(indented.Bytes()); err != nil {
		t.Errorf("indented: %v", err)
	}
}

func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	file, err := snapshot.Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		file []byte
		is   error
		says string
	}{
		"empty":     {nil, harness.ErrDamaged, "truncated"},
		"truncated": {file[:len(file)/2], harness.ErrDamaged, "truncated"},
		"newer":     {[]byte(`{"cairn_snapshot":7,"what":1}`), harness.ErrNewer, "version 7"},
		"zero":      {[]byte(`{"cairn_snapshot":0}`), harness.ErrDamaged, "version 0"},
		"foreign":   {[]byte(`{"version":2}`), harness.ErrDamaged, "no version"},
		"two":       {append(bytes.Clone(file), file...), harness.ErrDamaged, "follows the end"},
		"changed":   {bytes.Replace(file, []byte("Two."), []byte("Ten."), 1), harness.ErrDamaged, "checksum mismatch"},
		"unknown":   {bytes.Replace(file, []byte(`"sha256"`), []byte(`"sha257"`), 1), harness.ErrDamaged, "sha257"},
	} {
		if _, err := snapshot.Decode(tc.file); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range file {
		flipped := bytes.Clone(file)
		flipped[i] ^= 1
		if d, err := snapshot.Decode(flipped); err == nil && !reflect.DeepEqual(d, without(sample())) {
			t.Errorf("byte %d flipped gives another document", i)
		}
	}
}

// TestForgedDocumentsAreRefused changes documents and their checksums with them.
func TestForgedDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	file, err := snapshot.Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		Document json.RawMessage `json:"document"`
	}
	if err := json.Unmarshal(file, &envelope); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ was, is, says string }{
		"a number for a text": {`"id":"invoices"`, `"id":5`, `the field "id" at byte`},
		"a text for a number": {`"head":5`, `"head":"\u001b[31m"`, `the field "head" at byte`},
		"a word for a time":   {`"created":"2026`, `"created":"soon` + "\u202e", `\u202e`},
		"nobody's title":      {`"title_by":"user"`, `"title_by":"\u001b[31m"`, "the title is by"},
		"negative tokens":     {`"input":100`, `"input":-100`, "negative"},
		"a negative cost":     {`"cost":0.25`, `"cost":-0.25`, "negative"},
		"tokens beyond all":   {`"input":100`, `"input":1000000000000000000`, "more than a session can have"},
		"a cost beyond all":   {`"cost":0.25`, `"cost":1e308`, "more than a session can have"},
	} {
		doc := bytes.Replace(envelope.Document, []byte(tc.was), []byte(tc.is), 1)
		if bytes.Equal(doc, envelope.Document) {
			t.Errorf("%s: the document has no %s", name, tc.was)
		}
		_, err := snapshot.Decode(fmt.Appendf(nil, `{"cairn_snapshot":1,"sha256":"%x","document":%s}`, sha256.Sum256(doc), doc))
		if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), tc.says) || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSavedIsLoaded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	s := open(t, dir)
	want := sample()
	id, err := snapshot.Save(t.Context(), s, want)
	if err != nil || id != "invoices" {
		t.Fatalf("saved as %q, %v", id, err)
	}
	model := want.Config.Model
	got, err := snapshot.Load(t.Context(), open(t, dir), "Invoices", snapshot.Want{Model: &model, Extensions: []string{"planner", "more"}})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("loaded %+v, %v", got, err)
	}
	if ids, err := snapshot.List(t.Context(), s); err != nil || !reflect.DeepEqual(ids, []harness.SessionID{"invoices"}) {
		t.Errorf("listed %q, %v", ids, err)
	}
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Delete(t.Context(), s, "invoices"); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("deleted, it leaves %q, %v", keys, err)
	}
}

func TestLoadRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := open(t, "mem://")
	if _, err := snapshot.Save(t.Context(), s, sample()); err != nil {
		t.Fatal(err)
	}
	other, yes := "other", true
	for name, tc := range map[string]struct {
		want snapshot.Want
		is   error
		says string
	}{
		"model":      {snapshot.Want{Model: &other}, snapshot.ErrConfig, "model"},
		"system":     {snapshot.Want{System: &other}, snapshot.ErrConfig, "system"},
		"memory":     {snapshot.Want{NoMemory: &yes}, snapshot.ErrConfig, "no_memory"},
		"limits":     {snapshot.Want{Limits: snapshot.Limits{Cost: 2}}, snapshot.ErrConfig, "limits.cost"},
		"extensions": {snapshot.Want{Extensions: []string{"another"}}, snapshot.ErrExtensions, "planner"},
	} {
		if _, err := snapshot.Load(t.Context(), s, "invoices", tc.want); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sum := sample().Artifacts[0].SHA256
	has := snapshot.Want{Extensions: []string{"planner"}}
	for says, damage := range map[string]func() error{
		"checksum mismatch in artifact": func() error {
			return s.Replace(t.Context(), "artifacts/session-invoices/"+sum, []byte("a wrong result"[:13]))
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Load(t.Context(), s, "invoices", has); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if err := s.Delete(t.Context(), "artifacts/session-invoices/"+sum); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Load(t.Context(), s, "invoices", has); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("without its artifact: %v", err)
	}
	if _, err := snapshot.Load(t.Context(), s, "none", has); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("without a snapshot: %v", err)
	}
}

func TestNamesAndLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	for _, k := range []string{"../x", "/x", "", ".", "..", "a/../../x", "a//b", ".lock", "-rf", "a\x00b", "A", `c:\x`} {
		if err := s.Replace(t.Context(), k, nil); err == nil {
			t.Errorf("%q was written", k)
		}
		if _, err := s.Get(t.Context(), k); err == nil {
			t.Errorf("%q was read", k)
		}
	}
	for _, id := range []harness.SessionID{"../x", "A", "", ".", "a/b"} {
		d := sample()
		d.ID = id
		if _, err := snapshot.Save(t.Context(), s, d); !errors.Is(err, snapshot.ErrInvalid) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	if got, err := s.Get(t.Context(), "linked"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link out of the directory gives %q, %v", got, err)
	}
	if err := s.Replace(t.Context(), "linked", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
}

// TestOnlyItsOwnIsLookedInto lists the snapshots of a directory that holds one of
// somebody else's.
func TestOnlyItsOwnIsLookedInto(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	id, err := snapshot.Save(t.Context(), s, sample())
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("whoever runs this may read everything")
	}
	ids, err := snapshot.List(t.Context(), s)
	if err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("%v, %v", ids, err)
	}
	keys, err := s.List(t.Context(), "artifacts/session-"+string(id)+"/")
	if err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestUnknownAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"  ", "ftp://user:hunter22@host/x", "file://elsewhere/x", "file:///x?a=b"} {
		if _, err := snapshot.Open(t.Context(), a); !errors.Is(err, snapshot.ErrAddress) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q: %v", a, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	file, err := snapshot.Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte(`{"cairn_snapshot":1,"sha256":"","document":null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		d, err := snapshot.Decode(file)
		if err != nil {
			return
		}
		if _, err := snapshot.Encode(d); err != nil {
			t.Errorf("decoded and not encoded: %v", err)
		}
	})
}
