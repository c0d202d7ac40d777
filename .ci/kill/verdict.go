package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// score counts what was found in the runs of one place.
type score struct {
	kills, runs, lost, twice int
	text                     time.Duration
	faults                   []string
}

func (s *score) add(o score) {
	s.kills += o.kills
	s.runs += o.runs
	s.lost += o.lost
	s.twice += o.twice
	s.text = max(s.text, o.text)
	s.faults = append(s.faults, o.faults...)
}

// steps is what "runs show" tells of a journal.
type steps struct {
	Status string `json:"status"`
	Cursor int    `json:"cursor"`
	Steps  []struct {
		Seq     int    `json:"seq"`
		Kind    string `json:"kind"`
		Message int    `json:"message"`
	} `json:"steps"`
	Unfetched int `json:"unfetched"`
}

// held checks that the engine has every entry that was told of.
func (j *job) held(ctx context.Context, o *score) {
	run, told := j.told()
	if told == 0 {
		return
	}
	got, err := j.journal(ctx, j.there("runs", "show", "--json", run)...)
	if err != nil {
		// It may be that only the conversation has it yet.
		if got, err = j.journal(ctx, "runs", "show", "--json", run); err != nil {
			o.fault(j, "what was acknowledged cannot be shown: %v", err)
			o.lost++
			return
		}
	}
	if n := len(got.Steps); n < told {
		o.lost += told - n
		o.fault(j, "entry %d was acknowledged, and the engine has %d", told, n)
	}
}

func (j *job) journal(ctx context.Context, args ...string) (steps, error) {
	var got steps
	out, err := j.shows(ctx, args...)
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	for i, s := range got.Steps {
		if err == nil && s.Seq != i+1 {
			err = fmt.Errorf("entry %d is the %d. one", s.Seq, i+1)
		}
	}
	return got, err
}

// shows looks at what is there. A server that has too much to do is asked again.
func (j *job) shows(ctx context.Context, args ...string) (out []byte, err error) {
	for range 3 {
		if out, err = j.output(ctx, "show", args...); err == nil {
			return out, nil
		}
		rests(ctx, time.Second)
	}
	return nil, err
}

func (s *score) fault(j *job, format string, args ...any) {
	s.faults = append(s.faults, j.id+": "+fmt.Sprintf(format, args...))
}

// judge sends another message and looks at all that is there then.
func (j *job) judge(ctx context.Context, o *score) {
	out, err := j.output(ctx, "after-"+j.id, "-p", "-s", j.id, "trial "+j.id+" after")
	if err != nil || !strings.Contains(string(out), "It went on.") {
		o.fault(j, "the session does not go on: %v: %s", err, out)
		return
	}
	raw, err := j.shows(ctx, "sessions", "show", "--json", j.id)
	var got shown
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil {
		o.fault(j, "the session cannot be shown: %v", err)
		return
	}
	o.runs++
	j.conversation(got, o)
	j.acknowledged(got, o)
	j.texts(got, o)
	run, _ := j.told()
	for _, r := range got.Runs {
		if r.Status != "completed" {
			o.fault(j, "run %s is %s in the end", r.ID, r.Status)
		}
	}
	ran, err := j.effects()
	if err != nil {
		o.fault(j, "%v", err)
	}
	if ran > 1 {
		o.twice++
		o.fault(j, "its command ran %d times", ran)
	}
	if ran == 0 && j.place != "refused" {
		o.fault(j, "its command never ran")
	}
	t := j.talk()
	t.mu.Lock()
	doubled := t.doubled
	t.mu.Unlock()
	if doubled > 0 {
		o.fault(j, "%d requests came while another driver was being answered", doubled)
	}
	if run == "" || j.engine.url == "" {
		return
	}
	home, err := j.journal(ctx, "runs", "show", "--json", run)
	there, e := j.journal(ctx, j.there("runs", "show", "--json", run)...)
	if err != nil || e != nil {
		o.fault(j, "its journal cannot be shown: %v %v", err, e)
		return
	}
	if there.Unfetched > 0 || len(home.Steps) != len(there.Steps) {
		o.fault(j, "%d of %d entries were handed over, %d not fetched", len(home.Steps), len(there.Steps), there.Unfetched)
	}
}

// talked is a message, with its calls and results.
type talked struct {
	Role  string `json:"role"`
	Mark  string `json:"mark"`
	Parts []struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
		Call *struct {
			ID string `json:"id"`
		} `json:"call"`
		Result *struct {
			Call string `json:"call_id"`
		} `json:"result"`
	} `json:"parts"`
}

// conversation checks that the conversation is what a model accepts: every call
// has one result, which follows it, and what was said is there once.
func (j *job) conversation(got shown, o *score) {
	said := map[string]int{}
	open := map[string]bool{}
	for _, r := range got.Records {
		var m talked
		if r.Kind != "message" || json.Unmarshal(r.Message, &m) != nil {
			continue
		}
		if len(open) > 0 && m.Role != "tool" {
			o.fault(j, "record %d follows calls without results", r.Seq)
			open = map[string]bool{}
		}
		for _, p := range m.Parts {
			switch {
			case p.Call != nil && m.Mark == "":
				open[p.Call.ID] = true
			case p.Result != nil && !open[p.Result.Call]:
				o.fault(j, "record %d is a result of no call, or a second one", r.Seq)
			case p.Result != nil:
				delete(open, p.Result.Call)
			case p.Kind == "text" && m.Mark == "":
				said[m.Role+": "+p.Text]++
			}
		}
	}
	if len(open) > 0 {
		o.fault(j, "the conversation ends with calls without results")
	}
	for text, n := range said {
		if n > 1 && !strings.HasPrefix(text, "tool") {
			o.fault(j, "it has %d times: %.60q", n, text)
		}
	}
	for _, must := range []string{j.prompt(), "trial " + j.id + " after"} {
		if said["user: "+must] != 1 {
			o.fault(j, "the message %q is there %d times", must, said["user: "+must])
		}
	}
}

// acknowledged checks every record that was told of with its number.
func (j *job) acknowledged(got shown, o *score) {
	records := map[int]json.RawMessage{}
	for _, r := range got.Records {
		records[r.Seq] = r.Message
	}
	j.yard.mu.Lock()
	defer j.yard.mu.Unlock()
	for _, e := range j.events {
		if e.Seq == 0 || e.Record == 0 || len(e.Message) == 0 {
			continue
		}
		if stored, ok := records[e.Record]; !ok || !same(stored, e.Message) {
			o.lost++
			o.fault(j, "record %d was acknowledged by %s and is not there as it was", e.Record, e.Type)
		}
	}
}

// texts checks how much of what the model said is there: all of it, but for the
// last moments before whoever listened was killed.
func (j *job) texts(got shown, o *score) {
	var all []string
	for _, r := range got.Records {
		var m message
		if json.Unmarshal(r.Message, &m) == nil && m.Role == "assistant" {
			all = append(all, m.text())
		}
	}
	t := j.talk()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.turns {
		lost, at := u.missing(all)
		if !lost {
			continue
		}
		cut := j.cut(u, at)
		if cut.IsZero() {
			o.fault(j, "text of answer %d is lost, and %s that asked for it was not killed", u.n, u.by)
			continue
		}
		o.text = max(o.text, cut.Sub(at))
		if cut.Sub(at) > lossAllowed {
			o.fault(j, "%v of the text of answer %d is lost", cut.Sub(at), u.n)
		}
	}
}

// missing reports whether a part of an answer is in none of the texts, and when
// the first of it was sent.
func (u *turn) missing(texts []string) (lost bool, at time.Time) {
	best, whole := 0, u.text()
	for _, t := range texts {
		if i := strings.Index(t, fmt.Sprintf("r%dw0", u.n)); i >= 0 {
			best = max(best, common(t[i:], whole))
		}
	}
	for _, s := range u.sent {
		if best -= len(s.text); best < 0 {
			return true, s.at
		}
	}
	return false, at
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// cut is when whoever got an answer was killed, or lost sight of the server; zero
// if neither.
func (j *job) cut(u *turn, lost time.Time) time.Time {
	cut := j.killer.when(u.by)
	j.yard.mu.Lock()
	defer j.yard.mu.Unlock()
	for _, s := range j.away {
		end := s.to
		if end.IsZero() {
			end = time.Now()
		}
		// Whatever came in the time of an outage could not be stored, and the second
		// before it is the one that may be lost.
		if lost.After(s.from.Add(-lossAllowed)) && lost.Before(end.Add(2*j.lease)) && (cut.IsZero() || s.from.Before(cut)) {
			cut = s.from
		}
	}
	return cut
}
