package snapshot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/storage/mem"
)

func TestAppendedRecordsFollowTheHead(t *testing.T) {
	t.Parallel()
	d := snapshot.Document{ID: "x"}
	before := d
	d = said(said(d, " \n"), strings.Repeat("日本 word\n", 30))
	if d.Head != 2 || d.Records[1].Prev != 1 || len(before.Records) != 0 {
		t.Errorf("it is %+v, before it was %+v", d, before)
	}
	if n := len([]rune(d.Title)); n > 60 || n < 50 || strings.Contains(d.Title, "\n") || !strings.HasSuffix(d.Title, " 日本") || d.TitleBy != harness.TitleByWords {
		t.Errorf("the title is %q by %q", d.Title, d.TitleBy)
	}
	d.Head = 1
	d = said(d, "another branch")
	if r := d.Records[2]; r.Seq != 3 || r.Prev != 1 || d.Head != 3 {
		t.Errorf("on another branch the record is %+v", r)
	}
	if _, err := snapshot.Encode(d); err != nil {
		t.Error(err)
	}
}

// TestForksNameWhatTheyCondensed joins the log of a fork of a fork, whose records
// name others in all three logs, and some that are not there.
func TestForksNameWhatTheyCondensed(t *testing.T) {
	t.Parallel()
	m := harness.UserText("x")
	say := func(in harness.SessionID, seq, prev int) harness.Record {
		return harness.Record{Seq: seq, Prev: prev, In: in, Kind: harness.RecordMessage, Message: &m}
	}
	names := func(in harness.SessionID, seq int, kind harness.RecordKind, data string) harness.Record {
		return harness.Record{Seq: seq, Prev: seq - 1, In: in, Kind: kind, Data: json.RawMessage(data)}
	}
	const condensed, pin = harness.RecordCondensed, harness.RecordPin
	all, err := snapshot.Join([]harness.Record{
		say("old", 2, 1), say("old", 5, 2),
		names("old", 6, pin, `{"message":5,"note":1.0}`),
		names("old", 7, condensed, `{"kept":5,"pins":[{"session":"","record":5},{"session":"old","record":2},{"session":"gone","record":2}]}`),
		say("mid", 1, 0), names("mid", 2, pin, `{"message":2,"in":"old"}`), names("mid", 3, pin, `{"message":1,"off":true}`),
	}, []harness.Record{
		say("", 1, 0), say("", 2, 1),
		names("", 3, condensed, `{"kept":1,"in":"mid","pruned":{"session":"old","record":5},"pins":[{"session":"old","record":5},{"session":"","record":1},{"session":"own","record":2}]}`),
		names("", 4, condensed, `{"kept":0,"pruned":{"session":"mid","record":9}}`),
		names("", 5, pin, `{"message":1}`), names("", 6, pin, `{"message":5,"in":"old"}`), names("", 7, pin, `{"message":9,"in":"mid"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		if r.Message == nil {
			got = append(got, fmt.Sprintf("%d<%d %s", r.Seq, r.Prev, r.Data))
		}
	}
	want := []string{
		`3<2 {"message":2,"note":1.0}`, `4<3 {"kept":2,"pins":[{"session":"","record":2},{"session":"","record":1}]}`, `6<5 {"message":1}`, `7<6 {"message":5,"off":true}`,
		`10<9 {"kept":5,"pins":[{"session":"","record":2},{"session":"","record":8},{"session":"","record":9}],"pruned":{"session":"","record":2}}`,
		`11<10 {"kept":0}`, `12<11 {"message":8}`, `13<12 {"message":2}`, `14<13 {"message":0}`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("the records are\n%s\nwant\n%s", a, b)
	}
	for kind, data := range map[harness.RecordKind]string{condensed: `{"note":"n"}`, pin: `{"message":"x"}`} {
		if _, err := snapshot.Join(nil, []harness.Record{names("", 1, kind, data)}); !errors.Is(err, harness.ErrDamaged) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestForkIsADocumentOfItsOwn(t *testing.T) {
	t.Parallel()
	s := mem.New(time.Now)
	add := func(id harness.SessionID, records ...harness.Record) {
		t.Helper()
		l, err := s.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Transcript().Append(t.Context(), l, records...); err != nil {
			t.Fatal(err)
		}
		if err := s.Owners().Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	say := func(text string) harness.Record {
		m := harness.UserText(text)
		return harness.Record{Kind: harness.RecordMessage, Message: &m}
	}
	kept := func(n int) harness.Record {
		return harness.Record{Kind: harness.RecordCondensed, Data: json.RawMessage(fmt.Sprintf(`{"note":"n","kept":%d}`, n))}
	}
	add("old", say("p1"), say("p2"), kept(2), say("p4"), say("p5"))
	if _, err := s.Sessions().Fork(t.Context(), "old", harness.Origin{Record: 4}, harness.Session{ID: "young"}); err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		d, err := snapshot.Of(t.Context(), s.Sessions(), s.Transcript(), "young")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Encode(d); err != nil {
			t.Error(err)
		}
		var got strings.Builder
		for _, r := range d.Records {
			text := string(r.Data)
			if r.Message != nil {
				text = r.Message.Text()
			}
			fmt.Fprintf(&got, "%d<%d %s; ", r.Seq, r.Prev, text)
		}
		fmt.Fprintf(&got, "head %d", d.Head)
		if got.String() != want {
			t.Errorf("the fork is\n%s\nwant\n%s", got.String(), want)
		}
	}
	const inherited = `1<0 p1; 2<1 p2; 3<2 {"note":"n","kept":2}; 4<3 p4; `
	check(inherited + "head 4")
	add("young", say("c1"), kept(1), say("c3"))
	check(inherited + `5<4 c1; 6<5 {"kept":5,"note":"n"}; 7<6 c3; head 7`)
	add("young", kept(4))
	check(inherited + `5<4 c1; 6<5 {"kept":5,"note":"n"}; 7<6 c3; 8<7 {"note":"n","kept":4}; head 8`)
}
