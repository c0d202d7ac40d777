package bolt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/bolt"
)

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// noise returns bytes that no compression makes smaller.
func noise(seed byte, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // never fails
	return data
}

func put(t *testing.T, db *bolt.DB, id harness.SessionID, data []byte) string {
	t.Helper()
	sum, err := db.Artifacts().Put(t.Context(), id, data)
	ok(t, err)
	return sum
}

// has fails unless a session gives these bytes.
func has(t *testing.T, db *bolt.DB, id harness.SessionID, data []byte) {
	t.Helper()
	got, err := db.Artifacts().Get(t.Context(), id, sumOf(data))
	ok(t, err)
	if !bytes.Equal(got, data) {
		t.Fatalf("session %s has %d other bytes", id, len(got))
	}
}

// TestDamagedArtifactIsNamed does to an artifact what damage can do, also with
// checksums that are right, and reads and checks it.
func TestDamagedArtifactIsNamed(t *testing.T) {
	t.Parallel()
	data := append([]byte(strings.Repeat("line\n", 30_000)), noise(1, 70_000)...)
	for name, c := range map[string]struct {
		change func(bolt.Artifact) error
		want   string
	}{
		"it is gone":                      {bolt.Artifact.Drop, "it has 1 artifacts of 2"},
		"its head is gone":                {bolt.Artifact.DropHead, "the value is missing"},
		"a piece is gone":                 {func(a bolt.Artifact) error { return a.DropPiece(2) }, "the value is missing"},
		"a piece is of another":           {func(a bolt.Artifact) error { return a.Put(2, `{"plain":"AAAA"}`) }, "not those that its name says"},
		"a piece is no base64":            {func(a bolt.Artifact) error { return a.Put(1, `{"plain":"%%"}`) }, "base64"},
		"a piece is not compressed":       {func(a bolt.Artifact) error { return a.Put(1, `{"deflate":"AAAA"}`) }, "does not unpack"},
		"a piece is none":                 {func(a bolt.Artifact) error { return a.Put(1, `{}`) }, "no piece"},
		"a piece is too long":             {func(a bolt.Artifact) error { return a.Put(1, `{"plain":"`+strings.Repeat("A", 400_000)+`"}`) }, "longer than a piece"},
		"a piece is too many":             {func(a bolt.Artifact) error { return a.Put(9, `{"plain":"AAAA"}`) }, ""},
		"the head says less":              {func(a bolt.Artifact) error { return a.Resize(10, 1) }, "not those that its name says"},
		"the head says less than nothing": {func(a bolt.Artifact) error { return a.Resize(-1, 1) }, "-1 bytes"},
		"the head says more than can be":  {func(a bolt.Artifact) error { return a.Resize(1<<60, 1) }, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
			say(t, db, "s", "1")
			sum := put(t, db, "s", data)
			put(t, db, "s", []byte("another"))
			whole(t, db)
			ok(t, db.ChangeArtifact(t.Context(), "s", sum, c.change))
			_, err := db.Artifacts().Get(t.Context(), "s", sum)
			if c.want != "" && (!errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("get: %v", err)
			}
			report, err := db.Check(t.Context())
			ok(t, err)
			if len(report.Problems) != 1 && (c.want != "" || len(report.Problems) != 0) {
				t.Errorf("a check finds %q", report.Problems)
			}
			has(t, db, "s", []byte("another"))
		})
	}
}

// TestArtifactOfARecordThatVanishedIsNoticed loses one where the number of them
// tells nothing.
func TestArtifactOfARecordThatVanishedIsNoticed(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	m := harness.UserText("look")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a", Data: []byte("bytes")}})
	never := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "c", Artifact: sumOf([]byte("never put"))}}}}
	_, err = db.Transcript().Append(ctx, l, harness.Record{Message: &m}, harness.Record{Message: &never})
	ok(t, err)
	whole(t, db)
	ok(t, db.ForgetCounts(ctx, "s"))
	whole(t, db)
	ok(t, db.ChangeArtifact(ctx, "s", sumOf([]byte("bytes")), bolt.Artifact.Drop))
	report, err := db.Check(ctx)
	ok(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "conversation/1: artifact "+sumOf([]byte("bytes"))+" of it is missing") {
		t.Errorf("a check finds %q", report.Problems)
	}
}

// TestPurgeKeepsTheArtifactsThatForksReach purges a session of which forks show
// some messages.
func TestPurgeKeepsTheArtifactsThatForksReach(t *testing.T) {
	t.Parallel()
	clock := harnesstest.NewClock()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), clock)
	ctx := t.Context()
	names := map[string]string{}
	attach := func(id harness.SessionID, file harness.File, texts ...string) {
		t.Helper()
		l, err := db.Owners().Acquire(ctx, harness.Session{ID: id}, harness.Holder{})
		ok(t, err)
		for _, text := range texts {
			if file.Artifact == "" || len(texts) > 1 {
				file.Data, file.Artifact = []byte("bytes of "+text), ""
				names[sumOf(file.Data)] = text
			}
			m := harness.UserText(text)
			m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &file})
			_, err := db.Transcript().Append(ctx, l, harness.Record{Message: &m})
			ok(t, err)
		}
		ok(t, db.Owners().Release(ctx, l))
	}
	attach("a", harness.File{}, "a1", "a2", "a3")
	names[put(t, db, "a", []byte("of no record"))] = "loose"
	_, err := db.Sessions().Fork(ctx, "a", harness.Origin{Record: 2}, harness.Session{ID: "f"})
	ok(t, err)
	// The fork names one of its parent that its branch does not reach.
	attach("f", harness.File{Name: "again", Artifact: sumOf([]byte("bytes of a3"))}, "f1")
	has(t, db, "f", []byte("bytes of a3"))
	if kept := db.KeptArtifacts(t, names); kept != "a: a1 a2 a3 loose; f: a3" {
		t.Fatalf("kept %s", kept)
	}
	ok(t, db.Sessions().Delete(ctx, "a"))
	clock.Add(time.Hour)
	_, err = db.Purge(ctx, clock.Now())
	ok(t, err)
	whole(t, db)
	if kept := db.KeptArtifacts(t, names); kept != "a: a1 a2; f: a3" {
		t.Fatalf("kept %s", kept)
	}
	for _, text := range []string{"a1", "a2", "a3"} {
		has(t, db, "f", []byte("bytes of "+text))
	}
	if _, err := db.Artifacts().Get(ctx, "a", sumOf([]byte("bytes of a1"))); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("of the purged session: %v", err)
	}
	if _, err := db.Artifacts().Put(ctx, "a", []byte("x")); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("put into the purged session: %v", err)
	}
	_, _, err = db.Compact(ctx)
	ok(t, err)
	has(t, db, "f", []byte("bytes of a2"))
	// Damage of what is only kept for the fork is found, too.
	ok(t, db.ChangeArtifact(ctx, "a", sumOf([]byte("bytes of a2")), func(a bolt.Artifact) error { return a.Put(1, `{"plain":"AAAA"}`) }))
	report, err := db.Check(ctx)
	ok(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], "sessions/a/artifacts/"+sumOf([]byte("bytes of a2"))) {
		t.Errorf("a check finds %q", report.Problems)
	}
	ok(t, db.Sessions().Delete(ctx, "f"))
	clock.Add(time.Hour)
	_, err = db.Purge(ctx, clock.Now())
	ok(t, err)
	if kept := db.KeptArtifacts(t, names); kept != "" {
		t.Fatalf("kept %s", kept)
	}
}

// TestFilesInMessagesAreRead reads a message as an older cairn stored it.
func TestFilesInMessagesAreRead(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	ctx := t.Context()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	ok(t, err)
	m := harness.UserText("look")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a", Data: []byte("bytes")}})
	ok(t, db.AppendInline(ctx, l, harness.Record{Message: &m}))
	whole(t, db)
	r, err := db.Transcript().Record(ctx, "s", 1)
	ok(t, err)
	if f := r.Message.Parts[1].File; string(f.Data) != "bytes" || f.Artifact != "" {
		t.Errorf("the file is %+v", f)
	}
	// An import of it is the same session, though it keeps files apart.
	if stored, existed, err := db.Sessions().Import(ctx, harness.Session{ID: "s"}, []harness.Record{{Message: &m}}); err != nil || !existed || stored.ID != "s" {
		t.Errorf("imported: %s, %t, %v", stored.ID, existed, err)
	}
}

// TestFileOfTheFirstSchemaTakesArtifactsAndHolds goes on with a file that was made
// before there were any, and leaves and comes back to what an older cairn does.
func TestFileOfTheFirstSchemaTakesArtifactsAndHolds(t *testing.T) {
	t.Parallel()
	path, clock := golden(t, "schema-1.db"), harnesstest.NewClock()
	db := openAt(t, path, clock)
	ctx := t.Context()
	if _, err := db.Artifacts().Get(ctx, "beta", sumOf(nil)); !errors.Is(err, harness.ErrNotFound) {
		t.Fatal(err)
	}
	ok(t, db.Spending().Settle(ctx, "none", 1))
	hold := func(amount float64) error {
		_, err := db.Spending().Hold(ctx, harness.Hold{Session: "beta", Model: "p/m", Amount: amount}, harness.SpendingLimits{Day: 1})
		return err
	}
	for i := range 3 {
		put(t, db, "beta", []byte(fmt.Sprint("artifact ", i)))
		ok(t, hold(0.25))
		whole(t, db)
		ok(t, db.ForgetCounts(ctx, "beta"))
		whole(t, db)
	}
	ok(t, hold(0.25))
	if err := hold(0.25); !errors.As(err, new(*harness.SpendingError)) {
		t.Errorf("the fifth quarter: %v", err)
	}
	ok(t, db.Close())
	db = openAt(t, path, clock)
	for i := range 3 {
		has(t, db, "beta", []byte(fmt.Sprint("artifact ", i)))
	}
	db.Rest()
	rebuilt, err := bolt.RebuildLists(ctx, path, bolt.Options{Now: clock.Now})
	ok(t, err)
	if len(rebuilt.Missing) != 0 || rebuilt.Counts.Artifacts != 3 {
		t.Errorf("rebuilt %+v", rebuilt)
	}
	if err := hold(0.25); !errors.As(err, new(*harness.SpendingError)) {
		t.Errorf("after the lists were made anew: %v", err)
	}
	whole(t, db)
}

// TestAHoldThatVanishedIsNoticed takes a hold out of the file behind its back.
func TestAHoldThatVanishedIsNoticed(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(db *bolt.DB) error{
		"it has 1 holds of 2":   func(db *bolt.DB) error { return db.Vanish(t.Context(), 1, "spending") },
		"the bucket is missing": func(db *bolt.DB) error { return db.DropSpending(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
			var id string
			for range 2 {
				var err error
				id, err = db.Spending().Hold(t.Context(), harness.Hold{Session: "s", Model: "p/m", Amount: 1}, harness.SpendingLimits{})
				ok(t, err)
			}
			whole(t, db)
			ok(t, vanish(db))
			if err := db.Spending().Settle(t.Context(), id, 0); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("settle: %v", err)
			}
			if _, err := db.Spending().Hold(t.Context(), harness.Hold{Session: "s", Model: "p/m"}, harness.SpendingLimits{}); !errors.Is(err, harness.ErrDamaged) {
				t.Errorf("hold: %v", err)
			}
			report, err := db.Check(t.Context())
			ok(t, err)
			if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], name) {
				t.Errorf("a check finds %q", report.Problems)
			}
		})
	}
}

// TestPiecesAreSmall looks how an artifact is stored.
func TestPiecesAreSmall(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), bolt.FileName), harnesstest.NewClock())
	say(t, db, "s", "1")
	for name, c := range map[string]struct {
		data []byte
		most int
	}{
		"text":  {[]byte(strings.Repeat("a line of a log that repeats itself\n", 30_000)), 100_000},
		"noise": {noise(2, 1<<20), 1<<20*4/3 + 2_000},
	} {
		sum := put(t, db, "s", c.data)
		ok(t, db.ChangeArtifact(t.Context(), "s", sum, func(a bolt.Artifact) error {
			largest, total, err := a.Sizes()
			if largest > 90_000 || total > c.most {
				t.Errorf("%s of %d bytes: %d bytes are stored, at most %d at once", name, len(c.data), total, largest)
			}
			return err
		}))
	}
}

// FuzzPiece reads pieces from a file that is not what this program wrote.
func FuzzPiece(f *testing.F) {
	for _, data := range [][]byte{{}, []byte("text"), bytes.Repeat([]byte("long "), 1000), noise(3, 1000)} {
		pieces, err := bolt.PackedPiece(data)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range pieces {
			f.Add(p)
		}
	}
	f.Add([]byte(`{"deflate":""}`))
	f.Add([]byte(`{"plain":"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := bolt.AppendPiece(nil, text)
		if len(data) > 64<<10 {
			t.Fatalf("%d bytes from a piece", len(data))
		}
		if err != nil {
			return
		}
		// Whatever it was, it is stored as itself.
		again, err := bolt.PackedPiece(data)
		ok(t, err)
		var back []byte
		for _, p := range again {
			back, err = bolt.AppendPiece(back, p)
			ok(t, err)
		}
		if !bytes.Equal(back, data) {
			t.Fatalf("%d bytes became %d", len(data), len(back))
		}
	})
}
