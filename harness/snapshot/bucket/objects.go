package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"cairn/harness"
)

// bound is the longest that one operation takes with all its retries, so that a
// server that stops in the middle of an answer is given up by callers without a
// deadline too.
const bound = 5 * time.Minute

// errTooLong is the cause of a context that ended after [bound].
var errTooLong = errors.New("no answer in time")

// objects is a [snapshot.Store] in a bucket.
type objects struct {
	bucket *blob.Bucket
	// place names the bucket in errors.
	place string
}

// bounded returns a context that ends after [bound] at the latest.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, bound, errTooLong)
}

// Put implements [snapshot.Store]. It asks first, so that the artifacts that a
// session had already are not sent again.
func (o *objects) Put(ctx context.Context, key string, data []byte) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	have, err := o.bucket.Attributes(ctx, key)
	switch {
	case err == nil && have.Size == int64(len(data)):
		return nil
	case err != nil && gcerrors.Code(err) != gcerrors.NotFound:
		return o.explain(ctx, err)
	}
	fresh := err != nil
	err = o.write(ctx, key, data, &blob.WriterOptions{IfNotExist: fresh})
	if fresh && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return nil // another saver of the same content was faster
	}
	return o.explain(ctx, err)
}

// Replace implements [snapshot.Store]: an object appears whole with the answer to
// its upload, or not at all.
func (o *objects) Replace(ctx context.Context, key string, data []byte) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return o.explain(ctx, o.write(ctx, key, data, &blob.WriterOptions{}))
}

// write uploads data. An upload whose context ends before it is complete leaves
// nothing. A server that cannot write only where nothing is writes all the same.
func (o *objects) write(ctx context.Context, key string, data []byte, how *blob.WriterOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	how.ContentType = "application/octet-stream"
	how.Metadata = map[string]string{sumName: digest(data)}
	err := o.bucket.Upload(ctx, key, bytes.NewReader(data), how)
	if how.IfNotExist && codeOf(err) == "NotImplemented" {
		how.IfNotExist = false
		err = o.bucket.Upload(ctx, key, bytes.NewReader(data), how)
	}
	return err
}

// Get implements [snapshot.Store].
func (o *objects) Get(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	data, err := o.bucket.ReadAll(ctx, key)
	switch {
	case err == nil:
		return data, nil
	case absent(err):
		return nil, fmt.Errorf("%s in %s: %w", key, o.place, harness.ErrNotFound)
	default:
		return nil, o.explain(ctx, err)
	}
}

// List implements [snapshot.Store].
func (o *objects) List(ctx context.Context, prefix string) (keys []string, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	// The driver follows pointers into the answer that a server may leave out.
	defer func() {
		if r := recover(); r != nil {
			keys, err = nil, fmt.Errorf("%s: %w: the list of objects is incomplete", o.place, ErrAnswer)
		}
	}()
	for i := o.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		object, err := i.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(keys) // not every server does
			return keys, nil
		}
		if err != nil {
			return nil, o.explain(ctx, err)
		}
		keys = append(keys, object.Key)
	}
}

// Delete implements [snapshot.Store].
func (o *objects) Delete(ctx context.Context, key string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	err := o.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return o.explain(ctx, err)
}
