package bolt

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"cairn/harness"
	"cairn/storage/index"
)

// The postings are made from the conversations and from nothing else: segments
// of some hundred to some thousand messages, of one session or of many, as they
// came to be without one. No turn writes to them. What is in no segment is
// looked at when somebody searches, so whether there are segments shows only in
// how long that takes.
//
// They are not cut by session, as most sessions are short and would never fill
// one. Which records a segment covers is in its head, and that these are the
// records it was made from is seen by the checksum of the last of each range:
// there is no counter that a cairn that knows no postings could leave behind.
//
//nolint:gochecknoglobals // keys that nobody changes
var (
	keyHead = []byte("head")
	keyData = []byte("data")
)

// segmentHead says of what messages a segment is. Its documents are the
// messages among the records of the ranges.
type segmentHead struct {
	// Format is the version of the data; see [index.Build].
	Format int `json:"format"`
	// Sum is the checksum of the stored data.
	Sum    uint32    `json:"sum"`
	Ranges []covered `json:"ranges"`
}

// covered is a range of the records of a session.
type covered struct {
	Session harness.SessionID `json:"session"`
	From    int               `json:"from"`
	To      int               `json:"to"`
	// Sum is the checksum of the stored record To.
	Sum uint32 `json:"sum"`
}

// segment is what is known of a segment without reading its data.
type segment struct {
	name string
	// broken is why the head is not readable, nil if it is.
	broken error
	// stamp is the checksum of the stored head.
	stamp uint32
	segmentHead
}

// segmentFormat returns the version of the segments that this code makes, which
// is the first byte of each.
func segmentFormat() int { return int(index.Build(nil)[0]) }

// segments returns the segments in the order in which they were made.
func (t *tx) segments() ([]segment, error) {
	postings, err := t.root("postings")
	if err != nil {
		return nil, err
	}
	var all []segment
	err = postings.each(nil, func(key, _ []byte) (bool, error) {
		s := segment{name: string(key)}
		if s.broken = s.readHead(postings); s.broken != nil {
			t.d.log.Warn("a part of the search index is not readable; its messages are looked at", slog.Any("error", s.broken))
		}
		all = append(all, s)
		return true, nil
	})
	return all, err
}

// readHead reads the head of a segment. It refuses one that makes no sense.
func (s *segment) readHead(postings bucket) error {
	b, ok := postings.sub(s.name)
	if !ok {
		return s.unreadable(errors.New("it is no segment"))
	}
	raw := b.b.Get(keyHead)
	s.stamp = stampOf(raw)
	if err := decode(b.path, keyHead, raw, &s.segmentHead); err != nil {
		return s.unreadable(err)
	}
	for _, r := range s.Ranges {
		if r.From < 1 || r.To < r.From {
			return s.unreadable(fmt.Errorf("it covers records %d to %d", r.From, r.To))
		}
	}
	return nil
}

// errUnreadable says that a segment cannot be searched. That is no damage of
// anything that was said, as it can be made anew.
var errUnreadable = errors.New("not readable")

func (s *segment) unreadable(why error) error {
	return fmt.Errorf("postings/%s: %w: %w", s.name, errUnreadable, why)
}

// stampOf returns the checksum that a stored value carries, 0 if it has none.
func stampOf(raw []byte) uint32 {
	if len(raw) < valueHead {
		return 0
	}
	return binary.BigEndian.Uint32(raw[1:])
}

// segmentData returns the data of a segment, or why there is none any more.
func (t *tx) segmentData(s segment) ([]byte, error) {
	postings, err := t.root("postings")
	if err != nil {
		return nil, err
	}
	b, ok := postings.sub(s.name)
	if !ok || stampOf(b.b.Get(keyHead)) != s.stamp {
		return nil, notFound("segment", s.name)
	}
	raw := b.b.Get(keyData)
	if err := verify(b.path, keyData, raw); err != nil {
		return nil, s.unreadable(err)
	}
	if stampOf(raw) != s.Sum {
		return nil, s.unreadable(errors.New("it is not what its head says"))
	}
	data, err := decodeBytes(raw)
	if err != nil {
		return nil, s.unreadable(err)
	}
	return data, nil
}

// decodeBytes reads a verified value that is bytes. The JSON of some hundred
// kilobytes in base64 takes ten times as long with a reader of any JSON.
func decodeBytes(raw []byte) ([]byte, error) {
	text := raw[valueHead:]
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return nil, errors.New("the value is no string")
	}
	text = text[1 : len(text)-1]
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	return data[:n], err
}

// putSegment stores a segment behind all others.
func (t *tx) putSegment(h segmentHead, data []byte) (segment, error) {
	postings, err := t.root("postings")
	if err != nil {
		return segment{}, err
	}
	last, _ := postings.b.Cursor().Last()
	n := 0
	if last != nil {
		if n, err = strconv.Atoi(string(last)); err != nil {
			return segment{}, t.d.damaged(place("postings", last), "it is no segment")
		}
	}
	s := segment{name: fmt.Sprintf("%08d", n+1), segmentHead: h}
	b, err := postings.make(s.name)
	if err != nil {
		return s, err
	}
	if err := b.put(keyData, data); err != nil {
		return s, err
	}
	s.Sum = stampOf(b.b.Get(keyData))
	if err := b.put(keyHead, s.segmentHead); err != nil {
		return s, err
	}
	s.stamp = stampOf(b.b.Get(keyHead))
	return s, nil
}

// dropSegment removes a segment, also one that is broken.
func (t *tx) dropSegment(name string) error {
	postings, err := t.root("postings")
	if err != nil {
		return err
	}
	if _, ok := postings.sub(name); !ok {
		return postings.del([]byte(name))
	}
	return postings.drop(name)
}

// forgetPostings drops the segments that hold words of sessions, and those of
// which that cannot be told. The messages of others in them are in no segment
// then, until somebody makes the next.
func (t *tx) forgetPostings(gone map[harness.SessionID]bool) error {
	all, err := t.segments()
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.broken == nil && !s.names(gone) {
			continue
		}
		if err := t.dropSegment(s.name); err != nil {
			return err
		}
	}
	return nil
}

func (s *segment) names(any map[harness.SessionID]bool) bool {
	for _, r := range s.Ranges {
		if any[r.Session] {
			return true
		}
	}
	return false
}
