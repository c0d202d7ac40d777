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
	if _, err := day.get([]byte(model), &sum); err != nil {
		return err
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
		day, ok := usage.sub(name)
		if !ok {
			return nil
		}
		return day.each(nil, func(key, value []byte) (bool, error) {
			var u harness.Usage
			if err := day.decode(key, value, &u); err != nil {
				return false, fmt.Errorf("model %s: %w", key, err)
			}
			sums[string(key)] = u
			return true, nil
		})
	})
	return sums, err
}
