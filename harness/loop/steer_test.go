package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/loop"
)

// says has a person say something into the turn, whatever is under way.
func (w *walk) says() {
	if w.said >= 3 || w.state.Status().Closed() || rapid.IntRange(0, 11).Draw(w.T, "says") > 0 {
		return
	}
	w.said++
	r := loop.Steered{ID: fmt.Sprint(w.said), Message: harness.UserText("say")}
	w.take(r)
	if rapid.Bool().Draw(w.T, "twice") {
		w.take(r) // whoever said it did not learn that it was stored
	}
}

// refuses is what comes of an end that the driver began before somebody spoke.
func (w *walk) refuses(end loop.Rest) []loop.Record {
	if next, ok := w.state.Next().(loop.Rest); ok && next.Status == end.Status {
		w.Fatal("the turn ends and somebody was not heard")
	}
	return nil
}

// mayHear checks that a delivery comes where it may.
func (w *walk) mayHear(r loop.Delivered) {
	for id, c := range w.calls {
		if c.answered == 0 {
			w.Errorf("%s was delivered before the result of %s", r.ID, id)
		}
	}
	w.told = append(w.told, r.ID)
}

// heard checks that a closed turn heard all that was said into it, once and in order.
func (w *walk) heard() {
	if !w.state.Status().Closed() {
		return
	}
	if len(w.state.Said()) > 0 || len(w.told) != w.said || !slices.IsSorted(w.told) {
		w.Errorf("%d were said, %v were delivered, %d wait", w.said, w.told, len(w.state.Said()))
	}
}

func say(id string) loop.Steered {
	return loop.Steered{ID: id, Message: harness.UserText("say " + id)}
}

func told(id string) loop.Delivered {
	return loop.Delivered{ID: id, Message: harness.UserText("say " + id)}
}

func TestWhatIsSaidIntoATurnComesBeforeTheNextRequest(t *testing.T) {
	t.Parallel()
	allow := loop.Judged{CallID: "r_1_1", Permission: "allow"}
	began := loop.Began{CallID: "r_1_1"}
	noted := func(s loop.State) loop.Record {
		n, ok := s.Next().(loop.Note)
		if !ok {
			t.Errorf("next is %#v, want a note", s.Next())
		}
		return loop.Noted{Reason: n.Reason, Message: n.Notice()}
	}
	long := started()
	long.Config.MaxSteps = 1
	cut := []loop.Record{started(), answer(harness.StopLength), say("1")}
	for name, c := range map[string]struct {
		records []loop.Record
		want    string
	}{
		"at once where a request comes next":       {[]loop.Record{started(), answer(harness.StopTools, "t"), ended("r_1_1"), say("1")}, "Deliver 1"},
		"and then the model is asked":              {[]loop.Record{started(), answer(harness.StopTools, "t"), ended("r_1_1"), say("1"), told("1")}, "CallModel 2"},
		"not while a call is judged":               {[]loop.Record{started(), answer(harness.StopTools, "t"), say("1")}, "Judge r_1_1"},
		"not while a call runs":                    {[]loop.Record{started(), answer(harness.StopTools, "t", "u"), allow, began, say("1"), ended("r_1_1")}, "Judge r_1_2"},
		"behind all results":                       {[]loop.Record{started(), answer(harness.StopTools, "t"), allow, began, say("1"), ended("r_1_1")}, "Deliver 1"},
		"a turn that would end goes on":            {[]loop.Record{started(), say("1"), answer(harness.StopEnd)}, "Deliver 1"},
		"with one more request":                    {[]loop.Record{started(), say("1"), answer(harness.StopEnd), told("1")}, "CallModel 2"},
		"one after the other":                      {[]loop.Record{started(), say("1"), say("2"), answer(harness.StopEnd), told("1")}, "Deliver 2"},
		"the same once":                            {[]loop.Record{started(), say("1"), say("1"), answer(harness.StopEnd), told("1")}, "CallModel 2"},
		"the same once though it was heard":        {[]loop.Record{started(), say("1"), answer(harness.StopEnd), told("1"), say("1")}, "CallModel 2"},
		"not in the middle of an answer":           {cut, "Note truncated_text"},
		"and not before its other half":            {append(slices.Clip(cut), noted(loop.Fold(cut...))), "CallModel 2"},
		"nor where the provider paused":            {[]loop.Record{started(), answer(harness.StopPause), say("1")}, "CallModel 2"},
		"the limit of steps counts anew":           {[]loop.Record{long, say("1"), answer(harness.StopTools, "t"), ended("r_1_1"), told("1")}, "CallModel 2"},
		"no final account is asked for":            {[]loop.Record{long, say("1"), answer(harness.StopTools, "t"), ended("r_1_1")}, "Deliver 1"},
		"a refusal is no end":                      {[]loop.Record{started(), say("1"), answer(harness.StopRefusal)}, "Deliver 1"},
		"a failure is one":                         {[]loop.Record{started(), say("1"), answer(harness.StopEmpty), told("1"), answer(harness.StopEmpty), answer(harness.StopEmpty), answer(harness.StopEmpty), say("2")}, "Rest failed empty_reply"},
		"who waits for a decision waits":           {[]loop.Record{started(), say("1"), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "ask", Digest: "A"}}, "Rest awaiting_input r_1_1:A"},
		"a failed run hears it when it is resumed": {[]loop.Record{started(), say("1"), loop.Rested{Status: harness.RunFailed}, loop.Resumed{}}, "Deliver 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := loop.Fold(c.records...).Next()
			got := describe(next)
			if d, ok := next.(loop.Deliver); ok {
				got = "Deliver " + d.ID
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("next is %q, want %q", got, c.want)
			}
		})
	}
}

func TestARunThatIsEndedKeepsWhatWasSaidIntoIt(t *testing.T) {
	t.Parallel()
	s := loop.Fold(started(), answer(harness.StopTools, "t"), say("1"), say("2"))
	for _, r := range loop.Cancel(s, nil, "p/m", true, harness.StopDropped) {
		s, _ = loop.Step(s, r)
	}
	var texts []string
	for _, m := range s.Messages()[2:] {
		texts = append(texts, string(m.Role)+" "+m.Text())
	}
	if want := []string{"tool ", "user say 1", "user say 2"}; !slices.Equal(texts, want) {
		t.Errorf("behind the answer are %q, want %q", texts, want)
	}
	if len(s.Said()) > 0 || s.Status() != harness.RunCancelled {
		t.Errorf("%d wait in a run that is %s", len(s.Said()), s.Status())
	}
}

func TestTheAnswerIsTheOneAfterWhatWasSaid(t *testing.T) {
	t.Parallel()
	s := loop.Fold(started(), say("1"), answer(harness.StopEnd), told("1"), loop.Answered{
		Message: loop.Name("r", 2, "p/m", []harness.Part{{Kind: harness.PartText, Text: "other"}}, harness.Usage{}, nil), Stop: harness.StopEnd,
	})
	if s.Answer() != "other" || s.Question() != "go" {
		t.Errorf("the answer to %q is %q", s.Question(), s.Answer())
	}
	if !loop.Fold(started(), say("1")).Calls() || loop.Fold(started(), say("1"), answer(harness.StopEnd)).Calls() {
		t.Error("what waits to be said hides whether the model is at work")
	}
}
