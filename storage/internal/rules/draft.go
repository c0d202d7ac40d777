package rules

import "cairn/harness"

// MaxPrompts is how many sent prompts are kept.
const MaxPrompts = 10000

// EmptyDraft reports whether there is nothing in d worth keeping.
func EmptyDraft(d harness.Draft) bool { return d.Text == "" && len(d.Queue) == 0 }

// OwnFirst orders prompts, newest first, so that those of one session come
// before the others, and cuts them to limit if that is above 0.
func OwnFirst(own, others []string, limit int) []string {
	all := append(own, others...)
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all
}
