package bolt

import (
	"context"
	"fmt"
	"time"

	"cairn/harness"
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

// dayName is the local day: a person's spending limit is per day of theirs.
func dayName(at time.Time) string { return at.Local().Format(time.DateOnly) }

// Usage returns what was used on the local day of at, by model.
func (d *DB) Usage(ctx context.Context, at time.Time) (map[string]harness.Usage, error) {
	name := dayName(at)
	sums := map[string]harness.Usage{}
	err := d.view(ctx, "read the usage of "+name, func(t *tx) error {
		usage, err := t.root("usage")
		if err != nil {
			return err
		}
		c, err := t.counters()
		if err != nil {
			return err
		}
		// All days are looked at, so that one that vanished is noticed.
		n := 0
		err = usage.each(nil, func(key, _ []byte) (bool, error) {
			date := string(key)
			day, err := usage.must(date)
			if err != nil {
				return false, err
			}
			return true, day.each(nil, func(key, value []byte) (bool, error) {
				n++
				var u harness.Usage
				err := day.decode(key, value, &u)
				if date == name {
					sums[string(key)] = u
				}
				return true, err
			})
		})
		if err == nil && n != c.Usages {
			err = t.d.damaged("usage", fmt.Sprintf("it has %d entries of %d", n, c.Usages))
		}
		return err
	})
	return sums, err
}
