package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/tool/ask"
)

// leastWindow is the smallest window of a model that is taken over from somebody
// else's file: with less nothing could be said any more.
const leastWindow = 1_024

// learnImported takes over what refusals taught elsewhere about models that can be
// called here, where it is stricter than what is known here, and returns the models
// of which nothing is taken over.
func (a *app) learnImported(ctx context.Context, st Store, learned map[string]snapshot.Learned) (left []string, err error) {
	if len(learned) == 0 {
		return nil, nil
	}
	known, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	for _, model := range slices.Sorted(maps.Keys(learned)) {
		l := learned[model]
		name, err := known.Validate(ctx, model)
		if st.Limits == nil || err != nil || name != model || l.Window != 0 && l.Window < leastWindow || l.Reply < 0 || l.Window < 0 {
			left = append(left, model)
			continue
		}
		have, err := st.Limits.Get(ctx, model)
		if err != nil {
			return nil, fmt.Errorf("learned limits: %w", err)
		}
		next := harness.LearnedLimits{Window: stricter(have.Window, l.Window), Reply: stricter(have.Reply, l.Reply)}
		if next == (harness.LearnedLimits{}) {
			continue
		}
		if err := st.Limits.Learn(ctx, model, next); err != nil {
			return nil, fmt.Errorf("learned limits: %w", err)
		}
	}
	return left, nil
}

// stricter returns a number that is to be learned, 0 if the one that is known is as
// strict.
func stricter(known, taught int) int {
	if known != 0 && known <= taught {
		return 0
	}
	return taught
}

// addLearned adds to a document what was learned of the models that wrote in it.
func addLearned(ctx context.Context, st Store, d *snapshot.Document) error {
	if st.Limits == nil {
		return nil
	}
	seen := map[string]bool{"": true}
	for _, r := range d.Records {
		if r.Message == nil || seen[r.Message.Model] {
			continue
		}
		model := r.Message.Model
		seen[model] = true
		l, err := st.Limits.Get(ctx, model)
		if err != nil {
			return fmt.Errorf("learned limits: %w", err)
		}
		if l == (harness.LearnedLimits{}) {
			continue
		}
		if d.Learned == nil {
			d.Learned = map[string]snapshot.Learned{}
		}
		d.Learned[model] = snapshot.Learned{Window: l.Window, Reply: l.Reply}
	}
	return nil
}

// tasksTold reports whether the messages of a document tell its task list: then it
// goes on with them.
func tasksTold(d snapshot.Document) bool {
	for _, r := range slices.Backward(d.Branch()) {
		if r.Message == nil {
			continue
		}
		for _, c := range slices.Backward(r.Message.Calls()) {
			if c.Name != ask.TodosTool {
				continue
			}
			list, err := ask.Todos(c.Input)
			return err == nil && slices.EqualFunc(list, d.Tasks, func(a ask.Todo, b snapshot.Task) bool {
				return a.Text == b.Text && string(a.Status) == b.Status
			})
		}
	}
	return false
}
