package condense

import (
	"fmt"
	"math"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
)

const (
	// leastKept is how many of the newest messages always stay as they are.
	leastKept = 4
	// leastPart is the size in tokens below which messages are not worth a call.
	leastPart = 200
	// A note is a share of the window at most, so that it does not grow however
	// often it is written anew, and of the room for messages where that is small.
	noteShare = 12
	roomShare = 4
	leastNote = 200
	mostNote  = 8_000
	// A call that nobody asked for has to free a part of the room for messages, or
	// as many tokens where that is small: otherwise the next one would come in the
	// next turn. Until then the conversation may grow over the trigger, and what
	// does not fit the window is left out.
	worthShare = 4
	leastWorth = 600
	// keepShare and askedShare are the part of the room for messages, between what
	// every request has and the trigger, that the newest ones keep: half of it, so
	// that the next condensing is a while off, or an eighth if a person asks.
	keepShare  = 2
	askedShare = 8
)

// job is one condensing under way.
type job struct {
	in   memory.In
	o    Options
	v    memory.View
	size memory.Size
	// cuts says before which items a cut is legal.
	cuts []bool
	// cost is the size of each item in tokens, corrected, 0 of those that stay in
	// any case.
	cost []int
	// pruned is where results are left alone from, cleared how many results lose
	// their text that had it, saved how many tokens that is.
	pruned, cleared, saved int
}

// begin looks at a conversation. It returns [ErrNothing] below the trigger, and a
// [*FixedError] if no condensing could bring it there.
func begin(in memory.In, o Options) (*job, error) {
	v, err := memory.Look(in)
	if err != nil {
		return nil, fmt.Errorf("condense session %s: %w", in.Session, err)
	}
	j := &job{in: in, o: o, v: v, size: memory.Measure(in, v), pruned: v.Pruned}
	asked := o.Asked || o.Prune
	if !asked && j.size.Full < j.size.Trigger {
		return nil, ErrNothing
	}
	fixed := j.size.System + j.size.Tools + j.size.Recalled
	if !asked && fixed >= j.size.Trigger || fixed >= j.size.Window-j.size.Reply {
		return nil, j.fixed()
	}
	j.cuts = legalCuts(v.Items)
	j.prune()
	j.cost = make([]int, len(v.Items))
	for i := range j.v.Items {
		if it := &j.v.Items[i]; !it.Pinned {
			j.cost[i] = j.tokens(it.Size())
		}
	}
	return j, nil
}

func (j *job) fixed() error {
	e := &FixedError{
		System: j.size.System, Tools: j.size.Tools, Recalled: j.size.Recalled, Window: j.size.Window, Reply: j.size.Reply,
	}
	if n := len(j.v.Items); n > 0 {
		e.Message = j.tokens(j.v.Items[n-1].Size())
	}
	return e
}

// tokens corrects an estimate.
func (j *job) tokens(n int) int { return int(math.Ceil(float64(n) * j.size.Ratio)) }

// noteRoom is how long a note may be, in tokens.
func (j *job) noteRoom() int {
	return min(max(min(min(j.size.Window, windowOf(j.o.Info))/noteShare, j.talkRoom()/roomShare), leastNote), mostNote)
}

// talkRoom is the room for messages: what every request has leaves it below the
// trigger.
func (j *job) talkRoom() int {
	return j.size.Trigger - j.size.System - j.size.Tools - j.size.Recalled
}

func windowOf(info model.Info) int {
	if info.Window > 0 {
		return info.Window
	}
	return model.UnknownWindow
}

// before is the note so far, nil if there is none.
func (j *job) before() *harness.Condensed { return j.v.Condensed }

// noteNow is the size of the note so far in the request.
func (j *job) noteNow() int { return j.sizeOf(j.v.Note) }

// noteTokens is the size of another one in its place.
func (j *job) noteTokens(c *harness.Condensed) int { return j.sizeOf(memory.Note(c, len(j.v.Pins))) }

func (j *job) sizeOf(m *harness.Message) int {
	if m == nil {
		return 0
	}
	return j.tokens(memory.Estimate(*m))
}

// target is the cut up to which is to be condensed; 0 if none is legal or worth
// it. It is the first that leaves as much of the newest messages as there is to be
// place for, or else the last legal one.
func (j *job) target() int {
	share := keepShare
	if j.o.Asked {
		share = askedShare
	}
	place := j.talkRoom()/share - j.noteRoom()
	tail, best := 0, 0
	for i := len(j.v.Items) - 1; i > 0; i-- {
		tail += j.cost[i]
		if !j.legal(i) {
			continue
		}
		if best > 0 && tail > place {
			break
		}
		best = i
	}
	return best
}

// legal reports whether the context may begin with the item: no call is parted
// from its result, enough messages stay, and it is known where it is stored.
func (j *job) legal(i int) bool {
	return i > 0 && i <= len(j.v.Items)-leastKept && j.cuts[i] && j.v.Items[i].At.Record > 0
}

// legalCuts says for each item whether no call before it has its result at it or
// behind it.
func legalCuts(items []memory.Item) []bool {
	cuts := make([]bool, len(items)+1)
	called := map[string]int{}
	// open is how far calls reach: the last result of each.
	reach := make([]int, len(items))
	for i := range items {
		cuts[i] = items[i].Message.Role != harness.RoleTool
		for _, p := range items[i].Message.Parts {
			switch {
			case p.Call != nil:
				called[p.Call.ID] = i
			case p.Result != nil:
				if from, ok := called[p.Result.CallID]; ok {
					reach[from] = max(reach[from], i)
				}
			}
		}
	}
	last := 0
	for i := range items {
		cuts[i] = cuts[i] && last < i
		last = max(last, reach[i])
	}
	if len(items) > 0 {
		cuts[0] = true
	}
	cuts[len(items)] = true
	return cuts
}

// plan tells what there is to do: no calls if pruning is enough.
func (j *job) plan() (Plan, error) {
	p := Plan{Before: j.size.Full, After: j.size.Full - j.saved, CostKnown: true}
	enough := j.cleared > 0 && (j.o.Prune || !j.o.Asked && p.After < j.size.Trigger)
	to := j.target()
	if j.o.Prune || enough || sum(j.cost[:to]) < leastPart {
		return j.pruneOnly()
	}
	var usage harness.Usage
	note := j.noteNow()
	for from := 0; from < to; {
		part, err := j.part(from, to)
		if err != nil {
			return Plan{}, err
		}
		p.Calls++
		p.Messages += part.messages
		usage.Input += int64(j.tokens(part.tokens))
		usage.Output += int64(j.noteRoom())
		p.After += j.noteRoom() - note - sum(j.cost[from:part.to])
		note, from = j.noteRoom(), part.to
		if !j.o.Asked && p.After < j.size.Trigger {
			break
		}
	}
	if j.v.Gap {
		// What was not given takes calls of its own, and more than are made unasked.
		p.Calls, p.More = max(p.Calls, MaxUnasked+1), true
	}
	if !j.o.Asked && p.Calls <= MaxUnasked && !j.worth(p.After) {
		return j.notWorth()
	}
	p.After = max(p.After, 0)
	p.Tokens = int(usage.Input + usage.Output)
	usage = j.o.Info.Cost(usage)
	p.Cost, p.CostKnown = usage.Cost, usage.CostKnown
	return p, nil
}

// pruneOnly is the plan without a note.
func (j *job) pruneOnly() (Plan, error) {
	if j.cleared == 0 {
		return Plan{}, ErrNothing
	}
	return Plan{Before: j.size.Full, After: j.size.Full - j.saved, CostKnown: true}, nil
}

// crowded reports whether what every request carries leaves less than half of what
// it may be to messages.
func (j *job) crowded() bool { return j.talkRoom() < j.size.Trigger/2 }

// worth reports whether notes that nobody asked for are worth their calls: they free
// enough that the next ones are a while off.
func (j *job) worth(after int) bool {
	if j.size.Full-j.saved-after < max(j.talkRoom()/worthShare, leastWorth) {
		return false
	}
	return after < j.size.Trigger || !j.crowded()
}

// notWorth is the plan where notes would free too little. Once the window has no
// place for what was said, and what every request carries is to blame, that is an
// error with the sizes.
func (j *job) notWorth() (Plan, error) {
	if j.cleared == 0 && j.size.Full > j.size.Window-j.size.Reply && j.crowded() {
		return Plan{}, j.fixed()
	}
	return j.pruneOnly()
}

func sum(costs []int) int {
	n := 0
	for _, c := range costs {
		n += c
	}
	return n
}

// held is of how many tokens a note is to save a part: of the request, but where it
// was shown only what fits into one call, of what that held.
func (j *job) held(to int, s Step) int {
	if !s.More {
		return s.Condensed.Before
	}
	return min(s.Condensed.Before, sum(j.cost[:to])+j.noteNow())
}

// step is the condensing that keeps the items from an index on.
func (j *job) step(to int, note, by string, plan Plan) Step {
	c := harness.Condensed{Before: plan.Before, Cleared: j.cleared, Focus: j.o.Focus}
	if was := j.before(); was != nil {
		c.Note, c.Kept, c.In, c.Pruned, c.Messages, c.Model = was.Note, was.Kept, was.In, was.Pruned, was.Messages, was.Model
	}
	if j.cleared > 0 {
		at := j.v.Items[j.pruned].At
		c.Pruned = &at
	}
	for i := range j.in.Pinned {
		r := &j.in.Pinned[i]
		o := harness.Origin{Session: r.In, Record: r.Seq}
		if o.Session == j.in.Session {
			o.Session = ""
		}
		c.Pins = append(c.Pins, o)
	}
	s := Step{Condensed: c}
	c.After = j.size.Full - j.saved
	if to > 0 {
		kept := j.v.Items[to].At
		c.Kept, c.In, c.Note, c.Model = kept.Record, kept.Session, note, by
		for i := range j.v.Items[:to] {
			if !j.v.Items[i].Pinned {
				c.Dropped++
			}
			if j.v.Items[i].Turn {
				s.Turn++
			}
		}
		c.Messages += c.Dropped
		c.After += j.noteTokens(&c) - j.noteNow() - sum(j.cost[:to])
	}
	c.After = max(c.After, 0)
	s.Condensed = c
	return s
}
