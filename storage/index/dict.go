package index

import "encoding/binary"

// dictBlock is how many words share one entry of a dictionary's table: a
// look-up decodes at most one block.
const dictBlock = 16

// tableEntry is the size in bytes of one entry of the table: where the block
// begins, and the sum of all values before it.
const tableEntry = 8

// dictBuilder encodes sorted words, each with a value. A word is stored as how
// much it shares with the one before it, and the rest.
type dictBuilder struct {
	count, sum     int
	before         string
	table, entries []byte
}

func (d *dictBuilder) add(word string, value int) {
	shared := 0
	if d.count%dictBlock == 0 {
		d.table = binary.LittleEndian.AppendUint32(d.table, uint32(len(d.entries)))
		d.table = binary.LittleEndian.AppendUint32(d.table, uint32(d.sum))
	} else {
		for shared < len(word) && shared < len(d.before) && word[shared] == d.before[shared] {
			shared++
		}
	}
	d.entries = binary.AppendUvarint(d.entries, uint64(shared))
	d.entries = binary.AppendUvarint(d.entries, uint64(len(word)-shared))
	d.entries = append(d.entries, word[shared:]...)
	d.entries = binary.AppendUvarint(d.entries, uint64(value))
	d.count++
	d.sum += value
	d.before = word
}

func (d *dictBuilder) encode() []byte {
	return append(append(binary.AppendUvarint(nil, uint64(d.count)), d.table...), d.entries...)
}

// dict reads what a dictBuilder wrote.
type dict struct {
	count          int
	table, entries []byte
}

func openDict(b []byte) (dict, error) {
	r := reader{b}
	n, err := r.number()
	if err != nil {
		return dict{}, err
	}
	// A word takes three bytes at least.
	if n > len(r.b) {
		return dict{}, damaged("%d words in %d bytes", n, len(r.b))
	}
	table, err := r.take((n + dictBlock - 1) / dictBlock * tableEntry)
	return dict{count: n, table: table, entries: r.b}, err
}

// entry is one word of a dictionary.
type entry struct {
	ordinal int
	// value belongs to the word, and before is the sum of those of all words
	// before it.
	value, before int
}

// from calls yield with the words that are not less than word, in order, until
// it returns false. The bytes of a word are overwritten by the next.
func (d dict) from(word string, yield func([]byte, entry) bool) error {
	low, high := 0, len(d.table)/tableEntry
	for high-low > 1 {
		mid := (low + high) / 2
		first, err := d.first(mid)
		if err != nil {
			return err
		}
		if string(first) > word {
			high = mid
		} else {
			low = mid
		}
	}
	for block := low; block < len(d.table)/tableEntry; block++ {
		more, err := d.block(block, word, yield)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// open returns a reader at the beginning of a block and the sum before it.
func (d dict) open(block int) (reader, int, error) {
	at := d.table[block*tableEntry:]
	start := binary.LittleEndian.Uint32(at)
	if int64(start) > int64(len(d.entries)) {
		return reader{}, 0, damaged("a block of words begins behind the end")
	}
	return reader{d.entries[start:]}, int(binary.LittleEndian.Uint32(at[4:])), nil
}

// first returns the first word of a block, which shares nothing.
func (d dict) first(block int) ([]byte, error) {
	r, _, err := d.open(block)
	if err != nil {
		return nil, err
	}
	if shared, err := r.number(); err != nil || shared != 0 {
		return nil, damaged("a block of words begins with no whole one")
	}
	size, err := r.number()
	if err != nil {
		return nil, err
	}
	return r.take(size)
}

func (d dict) block(block int, from string, yield func([]byte, entry) bool) (more bool, err error) {
	r, sum, err := d.open(block)
	if err != nil {
		return false, err
	}
	var word []byte
	for i := block * dictBlock; i < min(d.count, (block+1)*dictBlock); i++ {
		if word, err = r.suffix(word); err != nil {
			return false, err
		}
		value, err := r.number()
		if err != nil {
			return false, err
		}
		if string(word) >= from && !yield(word, entry{i, value, sum}) {
			return false, nil
		}
		sum += value
	}
	return true, nil
}

// find returns the entry of word.
func (d dict) find(word string) (found entry, ok bool, err error) {
	err = d.from(word, func(at []byte, e entry) bool {
		if ok = string(at) == word; ok {
			found = e
		}
		return false
	})
	return found, ok, err
}

// starting calls yield with the words that begin with prefix.
func (d dict) starting(prefix string, yield func(entry)) error {
	return d.from(prefix, func(at []byte, e entry) bool {
		if len(at) < len(prefix) || string(at[:len(prefix)]) != prefix {
			return false
		}
		yield(e)
		return true
	})
}

// at returns the entry with this ordinal.
func (d dict) at(ordinal int) (found entry, err error) {
	if ordinal >= d.count {
		return entry{}, damaged("word %d of %d", ordinal, d.count)
	}
	_, err = d.block(ordinal/dictBlock, "", func(_ []byte, e entry) bool {
		found = e
		return e.ordinal < ordinal
	})
	return found, err
}
