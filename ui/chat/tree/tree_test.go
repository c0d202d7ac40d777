package tree

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// log is a session's own log, with what it has of its parent.
type log struct {
	records   []harness.Record
	inherited []harness.Record
	head      int
	reads     int
}

// say adds what somebody said after a record.
func (l *log) say(role harness.Role, prev int, text string) int {
	msg := harness.Message{Role: role, Parts: []harness.Part{{Kind: harness.PartText, Text: text}}}
	n := len(l.records)
	l.records = append(l.records, harness.Record{
		Seq: n + 1, Prev: prev, Kind: harness.RecordMessage, Message: &msg, At: noon.Add(time.Duration(n) * time.Minute),
	})
	l.head = n + 1
	return l.head
}

// turn adds a message of the person after a record, and its answer.
func (l *log) turn(prev int, text string) int {
	return l.say(harness.RoleAssistant, l.say(harness.RoleUser, prev, text), "answer to "+text)
}

func (l *log) branch(from int) []harness.Record {
	var out []harness.Record
	for seq := from; seq > 0; seq = l.records[seq-1].Prev {
		out = append(out, l.records[seq-1])
	}
	slices.Reverse(out)
	return append(slices.Clone(l.inherited), out...)
}

func (l *log) Tail(_ context.Context, _ harness.SessionID, from, limit int) ([]harness.Record, error) {
	if from == 0 {
		from = l.head
	}
	return last(l.branch(from), limit), nil
}

func (l *log) Before(_ context.Context, _ harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	if of.Session == "" {
		return last(l.branch(l.records[of.Record-1].Prev), limit), nil
	}
	i := slices.IndexFunc(l.inherited, func(r harness.Record) bool { return Origin(r) == of })
	if i < 0 {
		return nil, harness.ErrNotFound
	}
	return last(l.inherited[:i], limit), nil
}

func (l *log) Log(_ context.Context, _ harness.SessionID, after, limit int) ([]harness.Record, error) {
	l.reads++
	rest := l.records[min(after, len(l.records)):]
	return rest[:min(len(rest), limit)], nil
}

func last(records []harness.Record, limit int) []harness.Record {
	if limit > 0 && len(records) > limit {
		return records[len(records)-limit:]
	}
	return records
}

// branched has a message that was edited twice, with branches of their own.
func branched() *log {
	l := new(log)
	a := l.turn(0, "Why does the importer drop rows with a blank VAT id?")
	b := l.turn(a, "Show me the credit-note path")
	l.turn(b, "Then write a test")
	c := l.turn(a, "Show me every caller of parseRow")
	l.turn(c, "And the ones in tests")
	l.turn(c, "And the ones in cmd")
	d := l.turn(a, "Mark the row instead")
	l.turn(d, "Now the tests for it, as a table with one case for each country of the union")
	return l
}

func build(t *testing.T, l *log, s harness.Session, sessions ...harness.Session) []Row {
	t.Helper()
	s.ID, s.Head, s.Records = "here", l.head, len(l.records)
	tree, err := Build(t.Context(), l, s)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Rows(sessions...)
}

// sketch is how rows look to a test.
func sketch(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Repeat("  ", r.depth))
		if r.leaves {
			b.WriteString("\\")
		}
		switch {
		case r.Fork != "":
			fmt.Fprintf(&b, "=%s ", r.Fork)
		case r.Said.Record == 0:
			b.WriteString("start ")
		default:
			fmt.Fprintf(&b, "%s%d+%d>%d ", r.Said.Session, r.Said.Record, r.Below, r.Leaf)
		}
		if r.On {
			b.WriteString("on ")
		}
		if r.Head {
			b.WriteString("head ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestBuild(t *testing.T) {
	t.Parallel()
	straight := new(log)
	straight.turn(straight.turn(straight.turn(0, "one"), "two"), "three")
	back := &log{records: straight.records, head: 2}
	empty := &log{records: straight.records}
	roots := new(log)
	roots.turn(0, "first")
	roots.turn(0, "first, said better")
	edited := branched()
	older := branched()
	older.head = 6
	for _, c := range []struct {
		name string
		log  *log
		want string
	}{
		{"nothing", new(log), "start on head \n"},
		{"straight", straight, "1+5>6 on \n3+3>6 on \n5+1>6 on head \n"},
		{"taken back", back, "1+5>6 on head \n3+3>6 \n5+1>6 \n"},
		{"all taken back", empty, "start on head \n1+5>6 \n3+3>6 \n5+1>6 \n"},
		{"another beginning", roots, "start on \n  \\1+1>2 \n3+1>4 on head \n"},
		{"edited", edited, "1+15>16 on \n  \\3+3>6 \n  5+1>6 \n  \\7+5>12 \n    \\9+1>10 \n  11+1>12 \n13+3>16 on \n15+1>16 on head \n"},
		{"an older branch", older, "1+15>16 on \n  \\7+5>12 \n    \\9+1>10 \n  11+1>12 \n  \\13+3>16 \n  15+1>16 \n3+3>6 on \n5+1>6 on head \n"},
	} {
		if got := sketch(build(t, c.log, harness.Session{})); got != c.want {
			t.Errorf("%s:\n%snot\n%s", c.name, got, c.want)
		}
	}
}

// TestBuildOfAFork has what a fork has of its parents before its own, and forks
// of either.
func TestBuildOfAFork(t *testing.T) {
	t.Parallel()
	parent := new(log)
	parent.turn(parent.turn(0, "one"), "two")
	for i := range parent.records {
		parent.records[i].In = "there"
	}
	l := &log{inherited: parent.records}
	own := harness.Session{Parent: &harness.Origin{Session: "there", Record: 4}}
	if got, want := sketch(build(t, l, own)), "there1+3>0 on \nthere3+1>0 on head \n"; got != want {
		t.Errorf("without a message of its own:\n%snot\n%s", got, want)
	}
	l.turn(0, "three")
	l.turn(0, "three, said better")
	forked := func(id, in harness.SessionID, record int) harness.Session {
		return harness.Session{ID: id, Parent: &harness.Origin{Session: in, Record: record}}
	}
	gone := forked("gone", "here", 2)
	gone.Deleted = &noon
	rows := build(t, l, own, forked("a", "here", 2), forked("b", "there", 2), forked("c", "elsewhere", 1), forked("here", "there", 4), gone)
	want := "there1+7>4 on \n=b \nthere3+5>4 on \n  \\1+1>2 \n  =a \n3+1>4 on head \n"
	if got := sketch(rows); got != want {
		t.Errorf("with forks:\n%snot\n%s", got, want)
	}
	if end := rows[0].End; end != (harness.Origin{Session: "there", Record: 2}) {
		t.Errorf("the first turn ends at %v", end)
	}
}

// A number is one of the session's own log, and beyond that one of the nearest log
// before it that goes so far.
func TestANumberIsOfTheNearestLog(t *testing.T) {
	t.Parallel()
	inherited := func(in harness.SessionID, turns int) []harness.Record {
		l, end := new(log), 0
		for range turns {
			end = l.turn(end, "x")
		}
		for i := range l.records {
			l.records[i].In = in
		}
		return l.records
	}
	l := &log{inherited: append(inherited("first", 4), inherited("second", 2)...)}
	l.turn(l.turn(0, "one"), "two")
	l.head = 2
	for _, c := range []struct {
		n    int
		of   harness.SessionID
		want harness.Origin
	}{
		{1, "", harness.Origin{Record: 1}},
		{1, "here", harness.Origin{Record: 1}},
		{3, "", harness.Origin{}}, // on another branch
		{4, "second", harness.Origin{Session: "second", Record: 4}},
		{8, "", harness.Origin{Session: "first", Record: 8}},
		{2, "first", harness.Origin{Session: "first", Record: 2}},
		{8, "second", harness.Origin{}},
		{9, "", harness.Origin{}},
	} {
		r, found, err := Numbered(t.Context(), l, "here", c.n, c.of)
		if err != nil || found != (c.want != harness.Origin{}) || found && Origin(r) != c.want {
			t.Errorf("%d of %q is %+v (%t, %v), not %+v", c.n, c.of, Origin(r), found, err, c.want)
		}
	}
}

func TestTips(t *testing.T) {
	t.Parallel()
	roots := new(log)
	roots.turn(0, "first")
	roots.turn(0, "first, said better")
	straight := new(log)
	straight.turn(straight.turn(0, "one"), "two")
	for _, c := range []struct {
		name string
		log  *log
		want string
	}{
		{"nothing", new(log), "0-0 "},
		{"straight", straight, "1-3 "},
		{"another beginning", roots, "1-1 3-3 "},
		{"branches of branches", branched(), "3-5 9-9 11-11 13-15 "},
	} {
		got := ""
		for _, tip := range Tips(build(t, c.log, harness.Session{})) {
			got += fmt.Sprintf("%d-%d ", tip.First.Said.Record, tip.Last.Said.Record)
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

func TestTurnsBackAndForth(t *testing.T) {
	t.Parallel()
	l := branched()
	ctx := t.Context()
	for n, want := range []int{15, 13, 1} {
		turn, found, err := Nth(ctx, l, "here", n+1)
		if err != nil || found != n+1 || turn.Said.Seq != want {
			t.Errorf("the message %d before the last is %d (%d, %v), not %d", n, turn.Said.Seq, found, err, want)
		}
		if turn.End.Seq != want+1 || turn.Messages != 2*(n+1) {
			t.Errorf("its turn ends at %d, with %d messages to the end", turn.End.Seq, turn.Messages)
		}
	}
	if _, found, err := Nth(ctx, l, "here", 4); found != 3 || err != nil {
		t.Errorf("there are %d messages (%v)", found, err)
	}
	for _, c := range []struct{ head, to, messages int }{
		{16, 16, 0}, {14, 16, 2}, {2, 14, 2}, {0, 2, 2}, {4, 6, 2}, {8, 12, 2}, {1, 2, 1},
	} {
		to, messages, err := Forward(ctx, l, "here", c.head)
		if err != nil || to != c.to || messages != c.messages {
			t.Errorf("from %d it goes on to %d, %d messages (%v), not %d and %d", c.head, to, messages, err, c.to, c.messages)
		}
	}
}

// TestABranchLongerThanASliceIsReadWhole looks for messages beyond what is read
// at a time.
func TestABranchLongerThanASliceIsReadWhole(t *testing.T) {
	t.Parallel()
	l := new(log)
	l.say(harness.RoleUser, 0, "go")
	for i := range 3 * slice {
		l.say(harness.RoleAssistant, i+1, "step")
	}
	turn, found, err := Nth(t.Context(), l, "here", 1)
	if err != nil || found != 1 || turn.Said.Seq != 1 || turn.Messages != 3*slice+1 || turn.End.Seq != l.head {
		t.Errorf("found %d: %+v (%v)", found, turn, err)
	}
	if to, n, err := Forward(t.Context(), l, "here", 0); err != nil || to != l.head || n != 3*slice+1 {
		t.Errorf("it goes on to %d, %d messages (%v)", to, n, err)
	}
}

func theme(tb testing.TB, o themes.Options) *themes.Theme {
	tb.Helper()
	th, err := themes.Load("", true, o)
	if err != nil {
		tb.Fatal(err)
	}
	return th
}

// sizes are those at which every screen is looked at.
var sizes = stored.Sizes()

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	taken := branched()
	taken.head = 4
	for _, c := range []struct {
		name  string
		log   *log
		ascii bool
		keys  []string
		forks []harness.Session
	}{
		{"branches", branched(), false, nil, []harness.Session{{ID: "f", Title: "Credit notes", Parent: &harness.Origin{Session: "here", Record: 4}, Updated: noon, Messages: 6}}},
		{"taken-back", taken, true, []string{First, Down}, nil},
		{"empty", new(log), false, nil, nil},
	} {
		for _, s := range sizes {
			name := fmt.Sprintf("%s-%dx%d", c.name, s[0], s[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := Opened().With(build(t, c.log, harness.Session{}, c.forks...))
				for _, k := range c.keys {
					m = m.Move(k, s[1])
				}
				view := ansi.Strip(m.View(Look{
					Theme: theme(t, themes.Options{Profile: themes.TrueColor, ASCII: c.ascii}), Width: s[0], Height: s[1],
					Now: noon.Add(time.Hour), Title: "Q3 invoice importer",
				}))
				fits(t, view, s[0], s[1])
				golden(t, c.name, s, view)
			})
		}
	}
}

func fits(t *testing.T, view string, width, height int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) != height {
		t.Errorf("%d lines on %d rows", len(lines), height)
	}
	for _, l := range lines {
		if w := render.Width(l); w > width {
			t.Errorf("%d cells on %d columns: %q", w, width, l)
		}
	}
}

func golden(t *testing.T, name string, size [2]int, got string) {
	t.Helper()
	stored.Compare(t, *update, name, size[0], size[1], got)
}

// TestManyMessagesAndDeepBranchesFit draws a tree whose branches leave one
// another ever further, and walks through it.
func TestManyMessagesAndDeepBranchesFit(t *testing.T) {
	t.Parallel()
	l := new(log)
	at := l.turn(0, "\x1b]0;title\a\x1b[2Jhostile "+strings.Repeat("長い", 300))
	for i := range 2000 {
		next := l.turn(at, "a")
		if i%40 != 0 {
			at = next
			continue
		}
		l.turn(at, "b")
	}
	l.head = 4
	m := Opened().With(build(t, l, harness.Session{}))
	for _, s := range append(sizes, [2]int{20, 6}, [2]int{1, 1}) {
		look := Look{Theme: theme(t, themes.Options{}), Width: s[0], Height: s[1], Now: noon, Title: "t"}
		for _, k := range []string{First, PageDn, Down, Last, PageUp, Up, First} {
			m = m.Move(k, s[1])
			view := m.View(look)
			fits(t, view, s[0], s[1])
			if s[0] > 1 && !strings.Contains(ansi.Strip(view), "\n> ") {
				t.Fatalf("after %s at %v no row is selected:\n%s", k, s, ansi.Strip(view))
			}
			if strings.Contains(view, "\x1b]") || strings.Contains(view, "\x1b[2J") {
				t.Fatalf("the text drives the terminal: %q", view)
			}
		}
	}
}

func TestTheSelectionStaysWhenTheTreeIsReadAnew(t *testing.T) {
	t.Parallel()
	l := branched()
	m := Opened()
	if _, ok := m.Row(); ok {
		t.Error("a row is selected before any is read")
	}
	m = m.With(build(t, l, harness.Session{}))
	if r, _ := m.Row(); r.Said.Record != 15 {
		t.Errorf("selected first is %d", r.Said.Record)
	}
	m = m.Move(Up, 24).Move(Up, 24)
	was, _ := m.Row()
	l.turn(2, "another")
	if r, _ := m.With(build(t, l, harness.Session{})).Row(); r.Said != was.Said {
		t.Errorf("selected is %d, not %d", r.Said.Record, was.Said.Record)
	}
}

func TestEveryKeyHasHelpAndOneMeaning(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, b := range Opened().Bindings(nil) {
		if b.Help == "" || b.Group == "" || len(b.Keys) == 0 {
			t.Errorf("%s lacks help, group or keys", b.Action)
		}
		for _, k := range b.Keys {
			if was, ok := seen[k]; ok {
				t.Errorf("%s means both %s and %s", k, was, b.Action)
			}
			seen[k] = b.Action
		}
	}
}

func TestKeysAreOffWhereTheyDoNothing(t *testing.T) {
	t.Parallel()
	off := func(m Model) string {
		var keys []string
		for _, b := range m.Bindings(map[string][]string{Edit: {"x"}}) {
			if b.Off == "" {
				keys = append(keys, b.Keys[0])
			}
		}
		return strings.Join(keys, " ")
	}
	l := branched()
	rows := build(t, l, harness.Session{}, harness.Session{ID: "f", Parent: &harness.Origin{Session: "here", Record: 1}})
	at := func(i int) Model {
		m := Opened().With(rows)
		m.at = i
		return m
	}
	for _, c := range []struct {
		name string
		m    Model
		want string
	}{
		{"closed", Model{}, ""},
		{"before it is read", Opened(), "esc"},
		{"a message", at(0), "enter x f r esc up down pgup pgdown home end"},
		{"a fork", at(1), "enter esc up down pgup pgdown home end"},
	} {
		if got := off(c.m); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

// BenchmarkBuild reads 10,000 messages with a branch at every hundredth.
func BenchmarkBuild(b *testing.B) {
	l := new(log)
	at := 0
	for i := range 5000 {
		next := l.turn(at, "what is said "+fmt.Sprint(i))
		if i%100 != 0 {
			at = next
		}
	}
	for b.Loop() {
		tree, err := Build(b.Context(), l, harness.Session{ID: "here", Head: l.head})
		if n := len(tree.Rows()); err != nil || n < 5000 {
			b.Fatal(n, err)
		}
	}
}
