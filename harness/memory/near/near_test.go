package near_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/memory/near"
	"cairn/harness/model/choose"
	"cairn/harness/policy"
	"cairn/harness/tool"
	"cairn/storage/bolt"
)

// meanings are words that mean the same to the model of the tests.
var meanings = map[string]string{
	"automobile": "car", "vehicle": "car", "physician": "doctor", "surgeon": "doctor", "puppy": "dog", "terrier": "dog",
	"expensive": "cost", "price": "cost", "residence": "home", "apartment": "home", "lives": "home",
}

// service embeds texts by what their words mean, and remembers them.
type service struct {
	mu    sync.Mutex
	texts []string
	calls int
	// after refuses all calls after so many, 0 none.
	after int
	dims  int
}

var word = regexp.MustCompile(`[a-z]{3,}`)

func (s *service) vector(text string) []float64 {
	v := make([]float64, s.dims)
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if same, ok := meanings[w]; ok {
			w = same
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(w))
		for i, x := 0, h.Sum64(); i < 4; i, x = i+1, x>>16 {
			v[int(x&0xffff)%s.dims] += 1
		}
	}
	v[0] += 0.01
	return v
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.after > 0 && s.calls > s.after {
		http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
		return
	}
	type one struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []one
	for i, t := range body.Input {
		s.texts = append(s.texts, t)
		data = append(data, one{i, s.vector(t)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]int{"prompt_tokens": len(body.Input)}})
}

// refuse has all calls but the first of all refused from now on, none if after is 0.
func (s *service) refuse(after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = after
}

// become gives vectors of so many numbers from now on.
func (s *service) become(dims int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dims = dims
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *service) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// world is a store with a model that knows what words mean.
type world struct {
	t       *testing.T
	db      *bolt.DB
	service *service
	address string
	vectors *bolt.Vectors
	source  *near.Source
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, service: &service{dims: 400}}
	server := httptest.NewServer(w.service)
	t.Cleanup(server.Close)
	db, err := bolt.Open(filepath.Join(t.TempDir(), bolt.FileName), bolt.Options{})
	w.ok(err)
	t.Cleanup(func() { _ = db.Close() })
	w.db, w.address, w.vectors = db, server.URL, db.Vectors()
	w.source = w.model("ollama/meaning")
	return w
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) model(name string) *near.Source {
	env := choose.Env{Getenv: func(v string) string {
		return map[string]string{"OLLAMA_HOST": w.address, "OPENAI_BASE_URL": w.address}[v]
	}}
	return &near.Source{
		Model: name, Now: time.Now, Log: slog.New(slog.DiscardHandler), Book: w.db.Ledger().Book,
		Secrets: tool.NewRedactor(map[string]string{"SECRET": "correct-horse-battery"}),
		Open:    func(ctx context.Context) (near.Embedder, error) { return env.Embedder(ctx, name) },
	}
}

func (w *world) finder() *near.Finder {
	return &near.Finder{Source: w.source, Vectors: w.vectors, Patience: time.Minute}
}

func (w *world) say(id harness.SessionID, texts ...string) {
	w.t.Helper()
	l, err := w.db.Owners().Acquire(w.t.Context(), harness.Session{ID: id}, harness.Holder{})
	w.ok(err)
	var records []harness.Record
	for _, text := range texts {
		m := harness.UserText(text)
		records = append(records, harness.Record{Message: &m})
	}
	_, err = w.db.Transcript().Append(w.t.Context(), l, records...)
	w.ok(err)
	w.ok(w.db.Owners().Release(w.t.Context(), l))
}

func (w *world) update() int {
	w.t.Helper()
	n, err := (&near.Indexer{Source: w.source, Store: w.vectors}).Update(w.t.Context())
	w.ok(err)
	return n
}

// finds fails unless a search finds just these messages, in that order.
func (w *world) finds(query string, want ...string) {
	w.t.Helper()
	hits, err := w.finder().Search(w.db.Searcher()).Search(w.t.Context(), query, 10)
	w.ok(err)
	var got []string
	for i, h := range hits {
		got = append(got, fmt.Sprintf("%s/%d", h.Session, h.Message))
		if i > 0 && h.Score > hits[i-1].Score || h.Score <= 0 || h.Excerpt == "" {
			w.t.Errorf("hit %d is %+v", i, h)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%q finds %q, want %q", query, got, want)
	}
}

func TestAParaphraseIsFoundAndWordsComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("garage", "automobile brakes rattle", "unrelated lines follow here")
	w.say("clinic", "physician recommends rest")
	w.say("words", "doctor appointment monday")
	w.finds("car")
	w.finds("doctor", "words/1")
	if n := w.update(); n != 4 {
		t.Errorf("%d vectors were made", n)
	}
	w.finds("car", "garage/1")
	w.finds("vehicle brakes", "garage/1")
	w.finds("doctor", "words/1", "clinic/1")
	w.finds("zebra")
	// What has the words as they stand comes before what means the same.
	w.say("talk", "the price rose", "expensive cost", "so it goes, said he, and the cost of it rose, and on it went for a long long time without an end to all those words")
	w.update()
	hits, err := w.finder().Search(w.db.Searcher()).Search(t.Context(), "cost of it", 1)
	w.ok(err)
	if len(hits) != 1 || hits[0].Message != 3 {
		t.Errorf("got %+v", hits)
	}
}

func TestFactsAndNotesAreFoundByWhatTheyMean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for _, f := range []harness.Fact{{Text: "Ada's terrier", Category: "pets"}, {Text: "puppy school", Category: "dates"}, {Text: "dog food", Category: "pets"}} {
		_, _, err := w.db.Facts().Save(ctx, f, "")
		w.ok(err)
	}
	for _, n := range []harness.Note{{Title: "terrier", Body: "terrier", Session: ""}, {Title: "dog", Body: "dog puppy"}} {
		_, err := w.db.Notes().Save(ctx, n, "")
		w.ok(err)
	}
	facts, notes := w.finder().Facts(w.db.Facts()), w.finder().Notes(w.db.Notes())
	list := func(f harness.MemoryFilter) string {
		t.Helper()
		found, err := facts.List(ctx, f)
		w.ok(err)
		var ids []string
		for _, x := range found {
			ids = append(ids, x.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := list(harness.MemoryFilter{Query: "dog"}); got != "f3" {
		t.Errorf("by words alone: %q", got)
	}
	w.update()
	for want, f := range map[string]harness.MemoryFilter{
		"f3 f1 f2": {Query: "dog", Limit: 5}, "f3 f1": {Query: "dog", Category: "pets"}, "f3": {Query: "dog", Limit: 1},
		"f2": {Query: "dog", Category: "dates"}, "": {Query: "dog", State: harness.StateOff},
	} {
		if got := list(f); got != want && (want != "f3 f1 f2" || got != "f3 f2 f1") {
			t.Errorf("%+v: got %q, want %q", f, got, want)
		}
	}
	if got := list(harness.MemoryFilter{}); got != "f3 f2 f1" {
		t.Errorf("without a question: %q", got)
	}
	w.ok(facts.Forget(ctx, "f1"))
	if got := list(harness.MemoryFilter{Query: "dog"}); got != "f3 f2" {
		t.Errorf("after one was forgotten: %q", got)
	}
	found, err := notes.List(ctx, harness.MemoryFilter{Query: "dog"})
	w.ok(err)
	if len(found) != 2 || found[0].ID != "n2" {
		t.Errorf("notes: %+v", found)
	}
	quick, _ := near.Within(facts, notes, near.Haste)
	if again, err := quick.List(ctx, harness.MemoryFilter{Query: "dog"}); err != nil || len(again) != 2 {
		t.Errorf("for a turn: %+v, %v", again, err)
	}
}

func TestAnotherModelMeansThatAllIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("garage", "automobile brakes rattle")
	w.update()
	w.finds("car", "garage/1")
	w.source = w.model("ollama/other")
	before := len(w.service.sent())
	w.finds("car")
	if after := len(w.service.sent()); after != before {
		t.Error("a model was asked whose vectors there are not")
	}
	if n := w.update(); n != 1 {
		t.Errorf("%d vectors were made anew", n)
	}
	w.finds("car", "garage/1")
	st, err := w.vectors.Status(t.Context())
	w.ok(err)
	if st.Space == nil || st.Space.Model != "ollama/other" || st.Space.Dims != 400 || st.Missing != 0 || st.Vectors != 1 {
		t.Errorf("got %+v", st)
	}
	// Its vectors become longer: words go on, and the sentence says what to do.
	w.service.become(300)
	w.source = w.model("ollama/other")
	w.finds("car")
	w.say("garage", "one more")
	if _, err := (&near.Indexer{Source: w.source, Store: w.vectors}).Update(t.Context()); err == nil || !strings.Contains(err.Error(), "cairn memory index --rebuild") {
		t.Errorf("got %v", err)
	}
	_, err = (&near.Indexer{Source: w.source, Store: w.vectors}).Rebuild(t.Context())
	w.ok(err)
	w.finds("car", "garage/1")
}

func TestWhatWasMadeBeforeTheEndIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 200 {
		w.say(harness.SessionID(fmt.Sprintf("s%d", n%7)), fmt.Sprintf("message number %d", n))
	}
	w.service.refuse(3)
	_, err := (&near.Indexer{Source: w.source, Store: w.vectors}).Update(t.Context())
	if err == nil {
		t.Fatal("nothing broke off")
	}
	st, err := w.vectors.Status(t.Context())
	w.ok(err)
	if st.Records == 0 || st.Missing == 0 {
		t.Fatalf("got %+v", st)
	}
	w.service.refuse(0)
	w.vectors, w.source = w.db.Vectors(), w.model("ollama/meaning")
	w.update()
	times := map[string]int{}
	for _, text := range w.service.sent() {
		times[text]++
	}
	for n := range 200 {
		if text := fmt.Sprintf("message number %d", n); times[text] != 1 {
			t.Errorf("%q was sent %d times", text, times[text])
		}
	}
	days, err := w.db.Ledger().Days(t.Context(), time.Now().Add(-24*time.Hour), time.Now().Add(24*time.Hour))
	w.ok(err)
	if len(days) == 0 || days[0].Model != "ollama/meaning" || days[0].Usage.Input < 200 {
		t.Errorf("booked %+v", days)
	}
}

func TestKeysAndPasswordsAreNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const form, known = "sk-proj-abcdefghijklmnop0123", "correct-horse-battery"
	w.say("a", "a key "+form, "a word "+known, strings.Repeat("a long text. ", 300)+form, "nothing of the kind")
	w.update()
	w.finds("the key "+form, "a/1", "a/3")
	w.finds("the word "+known, "a/2")
	for _, text := range w.service.sent() {
		if strings.Contains(text, form) || strings.Contains(text, known) || strings.Contains(text, "a long text") {
			t.Errorf("sent %q", text)
		}
	}
	st, err := w.vectors.Status(t.Context())
	w.ok(err)
	if st.Missing != 0 || st.Vectors != 1 {
		t.Errorf("got %+v", st)
	}
}

func TestAFailureLeavesTheWordsAndIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("words", "doctor appointment")
	w.say("clinic", "physician recommends rest")
	w.update()
	w.service.refuse(1)
	for range 3 {
		w.finds("doctor", "words/1")
	}
	if w.service.count() != 3 {
		t.Errorf("it was asked %d times", w.service.count())
	}
	if err := w.source.Failed(); err == nil || !strings.Contains(err.Error(), "no such key") {
		t.Errorf("it failed with %v", err)
	}
	w.service.refuse(0)
	later := time.Now().Add(time.Minute)
	w.source.Now = func() time.Time { return later }
	w.finds("doctor", "words/1", "clinic/1")
}

func TestSpendingLimitsHoldForVectors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a", "text")
	w.source = w.model("openai/text-embedding-3-large")
	w.source.Budget = &policy.Budget{Spending: w.db.Spending(), Limits: harness.SpendingLimits{Day: 1e-9}}
	x := near.Indexer{Source: w.source, Store: w.vectors}
	if _, err := x.Update(t.Context()); !policy.OverBudget(err) {
		t.Errorf("got %v", err)
	}
	w.source = w.model("openai/unknown")
	w.source.Budget = &policy.Budget{Spending: w.db.Spending(), Limits: harness.SpendingLimits{Day: 1}}
	x.Source = w.source
	var price *policy.PriceError
	if _, err := x.Update(t.Context()); !errors.As(err, &price) {
		t.Errorf("got %v", err)
	}
	if sent := w.service.sent(); len(sent) != 0 {
		t.Errorf("sent %q", sent)
	}
	w.source.Budget.Limits = harness.SpendingLimits{}
	x.Source = w.source
	_, err := x.Update(t.Context())
	w.ok(err)
}

func TestTextsAreCutBetweenWordsAndToABound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "…", "a", strings.Repeat("word ", 1000), strings.Repeat("長い文章", 3000), strings.Repeat("x", 50_000)} {
		spans := near.Cut(text)
		at := 0
		for _, s := range spans {
			if s.From != at || s.To <= s.From || s.To-s.From > 2000 || strings.ToValidUTF8(text[s.From:s.To], "?") != text[s.From:s.To] {
				t.Errorf("a text of %d bytes is cut %+v", len(text), spans)
			}
			at = s.To
		}
		if len(spans) > 8 || len(spans) == 0 && len(text) > 3 {
			t.Errorf("a text of %d bytes has %d windows", len(text), len(spans))
		}
	}
	if s := near.Cut("a" + strings.Repeat("\x80", 5000)); len(s) == 0 || s[0].From != 0 {
		t.Errorf("what is no text is cut %+v", s)
	}
	if s := near.Cut(strings.Repeat("word ", 1000)); !strings.HasPrefix(strings.Repeat("word ", 1000)[s[1].From:], "word") {
		t.Errorf("cut within a word: %+v", s)
	}
}
