package harnesstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

// TestSessions tests a [harness.Sessions].
func TestSessions(t *testing.T, open Open) {
	t.Parallel()
	run(t, "a session exists with its first record", open, func(t *testing.T, s Stores) {
		_, err := s.Sessions.Get(ctx(t), "a")
		wantErr(t, err, harness.ErrNotFound)
		l := acquire(t, s, "a")
		_, err = s.Sessions.Get(ctx(t), "a")
		wantErr(t, err, harness.ErrNotFound)
		if got := list(t, s, harness.SessionFilter{}); got != "" {
			t.Fatalf("an empty session is listed: %q", got)
		}
		say(t, s, l, "hello")
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")); got.Records != 1 || got.Messages != 1 || got.Head != 1 {
			t.Fatalf("counts of %+v", got)
		}
	})
	run(t, "records of pins are counted", open, testPinRecords)
	run(t, "the first write stores what the lease says", open, func(t *testing.T, s Stores) {
		meta := harness.Session{ID: "a-b", TypedAs: "A b", Dir: "/src", Model: "x/y", System: "Be short.", Title: "Mine"}
		l := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
		say(t, s, l, "hello")
		got := value[harness.Session](t)(s.Reopen().Sessions.Get(ctx(t), "a-b"))
		if got.TypedAs != "A b" || got.Dir != "/src" || got.Model != "x/y" || got.System != "Be short." ||
			got.Title != "Mine" || got.TitleBy != harness.TitleByUser || got.Created.IsZero() {
			t.Fatalf("stored %+v", got)
		}
	})
	run(t, "the title is the first words until somebody gives one", open, testTitles)
	run(t, "lists are pinned first and then by last use", open, testOrder)
	run(t, "filters choose by directory and words", open, testFilters)
	run(t, "delete hides and restore brings back exactly", open, testTrash)
	run(t, "a list tells the living owner", open, func(t *testing.T, s Stores) {
		l := acquire(t, s, "a")
		say(t, s, l, "hello")
		got := value[[]harness.Session](t)(s.Sessions.List(ctx(t), harness.SessionFilter{}))
		if len(got) != 1 || got[0].Owner == nil || got[0].Owner.Purpose != "test" {
			t.Fatalf("owner in %+v", got)
		}
		must(t, s.Owners.Release(ctx(t), l))
		if got := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")); got.Owner != nil {
			t.Fatalf("owner %v after release", got.Owner)
		}
	})
	run(t, "an import is exact, idempotent and never merges", open, testImport)
	run(t, "an import keeps branches", open, testImportTree)
	run(t, "an import is as old as it was elsewhere", open, testImportPlace)
	run(t, "an import comes behind what was used since", open, testImportBehindUse)
	run(t, "a fork has what was said before", open, testForks)
	run(t, "an id that is not in stored form is refused", open, func(t *testing.T, s Stores) {
		for _, id := range []harness.SessionID{"", "*", "../x", "A", "a/b", "a b", ".", "a\x00b"} {
			if _, err := s.Owners.Acquire(ctx(t), harness.Session{ID: id}, harness.Holder{}); err == nil {
				t.Errorf("session %q was opened", id)
			}
			if _, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: id}, nil); err == nil && id != "" {
				t.Errorf("session %q was imported", id)
			}
		}
	})
}

func testTitles(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "  Please explain\nhow the turnstile in front of the lock keeps a busy process from starving others ")
	title := func() string { return value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")).Title }
	if got, want := title(), "Please explain how the turnstile in front of the lock keeps"; got != want {
		t.Fatalf("title %q, want %q", got, want)
	}
	edit := func(title string, by harness.TitleBy) {
		value[harness.Session](t)(s.Sessions.Edit(ctx(t), "a", harness.SessionEdit{Title: &title, TitleBy: by}))
	}
	for _, step := range []struct {
		title string
		by    harness.TitleBy
		want  string
	}{
		{"by the model", harness.TitleByModel, "by the model"},
		{"by words", harness.TitleByWords, "by the model"},
		{"mine", "", "mine"},
		{"by the model again", harness.TitleByModel, "mine"},
		{"mine again", harness.TitleByUser, "mine again"},
	} {
		edit(step.title, step.by)
		if got := title(); got != step.want {
			t.Fatalf("title %q after %q by %q, want %q", got, step.title, step.by, step.want)
		}
	}
	say(t, s, l, "another message")
	if got := title(); got != "mine again" {
		t.Fatalf("title %q after a message", got)
	}
}

func testOrder(t *testing.T, s Stores) {
	leases := map[harness.SessionID]harness.Lease{}
	for _, id := range []harness.SessionID{"a", "b", "c", "d"} {
		leases[id] = acquire(t, s, id)
		say(t, s, leases[id], "hello")
		// Last use is an order, not a time.
		s.Clock.Add(-time.Hour)
	}
	say(t, s, leases["b"], "again")
	if got := list(t, s, harness.SessionFilter{}); got != "b d c a" {
		t.Fatalf("order %q", got)
	}
	for _, id := range []harness.SessionID{"c", "a"} {
		value[harness.Session](t)(s.Sessions.Edit(ctx(t), id, harness.SessionEdit{Pinned: ptr(true)}))
	}
	if got := list(t, s, harness.SessionFilter{}); got != "c a b d" {
		t.Fatalf("order %q with pins", got)
	}
	say(t, s, leases["d"], "again")
	say(t, s, leases["a"], "again")
	if got := list(t, s.Reopen(), harness.SessionFilter{Limit: 3}); got != "a c d" {
		t.Fatalf("order %q after use", got)
	}
}

func testFilters(t *testing.T, s Stores) {
	for i, meta := range []harness.Session{
		{ID: "one", Dir: "/x", Title: "Crème brûlée"},
		{ID: "two", Dir: "/y", Title: "Parser", Tags: []string{"Go", "work"}},
		{ID: "three", Dir: "/x", Title: "parser of creme"},
	} {
		l := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
		say(t, s, l, fmt.Sprint("hello ", i))
	}
	for _, c := range []struct {
		f    harness.SessionFilter
		want string
	}{
		{harness.SessionFilter{Dir: "/x"}, "three one"},
		{harness.SessionFilter{Query: "CREME"}, "three one"},
		{harness.SessionFilter{Query: "creme parser"}, "three"},
		{harness.SessionFilter{Query: "go"}, "two"},
		{harness.SessionFilter{Query: "two"}, "two"},
		{harness.SessionFilter{Query: "nothing"}, ""},
		{harness.SessionFilter{Query: "creme", Dir: "/x", Limit: 1}, "three"},
	} {
		if got := list(t, s, c.f); got != c.want {
			t.Errorf("%+v lists %q, want %q", c.f, got, c.want)
		}
	}
}

func testTrash(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "hello", "hi")
	value[harness.Session](t)(s.Sessions.Edit(ctx(t), "a", harness.SessionEdit{Pinned: ptr(true), Tags: ptr([]string{"x"})}))
	say(t, s, acquire(t, s, "b"), "other")
	must(t, s.Owners.Release(ctx(t), l))
	before := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a"))

	s.Clock.Add(time.Minute)
	must(t, s.Sessions.Delete(ctx(t), "a"))
	_, err := s.Sessions.Get(ctx(t), "a")
	wantErr(t, err, harness.ErrNotFound)
	wantErr(t, s.Sessions.Delete(ctx(t), "a"), harness.ErrNotFound)
	if got := list(t, s, harness.SessionFilter{}); got != "b" {
		t.Fatalf("list %q after delete", got)
	}
	trash := value[[]harness.Session](t)(s.Sessions.List(ctx(t), harness.SessionFilter{Deleted: true}))
	if ids(trash) != "a" || trash[0].Deleted == nil || !trash[0].Deleted.Equal(s.Clock.Now()) {
		t.Fatalf("trash %+v", trash)
	}
	_, err = s.Owners.Acquire(ctx(t), harness.Session{ID: "a"}, harness.Holder{})
	wantErr(t, err, harness.ErrExists)

	s = s.Reopen()
	must(t, s.Sessions.Restore(ctx(t), "a"))
	equal(t, "restored", value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")), before)
	if got := list(t, s, harness.SessionFilter{}); got != "a b" {
		t.Fatalf("list %q after restore", got)
	}
	if got := tail(t, s, "a"); got != "hello | hi" {
		t.Fatalf("conversation %q after restore", got)
	}
	wantErr(t, s.Sessions.Restore(ctx(t), "none"), harness.ErrNotFound)
}

func testForks(t *testing.T, s Stores) {
	l := acquire(t, s, "a")
	say(t, s, l, "1", "2", "3")
	value[harness.Session](t)(s.Sessions.Edit(ctx(t), "a", harness.SessionEdit{
		Title: ptr("Plan"), Tags: ptr([]string{"x"}), Pinned: ptr(true), Model: ptr("p/m"), System: ptr(strings.Repeat("s", 500)), NoMemory: ptr(true),
	}))
	before := value[harness.Session](t)(s.Sessions.Get(ctx(t), "a"))
	got := value[harness.Session](t)(s.Sessions.Fork(ctx(t), "a", harness.Origin{Record: 2}, harness.Session{}))
	if got.ID == "" || got.Title != "Plan (fork)" || got.Pinned || got.Model != "p/m" || got.System != before.System || !got.NoMemory ||
		got.Inherited != 2 || got.Records != 0 || !slices.Equal(got.Tags, []string{"x"}) || *got.Parent != (harness.Origin{Session: "a", Record: 2}) {
		t.Fatalf("fork %+v", got)
	}
	equal(t, "the parent", value[harness.Session](t)(s.Sessions.Get(ctx(t), "a")), before)
	s = s.Reopen()
	if text := tail(t, s, got.ID); text != "1 | 2" {
		t.Fatalf("fork has %q", text)
	}
	equal(t, "the stored fork", value[harness.Session](t)(s.Sessions.Get(ctx(t), got.ID)), got)
	if list := list(t, s, harness.SessionFilter{}); list != "a "+string(got.ID) {
		t.Fatalf("list %q", list)
	}
	say(t, s, acquire(t, s, got.ID), "x")
	whole := value[harness.Session](t)(s.Sessions.Fork(ctx(t), got.ID, harness.Origin{}, harness.Session{ID: "b", Title: "T", Dir: "/d"}))
	if whole.ID != "b" || whole.Title != "T" || whole.TitleBy != harness.TitleByUser || whole.Dir != "/d" || whole.Inherited != 3 {
		t.Fatalf("fork of the fork %+v", whole)
	}
	up := value[harness.Session](t)(s.Sessions.Fork(ctx(t), "b", harness.Origin{Session: "a", Record: 1}, harness.Session{ID: "c"}))
	if *up.Parent != (harness.Origin{Session: "a", Record: 1}) || tail(t, s, "c") != "1" {
		t.Fatalf("fork at a message of the grandparent %+v", up)
	}
	if again := value[harness.Session](t)(s.Sessions.Fork(ctx(t), got.ID, harness.Origin{}, harness.Session{})); again.Title != "Plan (fork)" {
		t.Fatalf("the fork of a fork is called %q", again.Title)
	}
	if again := value[harness.Session](t)(s.Sessions.Fork(ctx(t), "c", harness.Origin{}, harness.Session{ID: "d"})); *again.Parent != *up.Parent {
		t.Fatalf("fork of an untouched fork %+v", again)
	}
	for _, c := range []struct {
		id   harness.SessionID
		of   harness.Origin
		s    harness.SessionID
		want error
	}{
		{"none", harness.Origin{}, "", harness.ErrNotFound},
		{"a", harness.Origin{Record: 4}, "", harness.ErrNotFound},
		{"a", harness.Origin{Record: -1}, "", harness.ErrNotFound},
		{"a", harness.Origin{Session: "b", Record: 1}, "", harness.ErrNotFound},
		{"a", harness.Origin{}, "b", harness.ErrExists},
	} {
		_, err := s.Sessions.Fork(ctx(t), c.id, c.of, harness.Session{ID: c.s})
		wantErr(t, err, c.want)
	}
	must(t, s.Sessions.Delete(ctx(t), "a"))
	_, err := s.Sessions.Fork(ctx(t), "a", harness.Origin{}, harness.Session{})
	wantErr(t, err, harness.ErrNotFound)
	if text := tail(t, s, "b"); text != "1 | 2 | x" {
		t.Fatalf("fork of a deleted session has %q", text)
	}
}

func testImportTree(t *testing.T, s Stores) {
	message := func(seq, prev int, text string) harness.Record {
		m := harness.UserText(text)
		return harness.Record{Seq: seq, Prev: prev, Message: &m}
	}
	log := []harness.Record{message(1, 0, "1"), message(2, 1, "2"), message(3, 1, "3"), message(4, 2, "4")}
	imp := func(head int) (harness.Session, bool) {
		t.Helper()
		got, existed, err := s.Sessions.Import(ctx(t), harness.Session{ID: "a", Head: head}, log)
		must(t, err)
		return got, existed
	}
	got, existed := imp(3)
	if existed || got.Head != 3 || got.Records != 4 || got.Messages != 4 || tail(t, s, "a") != "1 | 3" {
		t.Fatalf("imported %+v with %q", got, tail(t, s, "a"))
	}
	if other := texts(value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "a", 4, 0))); other != "1 | 2 | 4" {
		t.Fatalf("other branch %q", other)
	}
	if got, existed = imp(3); !existed || got.ID != "a" {
		t.Fatalf("second import %+v %v", got, existed)
	}
	if got, existed = imp(0); existed || got.ID != "a-2" || tail(t, s, "a-2") != "1 | 2 | 4" {
		t.Fatalf("import with another branch on screen %+v %v", got, existed)
	}
	flat := []harness.Record{message(0, 0, "1"), message(0, 0, "2"), message(0, 0, "3"), message(0, 0, "4")}
	flatly, existed, err := s.Sessions.Import(ctx(t), harness.Session{ID: "a"}, flat)
	must(t, err)
	if existed || flatly.ID != "a-3" || tail(t, s, "a-3") != "1 | 2 | 3 | 4" {
		t.Fatalf("import of the same texts in one branch %+v %v", flatly, existed)
	}
}

// testImportPlace finds that a conversation is as old here as it was elsewhere.
func testImportPlace(t *testing.T, s Stores) {
	m := harness.UserText("x")
	day := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	imp := func(id harness.SessionID, at time.Time) {
		t.Helper()
		got, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: id, Created: day, Updated: at}, []harness.Record{{At: day, Message: &m}})
		must(t, err)
		if !at.IsZero() && !got.Updated.Equal(at) {
			t.Fatalf("last used %s, not %s", got.Updated, at)
		}
	}
	order := func() string {
		t.Helper()
		var ids []string
		for _, got := range value[[]harness.Session](t)(s.Sessions.List(ctx(t), harness.SessionFilter{})) {
			ids = append(ids, string(got.ID))
		}
		return strings.Join(ids, " ")
	}
	imp("old", day)
	imp("now", time.Time{})
	imp("older", day.AddDate(-1, 0, 0))
	imp("between", day.Add(-time.Hour))
	imp("newer", day.Add(time.Hour))
	if got := order(); got != "now newer old between older" {
		t.Fatalf("the order is %s", got)
	}
	l, err := s.Owners.Acquire(ctx(t), harness.Session{ID: "older"}, harness.Holder{PID: 1})
	must(t, err)
	_, err = s.Transcript.Append(ctx(t), l, harness.Record{Message: &m})
	must(t, err)
	if got := order(); got != "older now newer old between" {
		t.Fatalf("after it was used again the order is %s", got)
	}
}

// testImportBehindUse finds that what was used last stays first when something is
// imported that was used before, also where that was an import itself.
func testImportBehindUse(t *testing.T, s Stores) {
	m := harness.UserText("x")
	imp := func(id harness.SessionID, at time.Time) {
		t.Helper()
		_, _, err := s.Sessions.Import(ctx(t), harness.Session{ID: id, Created: at, Updated: at}, []harness.Record{{At: at, Message: &m}})
		must(t, err)
	}
	start := s.Clock.Now()
	imp("used", start.AddDate(-2, 0, 0))
	l, err := s.Owners.Acquire(ctx(t), harness.Session{ID: "used"}, harness.Holder{PID: 1})
	must(t, err)
	for range 2 {
		s.Clock.Add(2 * time.Hour)
		_, err = s.Transcript.Append(ctx(t), l, harness.Record{Message: &m})
		must(t, err)
	}
	imp("before", start.AddDate(-1, 0, 0))
	imp("meanwhile", start.Add(3*time.Hour))
	var ids []string
	for _, got := range value[[]harness.Session](t)(s.Sessions.List(ctx(t), harness.SessionFilter{})) {
		ids = append(ids, string(got.ID))
	}
	if got := strings.Join(ids, " "); got != "used meanwhile before" {
		t.Fatalf("the order is %s", got)
	}
}

func testImport(t *testing.T, s Stores) {
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	message := func(m harness.Message) harness.Record { return harness.Record{At: at, Message: &m} }
	records := []harness.Record{
		message(harness.UserText("<b>question</b> & more")), message(harness.AssistantText("answer")),
		{At: at, Kind: harness.RecordConfig, Data: []byte(`{"key":"model","new":"x"}`)},
	}
	imp := func(id harness.SessionID, records []harness.Record) (harness.Session, bool) {
		t.Helper()
		got, existed, err := s.Sessions.Import(ctx(t), harness.Session{ID: id, Title: "T", Created: at, Updated: at}, records)
		must(t, err)
		return got, existed
	}
	got, existed := imp("a", records)
	if existed || got.ID != "a" || got.Records != 3 || got.Messages != 2 || got.Head != 3 || !got.Created.Equal(at) {
		t.Fatalf("imported %+v %v", got, existed)
	}
	have := value[[]harness.Record](t)(s.Transcript.Tail(ctx(t), "a", 0, 0))
	for i, r := range have {
		if r.Seq != i+1 || r.Prev != i || !r.At.Equal(at) {
			t.Fatalf("record %+v", r)
		}
	}
	equal(t, "imported data", have[2].Data, records[2].Data)
	if got, existed = imp("a", records); !existed || got.ID != "a" {
		t.Fatalf("second import %+v %v", got, existed)
	}
	other := append([]harness.Record{message(harness.UserText("else"))}, records...)
	if got, existed = imp("a", other); existed || got.ID != "a-2" {
		t.Fatalf("import of other content %+v %v", got, existed)
	}
	if got, existed = imp("a", other); !existed || got.ID != "a-2" {
		t.Fatalf("second import of other content %+v %v", got, existed)
	}
	if got, existed = imp("", records[:1]); existed || got.ID == "" {
		t.Fatalf("import without an id %+v %v", got, existed)
	}
	acquire(t, s, "open")
	if got, _ = imp("open", records); got.ID != "open-2" {
		t.Fatalf("import over an open chat is %s", got.ID)
	}
	if got := tail(t, s, "a"); got != "<b>question</b> & more | answer" {
		t.Fatalf("first import is now %q", got)
	}
}
