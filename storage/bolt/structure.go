package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

const (
	branchPageFlag = 0x01
	leafPageFlag   = 0x02
	// elementSize is the size of an element of a branch or leaf page, which the
	// keys and values follow.
	elementSize = 16
	// bucketFlag marks a leaf element that is a bucket; its value begins with
	// bucketHeader bytes, and an inline bucket's page follows them.
	bucketFlag   = 0x01
	bucketHeader = 16
)

// pageTree walks the pages of a file without bbolt, which follows whatever a
// damaged page says: over the end, in circles, or into pages that are free.
// Values are not looked at.
type pageTree struct {
	f    io.ReaderAt
	meta metaPage
	// used are the pages that were seen or are listed as free.
	used pageSet
	// levels are the pages between the root and the present one. Their memory
	// is used again.
	levels []*level
}

// level is the page that the walk is in at one depth.
type level struct {
	raw      []byte
	elements []element
}

// pageSet is a set of pages, as bits.
type pageSet []uint64

// add puts a page into the set and reports whether it was not in it.
func (s pageSet) add(id uint64) bool {
	word, bit := id/64, uint64(1)<<(id%64)
	was := s[word]&bit != 0
	s[word] |= bit
	return !was
}

// treeError says what is wrong with which page.
type treeError struct {
	page uint64
	what string
}

func (e *treeError) Error() string { return fmt.Sprintf("page %d: %s", e.page, e.what) }

// checkTree checks the pages that can be reached from the root, and that none
// of them is listed as free.
func checkTree(f io.ReaderAt, m metaPage, free []uint64) error {
	p := &pageTree{f: f, meta: m, used: make(pageSet, m.highWater/64+1)}
	for _, id := range free {
		p.used.add(id)
	}
	p.used.add(m.freelist)
	return p.walk(0, m.root, nil, nil)
}

// walk checks the page and all below it. Its keys have to be in [from, to),
// where nil is no bound.
func (p *pageTree) walk(depth int, id uint64, from, to []byte) error {
	l := p.level(depth)
	if err := p.read(l, id); err != nil {
		return err
	}
	return p.walkPage(depth, id, l.raw, from, to)
}

func (p *pageTree) level(depth int) *level {
	if depth == len(p.levels) {
		p.levels = append(p.levels, &level{})
	}
	return p.levels[depth]
}

// read reads a page with its overflow pages, and marks them as in use.
func (p *pageTree) read(l *level, id uint64) error {
	size := uint64(p.meta.pageSize)
	if id < 2 || id >= p.meta.highWater {
		return &treeError{id, "it is outside of the file"}
	}
	l.raw = slices.Grow(l.raw[:0], int(size))[:size]
	if _, err := p.f.ReadAt(l.raw, int64(id*size)); err != nil {
		return err
	}
	pages := uint64(binary.LittleEndian.Uint32(l.raw[12:])) + 1
	if got := binary.LittleEndian.Uint64(l.raw); got != id {
		return &treeError{id, fmt.Sprintf("it says to be page %d", got)}
	}
	if id+pages > p.meta.highWater {
		return &treeError{id, "it is longer than the file"}
	}
	for i := id; i < id+pages; i++ {
		if !p.used.add(i) {
			return &treeError{i, "it is used twice"}
		}
	}
	if pages == 1 {
		return nil
	}
	l.raw = slices.Grow(l.raw, int((pages-1)*size))[:pages*size]
	_, err := p.f.ReadAt(l.raw[size:], int64((id+1)*size))
	return err
}

// element is one element of a branch or leaf page.
type element struct {
	key, value []byte
	child      uint64 // of a branch
	bucket     bool   // of a leaf
}

func (p *pageTree) walkPage(depth int, id uint64, raw, from, to []byte) error {
	l := p.level(depth)
	leaf, err := l.parse(id, raw)
	if err != nil {
		return err
	}
	for i, e := range l.elements {
		next := to
		if i+1 < len(l.elements) {
			next = l.elements[i+1].key
		}
		if from != nil && bytes.Compare(e.key, from) < 0 || next != nil && bytes.Compare(e.key, next) >= 0 || len(e.key) == 0 {
			return &treeError{id, fmt.Sprintf("key %d is out of order", i)}
		}
		switch {
		case !leaf:
			err = p.walk(depth+1, e.child, e.key, next)
		case e.bucket:
			err = p.walkBucket(depth+1, id, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pageTree) walkBucket(depth int, id uint64, value []byte) error {
	if len(value) < bucketHeader {
		return &treeError{id, "a bucket in it is too short"}
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return p.walk(depth, root, nil, nil)
	}
	return p.walkPage(depth, id, value[bucketHeader:], nil, nil)
}

// parse reads the elements of a branch or leaf page.
func (l *level) parse(id uint64, raw []byte) (leaf bool, err error) {
	if len(raw) < pageHeader {
		return false, &treeError{id, "it is too short"}
	}
	order := binary.LittleEndian
	flags, count := order.Uint16(raw[8:]), int(order.Uint16(raw[10:]))
	if flags != leafPageFlag && flags != branchPageFlag {
		return false, &treeError{id, fmt.Sprintf("it is of kind %#x", flags)}
	}
	leaf = flags == leafPageFlag
	if !leaf && count == 0 || pageHeader+count*elementSize > len(raw) {
		return leaf, &treeError{id, fmt.Sprintf("it has %d elements", count)}
	}
	l.elements = slices.Grow(l.elements[:0], count)
	for i := range count {
		at := pageHeader + i*elementSize
		head := raw[at : at+elementSize]
		var e element
		var pos, keySize, valueSize uint64
		if leaf {
			e.bucket = order.Uint32(head)&bucketFlag != 0
			pos, keySize, valueSize = uint64(order.Uint32(head[4:])), uint64(order.Uint32(head[8:])), uint64(order.Uint32(head[12:]))
		} else {
			pos, keySize, e.child = uint64(order.Uint32(head)), uint64(order.Uint32(head[4:])), order.Uint64(head[8:])
		}
		start := uint64(at) + pos
		if pos < elementSize || start+keySize+valueSize > uint64(len(raw)) {
			return leaf, &treeError{id, fmt.Sprintf("element %d reaches over its end", i)}
		}
		e.key, e.value = raw[start:start+keySize], raw[start+keySize:start+keySize+valueSize]
		l.elements = append(l.elements, e)
	}
	return leaf, nil
}
