package bolt_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cairn/harness"
	"cairn/storage/bolt"
)

// TestFullDiskKeepsWhatWasSaved fills a small file system.
func TestFullDiskKeepsWhatWasSaved(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("no small file system without the right to mount one:", err)
	}
	defer func() { ok(t, syscall.Unmount(dir, 0)) }()
	db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "a"}, harness.Holder{})
	ok(t, err)
	big := harness.UserText(strings.Repeat("x", 50_000))
	saved := 0
	for saved < 100 {
		if _, err = db.Transcript().Append(ctx, l, harness.Record{Message: &big}); err != nil {
			break
		}
		saved++
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), bolt.FileName) {
		t.Fatalf("after %d messages: error %v", saved, err)
	}
	for range 3 {
		if _, err := db.Transcript().Append(ctx, l, harness.Record{Message: &big}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("error %v", err)
		}
		records, err := db.Transcript().Tail(ctx, "a", 0, 0)
		ok(t, err)
		if len(records) != saved {
			t.Fatalf("%d records of %d", len(records), saved)
		}
	}
	ok(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"))
	_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &big})
	ok(t, err)
	report, err := db.Check(ctx)
	ok(t, err)
	if len(report.Problems) != 0 {
		t.Fatalf("problems %v", report.Problems)
	}
}

// TestReadOnlyDirectory opens a database on a file system that takes no writes.
func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
		t.Skip("no read-only file system without the right to mount one:", err)
	}
	defer func() { ok(t, syscall.Unmount(dir, 0)) }()
	for _, path := range []string{filepath.Join(dir, bolt.FileName), filepath.Join(dir, "data", bolt.FileName)} {
		_, err := bolt.Open(path, bolt.Options{})
		if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--dir") {
			t.Fatalf("error %v", err)
		}
	}
}
