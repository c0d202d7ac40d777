package model_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"cairn/harness/model"
)

// What never reached anybody costs nothing; of what broke off nobody knows.
func TestARequestThatReachedNobodyIsFree(t *testing.T) {
	t.Parallel()
	get := func(url string) error {
		resp, err := new(http.Client).Get(url)
		if err == nil {
			return errors.Join(resp.Body.Close(), errors.New("it was answered"))
		}
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	strange := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(strange.Close)
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(breaks.Close)
	for name, c := range map[string]struct {
		err  error
		free bool
	}{
		"nothing listens":     {get(gone), true},
		"no such name":        {fmt.Errorf("get: %w", &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}), true},
		"another certificate": {get(strange.URL), true},
		"no TLS":              {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, true},
		"broken off":          {get(breaks.URL), false},
		"reset":               {&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, false},
		"no answer":           {&net.OpError{Op: "write", Net: "tcp", Err: syscall.ETIMEDOUT}, false},
	} {
		e := model.NetworkError("p", "example.com", c.err)
		if e.Unsent != c.free || model.Free(fmt.Errorf("ask: %w", e)) != c.free {
			t.Errorf("%s: %v is free: %t", name, c.err, e.Unsent)
		}
	}
}
