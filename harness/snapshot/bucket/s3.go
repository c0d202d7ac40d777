package bucket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"cairn/harness/snapshot"
)

// How long a part of a request may take. The client tries three times.
const (
	dialWait   = 10 * time.Second
	headerWait = 30 * time.Second
	// machineWait bounds the question for the role of the machine, which nobody
	// answers on most of them, loginWait all other ways to credentials.
	machineWait = 3 * time.Second
	loginWait   = time.Minute
)

// defaultRegion is signed with if a server of one's own has none.
const defaultRegion = "us-east-1"

const howToSignIn = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"

// alphanumeric are the letters and digits of names and codes.
const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// legalBucket reports whether s may name a bucket. Which ones may in truth is the
// server's to say.
func legalBucket(s string) bool {
	return len(s) >= 2 && len(s) <= 255 && strings.Trim(s, alphanumeric+"._-") == "" && strings.ContainsRune(alphanumeric, rune(s[0]))
}

// location is a parsed S3 address.
type location struct {
	bucket, folder string
	// endpoint is that of another server than Amazon's, or empty.
	endpoint string
	// plain, accelerate and anonymous are switches of the client.
	plain, accelerate, anonymous bool
	// pathStyle is nil if the address does not say.
	pathStyle  *bool
	encryption s3blob.Options
	// rest are the parameters that gocloud.dev reads.
	rest url.Values
}

// openS3 returns the store at an S3 address.
func openS3(ctx context.Context, address string) (Store, error) {
	at, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	b, err := at.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open snapshots in bucket %s: %w", at.bucket, err)
	}
	return own(b, "bucket "+at.bucket), nil
}

// parse reads an address. It repeats only names of it in errors: people put keys
// into URLs.
func parse(address string) (location, error) {
	wrong := func(format string, values ...any) (location, error) {
		return location{}, fmt.Errorf("%w: %s", snapshot.ErrAddress, fmt.Sprintf(format, values...))
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Fragment != "":
		return wrong("not the URL of a bucket; write s3://bucket?region=REGION")
	case u.User != nil:
		return wrong("keys do not belong into the URL; %s", howToSignIn)
	case !legalBucket(u.Host):
		return wrong("the URL names no bucket; write s3://bucket?region=REGION")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return wrong("the parameters cannot be read; write them as name=value&name=value")
	}
	at := location{bucket: u.Host, folder: strings.Trim(u.Path, "/"), rest: query}
	for name, values := range query {
		if len(values) != 1 {
			return wrong("the parameter %q is given %d times", name, len(values))
		}
		if problem := at.take(name, values[0]); problem != "" {
			return wrong("the parameter %q %s", name, problem)
		}
	}
	if _, ok := query["prefix"]; ok && strings.Trim(u.Path, "/") != "" {
		return wrong("the folder is given twice, as path and as prefix")
	}
	for _, name := range []string{
		"prefix", "endpoint", "use_path_style", "s3ForcePathStyle", "disable_https", "accelerate", "ssetype", "kmskeyid",
	} {
		query.Del(name)
	}
	return at, nil
}

// take reads one parameter and returns what is wrong with it, without its value.
func (at *location) take(name, value string) string {
	var err error
	switch name {
	case "region", "profile", "role", "request_checksum_calculation", "response_checksum_validation":
	case "prefix":
		at.folder = strings.Trim(value, "/")
	case "endpoint":
		u, err := url.Parse(value)
		switch {
		case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "":
			return "is not like https://host:port"
		case u.User != nil:
			return "holds keys, which do not belong into a URL; " + howToSignIn
		}
		at.endpoint = value
	case "kmskeyid":
		at.encryption.KMSEncryptionID = value
	case "ssetype":
		at.encryption.EncryptionType = types.ServerSideEncryption(value)
		for _, known := range types.ServerSideEncryption("").Values() {
			if strings.EqualFold(string(known), value) {
				at.encryption.EncryptionType = known
				return ""
			}
		}
		return "is no kind of encryption; take AES256 or aws:kms"
	case "anonymous":
		at.anonymous, err = strconv.ParseBool(value)
	case "disable_https":
		at.plain, err = strconv.ParseBool(value)
	case "accelerate":
		at.accelerate, err = strconv.ParseBool(value)
	case "use_path_style", "s3ForcePathStyle":
		at.pathStyle = new(bool)
		*at.pathStyle, err = strconv.ParseBool(value)
	case "dualstack", "fips":
		_, err = strconv.ParseBool(value)
	case "rate_limiter_capacity":
		if n, err := strconv.ParseInt(value, 10, 32); err != nil || n < 0 {
			return "is not a number"
		}
	default:
		return "is unknown; keys are read from the environment only"
	}
	if err != nil {
		return "is neither true nor false"
	}
	return ""
}

// open makes the client, with credentials in hand.
func (at location) open(ctx context.Context) (*blob.Bucket, error) {
	cfg, err := gcaws.V2ConfigFromURLParams(ctx, at.rest)
	if err != nil {
		return nil, unconfigured(ctx, err)
	}
	if !at.anonymous {
		if err := signIn(ctx, &cfg); err != nil {
			return nil, err
		}
	}
	if c, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = c.WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialWait }).
			WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = headerWait })
	}
	cfg.Logger = logging.Nop{} // its own writes over the screen
	client := s3.NewFromConfig(cfg, at.configure)
	if client.Options().Region == "" {
		return nil, fmt.Errorf("%w: the region is not known; add region=REGION or set AWS_REGION", snapshot.ErrAddress)
	}
	at.encryption.RequestChecksumCalculation = cfg.RequestChecksumCalculation
	b, err := s3blob.OpenBucket(ctx, client, at.bucket, &at.encryption)
	if err != nil {
		return nil, fmt.Errorf("%w: the client refuses it", snapshot.ErrAddress)
	}
	if at.folder != "" {
		b = blob.PrefixedBucket(b, at.folder+"/")
	}
	return b, nil
}

// configure sets what the address says. The endpoint may also come from the
// environment, which is read by then.
func (at location) configure(o *s3.Options) {
	if at.endpoint != "" {
		o.BaseEndpoint = aws.String(at.endpoint)
	}
	foreign := o.BaseEndpoint != nil
	o.UsePathStyle, o.UseAccelerate = foreign, at.accelerate
	if at.pathStyle != nil {
		o.UsePathStyle = *at.pathStyle
	}
	if foreign && o.Region == "" {
		o.Region = defaultRegion
	}
	o.EndpointOptions.DisableHTTPS = at.plain
}

// unconfigured explains why there is no configuration. What it read stays out of
// it: there are keys in the same files.
func unconfigured(ctx context.Context, err error) error {
	var profile config.SharedConfigProfileNotExistError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &profile):
		return fmt.Errorf("%w: there is no AWS profile %q here", ErrAccess, profile.Profile)
	default:
		return fmt.Errorf("%w: the AWS configuration of this machine or the role, "+
			"request_checksum_calculation or response_checksum_validation of the URL cannot be used", ErrAccess)
	}
}

// signIn obtains credentials and leaves their source in cfg with a bound.
func signIn(ctx context.Context, cfg *aws.Config) error {
	source := patient{CredentialsProvider: cfg.Credentials, wait: loginWait}
	machine := aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil))
	if machine {
		source.wait = machineWait
	}
	cfg.Credentials = aws.NewCredentialsCache(source)
	_, err := cfg.Credentials.Retrieve(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case machine:
		return fmt.Errorf("%w: there are no credentials; %s", ErrAccess, howToSignIn)
	default:
		return fmt.Errorf("%w: the AWS configuration gives no credentials; sign in again, or %s", ErrAccess, howToSignIn)
	}
}

// patient is a source of credentials that is waited for so long.
type patient struct {
	aws.CredentialsProvider
	wait time.Duration
}

// Retrieve implements [aws.CredentialsProvider].
func (p patient) Retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	return p.CredentialsProvider.Retrieve(ctx)
}
