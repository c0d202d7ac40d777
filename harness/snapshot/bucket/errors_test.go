package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
)

// clean fails the test if a key, or what drives a terminal, is in an error.
func clean(t *testing.T, err error) {
	t.Helper()
	for _, key := range []string{"AKIDTESTING", "secretOfTheTests", "hunter2"} {
		if strings.Contains(err.Error(), key) {
			t.Errorf("%q holds the key %s", err, key)
		}
	}
	if strings.ContainsFunc(err.Error(), unicode.IsControl) {
		t.Errorf("%q is not one plain line", err)
	}
}

func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"s3://":                            "no bucket",
		"s3://a b":                         "not the URL of a bucket",
		"s3://x":                           "no bucket",
		"s3://-bucket":                     "no bucket",
		"s3://buc\u00e9t":                  "no bucket",
		"s3://bucket:99":                   "no bucket",
		"s3://bucket#hunter2":              "not the URL of a bucket",
		"s3://me:hunter2@bucket":           "AWS_SECRET_ACCESS_KEY",
		"s3://bucket?secret_key=hunter2":   `"secret_key" is unknown`,
		"s3://bucket?region=a&region=b":    `"region" is given 2 times`,
		"s3://bucket?region=%zz":           "cannot be read",
		"s3://bucket":                      "region=REGION",
		"s3://bucket/a?prefix=b":           "given twice",
		"s3://bucket?endpoint=localhost:9": "not like https://host:port",
		"s3://bucket?endpoint=http://me:hunter2@127.0.0.1": "do not belong",
		"s3://bucket?endpoint=https://host?a=hunter2":      "not like https://host:port",
		"s3://bucket?anonymous=hunter2":                    `"anonymous" is neither true nor false`,
		"s3://bucket?use_path_style=hunter2":               "neither",
		"s3://bucket?fips=hunter2":                         "neither",
		"s3://bucket?ssetype=hunter2":                      "no kind of encryption",
		"s3://bucket?role=hunter2":                         "begins with arn:",
		"s3://bucket?request_checksum_calculation=hunter2": "neither when_supported nor when_required",
		"gs://bucket": "gs://",
		" ":           "blank",
	} {
		s, err := bucket.Open(t.Context(), address)
		if !errors.Is(err, snapshot.ErrAddress) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, %v; want %q", address, s, err, want)
			continue
		}
		clean(t, err)
	}
}

func TestUnusableConfiguration(t *testing.T) {
	t.Parallel()
	_, err := bucket.Open(t.Context(), "s3://bucket?region=r&profile=of-nobody")
	if !errors.Is(err, bucket.ErrAccess) || !strings.Contains(err.Error(), `no AWS profile "of-nobody"`) {
		t.Errorf("a profile that is not there gives %v", err)
	}
	clean(t, err)
}

// Nobody answers the question for the machine's role, as on most machines. This
// must not take longer than the question's own bound.
func TestWithoutCredentialsItSaysWhatToSet(t *testing.T) {
	silent := hanging(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	for _, off := range []string{"true", "false"} {
		t.Setenv("AWS_EC2_METADATA_DISABLED", off)
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", silent)
		_, err := bucket.Open(t.Context(), "s3://bucket?region=r")
		if !errors.Is(err, bucket.ErrAccess) || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE") {
			t.Errorf("it gives %v", err)
		}
	}
	s, err := bucket.Open(t.Context(), "s3://snapshots?anonymous=true&endpoint="+server(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Replace(t.Context(), "k", []byte("v")), s.Close()); err != nil {
		t.Error(err)
	}
}

// hanging returns the address of a server that accepts and never answers.
func hanging(t *testing.T) string {
	t.Helper()
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	t.Cleanup(func() { close(done); s.Close() })
	return s.URL
}

func TestMissingBucket(t *testing.T) {
	t.Parallel()
	s := open(t, "s3://others?endpoint="+server(t))
	_, get := s.Get(t.Context(), "k")
	_, list := s.List(t.Context(), "")
	for name, err := range map[string]error{
		"get":         get,
		"list":        list,
		"put":         s.Put(t.Context(), "k", []byte("v")),
		"replace":     s.Replace(t.Context(), "k", []byte("v")),
		"first swap":  swapping(t, s).Swap(t.Context(), "k", "", []byte("v")),
		"second swap": swapping(t, s).Swap(t.Context(), "k", sum("a"), []byte("v")),
	} {
		if !errors.Is(err, bucket.ErrNoBucket) || errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "bucket others") {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

// answering returns a store whose server answers all questions alike.
func answering(t *testing.T, answer http.HandlerFunc) bucket.Store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return open(t, "s3://snapshots?endpoint="+server.URL)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status     int
		code, want string
		kind       error
	}{
		{403, "AccessDenied", "do not allow", bucket.ErrAccess},
		{403, "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID", bucket.ErrAccess},
		{403, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY", bucket.ErrAccess},
		{400, "ExpiredToken", "sign in again", bucket.ErrAccess},
		{403, "RequestTimeTooSkewed", "clock", bucket.ErrAccess},
		{301, "PermanentRedirect", "region=", bucket.ErrAccess},
		{400, "AuthorizationHeaderMalformed", "AWS_REGION", bucket.ErrAccess},
		{400, "InvalidBucketName", "name", bucket.ErrNoBucket},
		{503, "SlowDown", "try again later", bucket.ErrUnreachable},
		{403, "Strange", "Strange (HTTP 403)", bucket.ErrAccess},
		{400, "Strange.Thing", "Strange.Thing (HTTP 400)", bucket.ErrAnswer},
		{400, "\u009b2J hunter2", "HTTP 400", bucket.ErrAnswer},
		{400, "\x1b[2J hunter2", "HTTP 400", bucket.ErrAnswer},
		{405, "", "HTTP 405", bucket.ErrAnswer},
		// Not what a bucket says: perhaps another server.
		{404, "", "HTTP 404", bucket.ErrAnswer},
	} {
		t.Run(fmt.Sprint(test.status, test.code), func(t *testing.T) {
			t.Parallel()
			s := answering(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(test.status)
				if test.code != "" {
					_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s hunter2 \u009b2J</Message></Error>",
						test.code, r.Header.Get("Authorization"))
				} else {
					_, _ = fmt.Fprintf(w, "<html>%s</html>", r.Header.Get("Authorization"))
				}
			})
			_, get := s.Get(t.Context(), "k")
			refused := map[string]error{"get": get}
			if test.status < 500 { // after the others the client waits and asks again
				_, refused["list"] = s.List(t.Context(), "")
				refused["replace"] = s.Replace(t.Context(), "k", []byte("v"))
			}
			for name, err := range refused {
				if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) || errors.Is(err, harness.ErrNotFound) {
					t.Errorf("%s gives %v, want %q and %v", name, err, test.want, test.kind)
					continue
				}
				clean(t, err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s := open(t, "s3://snapshots?endpoint="+gone.URL)
	_, err := s.Get(t.Context(), "k")
	if !errors.Is(err, bucket.ErrUnreachable) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("get gives %v", err)
	}
	clean(t, err)
}

func TestUntrustedServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	s := open(t, "s3://snapshots?endpoint="+server.URL)
	if err := s.Replace(t.Context(), "k", []byte("v")); !errors.Is(err, bucket.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("replace gives %v", err)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 9)
	s := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed that the client went away
		asked <- struct{}{}
		<-r.Context().Done()
	})
	for name, do := range map[string]func(ctx context.Context) error{
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, "k"); return err },
		"list":    func(ctx context.Context) error { _, err := s.List(ctx, ""); return err },
		"put":     func(ctx context.Context) error { return s.Put(ctx, "k", []byte("v")) },
		"replace": func(ctx context.Context) error { return s.Replace(ctx, "k", []byte("v")) },
		"delete":  func(ctx context.Context) error { return s.Delete(ctx, "k") },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if err := do(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gives %v", name, err)
		}
		cancel()
	}
}

func TestTornAnswerIsAnError(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half"))
	})
	if data, err := s.Get(t.Context(), "k"); !errors.Is(err, bucket.ErrUnreachable) {
		t.Errorf("it gives %q, %v", data, err)
	}
}

func FuzzAnswers(f *testing.F) {
	const object = "<Contents><Key>session-a.json</Key><Size>1</Size>"
	f.Add(200, "<ListBucketResult>"+object+"</Contents></ListBucketResult>") // without a time
	f.Add(200, "<ListBucketResult>"+object+"<LastModified>2026-01-02T03:04:05Z</LastModified></Contents></ListBucketResult>")
	f.Add(200, "<ListBucketResult>"+object+"<LastModified>never</LastModified></Contents></ListBucketResult>")
	f.Add(200, "<ListBucketResult><CommonPrefixes></CommonPrefixes></ListBucketResult>")
	f.Add(200, "{}")
	f.Add(200, "")
	f.Add(403, "<Error><Code>AKIDTESTING</Code><Code>B</Code></Error>")
	f.Add(404, "<Error><Code>NoSuchKey</Code></Error>")
	f.Add(400, "<Error>\x1b[2J")
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status >= 500 || status == 408 || status == 429 {
			t.Skip("not an answer, or one after which the client asks again")
		}
		s := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			if r.URL.Query().Get("continuation-token") == "" {
				_, _ = w.Write([]byte(body))
			}
		})
		_, get := s.Get(t.Context(), "k")
		_, list := s.List(t.Context(), "")
		for _, err := range []error{
			get, list, s.Delete(t.Context(), "k"), s.Put(t.Context(), "k", nil),
			swapping(t, s).Swap(t.Context(), "k", "", nil),
		} {
			if err != nil {
				clean(t, err)
			}
		}
	})
}
