// Package bucket keeps snapshots in object stores: S3 and whatever speaks its
// protocol. The one thing to know: credentials never come from a URL. They are
// those that the AWS tools use here, the environment's AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY first, then the profile named by AWS_PROFILE or the URL,
// then the role of the machine, which is asked for three seconds at most.
//
// A URL is
//
//	s3://BUCKET/FOLDER?region=REGION&endpoint=https://HOST
//
// where everything behind the bucket may be missing. The folder, or in its place
// the parameter prefix, is where in the bucket the snapshots are. The endpoint is
// that of another server than Amazon's; its buckets are then named by path unless
// use_path_style is false. The other parameters are named as those of gocloud.dev's
// S3 driver: profile, role, anonymous, dualstack, fips, accelerate, ssetype,
// kmskeyid, disable_https, request_checksum_calculation and
// response_checksum_validation.
//
// Errors are one sentence and hold neither a key nor anything that the server
// wrote into its answer but the code of the error.
package bucket

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"cairn/harness/snapshot"
)

// Store is a [snapshot.Store] that is closed when it is no longer needed.
type Store interface {
	snapshot.Store
	// Close lets go of what [Open] took. The second call does nothing.
	Close() error
}

// Open returns the store at a URL: an S3 bucket as the package comment says, one
// of [snapshot.Open], or one of a gocloud.dev driver that the program links
// besides. An address that none of them knows is a [snapshot.ErrAddress]. Whether
// credentials are there is found out here; whether the bucket is, by the first use.
func Open(ctx context.Context, address string) (Store, error) {
	scheme, _, ok := strings.Cut(address, "://")
	switch {
	case ok && scheme == "s3":
		return openS3(ctx, address)
	case ok && scheme != "file" && scheme != "mem" && blob.DefaultURLMux().ValidBucketScheme(scheme):
		b, err := blob.OpenBucket(ctx, address)
		if err != nil {
			o := objects{place: scheme + "://"}
			return nil, fmt.Errorf("open snapshots: %w", o.explain(ctx, err))
		}
		return own(b, scheme+"://"), nil
	default:
		s, err := snapshot.Open(ctx, address)
		if err != nil {
			return nil, err
		}
		return closing(s, func() error { return nil }), nil
	}
}

// New returns the store in a bucket that the caller opened and closes. The name
// stands in errors.
func New(b *blob.Bucket, name string) snapshot.Store {
	o := objects{bucket: b, place: name}
	if client := (*s3.Client)(nil); b.As(&client) {
		return &swapper{o}
	}
	return &o
}

// own returns the store in a bucket that it closes.
func own(b *blob.Bucket, place string) Store {
	return closing(New(b, place), sync.OnceValue(func() error {
		if err := b.Close(); err != nil {
			return fmt.Errorf("close %s: %w", place, err)
		}
		return nil
	}))
}

// closing adds Close to a store, which remains a [snapshot.Swapper] if it is one.
func closing(s snapshot.Store, closeIt func() error) Store {
	c := closer{Store: s, close: closeIt}
	if swaps, ok := s.(snapshot.Swapper); ok {
		return struct {
			closer
			snapshot.Swapper
		}{c, swaps}
	}
	return c
}

// closer is a store with what closes it.
type closer struct {
	snapshot.Store
	close func() error
}

// Close implements [Store].
func (c closer) Close() error { return c.close() }
