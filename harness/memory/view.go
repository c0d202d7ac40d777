package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"cairn/harness"
)

// Item is one message that may be in the context.
type Item struct {
	// Message is as it would be sent: what a tool returned may be pruned, a file
	// that the model cannot read named instead. What is stored is not changed.
	Message *harness.Message
	// At is where it is stored: an empty session is that of the request, record 0
	// is not known.
	At harness.Origin
	// Turn says that it is one of In.Turn, Pinned that it is pinned.
	Turn, Pinned bool

	// size is what it takes in tokens, by the estimate, 0 if that was not counted,
	// and pruned how many results in it are pruned.
	size, pruned int
}

// Size is what the message takes in tokens, by the estimate.
func (it *Item) Size() int {
	if it.size == 0 {
		it.size = estimate(it.Message)
	}
	return it.size
}

// View is the part of a conversation that may be in the context.
type View struct {
	// Condensed is the condensing in force, nil if there is none. Its origins are
	// like [Item.At].
	Condensed *harness.Condensed
	// Note stands for what is condensed, nil if nothing is.
	Note *harness.Message
	// Pins are the pinned messages before Items, in the order of the conversation.
	Pins []Item
	// Items are the messages that no reset and no condensing took out, oldest
	// first. Of the first Pruned the results of tools are pruned.
	Items  []Item
	Pruned int
	// Before counts the messages given that a reset or condensing took out, without
	// pinned ones.
	Before int
	// Gap says that there are messages before Items that were not given and that
	// nothing stands for.
	Gap bool

	// beyond counts the messages before Items that are more than a request could
	// have, without pinned ones.
	beyond int
}

// Look finds the messages of the context: those after the last reset, or those
// that the last condensing kept.
func Look(in In) (View, error) { return look(in, math.MaxInt) }

// look does so for the newest messages: as many as take most tokens and begin with
// one of the user, and some before, of which the model is told.
func look(in In, most int) (View, error) {
	f, err := inForce(in)
	if err != nil {
		return View{}, err
	}
	v := View{Condensed: f.condensed, Gap: f.gap}
	pinned := make(map[harness.Origin]bool, len(in.Pinned))
	for i := range in.Pinned {
		pinned[origin(in, &in.Pinned[i])] = true
	}
	for i := range in.Turn {
		it := Item{Message: &in.Turn[i], Turn: true}
		if i < len(in.TurnRecords) {
			it.At.Record = in.TurnRecords[i]
		} else if i == 0 && in.Condensed == nil {
			it.At.Record = in.First
		}
		v.Items = append(v.Items, it)
	}
	used, begun := v.sum()
	slices.Reverse(v.Items)
	for i, extra := len(in.History)-1, 0; i >= 0; i-- {
		r := &in.History[i]
		if r.Kind != harness.RecordMessage || r.Message == nil {
			continue
		}
		if begun && used > most {
			extra++
		}
		if i < f.floor || extra > leftOutLines {
			if len(pinned) == 0 || !pinned[origin(in, r)] {
				v.count(i < f.floor)
			}
			continue
		}
		it := Item{Message: r.Message, At: origin(in, r)}
		used, begun = used+it.sizeUpTo(most), begun || opens(r.Message)
		v.Items = append(v.Items, it)
	}
	slices.Reverse(v.Items)
	v.pin(in)
	v.prune()
	for i := range v.Items {
		v.Items[i].read(in)
	}
	for i := range v.Pins {
		v.Pins[i].read(in)
	}
	v.Note = noteOf(v, in)
	return v, nil
}

// noteOf is the note of the request. It was bounded for the window of the model
// that wrote it, which may have been a larger one.
func noteOf(v View, in In) *harness.Message {
	if v.Condensed == nil {
		return nil
	}
	c := *v.Condensed
	c.Note = Bounded(c.Note, windowOf(in.Info)/noteShare)
	return Note(&c, len(v.Pins))
}

// sum is what the items take, and whether one is of the user.
func (v *View) sum() (used int, begun bool) {
	for i := range v.Items {
		used += v.Items[i].Size()
		begun = begun || opens(v.Items[i].Message)
	}
	return used, begun
}

// count counts a message that is not among the items.
func (v *View) count(before bool) {
	if before {
		v.Before++
	} else {
		v.beyond++
	}
}

// sizeUpTo is the size, unless nobody asks for it.
func (it *Item) sizeUpTo(most int) int {
	if most == math.MaxInt {
		return 0
	}
	return it.Size()
}

// read replaces the files that the model cannot be given.
func (it *Item) read(in In) {
	if m := readable(it.Message, in.Info, in.Bare && !it.Turn, in.Bare); m != it.Message {
		it.Message, it.size = m, 0
	}
}

// pin marks what is pinned and takes up what of it is before the items.
func (v *View) pin(in In) {
	if len(in.Pinned) == 0 {
		return
	}
	at := make(map[harness.Origin]int, len(v.Items))
	for i := range v.Items {
		if o := v.Items[i].At; o.Record > 0 {
			at[o] = i
		}
	}
	for i := range in.Pinned {
		r := &in.Pinned[i]
		o := origin(in, r)
		if n, ok := at[o]; ok {
			v.Items[n].Pinned = true
		} else if r.Message != nil {
			v.Pins = append(v.Pins, Item{Message: r.Message, At: o, Pinned: true})
		}
	}
}

// prune replaces the results of tools that were pruned.
func (v *View) prune() {
	if v.Condensed == nil || v.Condensed.Pruned == nil {
		return
	}
	v.Pruned = max(0, slices.IndexFunc(v.Items, func(it Item) bool {
		return it.At.Session == v.Condensed.Pruned.Session && it.At.Record >= v.Condensed.Pruned.Record
	}))
	for i := range v.Items[:v.Pruned] {
		if it := &v.Items[i]; !it.Pinned {
			it.Message, it.pruned = Pruned(it.Message)
			it.size = 0
		}
	}
}

// origin is where a record is, an empty session for that of the request.
func origin(in In, r *harness.Record) harness.Origin {
	return here(in, harness.Origin{Session: r.In, Record: r.Seq})
}

// here writes an origin with an empty session for that of the request.
func here(in In, o harness.Origin) harness.Origin {
	if o.Session == in.Session {
		o.Session = ""
	}
	return o
}

// force is what says where the context begins.
type force struct {
	condensed *harness.Condensed
	// floor is the index of the first record in the context.
	floor int
	gap   bool
}

// inForce finds the last condensing or reset.
func inForce(in In) (force, error) {
	reset, last := -1, -1
	for i := len(in.History) - 1; i >= 0 && reset < 0; i-- {
		switch in.History[i].Kind {
		case harness.RecordReset:
			reset = i
		case harness.RecordCondensed:
			last = max(last, i)
		default:
		}
	}
	f := force{floor: reset + 1}
	if reset < 0 {
		f.gap = len(in.History) > 0 && in.History[0].Prev > 0
	}
	c, err := condensedAt(in, last)
	if err != nil || c == nil {
		return f, err
	}
	f.condensed = c
	if c.Kept == 0 {
		return f, nil
	}
	floor, found := keptAt(in, harness.Origin{Session: c.In, Record: c.Kept})
	f.floor, f.gap = max(f.floor, floor), !found
	return f, nil
}

// condensedAt reads the condensing in force: that of the turn, or else the record
// of that index. Its origins become those of the request.
func condensedAt(in In, i int) (*harness.Condensed, error) {
	var c harness.Condensed
	var of harness.SessionID
	switch {
	case in.Condensed != nil:
		c = *in.Condensed
	case i < 0:
		return nil, nil //nolint:nilnil // nothing was condensed
	default:
		r := &in.History[i]
		if err := json.Unmarshal(r.Data, &c); err != nil {
			return nil, fmt.Errorf("condensed record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
		}
		of = r.In
	}
	read := func(o harness.Origin) harness.Origin {
		return here(in, harness.Origin{Session: cmp.Or(o.Session, of), Record: o.Record})
	}
	c.In = read(harness.Origin{Session: c.In}).Session
	if c.Pruned != nil {
		o := read(*c.Pruned)
		c.Pruned = &o
	}
	c.Pins = slices.Clone(c.Pins)
	for i := range c.Pins {
		c.Pins[i] = read(c.Pins[i])
	}
	return &c, nil
}

// keptAt returns the index of the first record that a condensing kept; found is
// false if it lies before all that was given.
func keptAt(in In, kept harness.Origin) (floor int, found bool) {
	block := -1 // the last record of the log that it is in
	for i := len(in.History) - 1; i >= 0; i-- {
		if origin(in, &in.History[i]).Session == kept.Session {
			block = i
			break
		}
	}
	if block < 0 {
		// In the log of the session itself it can only be in the turn.
		if kept.Session == "" {
			return len(in.History), true
		}
		return 0, false
	}
	for i := block; i >= 0; i-- {
		o := origin(in, &in.History[i])
		if o.Session != kept.Session || o.Record < kept.Record {
			return i + 1, true
		}
		if o.Record == kept.Record {
			return i, true
		}
	}
	return 0, false
}
