package loop_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
)

func asks(id, digest string) loop.Judged {
	return loop.Judged{CallID: id, Permission: "ask", Reason: "because", Digest: digest, Proposal: &harness.Proposal{Kind: harness.ProposalCall, Body: digest}}
}

func allows(id string) loop.Judged { return loop.Judged{CallID: id, Permission: "allow"} }

func later(id string) loop.Judged { return loop.Judged{CallID: id, Permission: "later"} }

func inOrder(j loop.Judged) loop.Judged {
	j.Sequential = true
	return j
}

func consents(id, digest string) loop.Decided {
	return loop.Decided{CallID: id, Approved: true, Digest: digest}
}

func refuses(id, digest string) loop.Decided {
	return loop.Decided{CallID: id, Digest: digest, Reason: "not now"}
}

func began(id string, repeatable bool) loop.Began {
	return loop.Began{CallID: id, Repeatable: repeatable}
}

// resting is what a run that waits has in its journal.
var (
	awaits  = loop.Rested{Status: harness.RunAwaiting}
	decided = loop.Resumed{How: harness.ResumeDecided}
	resumed = loop.Resumed{How: harness.ResumeContinue}
)

// reply begins a turn whose answer calls three tools; their ids are r_1_1, r_1_2
// and r_1_3.
func reply(records ...loop.Record) []loop.Record {
	return append([]loop.Record{started(), answer(harness.StopTools, "a", "b", "c")}, records...)
}

func TestCallsThatPeopleDecide(t *testing.T) {
	t.Parallel()
	const a, b, c = "r_1_1", "r_1_2", "r_1_3"
	for name, tc := range map[string]struct {
		records []loop.Record
		want    string
	}{
		"all are judged before any runs":                 {reply(allows(a), asks(b, "B")), "Judge " + c},
		"what is allowed runs while others wait":         {reply(asks(a, "A"), allows(b), allows(c)), "Exec " + b + " " + c},
		"only then it rests":                             {reply(asks(a, "A"), allows(b), asks(c, "C"), ended(b)), "Rest awaiting_input r_1_1:A r_1_3:C"},
		"a decision that is not all keeps it waiting":    {reply(asks(a, "A"), asks(b, "B"), allows(c), ended(c), awaits, consents(a, "A")), "Done"},
		"once decided it is judged again":                {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided), "Judge " + a},
		"the same thing needs no second consent":         {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, asks(a, "A")), "Exec " + a},
		"another state asks again":                       {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, asks(a, "A2")), "Rest awaiting_input r_1_1:A2"},
		"and the first one is not agreed to either":      {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, asks(a, "A2"), asks(a, "A")), "Rest awaiting_input r_1_1:A"},
		"consent to something else counts for nothing":   {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "B"), decided, asks(a, "A")), "Rest awaiting_input r_1_1:A"},
		"consent without a digest counts for nothing":    {reply(asks(a, ""), ended(b), ended(c), awaits, consents(a, ""), decided, asks(a, "")), "Rest awaiting_input r_1_1:"},
		"consent to a call that is not asked is nothing": {reply(consents(a, "A"), asks(a, "A"), allows(b), ended(b), ended(c)), "Rest awaiting_input r_1_1:A"},
		"a refusal of a call that is not asked neither":  {reply(refuses(a, ""), allows(a), allows(b), allows(c)), "Exec " + a + " " + b + " " + c},
		"what cannot be done is not called forbidden":    {reply(loop.Judged{CallID: a, Permission: "deny", Impossible: true, Reason: "no such file"}), "Settle r_1_1 not run: no such file"},
		"a denial after the consent wins":                {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, loop.Judged{CallID: a, Permission: "deny", Reason: "no more"}), "Settle r_1_1 permission denied: no more"},
		"a denial right before the run wins":             {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, asks(a, "A"), loop.Judged{CallID: a, Permission: "deny", Reason: "no more"}), "Settle r_1_1 permission denied: no more"},
		"allowing in between does not end the consent":   {reply(asks(a, "A"), ended(b), ended(c), awaits, consents(a, "A"), decided, allows(a), asks(a, "A")), "Exec " + a},
		"an unknown verdict is no permission":            {reply(loop.Judged{CallID: a, Permission: "maybe"}), "Settle r_1_1 permission denied"},
		"no verdict is none either":                      {reply(loop.Judged{CallID: a}), "Settle r_1_1 permission denied"},
		"a refused call is answered once it goes on":     {reply(asks(a, "A"), ended(b), ended(c), awaits, refuses(a, "A"), decided), "Settle r_1_1 permission denied by the person: not now"},
		"a refusal stays over another start":             {reply(asks(a, "A"), asks(b, "B"), ended(c), awaits, refuses(a, "A"), resumed, resumed), "Settle r_1_1 permission denied by the person: not now"},
		"consent stays over another start":               {reply(asks(a, "A"), asks(b, "B"), ended(c), awaits, consents(a, "A"), resumed, asks(a, "A"), asks(b, "B")), "Exec " + a},
		"an uncertain call waits beside the others":      {reply(allows(a), allows(b), asks(c, "C"), began(a, false), began(b, true), resumed, allows(b), asks(c, "C")), "Exec " + b},

		"and with them":                               {reply(allows(a), allows(b), asks(c, "C"), began(a, false), ended(b), resumed, asks(c, "C")), "Rest awaiting_input r_1_1:uncertain r_1_3:C"},
		"an uncertain call is not judged":             {reply(allows(a), allows(b), allows(c), began(a, false), resumed, allows(b)), "Judge " + c},
		"a person lets it run again":                  {reply(allows(a), ended(b), ended(c), began(a, false), resumed, awaits, loop.Resolved{CallID: a, How: harness.DecideRetry}, decided), "Judge " + a},
		"once":                                        {reply(allows(a), ended(b), ended(c), began(a, false), resumed, awaits, loop.Resolved{CallID: a, How: harness.DecideRetry}, decided, allows(a), began(a, false), resumed), "Rest awaiting_input r_1_1:uncertain"},
		"a result in its place ends it":               {reply(allows(a), ended(b), ended(c), began(a, false), resumed, awaits, loop.Resolved{CallID: a, How: harness.DecideResult}, ended(a), decided), "CallModel 2"},
		"what touches the same waits for its turn":    {reply(asks(a, "A"), later(b), allows(c), ended(c), later(b)), "Rest awaiting_input r_1_1:A"},
		"and is judged then":                          {reply(allows(a), later(b), allows(c), ended(c), ended(a)), "Judge " + b},
		"also after a refusal":                        {reply(loop.Judged{CallID: a, Permission: "deny", Reason: "no"}, later(b), allows(c), ended(a)), "Judge " + b},
		"nobody waits for nothing":                    {reply(later(a)), "Settle r_1_1 permission denied: the call could not be judged"},
		"calls in order run one by one":               {reply(allows(a), inOrder(allows(b)), allows(c)), "Exec " + a},
		"the next after the one before":               {reply(allows(a), inOrder(allows(b)), allows(c), began(a, false), ended(a)), "Exec " + b},
		"a question holds up what comes after it":     {reply(inOrder(asks(a, "A")), allows(b), allows(c)), "Rest awaiting_input r_1_1:A"},
		"and so does doubt":                           {reply(inOrder(allows(a)), allows(b), allows(c), began(a, false), resumed, allows(b), allows(c)), "Rest awaiting_input r_1_1:uncertain"},
		"all that waits in order is asked at once":    {reply(inOrder(asks(a, "A")), allows(b), asks(c, "C")), "Rest awaiting_input r_1_1:A r_1_3:C"},
		"a denial says that it may have taken effect": {reply(allows(a), began(a, true), resumed, loop.Judged{CallID: a, Permission: "deny", Reason: "no"}), "Settle r_1_1 unknown permission denied: no; it began before"},
		"and so it does after a second start allowed": {reply(allows(a), began(a, false), resumed, loop.Resolved{CallID: a, How: harness.DecideRetry}, loop.Judged{CallID: a, Permission: "deny", Reason: "no"}), "Settle r_1_1 unknown permission denied: no; it began before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := describe(loop.Fold(tc.records...).Next()); !strings.HasPrefix(got, tc.want) {
				t.Errorf("next is %q, want %q", got, tc.want)
			}
		})
	}
}

// waiting is a turn in which one call is asked about, one asks a question and
// one is uncertain.
func waiting() loop.State {
	question := asks("r_1_2", "B")
	question.Proposal.Kind = harness.ProposalQuestion
	return loop.Fold(reply(
		asks("r_1_1", "A"), question, allows("r_1_3"), began("r_1_3", false), resumed, asks("r_1_1", "A"), question, awaits,
	)...)
}

func TestDecisionsFitWhatIsAsked(t *testing.T) {
	t.Parallel()
	const a, b, c = "r_1_1", "r_1_2", "r_1_3"
	for name, tc := range map[string]struct {
		ds   []harness.Decision
		err  error
		left int
	}{
		"approve":                       {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove}}, nil, 2},
		"decline":                       {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideDecline}}, nil, 2},
		"answer":                        {[]harness.Decision{{Call: b, Digest: "B", How: harness.DecideAnswer, Text: "42"}}, nil, 2},
		"decline a question":            {[]harness.Decision{{Call: b, Digest: "B", How: harness.DecideDecline}}, nil, 2},
		"a result":                      {[]harness.Decision{{Call: c, How: harness.DecideResult, Text: "paid"}}, nil, 2},
		"a retry":                       {[]harness.Decision{{Call: c, How: harness.DecideRetry}}, nil, 2},
		"all at once":                   {[]harness.Decision{{Call: c, How: harness.DecideRetry}, {Call: a, Digest: "A", How: harness.DecideApprove}, {Call: b, Digest: "B", How: harness.DecideAnswer}}, nil, 0},
		"abort":                         {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideAbort}}, nil, 0},
		"nothing":                       {nil, loop.ErrDecision, 0},
		"another digest":                {[]harness.Decision{{Call: a, Digest: "B", How: harness.DecideApprove}}, harness.ErrStale, 0},
		"no digest":                     {[]harness.Decision{{Call: a, How: harness.DecideApprove}}, harness.ErrStale, 0},
		"another digest for a refusal":  {[]harness.Decision{{Call: a, Digest: "B", How: harness.DecideDecline}}, harness.ErrStale, 0},
		"a digest of what began since":  {[]harness.Decision{{Call: c, Digest: "C", How: harness.DecideRetry}}, harness.ErrStale, 0},
		"no such call":                  {[]harness.Decision{{Call: "x", How: harness.DecideApprove}}, harness.ErrNotFound, 0},
		"twice the same":                {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove}, {Call: a, Digest: "A", How: harness.DecideApprove}}, harness.ErrNotFound, 0},
		"approve a question":            {[]harness.Decision{{Call: b, Digest: "B", How: harness.DecideApprove}}, loop.ErrDecision, 0},
		"answer an approval":            {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideAnswer}}, loop.ErrDecision, 0},
		"approve what is uncertain":     {[]harness.Decision{{Call: c, How: harness.DecideApprove}}, loop.ErrDecision, 0},
		"decline what is uncertain":     {[]harness.Decision{{Call: c, How: harness.DecideDecline}}, loop.ErrDecision, 0},
		"approve what has begun":        {[]harness.Decision{{Call: c, Digest: "C", How: harness.DecideApprove}}, harness.ErrStale, 0},
		"retry an approval":             {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideRetry}}, loop.ErrDecision, 0},
		"nothing in particular":         {[]harness.Decision{{Call: a, Digest: "A"}}, loop.ErrDecision, 0},
		"a scope without a rule":        {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove, Scope: harness.ScopeSession}}, loop.ErrDecision, 0},
		"a rule without a scope":        {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove, Rule: "a"}}, loop.ErrDecision, 0},
		"an unknown scope":              {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove, Scope: "forever", Rule: "a"}}, loop.ErrDecision, 0},
		"a scope for a refusal":         {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideDecline, Scope: harness.ScopeAlways, Rule: "a"}}, loop.ErrDecision, 0},
		"for the session":               {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove, Scope: harness.ScopeSession, Rule: "a"}}, nil, 2},
		"a good one beside a bad one":   {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideApprove}, {Call: b, Digest: "B", How: harness.DecideRetry}}, loop.ErrDecision, 0},
		"an abort does not hide others": {[]harness.Decision{{Call: a, Digest: "A", How: harness.DecideAbort}, {Call: "x"}}, harness.ErrNotFound, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := waiting()
			if n := len(s.Waiting()); n != 3 {
				t.Fatalf("%d decisions wait", n)
			}
			records, err := loop.Decide(s, tc.ds...)
			if !errors.Is(err, tc.err) || err != nil && records != nil {
				t.Fatalf("%d records, %v, want %v and none", len(records), err, tc.err)
			}
			if err != nil {
				return
			}
			for _, r := range records {
				s, _ = loop.Step(s, r)
			}
			if left := len(s.Waiting()); left != tc.left {
				t.Errorf("%d decisions wait after it, want %d", left, tc.left)
			}
		})
	}
}

func TestAbortAnswersEveryCall(t *testing.T) {
	t.Parallel()
	s := waiting()
	records, err := loop.Decide(s,
		harness.Decision{Call: "r_1_1", Digest: "A", How: harness.DecideDecline, Text: "not now"},
		harness.Decision{Call: "r_1_3", How: harness.DecideAbort})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		s, _ = loop.Step(s, r)
	}
	if s.Status() != harness.RunCancelled {
		t.Errorf("the run is %s", s.Status())
	}
	got := map[string]harness.ToolResult{}
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if p.Result != nil {
				got[p.Result.CallID] = *p.Result
			}
		}
	}
	if len(got) != 3 || !strings.Contains(got["r_1_1"].Text, "not now") || got["r_1_2"].Unknown || !got["r_1_3"].Unknown {
		t.Errorf("the results are %+v", got)
	}
}

func TestAProposalIsStoredOnce(t *testing.T) {
	t.Parallel()
	const a = "r_1_1"
	with := func(j loop.Judged, change func(p *harness.Proposal)) loop.Judged {
		p := *j.Proposal
		change(&p)
		j.Proposal = &p
		return j
	}
	for name, tc := range map[string]struct {
		before []loop.Record
		again  loop.Judged
		left   bool
	}{
		"never judged":          {reply(), asks(a, "A"), false},
		"the same":              {reply(asks(a, "A")), asks(a, "A"), true},
		"the same once more":    {reply(asks(a, "A"), resumed, loop.Judged{CallID: a, Permission: "ask", Digest: "A"}), asks(a, "A"), true},
		"another state":         {reply(asks(a, "A")), with(asks(a, "A2"), func(p *harness.Proposal) { p.Body = "A" }), false},
		"another rule on offer": {reply(asks(a, "A")), with(asks(a, "A"), func(p *harness.Proposal) { p.Always = "t" }), false},
		"allowed in between":    {reply(asks(a, "A"), allows(a)), asks(a, "A"), false},
		"that of another call":  {reply(asks("r_1_2", "A")), asks(a, "A"), false},
	} {
		s := loop.Fold(tc.before...)
		r := s.Trim(tc.again)
		if (r.Proposal == nil) != tc.left {
			t.Errorf("%s: the record has the proposal %+v", name, r.Proposal)
		}
		whole, _ := loop.Step(s, tc.again)
		s, _ = loop.Step(s, r)
		if !reflect.DeepEqual(s, whole) {
			t.Errorf("%s: the state is\n%+v, with the whole record it is\n%+v", name, s, whole)
		}
	}
}

func TestWhatWasShownIsShownAgain(t *testing.T) {
	t.Parallel()
	s := loop.Fold(reply(asks("r_1_1", "A"), ended("r_1_2"), ended("r_1_3"))...)
	rest, ok := s.Next().(loop.Rest)
	if !ok || len(rest.Pending) != 1 {
		t.Fatalf("next is %#v", s.Next())
	}
	s, _ = loop.Step(s, awaits)
	for _, p := range [][]harness.Pending{rest.Pending, s.Pending(), s.Waiting()} {
		if len(p) != 1 || p[0].Digest != "A" || p[0].Reason != "because" || p[0].Proposal == nil || p[0].Proposal.Body != "A" {
			t.Errorf("it waits for %+v", p)
		}
	}
}

// Who agreed and is asked about the same call again is told that it changed,
// also after another start.
func TestAskedAgainSaysThatItChanged(t *testing.T) {
	t.Parallel()
	const a = "r_1_1"
	agreed := reply(asks(a, "A"), ended("r_1_2"), ended("r_1_3"), awaits, consents(a, "A"), decided)
	for name, tc := range map[string]struct {
		records []loop.Record
		want    bool
	}{
		"asked once":      {reply(asks(a, "A"), ended("r_1_2"), ended("r_1_3"), awaits), false},
		"another state":   {append(agreed[:len(agreed):len(agreed)], asks(a, "A2"), awaits), true},
		"another start":   {append(agreed[:len(agreed):len(agreed)], asks(a, "A2"), awaits, resumed, asks(a, "A2"), awaits), true},
		"changed unasked": {reply(asks(a, "A"), ended("r_1_2"), ended("r_1_3"), awaits, resumed, asks(a, "A2"), awaits), false},
	} {
		if p := loop.Fold(tc.records...).Pending(); len(p) != 1 || p[0].Changed != tc.want {
			t.Errorf("%s: it waits for %+v, changed should be %v", name, p, tc.want)
		}
	}
}

func TestDeniedBecauseNobodyCouldBeAskedIsListedOnce(t *testing.T) {
	t.Parallel()
	denied := asks("r_1_1", "A")
	denied.Permission, denied.Unasked = "deny", true
	s := loop.Fold(reply(denied, resumed, denied, ended("r_1_1"), allows("r_1_2"), began("r_1_2", true), ended("r_1_2"))...)
	if u := s.Unasked(); len(u) != 1 || u[0].Call.ID != "r_1_1" || u[0].Proposal == nil {
		t.Errorf("unasked are %+v", u)
	}
	if ran := s.Ran(); len(ran) != 1 || ran[0] != "b" {
		t.Errorf("the tools that ran are %q", ran)
	}
}
