package condense

import (
	"slices"

	"cairn/harness"
	"cairn/harness/memory"
)

const (
	// The newest results keep keepChars of text, and less is not pruned than
	// leastChars; with a small window both are a share of it.
	keepChars  = 160_000
	charsShare = 0.8
)

// prune finds out which results of tools lose their text: the old ones beyond what
// the newest keep, if that is worth a cache of the provider that goes with it.
func (j *job) prune() {
	keep := min(keepChars, int(float64(j.size.Window)*charsShare))
	least := keep / 2
	if j.o.Prune {
		keep, least = 0, 1
	}
	items := j.v.Items
	freed, had, found := 0, 0, -1
	for i := len(items) - 1 - leastKept; i >= j.pruned; i-- {
		if items[i].Pinned {
			continue
		}
		chars := textOf(items[i].Message)
		if found < 0 && had+chars <= keep {
			had += chars
			continue
		}
		if _, n := memory.Pruned(items[i].Message); n > 0 {
			found = max(found, i+1)
			freed += chars
		}
	}
	if found < 0 || freed < least {
		return
	}
	// What is pruned is named by the first record that is not.
	for found < len(items) && items[found].At.Record == 0 {
		found--
		if found <= j.pruned {
			return
		}
	}
	j.v.Items = slices.Clone(items)
	for i := j.pruned; i < found; i++ {
		it := &j.v.Items[i]
		if it.Pinned {
			continue
		}
		short := memory.Item{At: it.At, Turn: it.Turn}
		var n int
		short.Message, n = memory.Pruned(it.Message)
		j.cleared += n
		j.saved += j.tokens(it.Size()) - j.tokens(short.Size())
		*it = short
	}
	j.pruned = found
}

// imageText is what an image costs about, as if it were text, in bytes.
const imageText = 4_000

// textOf counts the bytes of results, with images as if they were text.
func textOf(m *harness.Message) int {
	n := 0
	for _, p := range m.Parts {
		if p.Result != nil {
			n += len(p.Result.Text) + imageText*len(p.Result.Files)
		}
	}
	return n
}
