package index

import (
	"slices"
	"unicode/utf8"
)

// look counts the words that words returns for the term in all messages.
func (r *ranking) look(t *queryTerm, words func(*Segment, *queryTerm) ([]entry, error), weight int32) error {
	for i, s := range r.segments {
		entries, err := words(s, t)
		if err != nil {
			return err
		}
		for _, e := range entries {
			err := r.each(i, e, func(at, n int) {
				if r.counts[at] == 0 {
					r.holders = append(r.holders, int32(at))
				}
				r.counts[at] = min(r.counts[at]+weight*int32(min(n, countLimit)), wholeCount*countLimit)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// whole returns the word that a term is looked up by, if the segment has it.
func (s *Segment) whole(t *queryTerm) ([]entry, error) {
	e, ok, err := s.terms.find(t.stem)
	if !ok {
		return nil, err
	}
	return []entry{e}, err
}

// beginning returns the other words that begin like the term: like its stem if
// that is long enough to mean something, and like what was typed of the last
// word.
func (s *Segment) beginning(t *queryTerm) ([]entry, error) {
	prefix := t.stem
	if utf8.RuneCountInString(prefix) < 4 {
		if prefix = t.form; !t.last || utf8.RuneCountInString(prefix) < 2 {
			return nil, nil
		}
	}
	if t.quoted {
		return nil, nil
	}
	whole, ok, err := s.terms.find(t.stem)
	if err != nil {
		return nil, err
	}
	var found []entry
	err = s.terms.starting(prefix, func(e entry) {
		if !ok || e.ordinal != whole.ordinal {
			found = append(found, e)
		}
	})
	if err != nil {
		return nil, err
	}
	// The words that begin alike stand in a row: a stem is among them if its
	// ordinal is between the first and the last.
	have := func(ordinal int) bool {
		n := len(found)
		return ok && ordinal == whole.ordinal || n > 0 && ordinal >= found[0].ordinal && ordinal <= found[n-1].ordinal
	}
	var stems []int
	err = s.forms.starting(prefix, func(e entry) {
		if !have(e.value) {
			stems = append(stems, e.value)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(stems)
	for _, ordinal := range slices.Compact(stems) {
		e, err := s.terms.at(ordinal)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}
