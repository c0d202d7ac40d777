package browser

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/themes"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// memory is a store in memory with a clock that a test moves and a fault that
// it injects.
type memory struct {
	facts harness.Facts
	notes harness.Notes
	inbox harness.Inbox
	now   time.Time
	fail  error // the next changing call fails with it
}

type failingFacts struct {
	harness.Facts
	m *memory
}

func (f failingFacts) Save(ctx context.Context, v harness.Fact, key string) (harness.Fact, bool, error) {
	if err := f.m.failing(); err != nil {
		return harness.Fact{}, false, err
	}
	return f.Facts.Save(ctx, v, key)
}

func (f failingFacts) Edit(ctx context.Context, id string, e harness.FactEdit) (harness.Fact, error) {
	if err := f.m.failing(); err != nil {
		return harness.Fact{}, err
	}
	return f.Facts.Edit(ctx, id, e)
}

func (f failingFacts) Forget(ctx context.Context, id string) error {
	if err := f.m.failing(); err != nil {
		return err
	}
	return f.Facts.Forget(ctx, id)
}

func (f failingFacts) List(ctx context.Context, filter harness.MemoryFilter) ([]harness.Fact, error) {
	if err := f.m.failing(); err != nil {
		return nil, err
	}
	return f.Facts.List(ctx, filter)
}

type failingInbox struct {
	harness.Inbox
	m *memory
}

func (f failingInbox) Accept(ctx context.Context, id string, e harness.FactEdit) (harness.Fact, error) {
	if err := f.m.failing(); err != nil {
		return harness.Fact{}, err
	}
	return f.Inbox.Accept(ctx, id, e)
}

func (f failingInbox) Refuse(ctx context.Context, id string) error {
	if err := f.m.failing(); err != nil {
		return err
	}
	return f.Inbox.Refuse(ctx, id)
}

func (f failingInbox) Reopen(ctx context.Context, id string) (harness.Suggestion, error) {
	if err := f.m.failing(); err != nil {
		return harness.Suggestion{}, err
	}
	return f.Inbox.Reopen(ctx, id)
}

func (m *memory) failing() error {
	err := m.fail
	m.fail = nil
	return err
}

// titles is the part of the sessions that the screen asks for.
type titles struct{ harness.Sessions }

func (titles) Get(_ context.Context, id harness.SessionID) (harness.Session, error) {
	if id == "vat" {
		return harness.Session{ID: id, Title: "VAT \x1b[2Jedge cases"}, nil
	}
	return harness.Session{}, harness.ErrNotFound
}

var today = time.Date(2026, 9, 18, 14, 5, 0, 0, time.UTC)

func empty() *memory {
	m := &memory{now: today}
	st := mem.New(func() time.Time { return m.now })
	m.facts, m.notes, m.inbox = failingFacts{st.Facts(), m}, st.Notes(), failingInbox{st.Inbox(), m}
	return m
}

// sample is a memory with one thing in each state. The ids are f1 to f6 and
// n1 to n3, in the order in which they are saved.
func sample(tb testing.TB) *memory {
	tb.Helper()
	m := empty()
	save := func(days int, f harness.Fact) {
		m.now = today.AddDate(0, 0, -days)
		if _, _, err := m.facts.Save(tb.Context(), f, ""); err != nil {
			tb.Fatal(err)
		}
	}
	write := func(days int, n harness.Note) {
		m.now = today.AddDate(0, 0, -days)
		if _, err := m.notes.Save(tb.Context(), n, ""); err != nil {
			tb.Fatal(err)
		}
	}
	save(300, harness.Fact{Text: "VAT rate for books is 7%", Category: "billing", By: harness.ByImport})
	save(20, harness.Fact{Text: "a\x1b[2Jb\u202ec\nd\u009be", Tags: []string{"x\x1b]0;t\x07"}, By: harness.ByModel, Source: harness.Source{Session: "gone", Gone: true}})
	save(12, harness.Fact{Text: "Ledger closes on the 5th working day", Category: "billing", By: harness.ByDistilled, Source: harness.Source{Session: "deleted", Message: 3}})
	save(9, harness.Fact{Text: "Prefers table-driven tests", Category: "style", Tags: []string{"go"}, By: harness.ByYou})
	save(8, harness.Fact{Text: "会議は毎週火曜日の午前十時に始まります。👩‍👩‍👧も参加します。資料は前日までに共有してください。", Category: "people", By: harness.ByYou})
	save(6, harness.Fact{Text: "VAT id is always optional", Category: "billing", Tags: []string{"billing", "eu"}, By: harness.ByModel, Source: harness.Source{Session: "vat", Message: 14, Quote: "outside the EU we never ask\nfor a VAT id"}})
	m.now = today.AddDate(0, 0, -5)
	text, pinned, off := "VAT id is optional for non-EU customers", true, harness.StateOff
	m.edit(tb, "f6", harness.FactEdit{Text: &text})
	m.edit(tb, "f4", harness.FactEdit{Pinned: &pinned})
	m.edit(tb, "f3", harness.FactEdit{State: &off})
	if err := m.facts.Used(tb.Context(), "f6", "f6"); err != nil {
		tb.Fatal(err)
	}
	write(4, harness.Note{Title: "Billing glossary", Tags: []string{"billing"}, Body: "# Terms\n\n- *credit note*: takes back an invoice\n- *blank id*: legal outside the EU\n", By: harness.ByYou})
	write(3, harness.Note{Title: "Old plan", Body: "Nothing.", By: harness.ByYou})
	if err := m.notes.Forget(tb.Context(), "n2"); err != nil {
		tb.Fatal(err)
	}
	m.now = today
	return m
}

func (m *memory) edit(tb testing.TB, id string, e harness.FactEdit) {
	tb.Helper()
	if _, err := m.facts.Edit(tb.Context(), id, e); err != nil {
		tb.Fatal(err)
	}
}

func (m *memory) fact(tb testing.TB, id string) harness.Fact {
	tb.Helper()
	f, err := m.facts.Get(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// screen drives a Model as the root does.
type screen struct {
	testing.TB
	Model
	last Intent
	cmds []tea.Cmd
}

func open(tb testing.TB, m *memory, width, height int) *screen {
	tb.Helper()
	theme, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	keys := 0
	s := &screen{TB: tb, Model: New(tb.Context(), Config{
		Facts: m.facts, Notes: m.notes, Inbox: m.inbox, Sessions: titles{}, Theme: theme, Now: func() time.Time { return today },
		NewKey: func() string { keys++; return fmt.Sprintf("key%d", keys) },
	})}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s.reopen()
}

func (s *screen) reopen() *screen {
	s.Helper()
	var cmd tea.Cmd
	s.Model, cmd = s.Open("here")
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

// types types a text letter by letter.
func (s *screen) types(text string) *screen {
	for _, r := range text {
		s.keys(string(r))
	}
	return s
}

func keyMsg(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "ctrl+_": tea.KeyCtrlUnderscore,
		"left": tea.KeyLeft, "right": tea.KeyRight, "tab": tea.KeyTab, "f1": tea.KeyF1, "shift+tab": tea.KeyShiftTab,
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
func (s *screen) view() string { return ansi.Strip(s.View(s.width, s.height)) }

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

// on selects an entry by id.
func (s *screen) on(id string) *screen {
	s.Helper()
	s.keys("home")
	for range 20 {
		if e, _ := s.selected(); e.id() == id {
			return s
		}
		s.keys("down")
	}
	s.Fatalf("no %s in the list:\n%s", id, s.view())
	return s
}

func (s *screen) selectedIs(id string) *screen {
	s.Helper()
	if e, _ := s.selected(); e.id() != id {
		s.Errorf("selected is %q, want %q", e.id(), id)
	}
	return s
}

// golden compares the screen with a file, or writes it.
func (s *screen) golden(name string) *screen {
	s.Helper()
	stored.Compare(s, *update, name, s.width, s.height, s.view())
	return s
}
