package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
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
	// seen are the pages in use.
	seen map[uint64]bool
	free map[uint64]bool
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
	p := &pageTree{f: f, meta: m, seen: map[uint64]bool{}, free: make(map[uint64]bool, len(free))}
	for _, id := range free {
		p.free[id] = true
	}
	return p.walk(m.root, nil, nil)
}

// walk checks the page and all below it. Its keys have to be in [from, to),
// where nil is no bound.
func (p *pageTree) walk(id uint64, from, to []byte) error {
	raw, err := p.read(id)
	if err != nil {
		return err
	}
	return p.walkPage(id, raw, from, to)
}

// read returns a page with its overflow pages, and marks them as in use.
func (p *pageTree) read(id uint64) ([]byte, error) {
	size := uint64(p.meta.pageSize)
	if id < 2 || id >= p.meta.highWater {
		return nil, &treeError{id, "it is outside of the file"}
	}
	head := make([]byte, pageHeader)
	if _, err := p.f.ReadAt(head, int64(id*size)); err != nil {
		return nil, err
	}
	pages := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if got := binary.LittleEndian.Uint64(head); got != id {
		return nil, &treeError{id, fmt.Sprintf("it says to be page %d", got)}
	}
	if id+pages > p.meta.highWater {
		return nil, &treeError{id, "it is longer than the file"}
	}
	for i := id; i < id+pages; i++ {
		if p.seen[i] || p.free[i] || i == p.meta.freelist {
			return nil, &treeError{i, "it is used twice"}
		}
		p.seen[i] = true
	}
	raw := make([]byte, pages*size)
	if _, err := p.f.ReadAt(raw, int64(id*size)); err != nil {
		return nil, err
	}
	return raw, nil
}

// element is one element of a branch or leaf page.
type element struct {
	key, value []byte
	child      uint64 // of a branch
	bucket     bool   // of a leaf
}

func (p *pageTree) walkPage(id uint64, raw, from, to []byte) error {
	elements, leaf, err := parsePage(id, raw)
	if err != nil {
		return err
	}
	for i, e := range elements {
		next := to
		if i+1 < len(elements) {
			next = elements[i+1].key
		}
		if from != nil && bytes.Compare(e.key, from) < 0 || next != nil && bytes.Compare(e.key, next) >= 0 || len(e.key) == 0 {
			return &treeError{id, fmt.Sprintf("key %d is out of order", i)}
		}
		switch {
		case !leaf:
			err = p.walk(e.child, e.key, next)
		case e.bucket:
			err = p.walkBucket(id, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pageTree) walkBucket(id uint64, value []byte) error {
	if len(value) < bucketHeader {
		return &treeError{id, "a bucket in it is too short"}
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return p.walk(root, nil, nil)
	}
	return p.walkPage(id, value[bucketHeader:], nil, nil)
}

// parsePage reads the elements of a branch or leaf page.
func parsePage(id uint64, raw []byte) (elements []element, leaf bool, err error) {
	if len(raw) < pageHeader {
		return nil, false, &treeError{id, "it is too short"}
	}
	order := binary.LittleEndian
	flags, count := order.Uint16(raw[8:]), int(order.Uint16(raw[10:]))
	if flags != leafPageFlag && flags != branchPageFlag {
		return nil, false, &treeError{id, fmt.Sprintf("it is of kind %#x", flags)}
	}
	leaf = flags == leafPageFlag
	if !leaf && count == 0 || pageHeader+count*elementSize > len(raw) {
		return nil, leaf, &treeError{id, fmt.Sprintf("it has %d elements", count)}
	}
	elements = make([]element, count)
	for i := range elements {
		at := pageHeader + i*elementSize
		head := raw[at : at+elementSize]
		e := &elements[i]
		var pos, keySize, valueSize uint64
		if leaf {
			e.bucket = order.Uint32(head)&bucketFlag != 0
			pos, keySize, valueSize = uint64(order.Uint32(head[4:])), uint64(order.Uint32(head[8:])), uint64(order.Uint32(head[12:]))
		} else {
			pos, keySize, e.child = uint64(order.Uint32(head)), uint64(order.Uint32(head[4:])), order.Uint64(head[8:])
		}
		start := uint64(at) + pos
		if pos < elementSize || start+keySize+valueSize > uint64(len(raw)) {
			return nil, leaf, &treeError{id, fmt.Sprintf("element %d reaches over its end", i)}
		}
		e.key, e.value = raw[start:start+keySize], raw[start+keySize:start+keySize+valueSize]
	}
	return elements, leaf, nil
}
