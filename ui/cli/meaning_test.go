package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/bolt"
)

// vectors is a server that finds all texts alike but those that have no letter e.
func vectors(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type one struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []one
	for i, text := range body.Input {
		v := []float64{1, 0.1}
		if strings.Contains(text, "e") {
			v = []float64{0.1, 1}
		}
		data = append(data, one{i, v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func TestASearchThatCannotAskItsModelSaysThatItWentByWords(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(vectors))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, _, err := db.Facts().Save(t.Context(), harness.Fact{Text: "the stones are on the ridge"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Notes().Save(t.Context(), harness.Note{Title: "ridge", Body: "stones"}, ""); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (out, told string) {
		t.Helper()
		w, s, o, errs := world1(t)
		s.Getenv = func(name string) string {
			return map[string]string{"HOME": dir, "OLLAMA_HOST": server.URL, "CAIRN_EMBEDDING": "ollama/meaning"}[name]
		}
		wire := onDisk(w)
		wire.SearchPatience = time.Minute // the machine may be busy
		wire.OpenStore = func(context.Context, string, StoreOptions) (Store, error) {
			return Store{
				Sessions: db.Sessions(), Facts: db.Facts(), Notes: db.Notes(), Search: db.Searcher(), Vectors: db.Vectors(), Ledger: db.Ledger(), Spending: db.Spending(),
			}, nil
		}
		if code := Main(context.Background(), s, append([]string{"--dir", dir}, args...), wire); code != ExitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		return o.String(), errs.String()
	}
	searches := [][]string{
		{"search", "ridge"},
		{"search", "--json", "ridge"},
		{"memory", "search", "ridge"},
		{"memory", "search", "--json", "ridge"},
		{"facts", "search", "ridge"},
		{"notes", "list", "ridge"},
	}
	if _, told := run("memory", "search", "ridge"); !strings.HasPrefix(told, "cairn: searched by words only: there are no vectors of ollama/meaning yet; to make them: cairn memory index --update\n") {
		t.Errorf("without vectors: %s", told)
	}
	run("memory", "index", "--update")
	before := map[string]string{}
	for _, args := range searches {
		out, told := run(args...)
		if told != "" {
			t.Errorf("%v: %s", args, told)
		}
		before[strings.Join(args, " ")] = out
	}
	server.Close()
	for _, args := range searches {
		out, told := run(args...)
		if !strings.HasPrefix(told, "cairn: searched by words only: ollama/meaning cannot be asked: ") || strings.Count(told, "\n") != 1 {
			t.Errorf("%v tells: %s", args, told)
		}
		if out != before[strings.Join(args, " ")] {
			t.Errorf("%v prints %s\nnot %s", args, out, before[strings.Join(args, " ")])
		}
		if _, told := run(append(args, "--quiet")...); told != "" {
			t.Errorf("%v although quiet: %s", args, told)
		}
	}
	if _, told := run("memory", "list"); told != "" {
		t.Errorf("a list without words tells: %s", told)
	}
}
