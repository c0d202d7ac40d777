package bolt_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

// TestStoreGivesBackWhatWasDeleted makes sessions of 200 kB, deletes most of them
// and lets the trash go.
func TestStoreGivesBackWhatWasDeleted(t *testing.T) {
	t.Parallel()
	sessions := often(t, "SESSIONS", 100)
	const kept, messages, size = 10, 10, 20_000
	clock := harnesstest.NewClock()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, clock)
	ctx := t.Context()
	marker := func(i, n int) string { return fmt.Sprintf("MARKER-%d-%d ", i, n) }
	for i := range sessions {
		records := make([]harness.Record, messages)
		for n := range records {
			m := harness.UserText(marker(i, n) + strings.Repeat("pebble ", size/7))
			records[n] = harness.Record{Message: &m}
		}
		_, _, err := db.Sessions().Import(ctx, harness.Session{ID: harness.SessionID(fmt.Sprint("s", i))}, records)
		ok(t, err)
	}
	_, err := db.IndexMessages(ctx)
	ok(t, err)
	for i := kept; i < sessions; i++ {
		ok(t, db.Sessions().Delete(ctx, harness.SessionID(fmt.Sprint("s", i))))
	}
	clock.Add(time.Hour)
	purged, err := db.Purge(ctx, clock.Now())
	ok(t, err)
	if purged.Sessions != sessions-kept {
		t.Fatalf("purged %+v", purged)
	}
	before, after, err := db.Compact(ctx)
	ok(t, err)
	db.Rest()
	raw, err := os.ReadFile(path)
	ok(t, err)
	const live = kept * messages * size
	t.Logf("%d bytes with %d sessions, %d with %d, which hold %d", before, sessions, after, kept, live)
	if after > live*3/2 || int64(len(raw)) != after {
		t.Errorf("%d bytes for %d live ones", len(raw), live)
	}
	for i := range sessions {
		for n := range messages {
			if bytes.Contains(raw, []byte(marker(i, n))) != (i < kept) {
				t.Fatalf("message %d of session %d", n, i)
			}
		}
	}
	whole(t, db)
}

// TestCondensingDoesNotStoreAgain condenses a conversation again and again that
// begins with something large.
func TestCondensingDoesNotStoreAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db := openAt(t, path, harnesstest.NewClock())
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	const image = 1 << 20
	m := harness.UserText(strings.Repeat("picture ", image/8))
	_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m})
	ok(t, err)
	size := func() int64 {
		db.Rest()
		_, after, err := db.Compact(ctx)
		ok(t, err)
		return after
	}
	before := size()
	for i := range 20 {
		summary := harness.UserText(fmt.Sprintf("summary %d of what was said", i))
		_, err := db.Transcript().Append(ctx, l, harness.Record{Kind: harness.RecordCondensed, Message: &summary})
		ok(t, err)
	}
	if grown := size() - before; grown > image/10 {
		t.Errorf("twenty summaries took %d bytes", grown)
	}
	if records, err := db.Transcript().Tail(ctx, "s", 0, 0); err != nil || len(records) != 21 {
		t.Errorf("%d records, %v", len(records), err)
	}
}
