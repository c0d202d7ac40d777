package temporal

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/run"
)

// knowledge is what this process knows of a run that it drives: what the workflow
// said, which only grows.
type knowledge struct {
	job     run.Job
	carried run.Carried
	entries []run.Entry
}

// maxKnown bounds the runs of which a process remembers the entries.
const maxKnown = 32

// know returns what there is to know of a run up to an entry, asking the workflow
// for what is missing.
func (b *Backend) know(ctx context.Context, id harness.RunID, cursor int) (knowledge, error) {
	b.mu.Lock()
	var k knowledge
	have, ok := b.knows[id]
	if ok {
		k = *have
	}
	b.mu.Unlock()
	if !ok {
		c, err := query[carried](ctx, b, id, askCarried)
		if err != nil {
			return k, err
		}
		k.carried = c.Carried
	}
	s, err := query[standing](ctx, b, id, askJob)
	if err != nil {
		return k, err
	}
	k.job = s.Job
	if len(k.entries) < k.job.Run.Cursor {
		more, err := b.read(ctx, id, len(k.entries))
		if err != nil {
			return k, err
		}
		k.entries = append(slices.Clip(k.entries), more...)
	}
	if len(k.entries) < cursor {
		return k, fmt.Errorf("run %s: its workflow has %d of %d entries; trying again", id, len(k.entries), cursor)
	}
	k.job.Run.Cursor = len(k.entries)
	b.remember(id, k)
	return k, nil
}

// remember keeps what is known of a run.
func (b *Backend) remember(id harness.RunID, k knowledge) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = append(slices.DeleteFunc(b.order, func(have harness.RunID) bool { return have == id }), id)
	b.knows[id] = &k
	for len(b.order) > maxKnown {
		delete(b.knows, b.order[0])
		b.order = b.order[1:]
	}
}
