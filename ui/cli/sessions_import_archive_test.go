package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
	"cairn/storage/bolt"
	logs "cairn/storage/sqlite/foreign"
)

// importing runs an import on the store of a directory and returns what it prints and
// complains of.
func importing(t *testing.T, dir string, set func(*Streams), args ...string) (out, errs string, code int) {
	t.Helper()
	w, s, stdout, stderr := world1(t)
	if set != nil {
		set(&s)
	}
	wire := onDisk(w)
	wire.OpenDatabase = func(ctx context.Context, path string) (foreign.Source, error) { return logs.Open(ctx, path) }
	code = Main(t.Context(), s, append([]string{"--dir", dir, "sessions", "import"}, args...), wire)
	return stdout.String(), stderr.String(), code
}

// chatGPT is an export with n conversations of two messages each; the first has
// more.
func chatGPT(t *testing.T, n, more int) []byte {
	t.Helper()
	type object = map[string]any
	var all []object
	for i := range n {
		at := 1_700_000_000 + float64(i)*1000
		mapping, before := object{"root": object{"parent": nil, "message": nil}}, "root"
		count := 2
		if i == 0 {
			count += more
		}
		for k := range count {
			role, key := []string{"user", "assistant"}[k%2], fmt.Sprintf("m%d", k)
			mapping[key] = object{"parent": before, "message": object{
				"author": object{"role": role}, "create_time": at + float64(k), "weight": 1, "metadata": object{},
				"content": object{"content_type": "text", "parts": []string{fmt.Sprintf("granite %s %d of %d", role, k, i)}},
			}}
			before = key
		}
		mapping["hidden"] = object{"parent": before, "message": object{
			"author": object{"role": "user"}, "weight": 0, "content": object{"content_type": "text", "parts": []string{"secret"}},
		}}
		all = append(all, object{
			"conversation_id": fmt.Sprintf("Talk-%d", i), "title": fmt.Sprintf("Title %d", i), "create_time": at, "update_time": at + 10,
			"mapping": mapping, "current_node": "hidden", "is_archived": i == 1, "is_starred": i == 1,
		})
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// put writes a file into a directory of its own.
func put(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnExportIsImportedAndNeverMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := put(t, "conversations.json", chatGPT(t, 2, 0))
	out, errs, code := importing(t, dir, nil, first)
	want := "talk-0\t2 messages, called \"Talk-0\" in the file, from a ChatGPT export\ntalk-1\t2 messages, called \"Talk-1\" in the file, from a ChatGPT export\n"
	if code != ExitDone || out != want || !strings.Contains(errs, "talk-0: left out: hidden messages") {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	if out, _, code = importing(t, dir, nil, first); code != ExitDone || strings.Count(out, "was there already") != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	newer := put(t, "conversations.json", chatGPT(t, 2, 2))
	out, _, code = importing(t, dir, nil, newer)
	if code != ExitDone || !strings.HasPrefix(out, "talk-0-2\t4 messages, called \"Talk-0\" in the file") || !strings.Contains(out, "talk-1\t2 messages, was there already") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s, log := sessionOf(t, dir, "talk-0")
	if len(log) != 2 || s.Title != "Title 0" || s.Updated.Unix() != 1_700_000_010 || s.Created.Unix() != 1_700_000_000 {
		t.Errorf("%d records, %+v", len(log), s)
	}
	if s, _ = sessionOf(t, dir, "talk-1"); !s.Pinned || fmt.Sprint(s.Tags) != "[archived]" {
		t.Errorf("pinned %v, tags %v", s.Pinned, s.Tags)
	}
	if s, log = sessionOf(t, dir, "talk-0-2"); len(log) != 4 || s.Messages != 4 {
		t.Errorf("%d records", len(log))
	}
}

func TestNothingOfADamagedExportIsImported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := chatGPT(t, 3, 0)
	for name, data := range map[string][]byte{
		"cut":      whole[:len(whole)-100],
		"no id":    []byte(strings.Replace(string(whole), `"conversation_id":"Talk-2"`, `"x":"Talk-2"`, 1)),
		"a list":   []byte(`[1, 2]`),
		"a string": []byte(`["x"]`),
	} {
		out, errs, code := importing(t, dir, nil, put(t, "conversations.json", data))
		if code != ExitUsage || out != "" || !strings.Contains(errs, "nothing was imported") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
	}
	out, errs, code := importing(t, dir, nil, put(t, "x.db", []byte(logs.Magic+"nothing more")))
	if code != ExitUsage || out != "" || !strings.Contains(errs, "damaged") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, bolt.FileName)); !os.IsNotExist(err) {
		store(t, dir, func(db *bolt.DB) {
			if list, err := db.Sessions().List(t.Context(), harness.SessionFilter{}); err != nil || len(list) > 0 {
				t.Errorf("%d sessions: %v", len(list), err)
			}
		})
	}
}

func TestWhatIsLeftOutOfManyIsToldOnce(t *testing.T) {
	t.Parallel()
	out, errs, code := importing(t, t.TempDir(), nil, put(t, "conversations.json", chatGPT(t, 12, 0)))
	if code != ExitDone || strings.Count(out, "\n") != 12 || errs != "cairn: left out of 12 conversations: hidden messages\n" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	out, _, _ = importing(t, t.TempDir(), nil, "--json", put(t, "conversations.json", chatGPT(t, 12, 0)))
	if strings.Count(out, `"left_out":["hidden messages"]`) != 12 {
		t.Error(out)
	}
}

func TestAnExportComesFromAZIPADirectoryOrAPipe(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range map[string][]byte{"conversations.json": chatGPT(t, 2, 0), "memories.json": []byte("[]")} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	packed := put(t, "export.zip", b.Bytes())
	folder := filepath.Dir(put(t, "conversations-000.json", chatGPT(t, 2, 0)))
	pipe := func(s *Streams) { s.In = bytes.NewReader(b.Bytes()) }
	for name, run := range map[string]func(dir string) (string, string, int){
		"zip":       func(dir string) (string, string, int) { return importing(t, dir, nil, packed) },
		"directory": func(dir string) (string, string, int) { return importing(t, dir, nil, folder) },
		"pipe":      func(dir string) (string, string, int) { return importing(t, dir, pipe, "-") },
	} {
		out, errs, code := run(t.TempDir())
		if code != ExitDone || strings.Count(out, "2 messages") != 2 {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
		if name == "zip" && !strings.Contains(errs, "is not imported: memories.json") {
			t.Errorf("%s: %s", name, errs)
		}
	}
	if out, errs, code := importing(t, t.TempDir(), nil, "--from", folder, "talk-1"); code != ExitDone || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "talk-1\t") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if _, errs, code := importing(t, t.TempDir(), nil, "--from", folder, "talk-9"); code != ExitNotFound || !strings.Contains(errs, `has no session "talk-9"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestADatabaseOfAnotherProgramIsImported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, conversation_id TEXT, datetime_utc TEXT)`,
		`INSERT INTO responses VALUES ('01', 'm', 'what is granite', 'Be short', 'a rock', 'c1', '2024-01-01T00:00:00')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, from := range []string{path, filepath.Dir(path)} {
		out, errs, code := importing(t, dir, nil, from)
		if code != ExitDone || !strings.HasPrefix(out, "c1\t2 messages") || !strings.Contains(out, "from a database of llm") {
			t.Fatalf("exit code %d: %s%s", code, out, errs)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database changed (%v)", err)
	}
	if s, _ := sessionOf(t, dir, "c1"); s.System != "Be short" || !s.Updated.Equal(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%q, last used %s", s.System, s.Updated)
	}
	store(t, dir, func(db *bolt.DB) {
		if found, err := db.Searcher().Search(t.Context(), "granite", 5); err != nil || len(found) == 0 {
			t.Errorf("the search finds %d: %v", len(found), err)
		}
	})
}

func TestAnImportTellsOnTheTerminalHowFarItIs(t *testing.T) {
	t.Parallel()
	export := put(t, "conversations.json", chatGPT(t, 3, 0))
	onTerminal := func(s *Streams) {
		s.ErrTTY = true
		now := s.Now()
		s.Now = func() time.Time { now = now.Add(time.Second); return now }
	}
	_, errs, code := importing(t, t.TempDir(), onTerminal, export)
	if code != ExitDone || !strings.Contains(errs, "conversation 2\r") && !strings.Contains(errs, "conversation 2 ") || !strings.Contains(errs, "storing conversation 3 of 3") || strings.Contains(errs, "\x1b") {
		t.Errorf("exit code %d: %q", code, errs)
	}
	if _, errs, _ = importing(t, t.TempDir(), nil, export); strings.Contains(errs, "conversation 2") {
		t.Errorf("to a pipe it says %q", errs)
	}
}

func TestAChatImportsAndSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	w, s, stdout, _ := world1(t)
	a := newApp(s, onDisk(w))
	st := w.open()
	load := a.importer(st)
	one, many := put(t, "conversations.json", chatGPT(t, 1, 0)), put(t, "conversations.json", chatGPT(t, 3, 2))
	for _, c := range []struct{ from, want string }{
		{one, "imported talk-0 with 2 messages; open it with /sessions talk-0; left out: hidden messages"},
		{one, "talk-0 is there already; open it with /sessions talk-0"},
		{many, "imported 3 conversations; /sessions lists them; left out: hidden messages"},
		{many, "3 conversations: all there already"},
	} {
		if said, err := load(t.Context(), c.from); err != nil || said != c.want {
			t.Errorf("%q (%v), not %q", said, err, c.want)
		}
	}
	if _, err := load(t.Context(), put(t, "conversations.json", []byte("["))); err == nil || !strings.Contains(err.Error(), "nothing was imported") {
		t.Errorf("the error is %v", err)
	}
	if _, err := load(t.Context(), "none.zip"); err == nil || !strings.Contains(err.Error(), "there is no file none.zip") {
		t.Errorf("the error is %v", err)
	}
	if stdout.Len() > 0 {
		t.Errorf("it printed %q", stdout)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}
