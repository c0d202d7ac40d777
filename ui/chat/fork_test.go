package chat

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/themes"
	"cairn/ui/render"
)

// talk is an opened chat of two turns on a store in memory.
func talk(t *testing.T, d Deps) (Model, *mem.Store) {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }
	store := mem.New(now)
	var said []harness.Record
	for _, text := range []string{"one", "two"} {
		q, a := harness.UserText(text), harness.AssistantText("answer "+text)
		said = append(said, harness.Record{Kind: harness.RecordMessage, Message: &q}, harness.Record{Kind: harness.RecordMessage, Message: &a})
	}
	s, _, err := store.Sessions().Import(t.Context(), harness.Session{ID: "talk", Title: "Stones"}, said)
	if err != nil {
		t.Fatal(err)
	}
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	d.Transcript, d.Sessions, d.Theme, d.Markdown, d.Now = store.Transcript(), store.Sessions(), theme, render.NewMarkdown(theme), now
	d.Words = func(err error) string { return err.Error() }
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	m := New(t.Context(), d, Open{Session: s}).describes(s)
	m.own.state = accessOwner
	m, _ = m.Resize(80, 24)
	return m, store
}

// run gives a chat what its command brings back.
func run(t *testing.T, m Model, cmd tea.Cmd) (Model, Intent) {
	t.Helper()
	m, _, want := m.Update(cmd())
	return m, want
}

// TestAForkIsOpenedAndTellsTheWayBack forks at the end, and further up.
func TestAForkIsOpenedAndTellsTheWayBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arg string
		at  int
	}{{"", 4}, {"1", 4}, {"2", 2}} {
		m, _ := talk(t, Deps{})
		m, cmd := m.forkNth(c.arg)
		msg := cmd()
		if n, ok := msg.(nthMsg); ok { // the message is looked for first
			m, cmd = n.apply(m)
			msg = cmd()
		}
		m, _, want := m.Update(msg)
		o := want.Open
		if want.Kind != WantOpen || o.Session.Parent == nil || *o.Session.Parent != (harness.Origin{Session: "talk", Record: c.at}) || o.Prompt != "" {
			t.Fatalf("/fork %s: wanted is %+v (%s)", c.arg, want, m.notice)
		}
		if notes := strings.Join(o.Notices, " "); notes != "this is a fork; ctrl+s goes back to Stones, which stays as it is" {
			t.Errorf("/fork %s says %q", c.arg, notes)
		}
		if _, want := run(t, m, m.describe()); want.Kind != WantNothing {
			t.Errorf("it is wanted again: %+v", want)
		}
	}
	m, _ := talk(t, Deps{})
	m.open = &harness.Run{Status: harness.RunFailed}
	if m, cmd := m.forkNth(""); cmd != nil || m.notice != "an answer is unfinished; /fork 2 forks before it" {
		t.Errorf("with an unfinished answer it says %q", m.notice)
	}
}

// TestAForkIsShownWithWhereItLeavesItsParent opens a fork that has no message
// of its own, and one whose numbers are those of its parent.
func TestAForkIsShownWithWhereItLeavesItsParent(t *testing.T) {
	t.Parallel()
	m, store := talk(t, Deps{})
	ctx := t.Context()
	forked, err := store.Sessions().Fork(ctx, "talk", harness.Origin{Record: 2}, harness.Session{})
	if err != nil {
		t.Fatal(err)
	}
	f := New(ctx, m.deps, Open{Session: forked, Record: 1, In: "talk"})
	f, _ = f.Resize(80, 24)
	f, _ = run(t, f, f.reload())
	if view := f.View(); !f.Stored() || !strings.Contains(view, "answer one") || !strings.Contains(view, "forked from Stones at message 2") || strings.Contains(view, "answer two") {
		t.Errorf("the fork shows\n%s", view)
	}
	if f.goal.Record != 0 || f.notice != "" {
		t.Errorf("message 1 of its parent is not shown: %q", f.notice)
	}
	lease, err := store.Owners().Acquire(ctx, forked, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	own := harness.UserText("one of its own")
	if _, err := store.Transcript().Append(ctx, lease, harness.Record{Kind: harness.RecordMessage, Message: &own}); err != nil {
		t.Fatal(err)
	}
	f, _ = run(t, f, f.reload())
	view := f.View()
	if i, j := strings.Index(view, "forked from"), strings.Index(view, "one of its own"); i < 0 || j < i || strings.Count(view, "forked from") != 1 {
		t.Errorf("with a message of its own it shows\n%s", view)
	}
	if err := store.Sessions().Delete(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	f, _ = run(t, f, f.reload())
	if view := f.View(); !strings.Contains(view, "forked from a deleted chat (talk) at message 2") {
		t.Errorf("without its parent it shows\n%s", view)
	}
}

// TestWhatIsInheritedIsEditedInAForkOfItsOwn edits, takes back and answers
// again what was said before the session was forked.
func TestWhatIsInheritedIsEditedInAForkOfItsOwn(t *testing.T) {
	t.Parallel()
	m, store := talk(t, Deps{})
	forked, err := store.Sessions().Fork(t.Context(), "talk", harness.Origin{}, harness.Session{})
	if err != nil {
		t.Fatal(err)
	}
	f := New(t.Context(), m.deps, Open{Session: forked}).describes(forked)
	f.own.state = accessOwner
	f.own.lease = harness.Lease{Session: forked.ID}
	f, _ = f.Resize(80, 24)
	f, _ = run(t, f, f.reload())
	back, cmd := f.takeBack()
	if back, _ = run(t, back, cmd); back.notice != "this is where the fork begins; what is above was said before. /fork 2 forks further up" || !back.box.Empty() {
		t.Errorf("taking back says %q", back.notice)
	}
	f, cmd = f.editNth("")
	f, _ = run(t, f, cmd)
	if view := f.View(); !strings.Contains(view, "editing message 3 from before the fork · enter sends it in a new fork") {
		t.Fatalf("the edit is not told:\n%s", view)
	}
	f, cmd = f.resend("two, said better")
	if f.box.Text() != "two" {
		t.Errorf("the text is gone before it is sent: %q", f.box.Text())
	}
	f, want := run(t, f, cmd)
	if p := want.Open.Session.Parent; want.Kind != WantOpen || p == nil || *p != (harness.Origin{Session: "talk", Record: 2}) || want.Open.Prompt != "two, said better" {
		t.Errorf("wanted is %+v", want)
	}
	if f.branch.edit.on() || !f.box.Empty() {
		t.Errorf("the edit goes on here, with %q", f.box.Text())
	}
	f, cmd = f.editNth("2")
	f, _ = run(t, f, cmd)
	f, cmd = f.resend("one, said better")
	if f, want = run(t, f, cmd); want.Kind != WantNothing || !strings.HasSuffix(f.notice, ErrFirst.Error()) || f.box.Text() != "one" {
		t.Errorf("wanted is %+v, and %q is said", want, f.notice)
	}
}

// TestAMessageThatWasTakenBackIsToldToBeOnAnotherBranch opens an emptied chat at
// a message.
func TestAMessageThatWasTakenBackIsToldToBeOnAnotherBranch(t *testing.T) {
	t.Parallel()
	m, store := talk(t, Deps{})
	lease, err := store.Owners().Acquire(t.Context(), m.session, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Transcript().MoveHead(t.Context(), lease, 0); err != nil {
		t.Fatal(err)
	}
	o := New(t.Context(), m.deps, Open{Session: harness.Session{ID: "talk"}, Record: 3})
	o, _ = o.Resize(80, 24)
	if o, _ = run(t, o, o.reload()); o.notice != "message 3 is on another branch: /tree shows it" || len(o.pages.items) != 0 || !o.stored {
		t.Errorf("said is %q, with %d messages", o.notice, len(o.pages.items))
	}
}

// TestAModelNamesTheSession counts what is asked for, and when.
func TestAModelNamesTheSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		by   harness.TitleBy
		off  bool
		fail error
		want int
	}{
		{"by its first words", harness.TitleByWords, false, nil, 2},
		{"by the user", harness.TitleByUser, false, nil, 0},
		{"by a model", harness.TitleByModel, false, nil, 0},
		{"off", harness.TitleByWords, true, nil, 0},
		{"failing", harness.TitleByWords, false, errors.New("no model"), 2},
	} {
		asked := 0
		var log bytes.Buffer
		d := Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}
		if !c.off {
			d.Title = func(context.Context, harness.SessionID) error { asked++; return c.fail }
		}
		m, store := talk(t, d)
		m.deps.Sessions = named{store.Sessions(), c.by}
		for turn := range 20 {
			var cmd tea.Cmd
			if m, cmd = m.entitle(); cmd == nil {
				continue
			}
			if turn != 0 && turn != titleAgain {
				t.Errorf("%s: asked after turn %d", c.name, turn)
			}
			m, _ = run(t, m, cmd)
		}
		if asked != c.want || m.notice != "" || strings.Contains(log.String(), "no model") != (c.fail != nil) {
			t.Errorf("%s: asked %d times, said %q, logged %q", c.name, asked, m.notice, log.String())
		}
	}
}

// named are sessions whose titles are by somebody.
type named struct {
	Sessions
	by harness.TitleBy
}

func (n named) Get(ctx context.Context, id harness.SessionID) (harness.Session, error) {
	s, err := n.Sessions.Get(ctx, id)
	s.TitleBy = n.by
	return s, err
}

func TestWhatIsImportedIsTold(t *testing.T) {
	t.Parallel()
	d := Deps{Import: func(_ context.Context, from string) (string, error) {
		if from == "bad" {
			return "", errors.New("nothing was imported")
		}
		return "imported " + from + "\x1b[2J", nil
	}}
	for arg, want := range map[string]string{"": ImportWhat, " a b.zip ": "imported a b.zip␛[2J", "bad": "nothing was imported"} {
		m, _ := talk(t, d)
		m, cmd := m.importFrom(arg)
		if cmd != nil {
			m, _ = run(t, m, cmd)
		}
		if m.notice != want {
			t.Errorf("/import %s says %q, not %q", arg, m.notice, want)
		}
	}
	m, _ := talk(t, Deps{})
	if m, cmd := m.importFrom("x"); cmd != nil || m.notice != OffImport {
		t.Errorf("where it is off it says %q", m.notice)
	}
}

func TestWhatIsExportedIsTold(t *testing.T) {
	t.Parallel()
	d := Deps{Export: func(_ context.Context, id harness.SessionID, to string) (string, error) {
		if to == "bad" {
			return "", errors.New("the disk is full")
		}
		return "/home/me/" + string(id) + to, nil
	}}
	for arg, want := range map[string]string{"": "exported to /home/me/talk", "-x.md": "exported to /home/me/talk-x.md", "bad": "the disk is full"} {
		m, _ := talk(t, d)
		m, cmd := m.export(arg)
		if m, _ = run(t, m, cmd); m.notice != want {
			t.Errorf("/export %s says %q, not %q", arg, m.notice, want)
		}
	}
	m, _ := talk(t, d)
	m.stored = false
	if m, cmd := m.export(""); cmd != nil || m.notice != OffUnsaid {
		t.Errorf("of an empty chat it says %q", m.notice)
	}
}
