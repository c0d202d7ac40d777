package foreign

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// Talk is a conversation as most programs keep it: turns that each name the one
// that they follow, so that an edited question or a second answer is a branch.
type Talk struct {
	// Name is the id and Source what it was read from; see [Session].
	Name, Title, Source string
	// Created and Updated are zero if they are not known.
	Created, Updated time.Time
	// System is the system prompt, Dir the directory in which it was begun.
	System, Dir string
	Tags        []string
	Pinned      bool
	Turns       []Turn
	// Head is the turn at which the branch on screen ends; without one of that key
	// it is the last.
	Head  string
	Usage harness.Usage
	Tasks []snapshot.Task
	left  map[string]bool
}

// Turn is one message of a [Talk].
type Turn struct {
	// Key names it and Parent the turn that it follows. One whose parent is not
	// there begins the conversation.
	Key, Parent string
	Role        harness.Role
	// At is zero if it is not known.
	At time.Time
	// Model is "provider/model" in answers.
	Model string
	Mark  harness.Mark
	Usage *harness.Usage
	// Parts are in order, whatever their kinds. A call has its id in Origin, a result
	// that of its call in CallID, both as they are spelt there and possibly empty.
	Parts []harness.Part
}

// Omit notes that something was left out; a text that is empty notes nothing.
func (t *Talk) Omit(what string) {
	if what == "" {
		return
	}
	if t.left == nil {
		t.left = map[string]bool{}
	}
	t.left[valid(what)] = true
}

// Session makes a document of the talk: turns without content are gone, those that
// follow them follow what was before, and records stand in the order in which they
// were said. Turns that follow one another in a circle are [harness.ErrDamaged].
func (t *Talk) Session() (Session, error) {
	w := weaver{talk: t, ends: map[int]knot{}}
	if err := w.link(); err != nil {
		return Session{}, err
	}
	order := w.order()
	if len(order) != w.kept {
		return Session{}, fmt.Errorf("%w: messages follow one another in a circle", harness.ErrDamaged)
	}
	w.builder = newBuilder([]byte(w.seed(order)))
	w.left = t.left
	if w.left == nil {
		w.left = map[string]bool{}
	}
	for _, i := range order {
		w.place(i)
	}
	d := snapshot.Document{
		ID: legalID(t.Name), Title: valid(strings.TrimSpace(t.Title)), Created: t.Created, Saved: t.Updated,
		Config: snapshot.Config{System: valid(t.System)}, Records: w.records, Head: w.head(), Usage: t.Usage, Tasks: t.Tasks, Artifacts: w.artifacts,
	}
	return Session{
		Document: d, Name: t.Name, Source: t.Source, Left: slices.Sorted(maps.Keys(w.left)),
		Tags: t.Tags, Pinned: t.Pinned, Dir: t.Dir,
	}, nil
}

// weaver makes a log with branches of a [Talk].
type weaver struct {
	*builder
	talk *Talk
	// above is the nearest turn with content before each turn, -1 if there is none,
	// and below are those after it; first are those that begin.
	above []int
	below [][]int
	first []int
	kept  int
	at    map[string]int
	// ends says how the log stands after each turn that was placed.
	ends map[int]knot
}

// knot is where a branch goes on.
type knot struct {
	// seq is the last record, 0 before the first.
	seq int
	// calls may be answered; nil if there were none yet.
	calls *callRow
	// ahead is reasoning that belongs to the answer that comes next.
	ahead []harness.Part
	when  time.Time
}

// callRow are the calls of one message, behind those of the messages before.
type callRow struct {
	calls []*call
	up    *callRow
}

// Bounds on the search for the call of a result: how many messages with calls are
// looked through, and how many calls are remembered apart for each branch.
const (
	maxRows   = 256
	maxForked = 64
)

// link finds out which turns have content and what follows what.
func (w *weaver) link() error {
	turns := w.talk.Turns
	w.at = make(map[string]int, len(turns))
	for i, t := range turns {
		if _, taken := w.at[t.Key]; !taken && t.Key != "" {
			w.at[t.Key] = i
		}
	}
	w.above, w.below = make([]int, len(turns)), make([][]int, len(turns))
	empty := make([]bool, len(turns))
	for i, t := range turns {
		empty[i] = !slices.ContainsFunc(t.Parts, func(p harness.Part) bool { return !blank(p) })
		w.above[i] = -1
		if p, ok := w.at[t.Parent]; ok && t.Parent != "" {
			w.above[i] = p
		}
	}
	for i := range turns {
		up, steps := w.above[i], 0
		for ; up >= 0 && empty[up]; up = w.above[up] {
			if steps++; steps > len(turns) {
				return fmt.Errorf("%w: messages follow one another in a circle", harness.ErrDamaged)
			}
		}
		// What was found is remembered, so that a long row of empty turns is walked once.
		for j := w.above[i]; j >= 0 && empty[j] && j != up; j, w.above[j] = w.above[j], up {
			continue
		}
		w.above[i] = up
		if empty[i] {
			continue
		}
		w.kept++
		if up < 0 {
			w.first = append(w.first, i)
		} else {
			w.below[up] = append(w.below[up], i)
		}
	}
	return nil
}

// waiting are turns whose parents are placed, the one said first at the top.
type waiting struct {
	turn []int
	when map[int]time.Time
}

// Len implements [heap.Interface].
func (q *waiting) Len() int { return len(q.turn) }

// Less implements [heap.Interface].
func (q *waiting) Less(i, j int) bool {
	a, b := q.turn[i], q.turn[j]
	return cmp.Or(q.when[a].Compare(q.when[b]), cmp.Compare(a, b)) < 0
}

// Swap implements [heap.Interface].
func (q *waiting) Swap(i, j int) { q.turn[i], q.turn[j] = q.turn[j], q.turn[i] }

// Push implements [heap.Interface].
func (q *waiting) Push(x any) { q.turn = append(q.turn, x.(int)) }

// Pop implements [heap.Interface].
func (q *waiting) Pop() any {
	last := q.turn[len(q.turn)-1]
	q.turn = q.turn[:len(q.turn)-1]
	return last
}

// order puts the turns in the order in which they were said, each after the one
// that it follows.
func (w *weaver) order() []int {
	q := &waiting{when: map[int]time.Time{}}
	add := func(i int, after time.Time) {
		q.when[i] = w.talk.Turns[i].At
		if q.when[i].Before(after) {
			q.when[i] = after
		}
		heap.Push(q, i)
	}
	for _, i := range w.first {
		add(i, time.Time{})
	}
	order := make([]int, 0, w.kept)
	for q.Len() > 0 {
		i := heap.Pop(q).(int)
		order = append(order, i)
		for _, child := range w.below[i] {
			add(child, q.when[i])
		}
	}
	return order
}

// seed is a digest of what was said, so that the ids of calls are the same when the
// same is read again.
func (w *weaver) seed(order []int) string {
	sum := sha256.New()
	hashed(sum, w.talk.Name)
	for _, i := range order {
		t := w.talk.Turns[i]
		hashed(sum, t.Key, string(t.Role))
		for _, p := range t.Parts {
			hashed(sum, string(p.Kind), p.Text)
			if p.Call != nil {
				hashed(sum, p.Call.Origin, p.Call.Name, string(p.Call.Input))
			}
			if p.Result != nil {
				hashed(sum, p.Result.CallID, p.Result.Name, p.Result.Text)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func hashed(into hash.Hash, texts ...string) {
	for _, text := range texts {
		// A hash takes everything.
		_, _ = io.WriteString(into, text)
		_, _ = into.Write([]byte{0})
	}
}

// place appends a turn behind the one that it follows.
func (w *weaver) place(i int) {
	t := w.talk.Turns[i]
	var k knot
	if up := w.above[i]; up >= 0 {
		k = w.ends[up]
		if len(w.below[up]) > 1 {
			k.calls = k.calls.forked()
		}
	}
	parts := slices.Concat(k.ahead, t.Parts)
	k.ahead = nil
	if !t.At.IsZero() {
		k.when = t.At
	}
	if w.leads(i) {
		k.ahead = parts
		w.ends[i] = k
		return
	}
	m := harness.Message{Role: t.Role, Mark: t.Mark}
	if t.Role == harness.RoleAssistant {
		m.Model, m.Usage = valid(t.Model), t.Usage
	}
	for len(parts) > 0 {
		own := m
		n := 0
		tool := toolPart(t.Role, parts[0])
		for ; n < len(parts) && (toolPart(t.Role, parts[n]) == tool || tool && parts[n].Kind == harness.PartFile); n++ {
			if p := parts[n]; !blank(p) {
				own.Parts = append(own.Parts, w.cleaned(p, &k))
			}
		}
		if tool {
			own.Role, own.Model, own.Usage, own.Mark = harness.RoleTool, "", nil, ""
		} else if len(own.Parts) > 0 {
			m.Usage = nil // one call of the model is counted once
		}
		parts = parts[n:]
		if len(own.Parts) == 0 {
			continue
		}
		if calls := own.Calls(); len(calls) > 0 {
			k.calls = &callRow{up: k.calls}
			for _, c := range calls {
				k.calls.calls = append(k.calls.calls, &call{id: c.ID, origin: c.Origin, name: c.Name})
			}
		}
		seq := len(w.records) + 1
		w.records = append(w.records, harness.Record{Seq: seq, Prev: k.seq, At: k.when, Kind: harness.RecordMessage, Message: &own})
		k.seq = seq
	}
	w.ends[i] = k
}

// toolPart reports whether a part goes into a message of a tool; so does a file
// right after it.
func toolPart(role harness.Role, p harness.Part) bool {
	return role == harness.RoleTool || p.Kind == harness.PartResult
}

// leads reports whether a turn is only the reasoning before the answers that follow
// it, whose part it then becomes.
func (w *weaver) leads(i int) bool {
	t := w.talk.Turns[i]
	if t.Role != harness.RoleAssistant || len(w.below[i]) == 0 {
		return false
	}
	for _, p := range t.Parts {
		if !blank(p) && p.Kind != harness.PartThinking {
			return false
		}
	}
	return !slices.ContainsFunc(w.below[i], func(child int) bool { return w.talk.Turns[child].Role != harness.RoleAssistant })
}

// cleaned is a part as it is stored: with legal texts, ids of its own and the bytes
// of its file apart.
func (w *weaver) cleaned(p harness.Part, k *knot) harness.Part {
	p.Text = valid(p.Text)
	switch {
	case p.Call != nil:
		return w.call(p.Call.Origin, p.Call.Name, p.Call.Input).Part
	case p.Result != nil:
		r := &harness.ToolResult{Name: valid(p.Result.Name), Text: valid(p.Result.Text), Failed: p.Result.Failed}
		if c := k.calls.answered(valid(p.Result.CallID), r.Name); c != nil {
			c.answered = true
			r.CallID, r.Name = c.id, c.name
		} else {
			r.CallID = w.mint()
		}
		p.Result = r
	case p.File != nil:
		f := *p.File
		f.Name, f.MediaType = valid(f.Name), valid(f.MediaType)
		if len(f.Data) > 0 {
			f.Artifact, f.Size, f.Data = w.artifact(f.MediaType, f.Data), int64(len(f.Data)), nil
		}
		p.File = &f
	}
	return p
}

// answered finds the call of a result: the nearest open one of its id, or without
// an id of its name; then one of the id that has an answer; then the first open one.
func (r *callRow) answered(origin, name string) *call {
	if r == nil {
		return nil
	}
	var same *call
	n := 0
	for row := r; row != nil && n < maxRows; row, n = row.up, n+1 {
		for _, c := range row.calls {
			if origin != "" && c.origin != origin || origin == "" && c.name != name {
				continue
			}
			if !c.answered {
				return c
			}
			if same == nil {
				same = c
			}
		}
		if origin == "" {
			break // a name says too little to go further back
		}
	}
	if origin != "" {
		return same
	}
	for _, c := range r.calls {
		if !c.answered {
			return c
		}
	}
	return nil
}

// forked is the row for one branch of several: what answers a call in one of them
// answers nothing in the others.
func (r *callRow) forked() *callRow {
	if r == nil || len(r.calls) > maxForked {
		return r
	}
	own := &callRow{up: r.up}
	for _, c := range r.calls {
		again := *c
		own.calls = append(own.calls, &again)
	}
	return own
}

// head is the record at which the branch on screen ends.
func (w *weaver) head() int {
	i, ok := w.at[w.talk.Head]
	if !ok || w.talk.Head == "" {
		return len(w.records)
	}
	if k, placed := w.ends[i]; placed && k.seq > 0 {
		return k.seq
	}
	if up := w.above[i]; up >= 0 && w.ends[up].seq > 0 {
		return w.ends[up].seq
	}
	return len(w.records)
}
