package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrSegment says that bytes are no segment that this version reads. It is not
// the messages that are damaged: build the segment again from them.
var ErrSegment = errors.New("the search index is damaged or of another version")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSegment, fmt.Sprintf(format, args...))
}

// Segment is an opened segment. It reads from the bytes that it was opened
// with, which must not change.
type Segment struct {
	docs, tokens int
	part         [parts][]byte
	terms, forms dict
}

// OpenSegment opens what [Build] returned. It looks at the outline only: other
// damage is an error of the search that comes upon it. Neither panics on any
// bytes. Errors are [ErrSegment].
func OpenSegment(b []byte) (*Segment, error) {
	if len(b) == 0 || b[0] != Format {
		return nil, damaged("not version %d", Format)
	}
	r := reader{b[1:]}
	s := &Segment{}
	var sizes [parts]int
	var err error
	for _, to := range append([]*int{&s.docs, &s.tokens}, pointers(&sizes)...) {
		if *to, err = r.number(); err != nil {
			return nil, err
		}
	}
	for i, size := range sizes {
		if s.part[i], err = r.take(size); err != nil {
			return nil, err
		}
	}
	if len(r.b) != 0 || len(s.part[partLengths]) != s.docs {
		return nil, damaged("%d bytes too many, %d lengths of %d messages", len(r.b), len(s.part[partLengths]), s.docs)
	}
	if s.terms, err = openDict(s.part[partTerms]); err != nil {
		return nil, err
	}
	if s.forms, err = openDict(s.part[partForms]); err != nil {
		return nil, err
	}
	return s, nil
}

func pointers(sizes *[parts]int) []*int {
	var to []*int
	for i := range sizes {
		to = append(to, &sizes[i])
	}
	return to
}

// Docs returns the number of messages in the segment.
func (s *Segment) Docs() int { return s.docs }

// run is the messages of one session in a segment.
type run struct {
	session string
	// start and count say which of the segment's messages they are.
	start, count int
}

// runs calls yield with the sessions in order.
func (s *Segment) runs(yield func(run)) error {
	r := reader{s.part[partRuns]}
	start := 0
	for len(r.b) > 0 {
		size, err := r.number()
		if err != nil {
			return err
		}
		name, err := r.take(size)
		if err != nil {
			return err
		}
		count, err := r.number()
		if err != nil {
			return err
		}
		if count == 0 || count > s.docs-start {
			return damaged("%d messages of a session, %d left", count, s.docs-start)
		}
		yield(run{string(name), start, count})
		start += count
	}
	if start != s.docs {
		return damaged("%d of %d messages are of a session", start, s.docs)
	}
	return nil
}

// postings calls yield with the documents of a term, in order, and how often it
// occurs there.
func (s *Segment) postings(e entry, yield func(doc, n int)) error {
	r := reader{s.part[partPostings]}
	if _, err := r.take(e.before); err != nil {
		return err
	}
	own, err := r.take(e.value)
	if err != nil {
		return err
	}
	r = reader{own}
	for doc := -1; len(r.b) > 0; {
		step, err := r.number()
		if err != nil {
			return err
		}
		n := 1
		if step&1 == 1 {
			if n, err = r.number(); err != nil {
				return err
			}
		}
		if step>>1 == 0 || step>>1 >= s.docs-doc {
			return damaged("message %d of %d holds word %d", doc+step>>1, s.docs, e.ordinal)
		}
		doc += step >> 1
		yield(doc, n)
	}
	return nil
}

// reader takes values from the front of bytes.
type reader struct{ b []byte }

// number takes a count, which is below 2³¹.
func (r *reader) number() (int, error) {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := int(r.b[0])
		r.b = r.b[1:]
		return v, nil
	}
	return r.long()
}

// long takes a count of more than one byte.
func (r *reader) long() (int, error) {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt32 {
		return 0, damaged("no number at %d bytes before the end", len(r.b))
	}
	r.b = r.b[n:]
	return int(v), nil
}

// signed takes a number that may be negative.
func (r *reader) signed() (int64, error) {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		return 0, damaged("no number at %d bytes before the end", len(r.b))
	}
	r.b = r.b[n:]
	return v, nil
}

// take takes size bytes.
func (r *reader) take(size int) ([]byte, error) {
	if size < 0 || size > len(r.b) {
		return nil, damaged("%d bytes are to follow, %d do", size, len(r.b))
	}
	b := r.b[:size:size]
	r.b = r.b[size:]
	return b, nil
}

// suffix takes a word that shares its beginning with the one before it, whose
// bytes it reuses.
func (r *reader) suffix(before []byte) ([]byte, error) {
	shared, err := r.number()
	if err != nil {
		return nil, err
	}
	size, err := r.number()
	if err != nil {
		return nil, err
	}
	rest, err := r.take(size)
	if err != nil {
		return nil, err
	}
	if shared > len(before) {
		return nil, damaged("a word shares %d of %d bytes", shared, len(before))
	}
	return append(before[:shared], rest...), nil
}
