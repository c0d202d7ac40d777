// Package snapshottest is what every [snapshot.Store] must do. An implementation's
// own test calls [Test] with a way to make an empty store.
package snapshottest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// Test runs the suite. fresh makes an empty store for each part of it.
func Test(t *testing.T, fresh func(t *testing.T) snapshot.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, snapshot.Store){
		"what is not there":       absent,
		"replaced content":        replaced,
		"listed keys":             listed,
		"bytes are copies":        copies,
		"a context that ended":    ended,
		"readers beside a writer": beside,
		"swapped content":         swapped,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func absent(t *testing.T, s snapshot.Store) {
	t.Helper()
	if _, err := s.Get(t.Context(), "session-x.json"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("get gives %v, want not found", err)
	}
	if err := s.Delete(t.Context(), "session-x.json"); err != nil {
		t.Errorf("delete gives %v", err)
	}
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("list gives %q, %v", keys, err)
	}
}

func replaced(t *testing.T, s snapshot.Store) {
	t.Helper()
	const key = "artifacts/session-x/aa"
	for i, put := range []func(context.Context, string, []byte) error{s.Replace, s.Replace, s.Put} {
		want := bytes.Repeat([]byte{byte(i)}, i*1000) // also nothing, and other sizes
		if err := put(t.Context(), key, want); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
			t.Errorf("content %d is %d bytes, %v", i, len(got), err)
		}
	}
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), key); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("deleted, it gives %v", err)
	}
}

// swapped tests a store that is a [snapshot.Swapper], too.
func swapped(t *testing.T, store snapshot.Store) {
	t.Helper()
	s, ok := store.(snapshot.Swapper)
	if !ok {
		t.Skip("the store is no Swapper")
	}
	const key = "session-x.json"
	sum := func(data string) string {
		sum := sha256.Sum256([]byte(data))
		return hex.EncodeToString(sum[:])
	}
	if err := s.Swap(t.Context(), key, sum(""), []byte("x")); !errors.Is(err, harness.ErrLost) {
		t.Errorf("where nothing is, an empty file for another gives %v", err)
	}
	for _, step := range []struct {
		was, next string
		lost      bool
	}{{"", "a", false}, {"", "b", true}, {sum("b"), "c", true}, {sum("a"), "b", false}, {sum("a"), "c", true}, {sum("b"), "", false}, {"", "d", true}, {sum(""), "d", false}} {
		before, err := store.Get(t.Context(), key)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			t.Fatal(err)
		}
		if err := s.Swap(t.Context(), key, step.was, []byte(step.next)); errors.Is(err, harness.ErrLost) != step.lost || (err != nil && !step.lost) {
			t.Fatalf("%q for %.6s where %q is gives %v", step.next, step.was, before, err)
		}
		want := step.next
		if step.lost {
			want = string(before)
		}
		if got, err := store.Get(t.Context(), key); err != nil || string(got) != want {
			t.Fatalf("after %q for %.6s where %q was it holds %q, %v", step.next, step.was, before, got, err)
		}
	}
	racing(t, s, sum("d"))
}

// racing lets many replace the same content at the same time: one may.
func racing(t *testing.T, s snapshot.Swapper, was string) {
	t.Helper()
	const n = 8
	results := make(chan error)
	for i := range n {
		go func() { results <- s.Swap(t.Context(), "session-x.json", was, []byte{byte(i)}) }()
	}
	won := 0
	for range n {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, harness.ErrLost):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d won", won, n)
	}
}

func listed(t *testing.T, s snapshot.Store) {
	t.Helper()
	for _, k := range []string{"session-b.json", "session-a.json", "artifacts/session-a/ff", "artifacts/session-ab/ff"} {
		if err := s.Replace(t.Context(), k, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"":                     {"artifacts/session-a/ff", "artifacts/session-ab/ff", "session-a.json", "session-b.json"},
		"session-":             {"session-a.json", "session-b.json"},
		"artifacts/session-a/": {"artifacts/session-a/ff"},
		"none":                 nil,
	} {
		if got, err := s.List(t.Context(), prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("list of %q is %q, %v", prefix, got, err)
		}
	}
}

func copies(t *testing.T, s snapshot.Store) {
	t.Helper()
	data := []byte("mine")
	if err := s.Replace(t.Context(), "k", data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'x'
	got, err := s.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	got[1] = 'x'
	if got, err := s.Get(t.Context(), "k"); err != nil || string(got) != "mine" {
		t.Errorf("it holds %q, %v", got, err)
	}
}

func ended(t *testing.T, s snapshot.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Replace(ctx, "k", []byte("late")); err == nil {
		t.Error("it was stored")
	}
	if _, err := s.Get(t.Context(), "k"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("it holds something: %v", err)
	}
}

func beside(t *testing.T, s snapshot.Store) {
	t.Helper()
	whole := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 90_000)}
	if err := s.Replace(t.Context(), "k", whole[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for i := range 20 {
			if err := s.Replace(t.Context(), "k", whole[i%2]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		got, err := s.Get(t.Context(), "k")
		if err != nil || (!bytes.Equal(got, whole[0]) && !bytes.Equal(got, whole[1])) {
			t.Fatalf("a reader sees %d bytes, %v", len(got), err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}
