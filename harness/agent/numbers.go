package agent

import (
	"slices"

	"cairn/harness/loop"
)

// Numbers are the record numbers of the messages of a turn that are in context,
// in the order of [loop.State.Messages]; 0 is one that is not known.
type Numbers []int

// Step returns the numbers after a record which led from one state to the next,
// and whose message, if it has one, was stored under number.
func (n Numbers) Step(before, after loop.State, number int) Numbers {
	n = slices.Clip(n.of(before))
	if taken := before.Count() - after.Count(); taken > 0 {
		return n[taken:]
	}
	for len(n) < after.Count() {
		n = append(n, number)
	}
	return n
}

// of returns n with as many numbers as the state has messages.
func (n Numbers) of(s loop.State) Numbers {
	if missing := s.Count() - len(n); missing > 0 {
		return append(make(Numbers, missing), n...)
	}
	return n
}
