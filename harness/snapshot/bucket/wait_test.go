package bucket

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"gocloud.dev/blob/memblob"
)

func TestSourceOfCredentialsIsWaitedForSoLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
			<-ctx.Done()
			return aws.Credentials{}, ctx.Err()
		})
		began := time.Now()
		_, err := patient{CredentialsProvider: silent, wait: machineWait}.Retrieve(t.Context())
		if waited := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || waited != machineWait {
			t.Errorf("after %v it gives %v", waited, err)
		}
	})
}

// An operation that ends by its own bound is a store out of reach, whatever its
// driver made of it; one that its caller ended is the caller's.
func TestBoundOfAnOperation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := objects{bucket: memblob.OpenBucket(nil), place: "bucket x"}
		ctx, cancel := bounded(t.Context())
		defer cancel()
		<-ctx.Done()
		if err := o.explain(ctx, errors.New("cut")); !errors.Is(err, ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("out of time it gives %v", err)
		}
		own, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		ctx, cancel = bounded(own)
		defer cancel()
		<-ctx.Done()
		if err := o.explain(ctx, errors.New("cut")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnreachable) {
			t.Errorf("out of the caller's time it gives %v", err)
		}
	})
}
