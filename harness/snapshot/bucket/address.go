package bucket

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob/s3blob"

	"cairn/harness/snapshot"
)

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
	// role is that to be taken on, an ARN, or empty.
	role string
	load []func(*config.LoadOptions) error
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
	at := location{bucket: u.Host, folder: strings.Trim(u.Path, "/")}
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
	return at, nil
}

// take reads one parameter and returns what is wrong with it, without its value.
func (at *location) take(name, value string) string {
	switch name {
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
	case "region":
		at.load = append(at.load, config.WithRegion(value))
	case "profile":
		at.load = append(at.load, config.WithSharedConfigProfile(value))
	case "role":
		if at.role = value; !strings.HasPrefix(value, "arn:") {
			return "is no role; it begins with arn:"
		}
	case "request_checksum_calculation", "response_checksum_validation":
		return at.takeChecksum(name, value)
	default:
		return at.takeSwitch(name, value)
	}
	return ""
}

// takeChecksum reads when checksums are made or looked at.
func (at *location) takeChecksum(name, value string) string {
	required := strings.EqualFold(value, "when_required")
	switch {
	case !required && !strings.EqualFold(value, "when_supported"):
		return "is neither when_supported nor when_required"
	case !required: // the default
	case name == "request_checksum_calculation":
		at.load = append(at.load, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired))
	default:
		at.load = append(at.load, config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	}
	return ""
}

// takeSwitch reads a parameter that is on or off.
func (at *location) takeSwitch(name, value string) string {
	on, err := strconv.ParseBool(value)
	switch name {
	case "anonymous":
		if at.anonymous = on; on {
			at.load = append(at.load, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
		}
	case "disable_https":
		at.plain = on
	case "accelerate":
		at.accelerate = on
	case "use_path_style", "s3ForcePathStyle":
		at.pathStyle = &on
	case "dualstack":
		if on {
			at.load = append(at.load, config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
		}
	case "fips":
		if on {
			at.load = append(at.load, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
		}
	default:
		return "is unknown; keys are read from the environment only"
	}
	if err != nil {
		return "is neither true nor false"
	}
	return ""
}
