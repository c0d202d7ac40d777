package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"cairn/harness"
	"cairn/harness/model"
)

const (
	// firstPage is how many records are read before their size is looked at; with a
	// small window fewer, but not below leastPage.
	firstPage = 256
	leastPage = 64
	pageShare = 256
	// allPage is how many are read at once where all are wanted.
	allPage = 4_096
	// reach is how many windows back the first record is looked for that the last
	// condensing kept.
	reach = 3
)

// Load reads the newest part of the branch before a record of the session, oldest
// first; record 0 is the end of the branch on screen. It reads back to what the
// last condensing kept, or to a reset, and of a conversation without either at
// least as much as can fit the window of the model. Its cost depends on the window
// and not on the length of the conversation: no record is read twice, and from the
// size of what was read it guesses how much is missing.
func Load(ctx context.Context, t harness.Transcript, id harness.SessionID, record int, info model.Info) ([]harness.Record, error) {
	return load(ctx, t, id, record, info, reach*windowOf(info))
}

// LoadAll reads like [Load], but always back to what the last condensing kept, a
// reset or the beginning, however far that is.
func LoadAll(ctx context.Context, t harness.Transcript, id harness.SessionID, record int) ([]harness.Record, error) {
	return load(ctx, t, id, record, model.Info{}, math.MaxInt)
}

func load(ctx context.Context, t harness.Transcript, id harness.SessionID, record int, info model.Info, most int) ([]harness.Record, error) {
	b := backwards{logs: map[harness.SessionID]bool{}}
	var before harness.Origin
	if record > 0 {
		before = harness.Origin{Session: id, Record: record}
	}
	for page := min(max(windowOf(info)/pageShare, leastPage), firstPage); ; {
		records, err := pageOf(ctx, t, id, before, page)
		if err != nil {
			return nil, fmt.Errorf("load session %s: %w", id, err)
		}
		if err := b.add(id, records); err != nil {
			return nil, fmt.Errorf("load session %s: %w", id, err)
		}
		if len(records) < page || b.enough(info, most) {
			slices.Reverse(b.pages)
			return slices.Concat(b.pages...), nil
		}
		before = harness.Origin{Session: cmp.Or(records[0].In, id), Record: records[0].Seq}
		page = b.missing(info, most)
	}
}

// pageOf reads the records before one, or the last of the branch on screen.
func pageOf(ctx context.Context, t harness.Transcript, id harness.SessionID, before harness.Origin, limit int) ([]harness.Record, error) {
	if before == (harness.Origin{}) {
		return t.Tail(ctx, id, 0, limit)
	}
	return t.Before(ctx, id, before, limit)
}

// backwards is what was read of a branch from its end.
type backwards struct {
	pages           [][]harness.Record
	records, tokens int
	// condensed says that a condensing was met, kept is the first record that it
	// kept, if it took any out; reset that a reset was met.
	condensed, reset bool
	kept             *harness.Origin
	logs             map[harness.SessionID]bool // those of which a record was read
}

// add takes in the page before what was read.
func (b *backwards) add(id harness.SessionID, page []harness.Record) error {
	b.pages = append(b.pages, page)
	b.records, b.tokens = b.records+len(page), b.tokens+size(page)
	for _, r := range slices.Backward(page) {
		b.logs[r.In] = true
		switch {
		case r.Kind == harness.RecordReset:
			b.reset = true
			return nil
		case r.Kind == harness.RecordCondensed && !b.condensed:
			var c harness.Condensed
			if err := json.Unmarshal(r.Data, &c); err != nil {
				return fmt.Errorf("condensed record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
			}
			b.condensed = true
			if c.Kept > 0 {
				b.kept = &harness.Origin{Session: here(In{Session: id}, harness.Origin{Session: cmp.Or(c.In, r.In)}).Session, Record: c.Kept}
			}
		}
	}
	return nil
}

// missing guesses how many records more are needed.
func (b *backwards) missing(info model.Info, most int) int {
	first := b.pages[len(b.pages)-1][0]
	if most == math.MaxInt && b.kept == nil {
		return allPage
	}
	n, window := allPage, windowOf(info)
	if b.kept != nil {
		window = most
		if first.In == b.kept.Session && first.Seq > b.kept.Record {
			n = min(n, first.Seq-b.kept.Record)
		}
	}
	switch {
	case window == math.MaxInt:
		return n
	case b.tokens < window:
		return min(n, max(leastPage, (window-b.tokens)*b.records/max(b.tokens, 1)*9/8))
	default:
		return min(n, max(leastPage, min(first.Seq, b.records)))
	}
}

// enough reports whether nothing before what was read is needed.
func (b *backwards) enough(info model.Info, most int) bool {
	first := b.pages[len(b.pages)-1][0]
	switch {
	case b.reset:
		return true
	case b.kept != nil && b.logs[b.kept.Session] && (first.In != b.kept.Session || first.Seq <= b.kept.Record):
		return true
	case b.tokens < windowOf(info) || most == math.MaxInt:
		return false
	case first.Prev == 0:
		// Nothing is before it in its log, but there may be in the one that it was
		// forked from: whoever sees it has to know that all was read.
		return false
	case b.kept != nil:
		return b.tokens >= most
	case float64(b.tokens) < float64(windowOf(info))/Ratio(In{History: b.pages[0], Info: info}):
		return false
	default:
		// If hardly more is left it is read as well: after a change to a model with a
		// smaller window all of it can be condensed then.
		return first.Seq > b.records || b.tokens >= most
	}
}

// size estimates the tokens of records.
func size(records []harness.Record) int {
	n := 0
	for i := range records {
		if m := records[i].Message; m != nil {
			n += estimate(m)
		}
	}
	return n
}
