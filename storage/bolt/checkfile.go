package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"

	"cairn/harness"
)

// Where things are in a bbolt file: a page begins with 16 bytes of header, and
// the first two pages hold a meta record each.
const (
	pageHeader   = 16
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	metaLength   = 64
	metaSumAt    = 56
	metaPageFlag = 0x04
	freePageFlag = 0x10
	noFreelist   = 1<<64 - 1
	minPageSize  = 1024
	maxPageSize  = 1024 << 14
)

// metaPage is what a bbolt meta record says.
type metaPage struct {
	pageSize           uint32
	root, freelist     uint64
	highWater          uint64
	transaction        uint64
	recognised, intact bool
}

// checkFile refuses what bbolt would panic on, fault on or take for new: files
// that are empty, of another kind, shorter than they say, or whose meta pages
// or free list make no sense. It only reads.
//
// A damaged meta page is an error though bbolt would use the other one: that
// one is the state before the last change.
func (d *DB) checkFile(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return d.foreign(kindOf(info.Mode()))
	case info.Size() == 0:
		return d.damaged("the whole file", "it is empty")
	}
	f, err := os.Open(d.path)
	if err != nil {
		return d.unusable(err)
	}
	m, err := d.readMetas(f, info.Size())
	if err == nil {
		_, err = d.readFreelist(f, m)
	}
	return errors.Join(err, f.Close())
}

// readMetas returns the current meta page of a file whose both meta pages are
// intact and which is as long as they say.
func (d *DB) readMetas(f io.ReaderAt, size int64) (metaPage, error) {
	first, err := readMeta(f, 0)
	if err != nil {
		return first, d.unusable(err)
	}
	pageSize := int64(first.pageSize)
	if !first.intact {
		if pageSize, err = secondMeta(f, size); err != nil {
			return first, d.unusable(err)
		}
		if pageSize == 0 && !first.recognised {
			if begun, err := beginsAsOurs(f); err != nil || begun {
				return first, errors.Join(d.damaged("the first pages", fmt.Sprintf("they are not readable in %d bytes", size)), err)
			}
			return first, fmt.Errorf("%s: %w; choose another directory with --dir or CAIRN_DIR, or move the file aside", d.path, harness.ErrForeign)
		}
		return first, d.damaged("page 0", "the meta page fails its checksum")
	}
	second, err := readMeta(f, pageSize)
	if err != nil {
		return first, d.unusable(err)
	}
	if !second.intact || second.pageSize != first.pageSize {
		return first, d.damaged("page 1", "the meta page fails its checksum")
	}
	current := first
	if second.transaction > first.transaction {
		current = second
	}
	if need := int64(current.highWater) * pageSize; current.highWater > 1<<40 || size < need {
		return first, d.damaged("the end of the file", fmt.Sprintf("it has %d bytes and should have %d", size, need))
	}
	if current.freelist == noFreelist {
		return first, d.foreign("another program's bbolt file")
	}
	if current.root >= current.highWater || current.freelist >= current.highWater {
		return first, d.damaged("the meta pages", "they name pages past the end")
	}
	return current, nil
}

// beginsAsOurs reports whether the file begins as a cut or zeroed database does,
// and not as something else.
func beginsAsOurs(f io.ReaderAt) (bool, error) {
	head := make([]byte, pageHeader)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	whole := make([]byte, pageHeader)
	zero := bytes.Equal(head[:n], whole[:n])
	whole[8] = metaPageFlag
	return zero || bytes.Equal(head[:n], whole[:n]), nil
}

// readMeta reads the meta record of the page at an offset. A page that is cut
// short is not intact.
func readMeta(f io.ReaderAt, at int64) (metaPage, error) {
	var buf [pageHeader + metaLength]byte
	if _, err := f.ReadAt(buf[:], at); err != nil && !errors.Is(err, io.EOF) {
		return metaPage{}, err
	}
	raw := buf[pageHeader:]
	// bbolt writes what the processor's order is; every processor it is built
	// for today is little-endian.
	order := binary.LittleEndian
	sum := fnv.New64a()
	if _, err := sum.Write(raw[:metaSumAt]); err != nil {
		return metaPage{}, err
	}
	m := metaPage{
		pageSize: order.Uint32(raw[8:]), root: order.Uint64(raw[16:]), freelist: order.Uint64(raw[32:]),
		highWater: order.Uint64(raw[40:]), transaction: order.Uint64(raw[48:]),
		recognised: order.Uint32(raw) == metaMagic,
	}
	m.intact = m.recognised && order.Uint32(raw[4:]) == metaVersion && sum.Sum64() == order.Uint64(raw[metaSumAt:]) &&
		m.pageSize >= minPageSize && m.pageSize <= maxPageSize
	return m, nil
}

// secondMeta looks for the second meta page where the first does not tell the
// page size, which it returns, or 0.
func secondMeta(f io.ReaderAt, size int64) (int64, error) {
	for at := int64(minPageSize); at <= maxPageSize && at < size; at *= 2 {
		m, err := readMeta(f, at)
		if err != nil {
			return 0, err
		}
		if m.intact && int64(m.pageSize) == at {
			return at, nil
		}
	}
	return 0, nil
}

// readFreelist reads the list of free pages, which must be sorted and within
// the file: writing by a wrong list would overwrite what is in use.
func (d *DB) readFreelist(f io.ReaderAt, m metaPage) ([]uint64, error) {
	where := fmt.Sprintf("page %d, the free list", m.freelist)
	order := binary.LittleEndian
	at := int64(m.freelist) * int64(m.pageSize)
	head := make([]byte, pageHeader+8)
	if _, err := f.ReadAt(head, at); err != nil {
		return nil, d.unusable(err)
	}
	count, from := uint64(order.Uint16(head[10:])), at+pageHeader
	if count == 0xFFFF {
		count, from = order.Uint64(head[pageHeader:]), from+8
	}
	pages := uint64(order.Uint32(head[12:])) + 1
	if order.Uint64(head) != m.freelist || order.Uint16(head[8:]) != freePageFlag ||
		m.freelist+pages > m.highWater || count > m.highWater || count*8 > pages*uint64(m.pageSize) {
		return nil, d.damaged(where, "its header is wrong")
	}
	raw := make([]byte, count*8)
	if _, err := f.ReadAt(raw, from); err != nil && count > 0 {
		return nil, d.unusable(err)
	}
	free := make([]uint64, 0, count)
	last := uint64(1)
	for ; len(raw) > 0; raw = raw[8:] {
		id := order.Uint64(raw)
		if id <= last || id >= m.highWater || id == m.root || id == m.freelist {
			return nil, d.damaged(where, fmt.Sprintf("it names page %d", id))
		}
		free, last = append(free, id), id
	}
	return free, nil
}
