package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
	engines "cairn/harness/run"
	"cairn/harness/tool"
	"cairn/harness/tool/result"
	"cairn/storage/bolt"
)

const (
	// narrow is the window of the models of these conversations, in tokens.
	narrow = 16_384
	// narrowReply is the most that they answer.
	narrowReply = 1_024
)

// turnsOf is how long a conversation goes on: few turns in a test, thousands in
// the proofs.
func turnsOf(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("CAIRN_TEST_TURNS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < few {
		t.Fatalf("CAIRN_TEST_TURNS=%q: not a number from %d on", text, few)
	}
	return n
}

// A conversation goes on for as long as one likes: each request is one that the
// provider takes, what is pinned is in it, nothing that was said is lost, and the
// last turn costs what an early one did.
func TestConversationWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, path string
		dialect     modeltest.Dialect
		share       int
	}{
		"openai":    {"openai/gpt-4o", "/v1", modeltest.OpenAI{}, 1},
		"anthropic": {"anthropic/claude-sonnet-4-6", "", modeltest.Anthropic{}, 10},
		"gemini":    {"gemini/gemini-2.5-pro", "", modeltest.Gemini{}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := max(60, turnsOf(t, 60)/c.share)
			e := newEndless(t, c.model, c.path, c.dialect)
			for n := 1; n <= turns; n++ {
				e.turn(n)
				if n%25 == 0 {
					e.restart()
				}
			}
			e.judge(turns)
		})
	}
}

// endless is a conversation that does not end, with all that is real about it: an
// engine on a database file, and a provider behind HTTP.
type endless struct {
	*moods

	t     *testing.T
	model string
	url   string
	path  string

	db     *bolt.DB
	engine *engines.Local
	lease  harness.Lease
	reads  atomic.Int64
	// costs are what the turns cost.
	costs []cost
}

// cost is what one turn cost: the bytes of its largest request, the records that
// were read for it, and the time that was not the provider's.
type cost struct {
	bytes   int
	records int
	took    time.Duration
	notes   int
}

func newEndless(t *testing.T, id, path string, d modeltest.Dialect) *endless {
	t.Helper()
	e := &endless{moods: &moods{t: t, dialect: d}, t: t, model: id, path: filepath.Join(t.TempDir(), "cairn.db")}
	server := httptest.NewServer(modeltest.Checked(narrow, e.refused, e))
	t.Cleanup(server.Close)
	e.url = server.URL + path
	e.start()
	t.Cleanup(e.stop)
	return e
}

func (e *endless) start() {
	e.t.Helper()
	db, err := bolt.Open(e.path, bolt.Options{Purpose: "test"})
	if err != nil {
		e.t.Fatal(err)
	}
	provider, _, _ := strings.Cut(e.model, "/")
	m, info, err := choose.Build(e.t.Context(), e.model, choose.Env{
		BaseURLs: map[string]string{provider: e.url}, Key: func(string) string { return "sk-test" },
	})
	if err != nil {
		e.t.Fatal(err)
	}
	info.Window, info.OwnWindow, info.MaxOutput, info.OwnMaxOutput = narrow, true, narrowReply, true
	set := &tool.Set{Artifacts: db.Artifacts()}
	look, err := tool.New("look", "Look something up.", looked, tool.WithPermission(tool.Allow))
	if err := errors.Join(err, set.Add(look), result.Register(set, db.Artifacts())); err != nil {
		e.t.Fatal(err)
	}
	composer := &memory.Composer{Artifacts: db.Artifacts()}
	e.db = db
	e.engine = engines.NewLocal(engines.Options{
		Journal: db.Journal(), Transcript: counted{db.Transcript(), &e.reads}, Sessions: db.Sessions(), Engine: bolt.Engine,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: m, Info: info, Tools: set, Compose: composer.Compose, Limits: db.Limits()}, nil
		},
	})
	if e.lease, err = db.Owners().Acquire(e.t.Context(), harness.Session{ID: "endless"}, harness.Holder{PID: os.Getpid(), Purpose: "test"}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *endless) stop() {
	ctx := context.Background()
	if err := errors.Join(e.engine.Close(ctx), e.db.Owners().Release(ctx, e.lease), e.db.Close()); err != nil {
		e.t.Error(err)
	}
}

func (e *endless) restart() {
	e.stop()
	e.start()
}

type lookedIn struct {
	Turn int `json:"turn"`
}

// looked returns something short, long or far too long.
func looked(_ context.Context, _ tool.Call, in lookedIn) (string, error) {
	lines := []int{3, 40, 900}[in.Turn/3%3]
	return strings.Repeat(fmt.Sprintf("what was found in turn %d\n", in.Turn), lines), nil
}

// counted counts the records that are read.
type counted struct {
	harness.Transcript

	n *atomic.Int64
}

func (c counted) Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	rs, err := c.Transcript.Tail(ctx, id, from, limit)
	c.n.Add(int64(len(rs)))
	return rs, err
}

func (c counted) Before(ctx context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	rs, err := c.Transcript.Before(ctx, id, of, limit)
	c.n.Add(int64(len(rs)))
	return rs, err
}

func (c counted) Record(ctx context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	c.n.Add(1)
	return c.Transcript.Record(ctx, id, seq)
}

// turn is one question with its answer.
func (e *endless) turn(n int) {
	e.t.Helper()
	e.begin()
	reads, began := e.reads.Load(), time.Now()
	question := fmt.Sprintf("question-%d: %s", n, strings.Repeat("how does it go on from here? ", 1+n%12))
	h, err := e.engine.Start(e.t.Context(), harness.StartRequest{
		Lease: e.lease, Message: harness.UserText(question), Config: harness.RunConfig{Model: e.model},
	})
	if err != nil {
		e.t.Fatalf("turn %d: %v", n, err)
	}
	res, err := h.Wait(e.t.Context())
	if err != nil || res.Status != harness.RunCompleted || !strings.Contains(res.Text, fmt.Sprintf("answer-%d.", n)) {
		e.t.Fatalf("turn %d: result %+v (%+v), %v", n, res, res.Error, err)
	}
	most, inside, notes := e.end()
	e.costs = append(e.costs, cost{most, int(e.reads.Load() - reads), time.Since(began) - inside, notes})
	if n == 5 || n == 31 {
		e.pin(n)
	}
}

// pin pins the question of the turn that was last.
func (e *endless) pin(n int) {
	e.t.Helper()
	tail, err := e.db.Transcript().Tail(e.t.Context(), e.lease.Session, 0, 12)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, r := range tail {
		if r.Message == nil || !strings.HasPrefix(r.Message.Text(), fmt.Sprintf("question-%d:", n)) {
			continue
		}
		data, err := json.Marshal(harness.Pin{Message: r.Seq})
		if err != nil {
			e.t.Fatal(err)
		}
		if _, err := e.db.Transcript().Append(e.t.Context(), e.lease, harness.Record{At: time.Now(), Kind: harness.RecordPin, Data: data}); err != nil {
			e.t.Fatal(err)
		}
		e.pinned(fmt.Sprintf("question-%d:", n))
		return
	}
	e.t.Fatalf("question %d is not among the last records", n)
}

// judge looks at the whole of it.
func (e *endless) judge(turns int) {
	e.t.Helper()
	all, err := e.db.Transcript().Tail(e.t.Context(), e.lease.Session, 0, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	said, condensed := map[string]bool{}, 0
	for _, r := range all {
		if r.Kind == harness.RecordCondensed {
			condensed++
		}
		if r.Message != nil {
			word, _, _ := strings.Cut(r.Message.Text(), ":")
			said[word] = true
		}
	}
	for n := 1; n <= turns; n++ {
		if !said[fmt.Sprintf("question-%d", n)] {
			e.t.Errorf("question %d is not to be read any more", n)
		}
	}
	for _, n := range []int{1, turns / 2, turns} {
		word := fmt.Sprintf("question-%d", n)
		hits, err := e.db.Searcher().Search(e.t.Context(), word, 5)
		if err != nil || len(hits) == 0 || !strings.Contains(hits[0].Excerpt, strconv.Itoa(n)) {
			e.t.Errorf("%s is not found: %+v, %v", word, hits, err)
		}
	}
	early, late := e.mean(30, 50), e.mean(turns-20, turns)
	first, last := e.mean(turns/4, turns/2), e.mean(turns*3/4, turns)
	e.t.Logf("%s: %d turns, %d requests for notes, %d condensings stored", e.model, turns, e.notes.Load(), condensed)
	e.t.Logf("turns 31-50:   %s", early)
	e.t.Logf("turns %d-%d: %s", turns-19, turns, late)
	e.t.Logf("last by early: %.2f x bytes, %.2f x records, %.2f x time", late.bytes/early.bytes, late.records/early.records, late.took/early.took)
	e.t.Logf("requests for notes in 100 turns: %.1f in the second quarter, %.1f in the last", 100*first.notes, 100*last.notes)
	if late.bytes > 1.5*early.bytes || late.records > 1.5*early.records+20 {
		e.t.Error("a late turn costs more than an early one")
	}
	if condensed == 0 || last.notes > 1.5*first.notes+5/float64(turns/4) {
		e.t.Error("it is not condensed at a steady pace")
	}
}

// average is what a turn costs in a stretch of turns.
type average struct{ bytes, records, took, notes float64 }

func (a average) String() string {
	return fmt.Sprintf("%.0f bytes in the largest request, %.1f records read, %.2f ms beside the provider", a.bytes, a.records, a.took)
}

func (e *endless) mean(from, to int) (a average) {
	n := float64(to - from)
	for _, c := range e.costs[from:to] {
		a.bytes += float64(c.bytes) / n
		a.records += float64(c.records) / n
		a.took += float64(c.took.Microseconds()) / 1000 / n
		a.notes += float64(c.notes) / n
	}
	return a
}

// moods is a model's service that has bad days when it is to write a note.
type moods struct {
	t       *testing.T
	dialect modeltest.Dialect
	notes   atomic.Int64

	mu     sync.Mutex
	pins   []string
	most   int
	inside time.Duration
	asked  int
}

// begin begins to count for a turn.
func (p *moods) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most, p.inside, p.asked = 0, 0, 0
}

// end returns the bytes of the turn's largest request, the time spent here, and
// how many notes were asked for.
func (p *moods) end() (most int, inside time.Duration, notes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most, p.inside, p.asked
}

func (p *moods) pinned(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins = append(p.pins, text)
}

// refused reports a request that no provider would have taken.
func (p *moods) refused(n int, body []byte, err error) {
	p.t.Errorf("request %d would be refused: %v\n%.2000s", n, err, body)
}

// ServeHTTP answers a request.
func (p *moods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inside += time.Since(began)
	}()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Errorf("read a request: %v", err)
		return
	}
	req, err := p.dialect.Request(body)
	if err != nil || len(req.Turns) == 0 {
		p.t.Errorf("the request is none: %v", err)
		return
	}
	last := req.Turns[len(req.Turns)-1]
	text := strings.Join(last.Texts, "\n")
	if strings.Contains(text, "<history>") {
		p.note(w, text)
		return
	}
	p.mu.Lock()
	p.most = max(p.most, len(body))
	for _, pin := range p.pins {
		if !bytes.Contains(body, []byte(pin)) {
			p.t.Errorf("%q is pinned and not in the request\n%.3000s", pin, body)
		}
	}
	p.mu.Unlock()
	p.answer(w, req, last, text)
}

// answer answers a question, in every third turn with the help of a tool.
func (p *moods) answer(w io.Writer, req modeltest.Request, last modeltest.Turn, text string) {
	n := 0
	for i := len(req.Turns) - 1; i >= 0 && n == 0; i-- {
		all := strings.Join(req.Turns[i].Texts, "\n")
		if at := strings.LastIndex(all, "question-"); at >= 0 {
			n, _ = strconv.Atoi(strings.FieldsFunc(all[at+len("question-"):], func(r rune) bool { return r < '0' || r > '9' })[0])
		}
	}
	d := p.dialect
	if n%3 == 0 && len(last.Results) == 0 {
		p.send(w, d.Start(), d.Call(0, fmt.Sprintf("call_%d", n), "look", fmt.Sprintf(`{"turn":%d}`, n)), d.Finish("tools"), d.Usage(100, 0, 20, 0), d.End())
		return
	}
	answer := fmt.Sprintf("answer-%d. %s", n, strings.Repeat("It goes on as it went before, word by word. ", 20+n%20))
	p.send(w, d.Start(), d.Text(answer), d.Finish("stop"), d.Usage(100, 0, 20, 0), d.End())
}

// note writes a note, or fails to in one of the ways that services have.
func (p *moods) note(w http.ResponseWriter, text string) {
	p.mu.Lock()
	p.asked++
	p.mu.Unlock()
	d, n := p.dialect, p.notes.Add(1)
	refuse := func(message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, d.Refusal(http.StatusBadRequest, message)) // whoever asked has gone then
	}
	switch n % 6 {
	case 2:
		p.send(w, d.Start(), d.Text(" \n"), d.Finish("stop"), d.Usage(100, 0, 1, 0), d.End())
	case 3:
		refuse("the request is not to our liking")
	case 4:
		refuse("prompt is too long")
	case 5:
		p.send(w, d.Start(), d.Text("Half a no"), d.Finish("length"), d.Usage(100, 0, 5, 0), d.End())
	default:
		note := fmt.Sprintf("- Task: note %d of %d bytes of history.\n- Facts: %s", n, len(text), strings.Repeat("it went on as it had gone on; ", 20))
		p.send(w, d.Start(), d.Text(note), d.Finish("stop"), d.Usage(100, 0, 100, 0), d.End())
	}
}

func (p *moods) send(w io.Writer, groups ...[]modeltest.Event) {
	if rw, ok := w.(http.ResponseWriter); ok {
		rw.Header().Set("Content-Type", "text/event-stream")
	}
	for _, events := range groups {
		for _, e := range events {
			_, _ = io.WriteString(w, modeltest.Plain(e)) // whoever asked has gone then
		}
	}
}
