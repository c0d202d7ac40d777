package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// farewell bounds the request that ends a session.
	farewell = 400 * time.Millisecond
	// probing bounds the request that finds out whether a server is there.
	probing = 700 * time.Millisecond
)

// web carries the requests to a server over HTTP.
type web struct {
	at      *url.URL
	headers map[string]string
	base    *http.Transport
	// signed has what the person got by signing in to it; nil where that cannot be.
	signed *signed
	// open counts the messages that the server did not take yet.
	open atomic.Int64
	// lost is told that the server is gone.
	lost func(error)
}

// newWeb returns the transport to a server over HTTP, and what ends its connections.
func newWeb(s Server, signed *signed, lost func(error)) (sdk.Transport, func(), error) {
	at, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, permanent(errors.New("its url cannot be read"))
	}
	w := &web{at: at, headers: s.Headers, base: newTransport(), signed: signed, lost: lost}
	return &sdk.StreamableClientTransport{
		Endpoint:     s.URL,
		HTTPClient:   &http.Client{Transport: w, CheckRedirect: w.redirect},
		MaxEventSize: MaxMessage,
	}, w.base.CloseIdleConnections, nil
}

// redirect follows to the same host only, and never with another method: neither
// headers nor calls are for others.
func (w *web) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case r.Method != via[0].Method || !w.ours(r.URL) || len(via) > 5:
		if via[0].Method != http.MethodPost {
			return http.ErrUseLastResponse
		}
		return elsewhereError{r.URL.Host}
	default:
		return nil
	}
}

// ours reports whether an address is of the server: its own host, and no less private
// than the way there that was configured.
func (w *web) ours(at *url.URL) bool {
	if at.Scheme == w.at.Scheme {
		return at.Host == w.at.Host
	}
	return w.at.Scheme == "http" && at.Scheme == "https" && at.Hostname() == w.at.Hostname()
}

// RoundTrip implements [http.RoundTripper].
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.ours(r.URL) {
		return nil, elsewhereError{r.URL.Host}
	}
	if r.Method == http.MethodPost {
		defer w.open.Add(-1)
		if w.open.Add(1) > maxOpen {
			w.lost(errFlood)
			return nil, errFlood
		}
	}
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if r.Method == http.MethodDelete {
		ctx, cancel = context.WithTimeout(ctx, farewell)
	}
	resp, err := w.send(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	if why := w.refusal(r, resp); why != nil {
		cancel()
		_ = resp.Body.Close() // nothing of it is read
		return nil, why
	}
	b := &body{ReadCloser: resp.Body, done: cancel, left: -1}
	if resp.Header.Get("Content-Type") != "" && isStream(resp) {
		b.broke = func() { w.look(ctx) }
	} else {
		b.left = MaxMessage
	}
	resp.Body = b
	return resp, nil
}

// send sends a request, with the token of the person where there is one. Where that
// counts no more it is sent once again with the next.
func (w *web) send(ctx context.Context, r *http.Request) (*http.Response, error) {
	if w.signed == nil {
		return w.base.RoundTrip(w.dressed(ctx, r, ""))
	}
	token, err := w.signed.token(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := w.base.RoundTrip(w.dressed(ctx, r, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return resp, err
	}
	next, err := w.signed.next(ctx, token)
	if err != nil || next == "" {
		if err != nil {
			_ = resp.Body.Close() // nothing of it is read
			return nil, err
		}
		return resp, nil
	}
	_ = resp.Body.Close() // as above
	sent := w.dressed(ctx, r, next)
	if r.GetBody != nil {
		if sent.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("send it once again: %w", err)
		}
	}
	return w.base.RoundTrip(sent)
}

// dressed is a request as it is sent.
func (w *web) dressed(ctx context.Context, r *http.Request, token string) *http.Request {
	sent := r.Clone(ctx)
	for name, value := range w.headers {
		sent.Header.Set(name, value)
	}
	if token != "" {
		sent.Header.Set("Authorization", "Bearer "+token)
	}
	return sent
}

// refusal is the answer to a call that is no message. An unknown session is known by
// the library, which it tells apart by its number.
func (w *web) refusal(r *http.Request, resp *http.Response) error {
	if r.Method != http.MethodPost {
		return nil
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized && w.signed != nil:
		return w.signed.wanted(resp.Header)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusMethodNotAllowed:
		return statusError{code}
	case code == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") == "":
		return statusError{code}
	case code >= http.StatusInternalServerError:
		return statusError{code}
	}
	return nil
}

func isStream(resp *http.Response) bool {
	const stream = "text/event-stream"
	kind := resp.Header.Get("Content-Type")
	return len(kind) >= len(stream) && kind[:len(stream)] == stream
}

// look finds out whether the server is still there after a stream of it broke. If it
// is, the library takes up the stream again; if not, nobody need wait for that.
func (w *web) look(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probing)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, w.at.String(), nil)
	if err != nil {
		return
	}
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	resp, err := w.base.RoundTrip(r)
	if err == nil {
		_ = resp.Body.Close() // that it came is the answer
		switch resp.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			err = statusError{resp.StatusCode}
		}
	}
	if err != nil {
		w.lost(fmt.Errorf("the server went away: %w", err))
	}
}

// body is an answer of bounded length, or a stream that is looked after when it breaks.
type body struct {
	io.ReadCloser
	done context.CancelFunc
	// left is how much may come, -1 for any.
	left  int
	broke func()
	told  bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.left >= 0 && len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left >= 0 {
		if n > b.left {
			return 0, errTooLong
		}
		b.left -= n
	}
	if err != nil && !errors.Is(err, io.EOF) && b.broke != nil && !b.told {
		b.told = true
		go b.broke()
	}
	return n, err
}

func (b *body) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
