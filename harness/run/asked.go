package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
)

// askedPage is how many records are read at once to find what was condensed since
// a run began.
const askedPage = 64

// asked returns what a person condensed last while a run rested, nil if that was
// nothing or the run itself has condensed since: the journal knows of its own only.
func (l *Local) asked(ctx context.Context, r harness.Run) (*harness.Condensed, error) {
	for before := (harness.Origin{}); ; {
		page, err := l.newest(ctx, r.Session, before)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		for _, rec := range slices.Backward(page) {
			switch {
			case rec.In != "" || rec.Seq <= r.First || rec.Kind == harness.RecordReset:
				return nil, nil //nolint:nilnil // nothing was condensed since
			case rec.Kind != harness.RecordCondensed:
			case rec.Run == r.ID:
				return nil, nil //nolint:nilnil // the run knows
			default:
				c := new(harness.Condensed)
				if err := json.Unmarshal(rec.Data, c); err != nil {
					return nil, fmt.Errorf("condensed record %d: %w: %w", rec.Seq, harness.ErrDamaged, err)
				}
				return c, nil
			}
		}
		if len(page) < askedPage {
			return nil, nil //nolint:nilnil // as above
		}
		before = harness.Origin{Session: r.Session, Record: page[0].Seq}
	}
}

// newest reads the records before one, or the last of the branch on screen.
func (l *Local) newest(ctx context.Context, id harness.SessionID, before harness.Origin) ([]harness.Record, error) {
	if before == (harness.Origin{}) {
		return l.o.Transcript.Tail(ctx, id, 0, askedPage)
	}
	page, err := l.o.Transcript.Before(ctx, id, before, askedPage)
	if errors.Is(err, harness.ErrNotFound) {
		return nil, nil
	}
	return page, err
}
