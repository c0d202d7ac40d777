package bolt

import (
	"context"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// addUsage books tokens under the day and the model.
func (t *tx) addUsage(model string, u harness.Usage) error {
	if u == (harness.Usage{}) {
		return nil
	}
	usage, err := t.root("usage")
	if err != nil {
		return err
	}
	day, err := usage.make(dayName(t.now))
	if err != nil {
		return err
	}
	var sum harness.Usage
	if ok, err := day.get([]byte(model), &sum); err != nil {
		return err
	} else if !ok {
		c, err := t.counters()
		if err != nil {
			return err
		}
		c.Usages++
	}
	return day.put([]byte(model), sum.Add(u))
}

func dayName(at time.Time) string { return rules.Day(at) }

var _ harness.Ledger = (*Ledger)(nil)

// Ledger keeps account of the model calls of a file.
type Ledger struct{ d *DB }

// Ledger returns the view that implements [harness.Ledger].
func (d *DB) Ledger() *Ledger { return &Ledger{d} }

// Book implements [harness.Ledger].
func (v *Ledger) Book(ctx context.Context, id harness.SessionID, model string, u harness.Usage) error {
	if u == (harness.Usage{}) {
		return nil
	}
	return v.d.update(ctx, "book what session "+string(id)+" used", func(t *tx) error {
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if ok && s.info.Deleted == nil && !s.info.Hidden {
			s.info.Usage = s.info.Usage.Add(u)
			if err := s.save(); err != nil {
				return err
			}
		}
		return t.addUsage(model, u)
	})
}

// Days implements [harness.Ledger]. All days are looked at, so that one that
// vanished is noticed.
func (v *Ledger) Days(ctx context.Context, from, to time.Time) ([]harness.DayUsage, error) {
	first, last := dayName(from), dayName(to)
	var days []harness.DayUsage
	err := v.d.view(ctx, "read the usage from "+first+" to "+last, func(t *tx) error {
		days = nil
		usage, err := t.root("usage")
		if err != nil {
			return err
		}
		c, err := t.counters()
		if err != nil {
			return err
		}
		n := 0
		err = usage.each(nil, func(key, _ []byte) (bool, error) {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			date := string(key)
			day, err := usage.must(date)
			if err != nil {
				return false, err
			}
			return true, day.each(nil, func(key, value []byte) (bool, error) {
				n++
				u := harness.DayUsage{Day: date, Model: string(key)}
				err := day.decode(key, value, &u.Usage)
				if first <= date && date <= last {
					days = append(days, u)
				}
				return true, err
			})
		})
		if err == nil && n != c.Usages {
			err = t.d.damaged("usage", fmt.Sprintf("it has %d entries of %d", n, c.Usages))
		}
		return err
	})
	return days, err
}
