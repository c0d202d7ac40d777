package bolt

import (
	"bytes"
	"context"
)

// VectorRuns returns how many values the vectors of messages take, in all spaces.
func (d *DB) VectorRuns(ctx context.Context) (n int, err error) {
	err = d.view(ctx, "count", func(t *tx) error {
		all, ok := t.vectors()
		if !ok {
			return nil
		}
		return all.each(nil, func(key, value []byte) (bool, error) {
			if value == nil {
				b, _ := all.sub(string(key))
				messages, _ := b.sub("messages")
				n += messages.b.Stats().KeyN
			}
			return true, nil
		})
	})
	return n, err
}

// FlipVectors changes a byte of every value of the vectors of messages.
func (d *DB) FlipVectors(ctx context.Context) error {
	return d.update(ctx, "damage", func(t *tx) error {
		_, b, _ := t.space()
		messages, err := b.must("messages")
		if err != nil {
			return err
		}
		for _, key := range firstKeys(messages, 1000) {
			raw := bytes.Clone(messages.b.Get(key))
			raw[len(raw)/2] ^= 1
			t.dirty = true
			if err := messages.b.Put(key, raw); err != nil {
				return err
			}
		}
		return nil
	})
}
