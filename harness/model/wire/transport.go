package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"cairn/harness/model"
)

// maxRefusal bounds what is read of a refusal.
const maxRefusal = 64 << 10

// Transport is the HTTP transport below an SDK. It sends exactly the headers
// that a provider needs, whatever the SDK found in the environment, turns
// every refusal into a [*model.Error], and passes only clean events on.
type Transport struct {
	Provider string
	// Base makes the round trips; nil means one that all share.
	Base http.RoundTripper
	// Auth adds the key, in a header. The SDK never gets to know it.
	Auth func(http.Header)
	// Secrets are kept out of every error.
	Secrets []string
	// Keep names the headers of the SDK that are sent besides the usual ones.
	Keep []string
	// Named says that the SDK needs the name of each event; one that is
	// missing is the event's type.
	Named bool
	// Rewrite, if set, may change the JSON body built by the SDK.
	Rewrite func(body []byte, req model.Request) ([]byte, error)
	// Now is the clock for dates in Retry-After; nil means the real one.
	Now func() time.Time
}

// Shared returns the transport below all models. Unlike the default one it asks
// a silent connection whether it still lives, so that one that died while the
// machine slept is noticed within seconds and not at the idle limit.
var Shared = sync.OnceValue(func() http.RoundTripper { //nolint:gochecknoglobals // connections are shared by all models of the program
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		// The program has chosen another transport for everything.
		return http.DefaultTransport
	}
	t = t.Clone()
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
	return t
})

// Client returns an HTTP client with the transport that follows no redirects:
// a redirected request would carry the key to another host.
func (t *Transport) Client() *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// usual are the headers of an SDK that are sent.
var usual = []string{"Content-Type", "Accept"} //nolint:gochecknoglobals // a table that nobody changes

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(sdk *http.Request) (*http.Response, error) {
	x := exchangeOf(sdk.Context())
	if x == nil {
		return nil, fmt.Errorf("%s: a request that no reply was asked for", t.Provider)
	}
	x.sent = true
	req, err := t.request(sdk, x)
	if err != nil {
		return nil, err
	}
	base := t.Base
	if base == nil {
		base = Shared()
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		if ctx := req.Context(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, x.fail(model.NetworkError(t.Provider, req.URL.Host, err, t.Secrets...))
	}
	x.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		return nil, x.fail(t.refusal(resp))
	}
	resp.Body = newEvents(t, x, resp)
	resp.ContentLength = -1
	resp.Header.Set("Content-Type", "text/event-stream")
	return resp, nil
}

// request is the SDK's request with the body rewritten and the headers chosen.
func (t *Transport) request(sdk *http.Request, x *exchange) (*http.Request, error) {
	req := sdk.Clone(sdk.Context())
	// A compressed stream arrives in lumps.
	req.Header = http.Header{"User-Agent": {"cairn"}, "Accept-Encoding": {"identity"}}
	for _, name := range append(usual, t.Keep...) {
		if v := sdk.Header.Values(name); len(v) > 0 {
			req.Header[http.CanonicalHeaderKey(name)] = v
		}
	}
	if t.Auth != nil {
		t.Auth(req.Header)
	}
	if t.Rewrite == nil || sdk.Body == nil {
		return req, nil
	}
	body, err := io.ReadAll(sdk.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request of %s: %w", t.Provider, err)
	}
	if body, err = t.Rewrite(body, x.request); err != nil {
		return nil, x.fail(&model.Error{Kind: model.KindBadRequest, Provider: t.Provider, Message: model.Sentence(err.Error()), Cause: err})
	}
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return req, nil
}

// refusal turns a response that is no reply into an error.
func (t *Transport) refusal(resp *http.Response) *model.Error {
	defer resp.Body.Close() //nolint:errcheck // the answer is a refusal either way
	// What a broken connection leaves of the body still explains best.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		where := "nowhere"
		if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
			where = u.Host
		}
		return &model.Error{
			Kind: model.KindProtocol, Provider: t.Provider, Status: resp.StatusCode,
			Message: model.Sentence("the address redirects to "+where+"; set the base URL to where the service is", t.Secrets...),
		}
	}
	return t.answer(resp.StatusCode, resp.Header, body)
}

// answer sorts a refusal of this provider.
func (t *Transport) answer(status int, h http.Header, body []byte) *model.Error {
	now := t.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return model.Answer{Provider: t.Provider, Status: status, Header: h, Body: body, Secrets: t.Secrets, Now: now()}.Err()
}
