package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"cairn/harness"
)

// sumName is where the metadata of an object hold the sha256 of its bytes, so
// that a writer need not read what it replaces.
const sumName = "sha256"

// swapTries bounds how often a write is begun again because the server was busy
// with another one of the same object.
const swapTries = 5

// swapper is the store in an S3 bucket, which can make a write depend on what is
// there. A server that does not know such writes is looked at before each.
type swapper struct{ objects }

// Swap implements [snapshot.Swapper].
func (s *swapper) Swap(ctx context.Context, key, was string, data []byte) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for try := 1; ; try++ {
		tag, err := s.seen(ctx, key, was)
		if err != nil {
			return err
		}
		err = s.upload(ctx, key, data, tag)
		switch code := codeOf(err); {
		case code == "ConditionalRequestConflict" && try < swapTries:
			continue
		case code == "PreconditionFailed" || (code == "NoSuchKey" && tag != ""):
			return s.overtaken(ctx, key, data)
		default:
			return s.explain(ctx, err)
		}
	}
}

// seen returns the tag of the object if its bytes have the sha256 was, and none
// if it should not be there and is not.
func (s *swapper) seen(ctx context.Context, key, was string) (tag string, err error) {
	now, tag, err := s.look(ctx, key)
	switch {
	case err != nil:
		return "", err
	case now != was:
		return "", s.lost(key)
	default:
		return tag, nil
	}
}

// look returns the sha256 of an object and the tag of just these bytes, or
// nothing if it is not there.
func (s *swapper) look(ctx context.Context, key string) (sum, tag string, err error) {
	about, err := s.bucket.Attributes(ctx, key)
	switch {
	case err == nil && about.Metadata[sumName] != "":
		return about.Metadata[sumName], about.ETag, nil
	case err != nil && gcerrors.Code(err) != gcerrors.NotFound:
		return "", "", s.explain(ctx, err)
	}
	// It is not there, or others made it: only reading tells. If it changes after
	// its tag was taken the write finds out.
	data, err := s.Get(ctx, key)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return "", "", nil
	case err != nil:
		return "", "", err
	case about == nil:
		return "", "", s.lost(key) // it came between the two questions
	default:
		return digest(data), about.ETag, nil
	}
}

// upload writes data where the object has the tag, or if that is empty, where
// nothing is.
func (s *swapper) upload(ctx context.Context, key string, data []byte, tag string) error {
	if tag == "" {
		return s.write(ctx, key, data, &blob.WriterOptions{IfNotExist: true})
	}
	err := s.write(ctx, key, data, &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
		var in *transfermanager.UploadObjectInput
		if !as(&in) {
			return errors.New("not an upload to S3")
		}
		in.IfMatch = aws.String(tag)
		return nil
	}})
	if codeOf(err) == "NotImplemented" {
		return s.write(ctx, key, data, &blob.WriterOptions{})
	}
	return err
}

// overtaken tells whether the object holds what was to be written: an upload
// whose answer got lost is repeated by the client, and refused the second time.
func (s *swapper) overtaken(ctx context.Context, key string, data []byte) error {
	now, _, err := s.look(ctx, key)
	switch {
	case err != nil:
		return err
	case now == digest(data):
		return nil
	default:
		return s.lost(key)
	}
}

// lost says that the object is not the one that its writer has seen.
func (s *swapper) lost(key string) error {
	return fmt.Errorf("%s in %s was changed by somebody else: %w", key, s.place, harness.ErrLost)
}

// digest is the sha256 in lower-case hexadecimal.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// codeOf returns the code with which S3 refused something, or nothing.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
