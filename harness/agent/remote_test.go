package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/agenttest"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
	"cairn/harness/snapshot/snapshottest"
)

// signedIn gives this process, and those that it starts, the environment of
// somebody who may use an S3 server.
func signedIn() error {
	var errs []error
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDTESTING", "AWS_SECRET_ACCESS_KEY": "secretOfTheTests", "AWS_REGION": "us-east-1", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
	} {
		errs = append(errs, os.Setenv(name, value))
	}
	return errors.Join(errs...)
}

// place opens the snapshots at an address, also at those of a [mapServer].
func place(ctx context.Context, address string) (snapshot.Store, error) {
	if strings.HasPrefix(address, "http://") {
		return webMap{address}, nil
	}
	return bucket.Open(ctx, address)
}

// placed is place for a test.
func placed(t *testing.T, address string) snapshot.Store {
	t.Helper()
	s, err := place(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := s.(io.Closer); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

// s3Server starts an S3 server and returns the address of an empty bucket.
func s3Server(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("sessions"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(s.Close)
	return "s3://sessions?endpoint=" + s.URL
}

// mapServer starts a server that keeps snapshots in a caller's own map, and
// returns its address.
func mapServer(t *testing.T) string {
	t.Helper()
	own := newOwnSnapshots()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.URL.Path, "/")
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // whoever sent it is gone
		}
		switch r.Method {
		case http.MethodPut:
			err = own.Replace(r.Context(), key, body)
		case http.MethodDelete:
			err = own.Delete(r.Context(), key)
		case http.MethodGet:
			if body, err = own.Get(r.Context(), key); errors.Is(err, harness.ErrNotFound) {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_, _ = w.Write(body)
		default:
			var keys []string
			keys, err = own.List(r.Context(), key)
			_, _ = io.WriteString(w, strings.Join(keys, "\n"))
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// webMap is the store on a [mapServer], as another process sees it.
type webMap struct{ address string }

func (m webMap) do(ctx context.Context, method, key string, data []byte) (body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, m.address+key, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	switch answer.StatusCode {
	case http.StatusOK:
		return io.ReadAll(answer.Body)
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", key, harness.ErrNotFound)
	default:
		return nil, fmt.Errorf("%s: %s", key, answer.Status)
	}
}

func (m webMap) Put(ctx context.Context, key string, data []byte) error {
	return m.Replace(ctx, key, data)
}

func (m webMap) Replace(ctx context.Context, key string, data []byte) error {
	_, err := m.do(ctx, http.MethodPut, key, data)
	return err
}

func (m webMap) Get(ctx context.Context, key string) ([]byte, error) {
	return m.do(ctx, http.MethodGet, key, nil)
}

func (m webMap) List(ctx context.Context, prefix string) ([]string, error) {
	body, err := m.do(ctx, "LIST", prefix, nil)
	return strings.Fields(string(body)), err
}

func (m webMap) Delete(ctx context.Context, key string) error {
	_, err := m.do(ctx, http.MethodDelete, key, nil)
	return err
}

func TestMapOnAServer(t *testing.T) {
	t.Parallel()
	snapshottest.Test(t, func(t *testing.T) snapshot.Store { t.Helper(); return placed(t, mapServer(t)) })
}

func TestSnapshotsOnAServer(t *testing.T) {
	agenttest.TestStore(t, func(t *testing.T) agent.Store {
		t.Helper()
		return agent.Snapshots(placed(t, s3Server(t)))
	})
}
