package bolt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"cairn/harness"
	"cairn/harness/memory/near"
	"cairn/storage/bolt"
)

// BenchmarkNearest finds the nearest of a hundred thousand messages, with vectors of
// 512 numbers, and tells what those take.
func BenchmarkNearest(b *testing.B) {
	const sessions, messages, dims = 1000, 100, 512
	path := filepath.Join(b.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{})
	ok(b, err)
	defer func() { ok(b, db.Close()) }()
	for s := range sessions {
		var records []harness.Record
		for n := range messages {
			m := harness.UserText(fmt.Sprintf("message %d of %d", n, s))
			records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &m})
		}
		_, _, err := db.Sessions().Import(b.Context(), harness.Session{ID: harness.SessionID(fmt.Sprintf("s%d", s))}, records)
		ok(b, err)
	}
	before, err := os.Stat(path)
	ok(b, err)
	v, space := db.Vectors(), near.Space{Model: "test/one", Dims: dims, Version: near.Version}
	ok(b, v.Begin(b.Context(), space))
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for {
		parts, err := v.Next(b.Context(), space, 2000, near.Cut)
		ok(b, err)
		if len(parts) == 0 {
			break
		}
		for _, p := range parts {
			for i := range p.Windows {
				p.Windows[i].Vector = vector()
			}
		}
		ok(b, v.Put(b.Context(), space, parts))
	}
	after, err := os.Stat(path)
	ok(b, err)
	q := near.Query{Space: space, Vector: vector(), Words: "message", Floor: 0.1, Limit: 25}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			_, err := db.Vectors().Messages(b.Context(), q)
			ok(b, err)
		}
	})
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			_, err := v.Messages(b.Context(), q)
			ok(b, err)
		}
		b.ReportMetric(float64(after.Size()-before.Size())/(sessions*messages), "file-B/message")
	})
	st, err := v.Status(b.Context())
	ok(b, err)
	b.Logf("%d vectors, %d bytes of values, the file grew from %d to %d", st.Vectors, st.Bytes, before.Size(), after.Size())
}
