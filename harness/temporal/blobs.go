package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"

	"cairn/harness"
	"cairn/harness/snapshot/bucket"
)

// blobs keep what is too large for the server, named by its sha256: payloads and
// artifacts.
type blobs struct {
	store bucket.Store
	// place is where they are, for errors. It holds no password.
	place string

	mu sync.Mutex
	// kept are payloads that were read or written lately, the oldest first in
	// order; size is that of all of them.
	kept  map[string][]byte
	order []string
	size  int
	// stored are the names that are in the store.
	stored map[string]bool
}

const (
	payloadFolder  = "payloads/"
	artifactFolder = "artifacts/"
	// keptSize bounds the payloads in memory, in bytes.
	keptSize = 32 << 20
	// maxStored bounds the names that are remembered.
	maxStored = 100_000
)

// openBlobs opens the store at an address of package bucket.
func openBlobs(ctx context.Context, address string) (*blobs, error) {
	store, err := bucket.Open(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("open the store of large payloads: %w", err)
	}
	place, _, _ := strings.Cut(address, "?")
	if scheme, rest, ok := strings.Cut(place, "://"); ok {
		if _, host, has := strings.Cut(rest, "@"); has {
			place = scheme + "://" + host
		}
	}
	return &blobs{store: store, place: place, kept: map[string][]byte{}, stored: map[string]bool{}}, nil
}

func (b *blobs) putArtifact(ctx context.Context, data []byte) error {
	name := artifactFolder + harness.ArtifactName(data)
	if b.has(name) {
		return nil
	}
	if err := b.store.Put(ctx, name, data); err != nil {
		return fmt.Errorf("store an artifact of %s: %w", harness.Count(len(data), "byte"), err)
	}
	b.note(name, nil)
	return nil
}

func (b *blobs) artifact(ctx context.Context, name string) ([]byte, error) {
	if !named(name) {
		return nil, fmt.Errorf("artifact %.64q is the name of none: %w", name, harness.ErrNotFound)
	}
	data, err := b.store.Get(ctx, artifactFolder+name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("artifact %.64s in %s: %w", name, b.place, err)
	case harness.ArtifactName(data) != name:
		return nil, fmt.Errorf("artifact %.64s in %s: %w", name, b.place, harness.ErrDamaged)
	}
	return data, nil
}

func (b *blobs) put(ctx context.Context, data []byte) (name string, err error) {
	name = harness.ArtifactName(data)
	if b.has(payloadFolder + name) {
		return name, nil
	}
	if err := b.store.Put(ctx, payloadFolder+name, data); err != nil {
		return "", fmt.Errorf("store a payload of %s in %s: %w", harness.Count(len(data), "byte"), b.place, err)
	}
	b.note(payloadFolder+name, data)
	return name, nil
}

// named reports whether a name, which others wrote, can be one of the store.
func named(name string) bool {
	data, err := hex.DecodeString(name)
	return err == nil && len(data) == sha256.Size
}

func (b *blobs) get(ctx context.Context, name string) ([]byte, error) {
	if !named(name) {
		return nil, fmt.Errorf("the part %.64q of the run: %w", name, harness.ErrDamaged)
	}
	b.mu.Lock()
	data, ok := b.kept[payloadFolder+name]
	b.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := b.store.Get(ctx, payloadFolder+name)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return nil, fmt.Errorf("the part %s of the run is not in %s: name the same store (blobs=) wherever its runs are used: %w", name, b.place, err)
	case err != nil:
		return nil, fmt.Errorf("the part %s of the run: %w", name, err)
	case harness.ArtifactName(data) != name:
		return nil, fmt.Errorf("the part %s of the run in %s: %w", name, b.place, harness.ErrDamaged)
	}
	b.note(payloadFolder+name, data)
	return data, nil
}

func (b *blobs) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stored[name]
}

// note remembers what is in the store, and data for a while.
func (b *blobs) note(name string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.stored) >= maxStored {
		clear(b.stored)
	}
	b.stored[name] = true
	if _, ok := b.kept[name]; ok || data == nil || len(data) > keptSize {
		return
	}
	b.kept[name], b.order, b.size = data, append(b.order, name), b.size+len(data)
	for b.size > keptSize {
		old := b.order[0]
		b.size -= len(b.kept[old])
		delete(b.kept, old)
		b.order = b.order[1:]
	}
}

// codec stores payloads apart that are too large for the server.
type codec struct{ blobs *blobs }

const (
	// apartFrom is from how many bytes on a payload is stored apart.
	apartFrom = 64 << 10
	// encoding marks a payload that holds the name of another.
	encoding    = "cairn/blob"
	encodingKey = "encoding"
	// blobWithin bounds the time for one payload.
	blobWithin = 2 * time.Minute
)

// Encode implements [converter.PayloadCodec].
func (c codec) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		if out[i] = p; proto.Size(p) <= apartFrom {
			continue
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("payload: %w", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), blobWithin)
		name, err := c.blobs.put(ctx, data)
		if cancel(); err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{encodingKey: []byte(encoding)}, Data: []byte(name)}
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec].
func (c codec) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		if out[i] = p; string(p.GetMetadata()[encodingKey]) != encoding {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), blobWithin)
		data, err := c.blobs.get(ctx, string(p.GetData()))
		if cancel(); err != nil {
			return nil, err
		}
		out[i] = new(commonpb.Payload)
		if err := proto.Unmarshal(data, out[i]); err != nil {
			return nil, fmt.Errorf("payload %s: %w: %w", p.GetData(), harness.ErrDamaged, err)
		}
	}
	return out, nil
}
