package bolt

import (
	"context"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Prompts = (*Prompts)(nil)

// Prompts returns the view that implements [harness.Prompts].
func (d *DB) Prompts() *Prompts { return &Prompts{d} }

// Prompts is the history of sent prompts of a file.
type Prompts struct{ d *DB }

// prompt is the value of prompts/<seq>.
type prompt struct {
	Session harness.SessionID `json:"session"`
	Text    string            `json:"text"`
}

// Add implements [harness.Prompts].
func (v *Prompts) Add(ctx context.Context, id harness.SessionID, text string) error {
	return v.d.update(ctx, "keep a prompt", func(t *tx) error {
		prompts, err := t.root("prompts")
		if err != nil {
			return err
		}
		prompts.b.FillPercent = appendFill
		c, err := t.counters()
		if err != nil {
			return err
		}
		c.LastPrompt++
		if err := prompts.put(number(c.LastPrompt), prompt{id, text}); err != nil {
			return err
		}
		for ; c.LastPrompt-c.FirstPrompt >= rules.MaxPrompts; c.FirstPrompt++ {
			if err := prompts.del(number(c.FirstPrompt)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Recent implements [harness.Prompts].
func (v *Prompts) Recent(ctx context.Context, id harness.SessionID, limit int) ([]string, error) {
	var list []string
	err := v.d.view(ctx, "read prompts", func(t *tx) error {
		prompts, err := t.root("prompts")
		if err != nil {
			return err
		}
		c, err := t.counters()
		if err != nil {
			return err
		}
		var own, others []string
		hidden := map[harness.SessionID]bool{}
		for seq := c.LastPrompt; seq >= c.FirstPrompt && (limit <= 0 || len(own) < limit); seq-- {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			p, shown, err := t.prompt(prompts, seq, hidden)
			switch {
			case err != nil:
				return err
			case !shown:
			case p.Session == id:
				own = append(own, p.Text)
			case limit <= 0 || len(others) < limit:
				others = append(others, p.Text)
			}
		}
		list = rules.OwnFirst(own, others, limit)
		return nil
	})
	return list, err
}

// prompt reads a prompt; shown is false if its session is deleted or was removed
// for good.
func (t *tx) prompt(prompts bucket, seq int, hidden map[harness.SessionID]bool) (p prompt, shown bool, err error) {
	if err := prompts.need(number(seq), &p); err != nil || p == (prompt{}) {
		return p, false, err
	}
	gone, err := t.hides(hidden, p.Session)
	return p, !gone, err
}

// hides reports whether a session is deleted, remembering what it found.
func (t *tx) hides(known map[harness.SessionID]bool, id harness.SessionID) (bool, error) {
	if hidden, ok := known[id]; ok {
		return hidden, nil
	}
	s, ok, err := t.find(id)
	if err != nil {
		return false, err
	}
	known[id] = ok && s.info.Deleted != nil
	return known[id], nil
}
