package bucket_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob/memblob"

	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
	"cairn/harness/snapshot/snapshottest"
)

// TestMain gives the package the environment of somebody who has signed in, and
// nothing of the machine's own.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID":           "AKIDTESTING",
		"AWS_SECRET_ACCESS_KEY":       "secretOfTheTests",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_REGION":                  "",
		"AWS_DEFAULT_REGION":          "",
		"AWS_PROFILE":                 "",
		"AWS_SESSION_TOKEN":           "",
		"AWS_ENDPOINT_URL":            "",
		"AWS_ENDPOINT_URL_S3":         "",
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if address := os.Getenv(saveIn); address != "" {
		if err := saveForEver(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// server starts an S3 server with the bucket "snapshots" and returns its address.
func server(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("snapshots"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(s.Close)
	return s.URL
}

// open opens an address for as long as the test runs.
func open(t *testing.T, address string) bucket.Store {
	t.Helper()
	s, err := bucket.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func TestStores(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]func(t *testing.T) snapshot.Store{
		"s3":           func(t *testing.T) snapshot.Store { return open(t, "s3://snapshots?endpoint="+server(t)) },
		"s3 folder":    func(t *testing.T) snapshot.Store { return open(t, "s3://snapshots/of/mine?endpoint="+server(t)) },
		"a directory":  func(t *testing.T) snapshot.Store { return open(t, t.TempDir()) },
		"a file URL":   func(t *testing.T) snapshot.Store { return open(t, "file://"+t.TempDir()) },
		"memory":       func(t *testing.T) snapshot.Store { return open(t, "mem://") },
		"own blob":     func(t *testing.T) snapshot.Store { return bucket.New(memblob.OpenBucket(nil), "memory") },
		"another host": otherServer,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); snapshottest.Test(t, fresh) })
	}
}

// otherServer returns a store in an empty folder of the server that the
// environment names, if it does.
func otherServer(t *testing.T) snapshot.Store {
	t.Helper()
	return open(t, otherAddress(t))
}

// otherAddress returns a folder of its own in the bucket that the environment
// names in CAIRN_TEST_S3.
func otherAddress(t *testing.T) string {
	t.Helper()
	address := os.Getenv("CAIRN_TEST_S3")
	if address == "" {
		t.Skip("CAIRN_TEST_S3 names no bucket of a server")
	}
	return address + "&prefix=" + strings.ToLower(strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
}
