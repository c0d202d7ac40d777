package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Spending = (*Spending)(nil)

// Spending lets the processes that use a file share one budget.
type Spending struct{ d *DB }

// Spending returns the view that implements [harness.Spending].
func (d *DB) Spending() *Spending { return &Spending{d} }

// storedHold is the value of spending/<n>.
type storedHold struct {
	harness.Hold
	// Process names the lock file of the process that makes the call.
	Process harness.SessionID `json:"process"`
}

// keptHold is a hold under its key.
type keptHold struct {
	key []byte
	storedHold
}

// Hold implements [harness.Spending].
func (v *Spending) Hold(ctx context.Context, h harness.Hold, l harness.SpendingLimits) (string, error) {
	id := ""
	err := v.d.update(ctx, "hold money for a call of "+h.Model, func(t *tx) error {
		made, err := rules.NewHold(h, l, t.now)
		if err != nil {
			return err
		}
		made.Holder = t.d.fill(made.Holder)
		b, err := t.spending()
		if err != nil {
			return err
		}
		kept, err := b.holds()
		if err != nil {
			return err
		}
		spent, err := t.spent(made.Session, kept)
		if err != nil {
			return err
		}
		if err := spent.Refuse(made.Amount, l); err != nil {
			return err
		}
		process, err := t.process()
		if err != nil {
			return err
		}
		left, err := b.change(kept, "", nil)
		if err != nil {
			return err
		}
		id = made.ID
		if err := b.put(nextKey(kept), storedHold{made, process}); err != nil {
			return err
		}
		return t.countHolds(left + 1)
	})
	return id, err
}

// Settle implements [harness.Spending].
func (v *Spending) Settle(ctx context.Context, id string, unseen float64) error {
	return v.d.update(ctx, "settle what was held for a call", func(t *tx) error {
		b, ok, err := t.spendingIfAny()
		if err != nil || !ok {
			return err
		}
		kept, err := b.holds()
		if err != nil {
			return err
		}
		at := slices.IndexFunc(kept, func(k keptHold) bool { return k.ID == id && !k.Over })
		if at < 0 {
			return nil
		}
		to, err := rules.SettledHold(kept[at].Hold, unseen, t.now)
		if err != nil {
			return err
		}
		left, err := b.change(kept, id, to)
		if err != nil {
			return err
		}
		return t.countHolds(left)
	})
}

// holdings is the bucket of what is held.
type holdings struct{ bucket }

// spendingIfAny returns the bucket of what is held. Files that were made before
// there was one get it when something is held first.
func (t *tx) spendingIfAny() (holdings, bool, error) {
	t.touch(spendingName, nil)
	c, err := t.counters()
	if err != nil {
		return holdings{}, false, err
	}
	b := t.b.Bucket([]byte(spendingName))
	if b == nil && c.Holds != 0 {
		return holdings{}, false, t.d.damaged(spendingName, "the bucket is missing")
	}
	return holdings{bucket{t, b, spendingName}}, b != nil, nil
}

// spending returns the bucket of what is held, new if need be.
func (t *tx) spending() (holdings, error) {
	b, ok, err := t.spendingIfAny()
	if err != nil || ok {
		return b, err
	}
	t.dirty = true
	b.b, err = t.b.CreateBucket([]byte(spendingName))
	if err != nil {
		err = fmt.Errorf("make bucket %s: %w", spendingName, err)
	}
	return b, err
}

// holds returns all that is held. They are few: those of calls under way and of a
// day's broken ones. That there are as many as were counted shows that none
// vanished; a cairn that holds nothing leaves no number of them.
func (b holdings) holds() ([]keptHold, error) {
	c, err := b.t.counters()
	if err != nil {
		return nil, err
	}
	var all []keptHold
	err = b.each(nil, func(key, value []byte) (bool, error) {
		k := keptHold{key: bytes.Clone(key)}
		if err := b.decode(key, value, &k.storedHold); err != nil {
			return false, err
		}
		if _, ok := numberOf(key); !ok {
			return false, b.t.d.damaged(place(b.path, key), "it is no number")
		}
		all = append(all, k)
		return true, nil
	})
	if err == nil && c.Holds != 0 && len(all) != c.Holds {
		err = b.t.d.damaged(b.path, fmt.Sprintf("it has %d holds of %d", len(all), c.Holds))
	}
	return all, err
}

// nextKey returns the key of the next hold.
func nextKey(kept []keptHold) []byte {
	if len(kept) == 0 {
		return number(1)
	}
	last, _ := numberOf(kept[len(kept)-1].key)
	return number(last + 1)
}

// change stores what one of the holds becomes, which is nothing if to is nil, and
// drops those that count nowhere any more. It returns how many are left.
func (b holdings) change(kept []keptHold, id string, to *harness.Hold) (left int, err error) {
	for _, k := range kept {
		settled := k.ID == id
		switch {
		case settled && to != nil:
			left++
			err = b.put(k.key, storedHold{*to, k.Process})
		case settled, rules.HoldGone(k.Hold, b.t.now):
			err = b.del(k.key)
		default:
			left++
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

func (t *tx) countHolds(n int) error {
	c, err := t.counters()
	if err == nil {
		c.Holds = n
	}
	return err
}

// spent returns what was booked of a session and today, with what is held.
func (t *tx) spent(id harness.SessionID, kept []keptHold) (rules.Spent, error) {
	var spent rules.Spent
	s, ok, err := t.find(id)
	if err != nil {
		return spent, err
	}
	if ok {
		spent.Session = s.info.Usage.Cost
	}
	usage, err := t.root("usage")
	if err != nil {
		return spent, err
	}
	if day, ok := usage.sub(dayName(t.now)); ok {
		err = day.each(nil, func(key, value []byte) (bool, error) {
			var u harness.Usage
			err := day.decode(key, value, &u)
			spent.Day += u.Cost
			return true, err
		})
		if err != nil {
			return spent, err
		}
	}
	for _, k := range kept {
		alive := func() (bool, error) {
			_, alive, err := t.owner(k.Process, 1)
			return alive, err
		}
		if err := spent.Add(k.Hold, id, t.now, alive); err != nil {
			return spent, err
		}
	}
	return spent, nil
}

// checkSpending reads all that is held.
func (t *tx) checkSpending() error {
	b, ok, err := t.spendingIfAny()
	if err != nil || !ok {
		return err
	}
	_, err = b.holds()
	return err
}
