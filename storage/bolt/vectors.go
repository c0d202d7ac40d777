package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"cairn/harness"
	"cairn/harness/memory/near"
	"cairn/storage/index"
)

// The vectors of messages, facts and notes are made by a model from their texts and
// from nothing else, so all of it can be made anew; no conversation hangs on it. A
// cairn that knows none leaves the bucket alone:
//
//	vectors/space               of which model they are, and <n>
//	vectors/claim               who makes them now, and until when others wait
//	vectors/<n>/messages/<session> 0 <from>   those of a run of records
//	vectors/<n>/items/<id>      those of a fact or note
//
// The records of a session follow one another without a gap, each run with as many
// windows as fit one value, so that a turn writes a few kilobytes. The last run says
// how far a session is done. A fork has no vectors of what it shares, as the records
// of its parent are not its own.
//
//nolint:gochecknoglobals // keys that nobody changes
var (
	keySpace = []byte("space")
	keyClaim = []byte("claim")
)

const (
	vectorsName = "vectors"
	// runWindows is how many windows one value holds, runRecords how many records.
	runWindows = 24
	runRecords = 400
	// claimFor is how long others wait for a process that says nothing.
	claimFor = time.Minute
)

var _ near.Store = (*Vectors)(nil)

// Vectors keeps the vectors of what is in the file.
type Vectors struct {
	d     *DB
	cache vectorCache
}

// Vectors returns what implements [near.Store]. It remembers what it read, so there
// should be one for a process.
func (d *DB) Vectors() *Vectors { return &Vectors{d: d} }

// storedSpace is the value of vectors/space.
type storedSpace struct {
	near.Space
	// N names the bucket of the vectors.
	N int `json:"n"`
}

func (s storedSpace) bucket() string { return fmt.Sprintf("%08d", s.N) }

// claim is the value of vectors/claim.
type claim struct {
	// Process names the lock file that says that the process lives.
	Process harness.SessionID `json:"process"`
	Until   time.Time         `json:"until"`
}

// vectors returns the bucket, if there is one.
func (t *tx) vectors() (bucket, bool) {
	t.touch(vectorsName, nil)
	b := t.b.Bucket([]byte(vectorsName))
	return bucket{t, b, vectorsName}, b != nil
}

// makeVectors returns the bucket, new if need be.
func (t *tx) makeVectors() (bucket, error) {
	if b, ok := t.vectors(); ok {
		return b, nil
	}
	t.dirty = true
	b, err := t.b.CreateBucket([]byte(vectorsName))
	if err != nil {
		err = fmt.Errorf("make bucket %s: %w", vectorsName, err)
	}
	return bucket{t, b, vectorsName}, err
}

// space returns of what the vectors are, and their bucket; false if there are none.
// What cannot be read counts as none, and is made anew.
func (t *tx) space() (s storedSpace, in bucket, ok bool) {
	all, ok := t.vectors()
	if !ok {
		return s, all, false
	}
	if ok, err := all.get(keySpace, &s); err != nil || !ok {
		return s, all, false
	}
	in, ok = all.sub(s.bucket())
	return s, in, ok
}

// in returns the bucket of a space, or [near.ErrMoved].
func (t *tx) inSpace(want near.Space) (bucket, error) {
	s, b, ok := t.space()
	if !ok || s.Space != want {
		return b, near.ErrMoved
	}
	return b, nil
}

// Space implements [near.Vectors].
func (v *Vectors) Space(ctx context.Context) (s near.Space, ok bool, err error) {
	err = v.d.view(ctx, "look for vectors", func(t *tx) error {
		var stored storedSpace
		stored, _, ok = t.space()
		s = stored.Space
		return nil
	})
	return s, ok, err
}

// Begin implements [near.Maker].
func (v *Vectors) Begin(ctx context.Context, s near.Space) error {
	err := v.d.update(ctx, "begin vectors", func(t *tx) error {
		all, err := t.makeVectors()
		if err != nil {
			return err
		}
		var last storedSpace
		if _, err := all.get(keySpace, &last); err != nil {
			t.d.log.Warn("vectors are not readable; they are made anew", slog.String("error", err.Error()))
		}
		n := last.N
		err = all.each(nil, func(key, value []byte) (bool, error) {
			if m, err := strconv.Atoi(string(key)); err == nil && value == nil {
				n = max(n, m)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		stored := storedSpace{Space: s, N: n + 1}
		b, err := all.make(stored.bucket())
		if err != nil {
			return err
		}
		for _, name := range []string{"messages", "items"} {
			if _, err := b.make(name); err != nil {
				return err
			}
		}
		return all.put(keySpace, stored)
	})
	if err != nil {
		return err
	}
	return v.dropOthers(ctx)
}

// dropSlice is how many values one transaction removes.
const dropSlice = 200

// dropOthers removes the vectors of other spaces, some in each transaction.
func (v *Vectors) dropOthers(ctx context.Context) error {
	for {
		done := false
		err := v.d.update(ctx, "drop vectors", func(t *tx) error {
			all, ok := t.vectors()
			name := ""
			if ok {
				name = all.otherSpace()
			}
			if done = name == ""; done {
				return nil
			}
			return all.dropSome(name)
		})
		if err != nil || done {
			return err
		}
	}
}

// otherSpace returns a bucket of vectors that are of no use, "" if there is none.
// Where it cannot be read which are of use all stay until they are made anew.
func (b bucket) otherSpace() (name string) {
	var s storedSpace
	if _, err := b.get(keySpace, &s); err != nil {
		return ""
	}
	c := b.b.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if value == nil && string(key) != s.bucket() {
			return string(key)
		}
	}
	return ""
}

// dropSome removes some values of a space, and its bucket with the last ones.
func (b bucket) dropSome(name string) error {
	space, ok := b.sub(name)
	if !ok {
		return nil
	}
	n := 0
	for _, name := range []string{"messages", "items"} {
		in, ok := space.sub(name)
		if !ok {
			continue
		}
		keys := firstKeys(in, dropSlice-n)
		for _, key := range keys {
			if err := in.del(key); err != nil {
				return err
			}
		}
		n += len(keys)
	}
	if n < dropSlice {
		return b.drop(name)
	}
	return nil
}

func firstKeys(b bucket, limit int) [][]byte {
	var keys [][]byte
	c := b.b.Cursor()
	for k, _ := c.First(); k != nil && len(keys) < limit; k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	return keys
}

// runKey is the key of the vectors of records of a session from one on.
func runKey(id harness.SessionID, from int) []byte {
	return append(sessionPrefix(id), number(from)...)
}

// sessionPrefix begins the keys of a session. No id has a byte 0.
func sessionPrefix(id harness.SessionID) []byte { return append([]byte(id), 0) }

// splitRunKey is the opposite of runKey.
func splitRunKey(key []byte) (id harness.SessionID, from int, ok bool) {
	i := bytes.IndexByte(key, 0)
	if i < 1 {
		return "", 0, false
	}
	from, ok = numberOf(key[i+1:])
	return harness.SessionID(key[:i]), from, ok
}

// vectorRun is a value: the windows of a run of records, or of a fact or note.
type vectorRun struct {
	// to is the last record, and sum the checksum of that as it is stored; of a fact
	// or note it is that of its text.
	to      int
	sum     uint32
	windows []vectorWindow
}

type vectorWindow struct {
	message, from, to int
	vector            []int8
}

const runVersion = 1

// errRun says that a value makes no sense.
var errRun = errors.New("it is no vectors")

// bytes is the run as it is stored, in base64 as all bytes are.
func (r *vectorRun) bytes() []byte {
	out := []byte{runVersion}
	out = binary.AppendUvarint(out, uint64(r.to))
	out = binary.BigEndian.AppendUint32(out, r.sum)
	out = binary.AppendUvarint(out, uint64(len(r.windows)))
	for _, w := range r.windows {
		for _, n := range []int{w.message, w.from, w.to} {
			out = binary.AppendUvarint(out, uint64(n))
		}
	}
	for _, w := range r.windows {
		for _, x := range w.vector {
			out = append(out, byte(x))
		}
	}
	return out
}

// readRun reads a verified value; without dims only its head.
func readRun(raw []byte, dims int) (r vectorRun, err error) {
	if dims == 0 && len(raw) > valueHead+1+64 {
		head := slices.Concat(raw[:valueHead+1+64], []byte{'"'})
		raw = head
	}
	data, err := decodeBytes(raw)
	if err != nil {
		return r, err
	}
	if len(data) == 0 || data[0] != runVersion {
		return r, errRun
	}
	data = data[1:]
	next := func() int {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > 1<<40 {
			err, size = errRun, len(data)
		}
		data = data[size:]
		return int(n)
	}
	r.to = next()
	if err != nil || len(data) < 4 {
		return r, errRun
	}
	r.sum, data = binary.BigEndian.Uint32(data), data[4:]
	if dims == 0 {
		return r, nil
	}
	n := next()
	if err != nil || n > len(data) {
		return r, errRun
	}
	r.windows = make([]vectorWindow, n)
	for i := range r.windows {
		r.windows[i].message, r.windows[i].from, r.windows[i].to = next(), next(), next()
	}
	if err != nil || len(data) != n*dims {
		return r, errRun
	}
	all := make([]int8, len(data))
	for i, x := range data {
		all[i] = int8(x)
	}
	for i := range r.windows {
		r.windows[i].vector = all[i*dims : (i+1)*dims : (i+1)*dims]
	}
	return r, nil
}

// getRun reads a stored run; without dims only its head.
func (b bucket) getRun(key, raw []byte, dims int) (vectorRun, error) {
	err := verify(b.path, key, raw)
	var r vectorRun
	if err == nil {
		r, err = readRun(raw, dims)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", place(b.path, key), errUnreadable, err)
	}
	return r, err
}

// lastRun returns the last run of a session, with its key; nil if there is none.
func (b bucket) lastRun(id harness.SessionID) (key, raw []byte) {
	prefix := sessionPrefix(id)
	c := b.b.Cursor()
	after := append(bytes.Clone([]byte(id)), 1)
	if key, _ = c.Seek(after); key == nil {
		key, raw = c.Last()
	} else {
		key, raw = c.Prev()
	}
	if !bytes.HasPrefix(key, prefix) {
		return nil, nil
	}
	return key, raw
}

// textSum tells the text of a fact or note from every other.
func textSum(text string) uint32 { return crc32.Checksum([]byte(text), castagnoli) }

// forgetVectors drops those of sessions.
func (t *tx) forgetVectors(gone map[harness.SessionID]bool) error {
	_, b, ok := t.space()
	if !ok {
		return nil
	}
	messages, ok := b.sub("messages")
	if !ok {
		return nil
	}
	for id := range gone {
		if err := messages.dropRuns(id, 0); err != nil {
			return err
		}
	}
	return nil
}

// dropRuns removes the runs of a session from a record on.
func (b bucket) dropRuns(id harness.SessionID, from int) error {
	var keys [][]byte
	prefix, start := sessionPrefix(id), runKey(id, from)
	c := b.b.Cursor()
	for k, _ := c.Seek(start); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := b.del(k); err != nil {
			return err
		}
	}
	return nil
}

// forgetItemVectors drops those of a fact or note.
func (t *tx) forgetItemVectors(id string) error {
	_, b, ok := t.space()
	if !ok {
		return nil
	}
	items, ok := b.sub("items")
	if !ok || !items.has([]byte(id)) {
		return nil
	}
	return items.del([]byte(id))
}

// quantised are the windows of a part with their vectors in bytes.
func quantised(p near.Part) []vectorWindow {
	windows := make([]vectorWindow, len(p.Windows))
	for i, w := range p.Windows {
		windows[i] = vectorWindow{w.Message, w.From, w.To, index.Quantise(w.Vector)}
	}
	return windows
}
