package tree

// Tip is a branch by its ends: the row with which it leaves another, and the
// last one.
type Tip struct{ First, Last Row }

// Tips lists the branches among rows, for who cannot look at them: each once,
// by the row that nothing of it follows. A fork is a tip of its own.
func Tips(rows []Row) []Tip {
	var tips []Tip
	var first []Row // of the branch at each depth
	for _, r := range rows {
		if r.Fork != "" {
			tips = append(tips, Tip{r, r})
			continue
		}
		switch {
		case r.depth >= len(first):
			first = append(first, r)
		case r.leaves, r.depth < len(first)-1:
			first[r.depth] = r
		}
		first = first[:r.depth+1]
		if r.tip {
			tips = append(tips, Tip{first[r.depth], r})
		}
	}
	return tips
}
