package picker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/mem"
)

// tell adds messages to a session of a store, numbered from one on.
func tell(t *testing.T, st *mem.Store, id harness.SessionID, from, to int) {
	t.Helper()
	lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	for n := from; n <= to; n++ {
		r := told(n, fmt.Sprintf("message %d of %s.", n, id))
		r.Seq = 0
		if _, err := st.Transcript().Append(t.Context(), lease, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Owners().Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

func TestThePreviewOfAForkGoesOnInItsParents(t *testing.T) {
	t.Parallel()
	clock := now
	st := mem.New(func() time.Time { clock = clock.Add(time.Second); return clock })
	tell(t, st, "trunk", 1, 90)
	for _, f := range []struct {
		of harness.SessionID
		at int
		id harness.SessionID
	}{{"trunk", 80, "branch"}, {"branch", 4, "twig"}} {
		if _, err := st.Sessions().Fork(t.Context(), f.of, harness.Origin{Session: f.of, Record: f.at}, harness.Session{ID: f.id, Title: "The " + string(f.id)}); err != nil {
			t.Fatal(err)
		}
		tell(t, st, f.id, 1, 6)
	}
	s := open(t, &store{}, 120, 40, func(c *Config) { c.Sessions, c.Transcript = st.Sessions(), st.Transcript() })
	s.selectedIs("twig")
	s.shows("90 messages (84 of its parent)", "fork of The branch at message 4", "message 6 of twig.")
	seen := s.view()
	for range 60 {
		s.keys("pgup")
		seen += s.view()
	}
	s.shows("message 1 of trunk.").lacks("↑ earlier")
	for _, text := range []string{"message 1 of twig.", "message 4 of branch.", "message 80 of trunk.", "message 40 of trunk."} {
		if !strings.Contains(seen, text) {
			t.Errorf("%q was never shown", text)
		}
	}
	for _, text := range []string{"message 5 of branch.", "message 81 of trunk."} {
		if strings.Contains(seen, text) {
			t.Errorf("%q is not of this branch", text)
		}
	}
	s.keys("end").selectedIs("trunk")
	s.shows("1 fork: The branch at 80", "message 90 of trunk.")
	s.keys("tab", "f")
	made, ok := s.last.(Open)
	if !ok {
		t.Fatalf("f gives %#v", s.last)
	}
	if f, err := st.Sessions().Get(t.Context(), made.Session); err != nil || *f.Parent != (harness.Origin{Session: "trunk", Record: 90}) {
		t.Errorf("the fork is %+v (%v)", f.Parent, err)
	}
}

func TestAForkOfAHitGoesItsOwnWayAfterThatMessage(t *testing.T) {
	t.Parallel()
	clock := now
	st := mem.New(func() time.Time { clock = clock.Add(time.Second); return clock })
	tell(t, st, "trunk", 1, 12)
	s := open(t, &store{}, 80, 24, func(c *Config) {
		c.Sessions, c.Transcript, c.Search = st.Sessions(), st.Transcript(), st.Searcher()
	}).types("message 7 ")
	for range 12 {
		if k, _ := s.list.selected(); k.message == 7 {
			break
		}
		s.keys("down")
	}
	s.keys("tab", "f")
	made, _ := s.last.(Open)
	f, err := st.Sessions().Get(t.Context(), made.Session)
	if err != nil || f.Parent == nil || f.Parent.Record != 7 || f.Inherited != 7 {
		t.Fatalf("the fork is %+v (%v)", f, err)
	}
	records, err := st.Transcript().Tail(t.Context(), f.ID, 0, 0)
	if err != nil || len(records) != 7 {
		t.Errorf("it has %d records (%v)", len(records), err)
	}
}

func TestNoSessionIsForkedIntoAnAnswerThatIsUnfinished(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).types("nightly")
	s.selectedIs("nightly")
	const why = "its answer is unfinished; /fork 2 in it forks earlier"
	s.keys("tab").shows("f  fork at its end: " + why).keys("f").shows("Its answer is unfinished")
	if s.last != nil || len(f.sessions) != 8 {
		t.Errorf("f gives %#v of %d sessions", s.last, len(f.sessions))
	}
}
