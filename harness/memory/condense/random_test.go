package condense_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/storage/mem"
)

// life is a session that grows at random: turns with calls and results, pins,
// branches, forks, resets and condensings.
type life struct {
	*rapid.T

	st    *mem.Store
	lease harness.Lease
	info  model.Info
	texts int
}

const random = "the system prompt"

func (l *life) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *life) add(r harness.Record) harness.Record {
	l.Helper()
	got, err := l.st.Transcript().Append(l.Context(), l.lease, r)
	l.must(err)
	return got[0]
}

// text is one that no other message has.
func (l *life) text() string {
	l.texts++
	return fmt.Sprintf("text %d. %s", l.texts, words(rapid.SampledFrom([]int{0, 3, 60, 900}).Draw(l.T, "words")))
}

// turn is one that may be condensed as it goes on, like a run drives it.
func (l *life) turn() {
	in := l.in()
	put := func(m harness.Message) {
		r := l.add(harness.Record{Kind: harness.RecordMessage, Message: &m})
		in.Turn, in.TurnRecords = append(in.Turn, m), append(in.TurnRecords, r.Seq)
	}
	m := harness.UserText(l.text())
	put(m)
	in.First = in.TurnRecords[0]
	for step := range rapid.IntRange(0, 6).Draw(l.T, "steps") {
		in = l.condense(in)
		l.check(in)
		a := harness.AssistantText(l.text())
		a.Model, a.Sent, a.Usage = "fake/m", &harness.Sent{Messages: 1_000}, &harness.Usage{Input: int64(rapid.IntRange(600, 1_800).Draw(l.T, "counted"))}
		n := rapid.IntRange(0, 3).Draw(l.T, "calls")
		for c := range n {
			id := fmt.Sprintf("c%d-%d", l.texts, c)
			a.Parts = append(a.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "look", Input: json.RawMessage(`{}`)}})
		}
		put(a)
		for c := range n {
			if rapid.IntRange(0, 9).Draw(l.T, "lost") == 0 {
				return // it was killed here
			}
			size := rapid.SampledFrom([]int{1, 50, 800}).Draw(l.T, "size")
			put(harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{
				CallID: a.Calls()[c].ID, Name: "look", Text: fmt.Sprint("result ", step, " ", words(size)),
			}}}})
		}
		if n == 0 {
			return
		}
	}
}

// in is what the next request is built from, read afresh.
func (l *life) in() memory.In {
	l.Helper()
	in := memory.In{Session: l.lease.Session, System: random, Info: l.info}
	s, err := l.st.Sessions().Get(l.Context(), l.lease.Session)
	if errors.Is(err, harness.ErrNotFound) {
		return in
	}
	l.must(err)
	in.History, err = memory.Load(l.Context(), l.st.Transcript(), s.ID, 0, l.info)
	l.must(err)
	in.Pinned, err = memory.Pinned(l.Context(), l.st.Transcript(), s, harness.Origin{})
	l.must(err)
	return in
}

// condense does so if it is time, with whatever a model may answer.
func (l *life) condense(in memory.In) memory.In {
	l.Helper()
	w := &writer{answer: func(r model.Request) (model.Reply, error) {
		if n := memory.Estimate(harness.UserText(r.System+r.Messages[0].Text())) + r.MaxOutput; n > l.info.Window {
			l.Fatalf("a request of %d tokens for a note", n)
		}
		switch rapid.IntRange(0, 5).Draw(l.T, "answer") {
		case 0:
			return says(""), nil
		case 1:
			return model.Reply{}, errors.New("broken")
		case 2:
			return says(r.Messages[0].Text()), nil
		default:
			return says("</condensed> Note. " + words(rapid.IntRange(0, 200).Draw(l.T, "note"))), nil
		}
	}}
	o := condense.Options{Model: w, Info: l.info, Asked: rapid.Bool().Draw(l.T, "asked")}
	before, err := json.Marshal(in)
	l.must(err)
	s, err := condense.Next(l.Context(), in, o)
	if len(w.asked) > 1 {
		l.Fatalf("%d calls in one go", len(w.asked))
	}
	if err != nil {
		if after, failed := json.Marshal(in); failed != nil || string(after) != string(before) {
			l.Fatal("a failure changed the conversation")
		}
		return in
	}
	data, err := json.Marshal(s.Condensed)
	l.must(err)
	l.add(harness.Record{Kind: harness.RecordCondensed, Data: data})
	if s.Turn > 0 && len(in.Turn)-s.Turn < 4 {
		l.Fatalf("%d of %d messages stay", len(in.Turn)-s.Turn, len(in.Turn))
	}
	in.Condensed, in.Turn, in.TurnRecords = &s.Condensed, in.Turn[s.Turn:], in.TurnRecords[s.Turn:]
	return in
}

// check composes a request and looks at all that every request must be.
func (l *life) check(in memory.In) {
	l.Helper()
	out, err := new(memory.Composer).Compose(l.Context(), in)
	l.must(err)
	msgs := out.Request.Messages
	l.must(memory.Legal(msgs))
	if out.Request.System != random || len(msgs) == 0 {
		l.Fatalf("system prompt %q, %d messages", out.Request.System, len(msgs))
	}
	if room := l.info.Window - out.Sent.Reply - memory.Measure(in, memory.View{}).Reply; out.Estimate > room+room/10 {
		l.Fatalf("%d tokens of %d", out.Estimate, room)
	}
	if out.Unpinned > 0 {
		l.Fatalf("%d pinned messages are left out", out.Unpinned)
	}
	var all strings.Builder
	for i := range msgs {
		all.WriteString(msgs[i].Text() + "\n")
	}
	rest := all.String()
	for _, text := range l.pinned() {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			l.Fatalf("the pinned %.20q is not in its place:\n%.3000s", text, all.String())
		}
		rest = after
	}
	if n := strings.Count(all.String(), "</condensed>"); n > 1 {
		l.Fatalf("the note has %d ends", n)
	}
}

// pinned are the texts that are pinned, by reading all there is.
func (l *life) pinned() []string {
	l.Helper()
	records, err := l.st.Transcript().Tail(l.Context(), l.lease.Session, 0, 0)
	l.must(err)
	type place struct {
		in  harness.SessionID
		seq int
	}
	pins := map[place]bool{}
	for _, r := range records {
		switch r.Kind {
		case harness.RecordReset:
			clear(pins)
		case harness.RecordPin:
			var p harness.Pin
			l.must(json.Unmarshal(r.Data, &p))
			in := r.In
			if p.In != "" {
				in = p.In
			}
			if in == l.lease.Session {
				in = ""
			}
			pins[place{in, p.Message}] = !p.Off
		default:
		}
	}
	var texts []string
	for _, r := range records {
		if r.Message != nil && pins[place{r.In, r.Seq}] {
			texts = append(texts, strings.TrimSpace(r.Message.Text()))
		}
	}
	return texts
}

// pin pins a message of the branch, or lets go of one.
func (l *life) pin() {
	records, err := l.st.Transcript().Tail(l.Context(), l.lease.Session, 0, 0)
	l.must(err)
	var found []harness.Record
	for _, r := range records {
		if r.Kind == harness.RecordReset {
			found = nil
		}
		if r.Message != nil && r.Message.Text() != "" && len(r.Message.Text()) < 400 {
			found = append(found, r)
		}
	}
	pins := len(l.pinned())
	if len(found) == 0 {
		return
	}
	r := rapid.SampledFrom(found).Draw(l.T, "pin")
	data, err := json.Marshal(harness.Pin{Message: r.Seq, In: r.In, Off: pins > 4 || rapid.IntRange(0, 3).Draw(l.T, "off") == 0})
	l.must(err)
	l.add(harness.Record{Kind: harness.RecordPin, Data: data})
}

// branch goes back to a record of the session's own log, and on from there.
func (l *life) branch() {
	records, err := l.st.Transcript().Log(l.Context(), l.lease.Session, 0, 0)
	l.must(err)
	if len(records) == 0 {
		return
	}
	l.must(l.st.Transcript().MoveHead(l.Context(), l.lease, rapid.SampledFrom(records).Draw(l.T, "head").Seq))
}

func (l *life) fork() {
	s, err := l.st.Sessions().Fork(l.Context(), l.lease.Session, harness.Origin{}, harness.Session{})
	l.must(err)
	l.acquire(s.ID)
}

func (l *life) acquire(id harness.SessionID) {
	var err error
	l.lease, err = l.st.Owners().Acquire(l.Context(), harness.Session{ID: id}, harness.Holder{})
	l.must(err)
}

func TestEveryRequestOfARandomConversationIsLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{T: rt, st: mem.New(harnesstest.NewClock().Now), info: info(rapid.SampledFrom([]int{6_000, 8_000, 16_000}).Draw(rt, "window"))}
		l.acquire("s")
		l.turn()
		for range rapid.IntRange(1, 6).Draw(rt, "acts") {
			switch rapid.SampledFrom([]string{"turn", "turn", "turn", "pin", "pin", "branch", "fork", "reset", "model", "prune"}).Draw(rt, "act") {
			case "turn":
				l.turn()
			case "pin":
				l.pin()
			case "branch":
				l.branch()
			case "fork":
				l.fork()
			case "reset":
				l.add(harness.Record{Kind: harness.RecordReset})
			case "model":
				l.info.Window = rapid.SampledFrom([]int{6_000, 8_000, 16_000, 64_000}).Draw(rt, "other window")
			case "prune":
				in := l.in()
				s, err := condense.Next(rt.Context(), in, condense.Options{Info: l.info, Prune: true})
				if err == nil {
					data, err := json.Marshal(s.Condensed)
					l.must(err)
					l.add(harness.Record{Kind: harness.RecordCondensed, Data: data})
				} else if !errors.Is(err, condense.ErrNothing) {
					rt.Fatal(err)
				}
			}
			in := l.in()
			in.Turn = []harness.Message{harness.UserText("now")}
			l.check(in)
		}
	})
}
