package modeltest

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cairn/harness/model"
)

// Framing renders events as bytes.
type Framing func(e Event) string

// Plain is the usual framing.
func Plain(e Event) string {
	s := "data: " + e.Data + "\n\n"
	if e.Name != "" {
		s = "event: " + e.Name + "\n" + s
	}
	return s
}

// CRLF ends lines as some proxies do.
func CRLF(e Event) string { return strings.ReplaceAll(Plain(e), "\n", "\r\n") }

// Tight leaves out the space after the colon.
func Tight(e Event) string { return strings.ReplaceAll(Plain(e), ": ", ":") }

// Split puts one JSON object into two data lines.
func Split(e Event) string {
	s := Plain(e)
	if at := strings.Index(s, "data: {"); at >= 0 {
		return s[:at] + "data: {\ndata: " + s[at+len("data: {"):]
	}
	return s
}

// Service is a stand-in for a model's service on loopback.
type Service struct {
	URL string

	mu     sync.Mutex
	bodies [][]byte
	heads  []http.Header
	urls   []string
}

// Serve starts a service. handle answers the n-th request, from 0.
func Serve(t *testing.T, handle func(n int, w *Answer)) *Service {
	t.Helper()
	s := &Service{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a request: %v", err)
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies, s.heads, s.urls = append(s.bodies, body), append(s.heads, r.Header.Clone()), append(s.urls, r.URL.String())
		s.mu.Unlock()
		handle(n, &Answer{w: w, r: r, t: t})
	}))
	// A handler may wait for a reader that has gone.
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.URL = server.URL
	return s
}

// Count is the number of requests so far.
func (s *Service) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// Last returns the body, the header and the URL of the last request.
func (s *Service) Last() ([]byte, http.Header, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.bodies) - 1
	return s.bodies[n], s.heads[n], s.urls[n]
}

// Answer is one response in the making.
type Answer struct {
	w http.ResponseWriter
	r *http.Request
	t *testing.T
}

// Refuse answers with a status, a content type and a body.
func (a *Answer) Refuse(status int, contentType, body string, header ...string) {
	a.w.Header().Set("Content-Type", contentType)
	for i := 0; i+1 < len(header); i += 2 {
		a.w.Header().Set(header[i], header[i+1])
	}
	a.w.WriteHeader(status)
	a.raw(body)
}

// Send streams events and flushes after each.
func (a *Answer) Send(f Framing, events ...[]Event) {
	for _, list := range events {
		for _, e := range list {
			a.Raw(f(e))
		}
	}
}

// Raw streams bytes and flushes.
func (a *Answer) Raw(s string) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.raw(s)
}

func (a *Answer) raw(s string) {
	// The reader may have gone, which is no concern of the service.
	_, _ = io.WriteString(a.w, s)
	a.w.(http.Flusher).Flush()
}

// Bytes streams events one byte at a time.
func (a *Answer) Bytes(f Framing, events ...[]Event) {
	var b bytes.Buffer
	for _, list := range events {
		for _, e := range list {
			b.WriteString(f(e))
		}
	}
	for _, c := range b.Bytes() {
		a.Raw(string([]byte{c}))
	}
}

// Reset breaks the connection.
func (a *Answer) Reset() {
	conn, _, err := a.w.(http.Hijacker).Hijack()
	if err != nil {
		a.t.Errorf("take the connection over: %v", err)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// The reader may have gone, which is no concern of the service.
		_ = tcp.SetLinger(0)
	}
	// Closing is the reset.
	_ = conn.Close()
}

// Gone is closed when the reader has closed the connection.
func (a *Answer) Gone() <-chan struct{} { return a.r.Context().Done() }

// Subject is an adaptor under test.
type Subject struct {
	Dialect Dialect
	// New makes the bare model for a service and a key.
	New func(t *testing.T, url, key string) model.Model
	// ID is the "provider/model" that replies carry.
	ID string
	// Issuer is whose opaque data the model sends, and Seal is such data with
	// the signature that the dialect shows for it; without Seal the adaptor
	// keeps none.
	Issuer    string
	Seal      string
	Signature string
	// WholeArguments says that the interface has no arguments in pieces.
	WholeArguments bool
	// ReasonAtEnd says that the reason comes with the end, so that a stream
	// without an end is not whole.
	ReasonAtEnd bool
	// Merged says that results are in a message of the user's.
	Merged bool
	// Marks says that the provider wants the ends of stable prefixes marked.
	Marks bool
	// Still says that moving pictures become PNGs.
	Still bool
	// ResultImage says that the first image of a result goes along in it.
	ResultImage bool
}
