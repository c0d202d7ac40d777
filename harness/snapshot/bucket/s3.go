package bucket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
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

// configuration is that of the AWS tools here with what the address says. What the
// client would log is nobody's to see: it would stand across the screen.
func (at location) configuration(ctx context.Context) (aws.Config, error) {
	load := append(at.load, config.WithLogger(logging.Nop{}))
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil || at.role == "" {
		return cfg, err
	}
	if cfg.Region == "" {
		cfg.Region = defaultRegion // roles are the same everywhere
	}
	cfg.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), at.role)
	return cfg, nil
}

// open makes the client, with credentials in hand.
func (at location) open(ctx context.Context) (*blob.Bucket, error) {
	cfg, err := at.configuration(ctx)
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
		return fmt.Errorf("%w: the AWS configuration of this machine cannot be used", ErrAccess)
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
