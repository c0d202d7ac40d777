package tool

import (
	"errors"
	"fmt"

	"cairn/harness"
)

// Report tells whoever watches how far the call is. It may be called at any time and
// any number of times: what comes too fast, or too late, is left out.
func (c Call) Report(p harness.Progress) {
	if c.Progress != nil {
		c.Progress(p)
	}
}

// uncertainError marks an error as one after which nobody knows what was done.
type uncertainError struct{ error }

func (e uncertainError) Unwrap() error { return e.error }

// Uncertain marks an error as one after which nobody knows whether the call had an
// effect, such as a connection that broke while the answer was awaited. Its text must
// say so to the model. Nil stays nil.
func Uncertain(err error) error {
	if err == nil {
		return nil
	}
	return uncertainError{err}
}

func uncertain(err error) bool {
	var u uncertainError
	return errors.As(err, &u)
}

// Group puts tools into the set in the place of those that were given with the same
// group before, all at once: nobody sees a part of the change. New ones come to the
// end. A tool of no group, or of another one, keeps its name: what would take it is
// left out, as is what [Set.Add] would refuse. The errors tell of the tools that were
// left out, by their index; [ErrDuplicate] is one whose name is taken.
func (s *Set) Group(group string, tools []Tool) map[int]error {
	refused := map[int]error{}
	ready := make([]entry, 0, len(tools))
	at := make([]int, 0, len(tools))
	for i, t := range tools {
		e, err := prepare(t)
		if err != nil {
			refused[i] = fmt.Errorf("add tool %q: %w", t.Name, err)
			continue
		}
		e.group = group
		ready, at = append(ready, e), append(at, i)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := map[string]bool{}
	var before, after []entry
	place := &before
	for _, e := range s.tools {
		if e.group == group {
			place = &after
			continue
		}
		*place = append(*place, e)
		taken[e.tool.Name] = true
	}
	for i, e := range ready {
		if name := e.tool.Name; taken[name] {
			refused[at[i]] = fmt.Errorf("add tool %q: %w", name, ErrDuplicate)
			continue
		}
		taken[e.tool.Name] = true
		before = append(before, e)
	}
	s.put(append(before, after...))
	return refused
}

// put makes tools those of the set. The caller holds the lock and gives a slice that
// nobody else has.
func (s *Set) put(tools []entry) {
	s.tools, s.index = tools, make(map[string]int, len(tools))
	for i, e := range tools {
		s.index[e.tool.Name] = i
	}
}

// failureError is a failed result, as the model is to read it.
type failureError struct{ text string }

func (e failureError) Error() string { return e.text }

// Failure is an error whose text becomes the failed result as it is, with its lines:
// for a tool that had its work done elsewhere, where it failed.
func Failure(text string) error { return failureError{text} }
