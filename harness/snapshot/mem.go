package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"cairn/harness"
)

// memory is a [Store] that lasts as long as the process.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

// Put implements [Store].
func (m *memory) Put(ctx context.Context, key string, data []byte) error {
	return m.Replace(ctx, key, data)
}

// Replace implements [Store].
func (m *memory) Replace(ctx context.Context, key string, data []byte) error {
	return m.replace(ctx, key, data, func([]byte, bool) error { return nil })
}

// Swap implements [Swapper].
func (m *memory) Swap(ctx context.Context, key, was string, data []byte) error {
	return m.replace(ctx, key, data, func(old []byte, ok bool) error {
		if ok != (was != "") || ok && digest(old) != was {
			return lost(key)
		}
		return nil
	})
}

// replace keeps data unless may objects to it, given what is there.
func (m *memory) replace(ctx context.Context, key string, data []byte, may func(old []byte, ok bool) error) error {
	if err := checkKey(key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	old, ok := m.objects[key]
	if err := may(old, ok); err != nil {
		return err
	}
	m.objects[key] = bytes.Clone(data)
	return nil
}

// Get implements [Store].
func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[key]
	if !ok {
		return nil, fmt.Errorf("%s: %w", key, harness.ErrNotFound)
	}
	return bytes.Clone(data), ctx.Err()
}

// List implements [Store].
func (m *memory) List(ctx context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(m.objects)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
	return keys, ctx.Err()
}

// Delete implements [Store].
func (m *memory) Delete(ctx context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	delete(m.objects, key)
	return nil
}
