package overlay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/ui/uitest/stored"
)

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// grants keeps grants as a store would, and fails when it is told to.
type grants struct {
	list []harness.Grant
	next int
	fail error
}

func (g *grants) List(_ context.Context, session harness.SessionID) ([]harness.Grant, error) {
	if err := g.fail; err != nil {
		g.fail = nil
		return nil, err
	}
	var out []harness.Grant
	for _, v := range g.list {
		if v.Session == "" || v.Session == session {
			out = append(out, v)
		}
	}
	return out, nil
}

func (g *grants) Save(_ context.Context, v harness.Grant) (harness.Grant, error) {
	if err := g.fail; err != nil {
		g.fail = nil
		return harness.Grant{}, err
	}
	if v.ID != "" {
		for i := range g.list {
			if g.list[i].ID == v.ID {
				g.list[i].Rule, g.list[i].Tool = v.Rule, v.Tool
				return g.list[i], nil
			}
		}
		return harness.Grant{}, harness.ErrNotFound
	}
	g.next++
	v.ID, v.At = fmt.Sprintf("g%d", g.next), noon
	g.list = append(g.list, v)
	return v, nil
}

func (g *grants) Revoke(_ context.Context, id string) error {
	if err := g.fail; err != nil {
		g.fail = nil
		return err
	}
	n := len(g.list)
	g.list = slices.DeleteFunc(g.list, func(v harness.Grant) bool { return v.ID == id })
	if len(g.list) == n {
		return harness.ErrNotFound
	}
	return nil
}

// given is a store with grants of each kind.
func given() *grants {
	g := &grants{next: 3}
	g.list = []harness.Grant{
		{ID: "g1", Session: "talk", Rule: "run_command(go test)", Tool: "print", By: "ada at pts/3 (chat)", At: noon.Add(-time.Hour)},
		{ID: "g2", Rule: "write_file(src/**)", Tool: "print of write", By: "ada at pts/3 (chat)", At: noon.AddDate(0, 0, -9)},
		{ID: "g3", Session: "other", Rule: "fetch_url(example.com)", At: noon},
	}
	return g
}

// shown is the overlay with all that it asked for done.
type shown struct {
	t      *testing.T
	p      Permissions
	intent Intent
}

func permissions(t *testing.T, store harness.Grants, width, height int, change ...func(*PermissionsConfig)) *shown {
	t.Helper()
	c := PermissionsConfig{
		Grants: store, Session: "talk", Theme: theme(t), Now: func() time.Time { return noon }, Self: harness.Holder{Terminal: "pts/1"}, User: "ada",
		Rules: []Rule{
			{Effect: "deny", Text: "run_command(rm)", From: "--deny"},
			{Effect: "ask", Text: "write_file", From: "~/.config/cairn/config.toml"},
			{Effect: "allow", Text: "run_command(git status)", From: "~/.config/cairn/config.toml"},
		},
		CheckRule: func(text string) error {
			if strings.Contains(text, "(") && !strings.HasSuffix(text, ")") {
				return errors.New("the rule has no closing bracket")
			}
			return nil
		},
	}
	for _, f := range change {
		f(&c)
	}
	p, cmd := NewPermissions(t.Context(), c).Open()
	s := &shown{t: t, p: p}
	s.do(cmd)
	return s.send(tea.WindowSizeMsg{Width: width, Height: height})
}

func (s *shown) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	default:
		s.send(msg)
	}
}

func (s *shown) send(msg tea.Msg) *shown {
	var cmd tea.Cmd
	s.p, cmd, s.intent = s.p.Update(msg)
	s.do(cmd)
	return s
}

func (s *shown) keys(names ...string) *shown {
	for _, n := range names {
		s.send(key(n))
	}
	return s
}

func (s *shown) view() string { return ansi.Strip(s.p.View(s.p.width, s.p.height)) }

func (s *shown) shows(want ...string) *shown {
	s.t.Helper()
	for _, w := range want {
		if v := s.view(); !strings.Contains(v, w) {
			s.t.Fatalf("the overlay lacks %q:\n%s", w, v)
		}
	}
	return s
}

func (s *shown) hides(unwanted ...string) *shown {
	s.t.Helper()
	for _, w := range unwanted {
		if v := s.view(); strings.Contains(v, w) {
			s.t.Fatalf("the overlay shows %q:\n%s", w, v)
		}
	}
	return s
}

func TestGoldenPermissions(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		s := permissions(t, given(), w, h)
		golden(t, "permissions", s.p.View(w, h), w, h)
		s.keys("end", "d")
		golden(t, "permissions-revoked", s.p.View(w, h), w, h)
		s.keys("u", "e", "x")
		golden(t, "permissions-edit", s.p.View(w, h), w, h)
		s = permissions(t, &grants{}, w, h, func(c *PermissionsConfig) { c.Rules = nil })
		golden(t, "permissions-empty", s.p.View(w, h), w, h)
	}
}

func TestRulesAndGrantsAreListedWithWhereTheyAreFrom(t *testing.T) {
	t.Parallel()
	permissions(t, given(), 120, 40).
		shows("deny", "run_command(rm)", "--deny", "config.toml", "deny beats ask").
		shows("always", "write_file(src/**)", "9 Sep 2026", "session", "run_command(go test)", "ada at pts/3 (chat) · 11:00").
		hides("example.com")
	permissions(t, nil, 120, 40).shows("3 rules").keys("a").shows("Grants are not kept here.")
}

func TestARevokedGrantIsGivenAgainByOneKey(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("end", "d").shows("Revoked. u gives it again").hides("> session")
	if len(g.list) != 2 {
		t.Fatalf("the store has %+v", g.list)
	}
	s.keys("u").shows("In force: run_command(go test)", "> session")
	back := g.list[len(g.list)-1]
	if back.Session != "talk" || back.Rule != "run_command(go test)" || back.Tool != "print" || back.By != "ada at pts/3 (chat)" {
		t.Errorf("what came back is %+v", back)
	}
	s.keys("u").shows("Nothing was revoked here")
}

func TestRulesOfFilesAreNotChangedHere(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("d").shows("It is set in --deny: change it there.").keys("e").shows("change it there")
	if len(g.list) != 3 || s.p.form.open {
		t.Error("a rule of a flag was changed")
	}
}

func TestAGrantIsEditedInPlaceAndChecked(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("end", "up", "e").shows("write_file(src/**)")
	s.keys("backspace", "enter").shows("the rule has no closing bracket")
	if g.list[1].Rule != "write_file(src/**)" {
		t.Fatalf("a bad rule was stored: %+v", g.list[1])
	}
	s.keys("backspace", "backspace", "backspace", "docs)", "enter").shows("In force: write_file(srcdocs)")
	if got := g.list[1]; got.Rule != "write_file(srcdocs)" || got.Tool != "print of write" || got.ID != "g2" {
		t.Fatalf("the grant is %+v", got)
	}
	s.keys("e").send(tea.KeyMsg{Type: tea.KeyCtrlU}).keys("grep", "enter")
	if got := g.list[1]; got.Rule != "grep" || got.Tool != "" {
		t.Errorf("a grant of another tool keeps the mark of the old one: %+v", got)
	}
	s.keys("e", "x", "esc")
	if g.list[1].Rule != "grep" {
		t.Error("what was left was saved")
	}
}

// Who writes a rule sees what rules look like, in full what is wrong with it,
// and one place at which they write.
func TestARuleIsWrittenWithHelp(t *testing.T) {
	t.Parallel()
	s := permissions(t, given(), 60, 24, func(c *PermissionsConfig) {
		c.CheckRule = func(string) error { return errors.New(strings.Repeat("a long story ", 8) + "and its end") }
	})
	s.keys("a").shows("run_command(go test)", "fetch_url(*.example.com)")
	if n := strings.Count("\n"+s.view(), "\n> "); n != 1 {
		t.Errorf("%d rows are marked:\n%s", n, s.view())
	}
	s.keys("x", "enter").shows("and its end")
}

func TestAnAlwaysRuleIsAdded(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("a", "enter").shows("A rule needs at least the name of a tool.")
	s.keys("g", "r", "e", "p", "enter").shows("In force: grep", "> always")
	added := g.list[len(g.list)-1]
	if added.Rule != "grep" || added.Session != "" || added.By != "ada at pts/1 (permissions)" {
		t.Errorf("added %+v", added)
	}
}

func TestAFailureLosesNothing(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("end")
	g.fail = errors.New("the disk is full")
	s.keys("d").shows("the disk is full", "> session")
	s.keys("d")
	g.fail = errors.New("the disk is full")
	s.keys("u").shows("the disk is full").keys("u").shows("In force")
	g.fail = errors.New("the disk is full")
	s.keys("e", "backspace", "x", ")", "enter").shows("the disk is full", "run_command(go testx)").keys("esc")
	g.fail = errors.New("the disk is full")
	s.send(Changed{}).shows("the disk is full").send(Changed{}).shows("write_file(src/**)").hides("disk")
}

func TestAGrantRevokedElsewhereIsNotEdited(t *testing.T) {
	t.Parallel()
	g := given()
	s := permissions(t, g, 80, 24).keys("end", "e", "x")
	g.list = g.list[1:]
	s.send(Changed{}).shows("The grant was revoked elsewhere.")
	if s.p.form.open {
		t.Error("the form is still open")
	}
}

func TestALateReadingDoesNotCount(t *testing.T) {
	t.Parallel()
	s := permissions(t, given(), 80, 24)
	s.send(granted{n: s.p.loads - 1}).shows("write_file(src/**)")
}

func TestPermissionsClose(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"esc", "q"} {
		if s := permissions(t, given(), 80, 24).keys(k); s.intent != (Closed{}) {
			t.Errorf("%s gives %#v", k, s.intent)
		}
	}
	if s := permissions(t, given(), 80, 24).keys("a", "q"); s.intent != nil {
		t.Error("a letter of a rule closes the overlay")
	}
}

func TestPermissionsHoldHostileTextInEverySize(t *testing.T) {
	t.Parallel()
	const bad = "a\x1b[2J\u202eb\n\u009bc界👩‍👩‍👧\x1b]0;t\x07\r"
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		text := rapid.SampledFrom([]string{bad, strings.Repeat(bad, 50)}).Draw(rt, "text")
		g := &grants{list: []harness.Grant{{ID: "g1", Rule: text, By: text}}, next: 1}
		s := permissions(t, g, w, h, func(c *PermissionsConfig) {
			c.Rules = []Rule{{Effect: text, Text: text, From: text}}
			c.CheckRule = nil
		})
		s.keys(rapid.SliceOfN(rapid.SampledFrom([]string{"end", "d", "u", "e", "a", bad, "enter", "esc", "home"}), 0, 6).Draw(rt, "keys")...)
		holds(rt, s.p.View(w, h), w, h)
		if x, y, on := s.p.Cursor(); on && (x < 0 || x >= w || y < 0 || y >= h) {
			rt.Fatalf("cursor %d,%d in %dx%d", x, y, w, h)
		}
	})
}
