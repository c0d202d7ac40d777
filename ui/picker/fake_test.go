package picker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// store is a fake of what the screen reads and changes, in memory.
type store struct {
	sessions []harness.Session
	records  map[harness.SessionID][]harness.Record
	trash    map[harness.SessionID]harness.Session
	fail     error // the next call fails with it
	lists    int
	searches []string
	hits     []harness.Hit
}

func (f *store) failing() error {
	err := f.fail
	f.fail = nil
	return err
}

func (f *store) find(id harness.SessionID) int {
	return slices.IndexFunc(f.sessions, func(s harness.Session) bool { return s.ID == id })
}

func (f *store) Get(_ context.Context, id harness.SessionID) (harness.Session, error) {
	if i := f.find(id); i >= 0 {
		return f.sessions[i], nil
	}
	return harness.Session{}, harness.ErrNotFound
}

func (f *store) List(_ context.Context, filter harness.SessionFilter) ([]harness.Session, error) {
	f.lists++
	if err := f.failing(); err != nil {
		return nil, err
	}
	out := slices.Clone(f.sessions)
	if filter.Deleted {
		out = slices.SortedFunc(maps.Values(f.trash), func(a, b harness.Session) int { return strings.Compare(string(a.ID), string(b.ID)) })
	}
	slices.SortStableFunc(out, func(a, b harness.Session) int {
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return b.Updated.Compare(a.Updated)
	})
	return out, nil
}

func (f *store) Edit(_ context.Context, id harness.SessionID, e harness.SessionEdit) (harness.Session, error) {
	if err := f.failing(); err != nil {
		return harness.Session{}, err
	}
	i := f.find(id)
	if i < 0 {
		return harness.Session{}, harness.ErrNotFound
	}
	if e.Title != nil {
		f.sessions[i].Title, f.sessions[i].TitleBy = *e.Title, e.TitleBy
	}
	if e.Tags != nil {
		f.sessions[i].Tags = *e.Tags
	}
	if e.Pinned != nil {
		f.sessions[i].Pinned = *e.Pinned
	}
	if e.NoMemory != nil {
		f.sessions[i].NoMemory = *e.NoMemory
	}
	return f.sessions[i], nil
}

func (f *store) Delete(_ context.Context, id harness.SessionID) error {
	if err := f.failing(); err != nil {
		return err
	}
	i := f.find(id)
	if i < 0 {
		return harness.ErrNotFound
	}
	if f.trash == nil {
		f.trash = map[harness.SessionID]harness.Session{}
	}
	gone := f.sessions[i]
	gone.Deleted = &now
	f.trash[id] = gone
	f.sessions = slices.Delete(f.sessions, i, i+1)
	return nil
}

func (f *store) Restore(_ context.Context, id harness.SessionID) error {
	if err := f.failing(); err != nil {
		return err
	}
	s, ok := f.trash[id]
	if !ok {
		return harness.ErrNotFound
	}
	delete(f.trash, id)
	s.Deleted = nil
	f.sessions = append(f.sessions, s)
	return nil
}

func (f *store) Import(context.Context, harness.Session, []harness.Record, ...[]byte) (harness.Session, bool, error) {
	return harness.Session{}, false, errors.New("not of this screen")
}

func (f *store) Fork(_ context.Context, id harness.SessionID, of harness.Origin, _ harness.Session) (harness.Session, error) {
	if err := f.failing(); err != nil {
		return harness.Session{}, err
	}
	i := f.find(id)
	if i < 0 {
		return harness.Session{}, harness.ErrNotFound
	}
	if of == (harness.Origin{}) {
		of = harness.Origin{Session: id, Record: f.sessions[i].Records}
	}
	s := f.sessions[i]
	s.ID, s.Parent, s.Inherited, s.Messages, s.Pinned, s.Updated = "forked", &of, of.Record, 0, false, now
	f.sessions = append(f.sessions, s)
	return s, nil
}

func (f *store) Tail(_ context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error) {
	r := f.records[id]
	if from > 0 {
		r = r[:min(from, len(r))]
	}
	return r[max(len(r)-limit, 0):], nil
}

func (f *store) Before(_ context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	if err := f.failing(); err != nil {
		return nil, err
	}
	r := f.records[id][:of.Record-1]
	return r[max(len(r)-limit, 0):], nil
}

func (f *store) Log(context.Context, harness.SessionID, int, int) ([]harness.Record, error) {
	return nil, errors.ErrUnsupported
}

func (f *store) Record(context.Context, harness.SessionID, int) (harness.Record, error) {
	return harness.Record{}, harness.ErrNotFound
}

func (f *store) Append(context.Context, harness.Lease, ...harness.Record) ([]harness.Record, error) {
	return nil, errors.New("not of this screen")
}

func (f *store) MoveHead(context.Context, harness.Lease, int) error {
	return errors.New("not of this screen")
}

func (f *store) Search(_ context.Context, query string, _ int) ([]harness.Hit, error) {
	f.searches = append(f.searches, query)
	if err := f.failing(); err != nil {
		return nil, err
	}
	return f.hits, nil
}

var now = time.Date(2026, 9, 18, 14, 5, 0, 0, time.UTC)

func before(d time.Duration) time.Time { return now.Add(-d) }

const day = 24 * time.Hour

// sample is a store with one session in each state.
func sample() *store {
	paid := func(c float64) harness.Usage { return harness.Usage{Input: 1, Cost: c, CostKnown: true} }
	other := &harness.Holder{PID: 4411}
	f := &store{sessions: []harness.Session{
		{ID: "q3", Title: "Q3 invoice importer", Pinned: true, Updated: now, Created: before(6 * day), Messages: 42, Records: 44, Usage: paid(.42), Model: "anthropic/claude-sonnet", Tags: []string{"billing", "go"}, Preview: "Credit notes go through the same parser but from a second caller, so they skip the check."},
		{ID: "vat", Title: "VAT edge cases", Tags: []string{"billing"}, Updated: before(2 * time.Hour), Messages: 18, Records: 18, Usage: paid(.11), Preview: "It is."},
		{ID: "rewrite", Title: "Importer rewrite, A", Parent: &harness.Origin{Session: "q3", Record: 12}, Tags: []string{"billing"}, Updated: before(day), Messages: 64, Usage: harness.Usage{Input: 4}},
		{ID: "draft", Title: "Draft reply to auditor", HasDraft: true, Updated: before(3 * day), Messages: 2, Usage: paid(.001)},
		{ID: "nightly", Title: "Nightly import failure", OpenRun: "r1", Updated: before(5 * day), Messages: 31, Usage: paid(.73)},
		{ID: "trip", Title: "Trip ideas", Owner: other, OpenRun: "r2", Updated: before(16 * day), Messages: 9, Usage: paid(.02)},
		{ID: "wide", Title: "会議の議事録と👩‍👩‍👧の写真を整理する方法について", Updated: before(400 * day), Messages: 1},
		{ID: "hostile", Title: "a\x1b[2Jb\u202ec\nd\u009be", Tags: []string{"x\x1b]0;t\x07"}, Preview: "p\x1b[31m\nq", Updated: before(900 * day), Messages: 3},
	}}
	said := func(n int, role harness.Role, at time.Time, text string) harness.Record {
		return harness.Record{Seq: n, At: at, Kind: harness.RecordMessage, Message: &harness.Message{Role: role, Parts: []harness.Part{{Kind: harness.PartText, Text: text}}}}
	}
	f.records = map[harness.SessionID][]harness.Record{
		"q3": {
			said(1, harness.RoleUser, before(3*time.Minute), "Why does the importer drop rows with a blank VAT id?"),
			said(2, harness.RoleAssistant, before(2*time.Minute), "The parser treats an empty VAT id as a parse error. Two lines matter:\n\n    row.go:86\n    row.go:87"),
			said(3, harness.RoleUser, before(time.Minute), "Show me the credit-note path too."),
			said(4, harness.RoleAssistant, now, "Credit notes go through the same parser but from a second caller, so they skip the check."),
		},
		"hostile": {said(1, harness.RoleUser, now, "x\x1b]52;c;eA==\x07y\u202e\r\nz")},
	}
	return f
}

// odd is a store with titles in many scripts, very long ones and hostile ones.
func odd() *store {
	f := &store{}
	for i, title := range []string{
		"", "   ", "شرح الفاتورة مع ضريبة القيمة المضافة للشركات الصغيرة", "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 family and flags 👍🏽", strings.Repeat("very long title ", 40),
		strings.Repeat("長い題名", 40), "e" + strings.Repeat("\u0301", 40) + " zalgo", "tab\tand\nline\r\nend", "\x1b]0;owned\x07\x1b[31mred", "\u2066iso\u2069 \u202ertl",
		"\xff\xfe broken", "x\u200by\u00adz",
	} {
		f.sessions = append(f.sessions, harness.Session{
			ID: harness.SessionID(fmt.Sprintf("odd%d", i)), Title: title, Updated: before(time.Duration(i) * time.Minute), Messages: i,
			Tags: []string{"テスト", "a\x1b[2J", strings.Repeat("t", 60)}, Preview: title + "\n\x9b2J", Dir: "/d\x1b]8;;x", Model: "m\u202e",
			Owner: &harness.Holder{PID: 9, Terminal: "pts/\x1b[5m", Host: "h\u202e"},
		})
	}
	return f
}

// noExport is an export that writes nothing.
func noExport(_ context.Context, _ harness.SessionID, to string) (string, error) { return to, nil }

// screen drives a Model as the root does.
type screen struct {
	testing.TB
	Model
	last Intent
	cmds []tea.Cmd
}

func open(tb testing.TB, f *store, width, height int, change ...func(*Config)) *screen {
	tb.Helper()
	theme, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	c := Config{Sessions: f, Transcript: f, Self: harness.Holder{PID: 7}, Now: func() time.Time { return now }, Theme: theme}
	for _, f := range change {
		f(&c)
	}
	s := &screen{TB: tb, Model: New(tb.Context(), c)}
	s.found.pause = 0
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	var cmd tea.Cmd
	s.Model, cmd = s.Open("q3", true)
	s.cmds = append(s.cmds, cmd)
	s.settle()
	return s
}

// send gives the screen a message and keeps its command for settle.
func (s *screen) send(msg tea.Msg) {
	var cmd tea.Cmd
	var intent Intent
	s.Model, cmd, intent = s.Update(msg)
	if intent != nil {
		s.last = intent
	}
	s.cmds = append(s.cmds, cmd)
}

// settle runs commands until none is left.
func (s *screen) settle() {
	s.Helper()
	for n := 0; len(s.cmds) > 0; n++ {
		if n > 1000 {
			s.Fatal("the screen never comes to rest")
		}
		cmd := s.cmds[0]
		s.cmds = s.cmds[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			s.cmds = append(s.cmds, msg...)
		default:
			s.send(msg)
		}
	}
}

func (s *screen) keys(names ...string) *screen {
	for _, n := range names {
		s.send(keyMsg(n))
		s.settle()
	}
	return s
}

func keyMsg(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "ctrl+_": tea.KeyCtrlUnderscore,
		"left": tea.KeyLeft, "right": tea.KeyRight, "f1": tea.KeyF1, "ctrl+]": tea.KeyCtrlCloseBracket, "tab": tea.KeyTab,
	}
	if t, ok := named[name]; ok {
		return tea.KeyMsg{Type: t}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyMsg{Type: tea.KeyCtrlA + tea.KeyType(c[0]-'a')}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// view is the screen without styles.
func (s *screen) view() string { return ansi.Strip(s.View(s.window.width, s.window.height)) }

func (s *screen) shows(texts ...string) *screen {
	s.Helper()
	v := s.view()
	for _, text := range texts {
		if !strings.Contains(v, text) {
			s.Errorf("the screen lacks %q:\n%s", text, v)
		}
	}
	return s
}

func (s *screen) lacks(texts ...string) *screen {
	s.Helper()
	v := s.view()
	for _, text := range texts {
		if strings.Contains(v, text) {
			s.Errorf("the screen has %q:\n%s", text, v)
		}
	}
	return s
}

func (s *screen) selectedIs(id harness.SessionID) {
	s.Helper()
	if got, _ := s.selected(); got.ID != id {
		s.Errorf("selected is %q, want %q", got.ID, id)
	}
}

// golden compares the screen with a file, or writes it.
func (s *screen) golden(name string) {
	s.Helper()
	s.goldenOf(name, s.view())
}

// marked is golden with the words that are pointed out in brackets.
func (s *screen) marked(name string) {
	s.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(string(s.c.Theme.Paints.Match)) + `([^\x1b]*)\x1b\[0m`)
	s.goldenOf(name, ansi.Strip(found.ReplaceAllString(s.View(s.window.width, s.window.height), "[$1]")))
}

func (s *screen) goldenOf(name, view string) {
	s.Helper()
	stored.Compare(s, *update, name, s.window.width, s.window.height, view)
}
