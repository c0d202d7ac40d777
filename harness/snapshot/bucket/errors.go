package bucket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
)

// Sentinels of this package, wrapped with the bucket and, where it helps, with
// what to do. An object that is not there is [harness.ErrNotFound], an address
// that is none [snapshot.ErrAddress].
var (
	// ErrAccess means that there are no credentials, or that they do not allow
	// what was asked for.
	ErrAccess = errors.New("no access to the object store")
	// ErrNoBucket means that the bucket does not exist.
	ErrNoBucket = errors.New("there is no such bucket")
	// ErrUnreachable means that no answer came.
	ErrUnreachable = errors.New("the object store cannot be reached")
	// ErrAnswer means that the server answered with another error, or with what
	// is no answer.
	ErrAnswer = errors.New("the object store answered with an error")
)

// known returns what a code of S3 means for the person, and nil for one that no
// wrong configuration leads to.
func known(code string) error {
	switch code {
	case "NoSuchBucket":
		return fmt.Errorf("%w: make it, or correct its name", ErrNoBucket)
	case "InvalidBucketName":
		return fmt.Errorf("%w: the name is not one of a bucket", ErrNoBucket)
	case "AccessDenied", "Forbidden", "AllAccessDisabled":
		return fmt.Errorf("%w: the credentials do not allow this in the bucket", ErrAccess)
	case "InvalidAccessKeyId":
		return fmt.Errorf("%w: the access key is unknown there; check AWS_ACCESS_KEY_ID or the profile", ErrAccess)
	case "SignatureDoesNotMatch":
		return fmt.Errorf("%w: the secret key is wrong; check AWS_SECRET_ACCESS_KEY or the profile", ErrAccess)
	case "InvalidToken", "ExpiredToken", "TokenRefreshRequired":
		return fmt.Errorf("%w: the session token is no longer good; sign in again or unset AWS_SESSION_TOKEN", ErrAccess)
	case "RequestTimeTooSkewed":
		return fmt.Errorf("%w: the clock of this machine is wrong", ErrAccess)
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "MovedPermanently", "IllegalLocationConstraintException":
		return fmt.Errorf("%w: the bucket is in another region; set it with region= or AWS_REGION", ErrAccess)
	case "SlowDown", "ServiceUnavailable":
		return fmt.Errorf("%w: it is busy; try again later", ErrUnreachable)
	default:
		return nil
	}
}

// plainCode reports whether s looks like a code. All else that a server says
// stays out of errors: it may repeat the request, keys and all, or drive the
// terminal.
func plainCode(s string) bool {
	return len(s) <= 64 && s != "" && strings.Trim(s, alphanumeric+".") == ""
}

// explain turns what a driver says into one sentence without keys. It returns
// nil for nil.
func (o *objects) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errTooLong):
		return fmt.Errorf("%s: %w: %w", o.place, ErrUnreachable, errTooLong)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", o.place, ctx.Err())
	}
	var api smithy.APIError
	var answer *awshttp.ResponseError
	if errors.As(err, &api) {
		if said := known(api.ErrorCode()); said != nil {
			return fmt.Errorf("%s: %w", o.place, said)
		}
	}
	// A request that got none has an answer of its own kind, numbered 0.
	if errors.As(err, &answer) && answer.HTTPStatusCode() != 0 {
		return fmt.Errorf("%s: %w", o.place, status(answer.HTTPStatusCode(), api))
	}
	return fmt.Errorf("%s: %w", o.place, unanswered(err))
}

// status explains an answer by its number, and by its code if that is one.
func status(number int, api smithy.APIError) error {
	kind := ErrAnswer
	if number == http.StatusUnauthorized || number == http.StatusForbidden {
		kind = ErrAccess
	}
	if api != nil && plainCode(api.ErrorCode()) {
		return fmt.Errorf("%w: %s (HTTP %d)", kind, api.ErrorCode(), number)
	}
	return fmt.Errorf("%w: HTTP %d", kind, number)
}

// unanswered explains why no answer came, or none that can be read.
func unanswered(err error) error {
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: its certificate is not trusted here", ErrUnreachable)
	case errors.As(err, &dns):
		return fmt.Errorf("%w: no address for %q", ErrUnreachable, dns.Name)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: %w", ErrUnreachable, errTooLong)
	case errors.As(err, &op):
		return fmt.Errorf("%w: %w", ErrUnreachable, op)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: its answer broke off", ErrUnreachable)
	}
	switch gcerrors.Code(err) {
	case gcerrors.PermissionDenied:
		return ErrAccess
	case gcerrors.NotFound:
		return ErrNoBucket
	case gcerrors.DeadlineExceeded:
		return fmt.Errorf("%w: %w", ErrUnreachable, errTooLong)
	default:
		return fmt.Errorf("%w: it cannot be read, or does not match its checksum", ErrAnswer)
	}
}

// absent reports whether err says of an object alone that it is not there. A
// server that merely answers 404 may be another than was meant, and whoever takes
// that for a session that does not exist yet would save over it.
func absent(err error) bool {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode() == "NoSuchKey"
	}
	var answer *awshttp.ResponseError
	return gcerrors.Code(err) == gcerrors.NotFound && !errors.As(err, &answer)
}
