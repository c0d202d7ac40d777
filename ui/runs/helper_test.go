package runs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

var self = harness.Holder{PID: 7, Terminal: "pts/1"}

// world is what stands behind the screen: runs that a test writes down, and
// sessions with real owners.
type world struct {
	mu       sync.Mutex
	runs     []harness.Run // newest first
	sessions map[harness.SessionID]harness.Session
	records  map[harness.SessionID][]harness.Record
	owners   harness.Owners
	ctx      context.Context // of the program
	fail     error           // of the next reading of the list
	refuse   error           // of every decision
	gets     int

	decided []harness.Decision
	resumed []harness.ResumeHow
	paused  []harness.RunID
	going   map[harness.RunID]*handle
	// tails are what followed runs tell, by run.
	tails map[harness.RunID]chan harness.Event
}

func (w *world) Attach(_ context.Context, l harness.Lease, id harness.RunID) (harness.RunHandle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.Session != "" || w.tails[id] == nil {
		return nil, harness.ErrNotFound
	}
	return follower{&handle{id: id}, w.tails[id]}, nil
}

// follower tells what a test has a run tell.
type follower struct {
	*handle
	events chan harness.Event
}

func (f follower) Events(ctx context.Context, _ int) <-chan harness.Event {
	out := make(chan harness.Event)
	go func() {
		defer close(out)
		for {
			select {
			case e := <-f.events:
				if out <- e; e.Type == harness.EventResult {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// handle is a run that goes on until the test ends it.
type handle struct {
	id   harness.RunID
	done chan harness.Result
}

func (h *handle) ID() harness.RunID                                { return h.id }
func (h *handle) Events(context.Context, int) <-chan harness.Event { return nil }
func (h *handle) Wait(ctx context.Context) (res harness.Result, err error) {
	select {
	case res = <-h.done:
		return res, nil
	case <-ctx.Done():
		return res, ctx.Err()
	}
}

func (w *world) find(id harness.RunID) (*harness.Run, error) {
	for i := range w.runs {
		if w.runs[i].ID == id {
			return &w.runs[i], nil
		}
	}
	return nil, fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
}

func (w *world) Get(_ context.Context, id harness.RunID) (harness.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gets++
	r, err := w.find(id)
	if err != nil {
		return harness.Run{}, err
	}
	return *r, nil
}

func (w *world) List(_ context.Context, f harness.RunFilter) ([]harness.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail; err != nil {
		w.fail = nil
		return nil, err
	}
	var out []harness.Run
	for _, r := range w.runs {
		if f.Unfinished && r.Status.Closed() {
			continue
		}
		r.Pending = nil
		out = append(out, r)
	}
	return out, nil
}

func (w *world) Decide(_ context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.find(id)
	if err = errors.Join(err, w.refuse); err != nil {
		return nil, err
	}
	if l.Session != r.Session || l.Generation == 0 {
		return nil, harness.ErrLost
	}
	w.decided = append(w.decided, ds...)
	r.Status, r.Pending, r.Cursor = harness.RunRunning, nil, r.Cursor+1
	h := &handle{id, make(chan harness.Result, 1)}
	w.going[id] = h
	return h, nil
}

func (w *world) Resume(_ context.Context, _ harness.Lease, id harness.RunID, how harness.ResumeHow) (harness.RunHandle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.find(id)
	if err != nil {
		return nil, err
	}
	w.resumed = append(w.resumed, how)
	if how != harness.ResumeDrop {
		r.Status, r.Interrupted, r.Waits, r.Cursor = harness.RunRunning, false, "", r.Cursor+1
		h := &handle{id, make(chan harness.Result, 1)}
		w.going[id] = h
		return h, nil
	}
	r.Status, r.Stop, r.Pending, r.Interrupted, r.Cursor = harness.RunCancelled, harness.StopDropped, nil, false, r.Cursor+1
	h := &handle{id, make(chan harness.Result, 1)}
	h.done <- harness.Result{Run: id, Status: r.Status}
	return h, nil
}

func (w *world) Pause(_ context.Context, id harness.RunID) error {
	w.mu.Lock()
	w.paused = append(w.paused, id)
	w.mu.Unlock()
	w.end(id, harness.RunPaused)
	return nil
}

func (w *world) Cancel(_ context.Context, id harness.RunID) error {
	w.end(id, harness.RunCancelled)
	return nil
}

// end lets a run that goes on come to rest.
func (w *world) end(id harness.RunID, status harness.RunStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.find(id)
	if err != nil {
		panic(err)
	}
	r.Status, r.Cursor, r.Worker = status, r.Cursor+1, nil
	if h := w.going[id]; h != nil {
		delete(w.going, id)
		h.done <- harness.Result{Run: id, Session: r.Session, Status: status}
	}
}

type sessions struct{ *world }

func (s sessions) Get(_ context.Context, id harness.SessionID) (harness.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.sessions[id]; ok {
		return v, nil
	}
	return harness.Session{}, fmt.Errorf("session %s: %w", id, harness.ErrNotFound)
}

func (w *world) Tail(_ context.Context, id harness.SessionID, from, _ int) ([]harness.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.records[id]
	return all[:min(from, len(all))], nil
}

// seen is the screen as a person sees it.
type seen struct {
	t             *testing.T
	w             *world
	m             Model
	width, height int
	intents       []Intent
	msgs          chan tea.Msg
	end           chan struct{}
}

// in runs a test in a bubble, where time stands still until all waits.
func in(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// open shows the runs of a world.
func open(t *testing.T, w *world, width, height int) *seen {
	t.Helper()
	th, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w.ctx == nil {
		w.ctx = t.Context()
	}
	c := Config{
		Remote: w, Prune: func(context.Context) (int, error) { return 3, nil }, Engine: w, Sessions: sessions{w}, Owners: w.owners, Transcript: w, Self: self, Theme: th,
		Now: func() time.Time { return time.Now().UTC() },
	}
	s := &seen{t: t, w: w, m: New(w.ctx, c), width: width, height: height, msgs: make(chan tea.Msg), end: make(chan struct{})}
	t.Cleanup(func() {
		close(s.end)
		<-time.After(time.Minute) // timers end with the bubble
	})
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	m, cmd := s.m.Open()
	s.m = m
	s.run(cmd)
	return s.settle().wait(time.Second)
}

func (s *seen) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		select {
		case s.msgs <- cmd():
		case <-s.end:
		}
	}()
}

func (s *seen) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.run(cmd)
		}
		return
	}
	m, cmd, intent := s.m.Update(msg)
	s.m = m
	if intent != nil {
		s.intents = append(s.intents, intent)
	}
	s.run(cmd)
}

func (s *seen) settle() *seen {
	for {
		synctest.Wait()
		select {
		case msg := <-s.msgs:
			s.take(msg)
		default:
			return s
		}
	}
}

func (s *seen) send(msg tea.Msg) *seen {
	s.take(msg)
	return s.settle()
}

// wait lets time pass.
func (s *seen) wait(d time.Duration) *seen {
	end := time.After(d)
	for {
		select {
		case msg := <-s.msgs:
			s.take(msg)
		case <-end:
			return s.settle()
		}
	}
}

func (s *seen) keys(names ...string) *seen {
	named := map[string]tea.KeyType{
		"up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "right": tea.KeyRight, "ctrl+c": tea.KeyCtrlC,
	}
	for _, n := range names {
		k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(n)}
		if t, ok := named[n]; ok {
			k = tea.KeyMsg{Type: t}
		}
		s.send(k)
	}
	return s
}

// view is the screen, which must have the size that it was asked for and hold
// nothing that drives a terminal.
func (s *seen) view() string {
	s.t.Helper()
	v := s.m.View(s.width, s.height)
	lines := strings.Split(v, "\n")
	if len(lines) != max(s.height, 1) {
		s.t.Fatalf("%d lines in %d rows:\n%s", len(lines), s.height, v)
	}
	for i, l := range lines {
		if render.Width(l) > s.width {
			s.t.Fatalf("line %d has %d cells in %d columns: %q", i, render.Width(l), s.width, l)
		}
	}
	v = ansi.Strip(v)
	if i := strings.IndexFunc(v, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e
	}); i >= 0 {
		s.t.Fatalf("a control character is drawn: %q", v[i:min(i+20, len(v))])
	}
	return v
}

func (s *seen) shows(want ...string) *seen {
	s.t.Helper()
	for _, w := range want {
		if v := s.view(); !strings.Contains(v, w) {
			s.t.Fatalf("the screen lacks %q:\n%s", w, v)
		}
	}
	return s
}

func (s *seen) hides(unwanted ...string) *seen {
	s.t.Helper()
	for _, w := range unwanted {
		if v := s.view(); strings.Contains(v, w) {
			s.t.Fatalf("the screen shows %q:\n%s", w, v)
		}
	}
	return s
}

func (s *seen) golden(name string) *seen {
	s.t.Helper()
	stored.Compare(s.t, *update, name, s.width, s.height, s.view())
	return s
}

// command is a call that would run a command.
func command(id, text string) harness.Pending {
	return harness.Pending{
		Call: harness.ToolCall{ID: id, Name: "run_command", Input: []byte(`{}`)}, Digest: "digest of " + id, Reason: "commands are asked about",
		Proposal: &harness.Proposal{
			Kind: harness.ProposalCommand, Body: text, About: []string{"in ~/src/ledger", "timeout 60 s"}, Why: "check that the new case fails first",
		},
	}
}

// sample is a world with a run in each state, begun one minute apart.
func sample() *world {
	now := time.Now().UTC()
	st := mem.New(time.Now)
	w := &world{
		owners: st.Owners(), sessions: map[harness.SessionID]harness.Session{}, records: map[harness.SessionID][]harness.Record{},
		going: map[harness.RunID]*handle{},
	}
	add := func(r harness.Run, title string) {
		at := now.Add(-time.Duration(len(w.runs)+1) * 7 * time.Minute)
		r.Session = harness.SessionID("s-" + string(r.ID))
		r.Started, r.Updated, r.First, r.Config.Model = at, at.Add(time.Minute), 1, "test/parrot"
		w.runs = append(w.runs, r)
		w.sessions[r.Session] = harness.Session{ID: r.Session, Title: title}
	}
	edit := harness.Pending{
		Call: harness.ToolCall{ID: "c2", Name: "write_file", Input: []byte(`{}`)}, Digest: "digest of c2", Rule: "write_file(importer/**)",
		Proposal: &harness.Proposal{
			Kind: harness.ProposalEdit, Subject: "importer/row.go", Added: 1, Removed: 1,
			Diff: "--- a/importer/row.go\n+++ b/importer/row.go\n@@ -84,2 +84,2 @@\n func parseRow() {\n-\tif r.VAT == \"\" {\n+\tif r.VAT == \"\" && eu {\n",
		},
	}
	question := harness.Pending{
		Call: harness.ToolCall{ID: "c3", Name: "ask_user"}, Digest: "digest of c3",
		Proposal: &harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which quarter?", Choices: []string{"Q3", "Q4"}},
	}
	add(harness.Run{ID: "r1", Status: harness.RunAwaiting, Cursor: 4, Pending: []harness.Pending{command("c1", "go test ./importer/... -run TestBlankVAT"), edit}}, "Q3 invoice importer")
	add(harness.Run{ID: "r2", Status: harness.RunAwaiting, Cursor: 2, Pending: []harness.Pending{question}}, "Which quarter it is about")
	add(harness.Run{ID: "r3", Status: harness.RunRunning, Interrupted: true, Pending: []harness.Pending{{Call: harness.ToolCall{ID: "c4", Name: "deploy"}, Uncertain: true}}}, "會議記錄 👩‍👩‍👧‍👦")
	add(harness.Run{ID: "r4", Status: harness.RunRunning, Interrupted: true, Partial: &harness.Partial{Text: "The first half of"}}, "A cut line")
	add(harness.Run{ID: "r5", Status: harness.RunRunning}, "Running elsewhere")
	add(harness.Run{ID: "r6", Status: harness.RunFailed, Error: &harness.RunError{Kind: "auth", Text: "the key was refused; set ANTHROPIC_API_KEY"}}, "No key")
	add(harness.Run{ID: "r7", Status: harness.RunCompleted, Stop: harness.StopEnd, Usage: harness.Usage{Input: 300, Output: 80, Cost: .42, CostKnown: true}}, "Done with it")
	add(harness.Run{ID: "r8", Status: harness.RunCancelled, Stop: harness.StopDropped}, "Given up")
	other := w.sessions["s-r5"]
	other.Owner = &harness.Holder{PID: 4411, Terminal: "pts/3", Purpose: "chat"}
	w.sessions["s-r5"] = other
	call := harness.ToolCall{ID: "c0", Name: "read_file", Input: []byte(`{"path":"importer/row.go"}`)}
	told := harness.UserText("Add the new case")
	asked := harness.AssistantText("I will run the tests.")
	asked.Parts = append(asked.Parts, harness.Part{Kind: harness.PartCall, Call: &call})
	got := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c0", Text: "package importer"}}}}
	w.records["s-r1"] = []harness.Record{{Seq: 1, Message: &told}, {Seq: 2, Run: "r1", Message: &asked}, {Seq: 3, Run: "r1", Message: &got}}
	first := w.sessions["s-r1"]
	first.Records = 3
	w.sessions["s-r1"] = first
	return w
}
