package snapshot_test

import (
	"encoding/json"
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
